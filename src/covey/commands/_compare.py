"""`covey compare`: every method on the user's own data, cross-validated, and which k to take."""

import hashlib
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import file_digest
from inspect import getsourcefile
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import numpy as np

from covey._whole import whole
from covey.commands import MisuseError
from covey.commands._source import Loaded, Source
from covey.evaluation import Card, Report
from covey.experiments import METHODS, Method, Problem, Record, Spec, Split, figures, read_records, report, tables
from covey.experiments._methods import ALL, DELTA_MEDOIDS, RANDOM, SPARSE, crs
from covey.files import STANDARD, may_write
from covey.objects import pick

KS = (2, 3, 5, 7, 10, 15, 20, 30)
CHOICES = {"crs": "CRS", "delta-medoids": DELTA_MEDOIDS, "ds3": SPARSE, "random": RANDOM, "all": ALL}
SHOWN_LINES = 6
"""Columns on a card of the gallery."""


@dataclass(frozen=True)
class Recommendation:
    """A k, and why."""

    k: int
    reason: str


def compare(
    source: Source,
    page: str,
    *,
    methods: Sequence[str] = tuple(CHOICES),
    ks: Sequence[int] = KS,
    folds: int = 5,
    force: bool = False,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> tuple[list[tables.Row], Recommendation | None]:
    """Cross-validate the methods, write the report, and return its table and the recommended k.

    What is finished is recorded beside the page until all is: the same command goes on after a stop.
    """
    if source.path == STANDARD:
        raise MisuseError("comparing reads the data more than once; pass a file.")
    may_write(page, force)
    chosen = _methods(methods, ks)
    loaded = source.load(verbose)
    name = Path(source.path).name
    problem = Problem(_folds(loaded, folds), similarity=loaded.similarity, card=_card(loaded))
    records_in = Path(page).with_name(
        f".{Path(page).stem}-{_fingerprint(source, loaded.similarity, methods, ks, folds)}"
    )
    made = report(
        records_in,
        _specs(name, tuple(chosen)),
        title=f"{name}: representatives compared",
        summary=[],
        problems={name: problem},
        methods=chosen,
        seeds=folds,
        n_jobs=n_jobs,
        verbose=verbose,
    )
    records = read_records(records_in)
    advice = recommend(records)
    with whole(page) as path:
        path.write_text(Report(made.title, _summary(loaded, folds, advice), made.sections).html(), encoding="utf-8")
    shutil.rmtree(records_in)
    return tables.summarise(records, {}), advice


def recommend(records: Sequence[Record]) -> Recommendation | None:
    """The largest k, hence the fewest objects, whose F1 is within one standard error of the best."""
    scores: dict[int, list[float]] = {}
    for method in dict.fromkeys(r.method for r in records if r.method.startswith("CRS-k")):
        mine = tables.by_seed(r for r in records if r.method == method)
        scores[int(method.removeprefix("CRS-k"))] = mine[:, 2].tolist()
    if not scores:
        return None
    best = max(scores, key=lambda k: fmean(scores[k]))
    values = scores[best]
    error = stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0
    bar = fmean(values) - error
    k = max(k for k in scores if fmean(scores[k]) >= bar)
    told = f"k = {k}: it has the best F1, {fmean(values):.3f}"
    if k != best:
        told = (
            f"k = {k}: its F1 of {fmean(scores[k]):.3f} is within one standard error ({error:.3f}) of the best, "
            f"{fmean(values):.3f} at k = {best}, with a larger k and so fewer objects"
        )
    further = "no larger k was tried" if k == max(scores) else "larger k are worse"
    return Recommendation(k, f"{told}; {further}.")


def _methods(names: Sequence[str], ks: Sequence[int]) -> dict[str, Method]:
    unknown = [name for name in names if name not in CHOICES]
    if unknown or not names:
        raise MisuseError(f"--methods must be some of {', '.join(CHOICES)}, got {', '.join(unknown) or 'none'}.")
    if "crs" in names and min(ks, default=0) < 1:
        raise MisuseError("-k must be numbers of at least 1, by commas.")
    curve = {f"CRS-k{k}": crs(k) for k in sorted(ks)} if "crs" in names else {}
    return curve | {CHOICES[name]: METHODS[CHOICES[name]] for name in names if name != "crs"}


def _folds(loaded: Loaded, folds: int) -> Any:
    """The seed is the number of the fold: its objects are classified, the others represented."""
    from sklearn.model_selection import StratifiedKFold

    sizes = np.unique(loaded.labels, return_counts=True)
    small = [f"{label} ({size})" for label, size in zip(*sizes, strict=True) if size < folds]
    if small:
        raise ValueError(
            f"each cluster needs at least as many objects as there are folds, {folds}; too small: {', '.join(small)}."
        )
    if sizes[0].size < 2:
        raise ValueError("comparing needs at least two clusters; say which column holds the label by --label.")
    cut = list(StratifiedKFold(folds, shuffle=True, random_state=0).split(np.zeros(len(loaded.labels)), loaded.labels))

    def split(seed: int, data_home: Any) -> Split:
        kept, asked = cut[seed]
        X, queries = pick(loaded.objects, kept), pick(loaded.objects, asked)
        if loaded.recipe.kind == "matrix":
            X, queries = (np.asarray(part)[:, kept] for part in (X, queries))
        return Split(X, loaded.labels[kept], queries, loaded.labels[asked], shown=kept)

    return split


def _card(loaded: Loaded) -> Any:
    """What to show of a row: its text, its profile, or its columns."""
    recipe, frame = loaded.recipe, loaded.block.frame

    def card(row: int) -> Card:
        title = f"row {row}" if loaded.names is None else loaded.names[row]
        if frame is None:
            return Card(title)
        if recipe.kind == "text":
            lines = str(frame[recipe.columns[0]].iat[row]).strip().splitlines()[:3]
            return Card(title, tuple(line[:90] for line in lines))
        if recipe.kind == "profile":
            profile: Mapping[Any, float] = loaded.objects[row]
            top = sorted(profile.items(), key=lambda item: (-item[1], str(item[0])))[:SHOWN_LINES]
            return Card(title, tuple(f"{key}: {weight:.3g}" for key, weight in top))
        shown = [column for column in frame.columns if column not in (recipe.label, recipe.id)][:SHOWN_LINES]
        return Card(title, tuple(f"{column}: {frame[column].iat[row]}"[:90] for column in shown))

    return card


def _specs(name: str, methods: tuple[str, ...]) -> list[Spec]:
    of_k = tuple(method for method in methods if method.startswith("CRS-k"))
    middle = of_k[len(of_k) // 2 : len(of_k) // 2 + 1]
    contrasted = (*middle, *(method for method in (DELTA_MEDOIDS, SPARSE) if method in methods))
    specs = [
        Spec(
            "Methods",
            f"Means over clusters, then over folds, ± the standard deviation over folds. {tables.MEASURED}",
            tables.methods_table,
            (name,),
            methods,
        ),
        Spec(
            "Quality against size and evaluations",
            "Up and to the left is better: the same quality with fewer objects, or fewer evaluations.",
            figures.trade_off,
            (name,),
            methods,
        ),
        Spec(
            "Critical differences",
            figures.RANKED,
            figures.critical_differences,
            (name,),
            methods,
        ),
        Spec("By cluster", "The largest clusters, all methods.", figures.bars, (name,), methods),
        Spec("Confusion matrices", "All folds together.", figures.confusions, (name,), contrasted),
        Spec(
            "Representatives to look at",
            "Of the first fold, each with the number of objects that it stands for.",
            figures.galleries,
            (name,),
            middle,
            seeds=1,
        ),
    ]
    return [spec for spec in specs if spec.methods]


def _summary(loaded: Loaded, folds: int, advice: Recommendation | None) -> list[str]:
    n_clusters = np.unique(loaded.labels).size
    told = [f"{len(loaded.labels)} objects in {n_clusters} clusters; {folds}-fold cross-validation."]
    if loaded.recipe.vocabulary is not None:
        told.append("Words weigh as in all texts, those to classify included; labels play no part in it.")
    return told + ([] if advice is None else [f"Recommended: {advice.reason}"])


def _fingerprint(source: Source, function: Any, *settings: Any) -> str:
    """Of the data, the user's code and all that is asked: records of anything else must not be taken for these."""
    content = hashlib.sha256(repr((source, settings)).encode())
    code = getsourcefile(function) if callable(function) and hasattr(function, "__code__") else None
    for path in (source.path, source.labels, code):
        if path is not None:
            with open(path, "rb") as file:
                content.update(file_digest(file, "sha256").digest())
    return content.hexdigest()[:12]
