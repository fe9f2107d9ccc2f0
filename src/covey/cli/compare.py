"""`covey compare`: every method on the user's own data, cross-validated, and which k to take."""

import hashlib
import shutil
from collections.abc import Sequence
from hashlib import file_digest
from inspect import getsourcefile, isfunction
from pathlib import Path
from typing import Any

import numpy as np

from covey.cli.files import STANDARD, may_write
from covey.cli.misuse import MisuseError
from covey.cli.recommend import CURVE, Recommendation, recommend
from covey.cli.source import Loaded, Source
from covey.evaluation import Report
from covey.experiments import figures, tables
from covey.experiments.methods import BASELINES, crs
from covey.experiments.names import ALL, DELTA_MEDOIDS, RANDOM, SPARSE
from covey.experiments.records import Fit
from covey.experiments.runner import report, run
from covey.experiments.specs import Method, Problem, Spec, Split
from covey.similarity.inputs import pick
from covey.storage.whole import whole

KS = (2, 3, 5, 7, 10, 15, 20, 30)
CHOICES = {"crs": "CRS", "delta-medoids": DELTA_MEDOIDS, "ds3": SPARSE, "random": RANDOM, "all": ALL}


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
    problem = Problem(_folds(loaded, folds), similarity=loaded.similarity, card=loaded.card)
    records_in = Path(page).with_name(
        f".{Path(page).stem}-{_fingerprint(source, loaded.similarity, methods, ks, folds)}"
    )
    fits = [Fit(name, method, fold) for method in chosen for fold in range(folds)]
    options: Any = {"problems": {name: problem}, "methods": chosen, "n_jobs": n_jobs, "verbose": verbose}
    records = run(records_in, fits, **options)
    advice = recommend(records)
    shown = next(iter(chosen)) if advice is None or advice.k is None else f"{CURVE}{advice.k}"
    made = report(
        records_in,
        _specs(name, tuple(chosen), shown),
        title=f"{name}: representatives compared",
        summary=[],
        seeds=folds,
        **options,
    )
    with whole(page) as path:
        path.write_text(Report(made.title, _summary(loaded, folds, advice), made.sections).html(), encoding="utf-8")
    shutil.rmtree(records_in)
    return tables.summarise(records, {}), advice


def _methods(names: Sequence[str], ks: Sequence[int]) -> dict[str, Method]:
    unknown = [name for name in names if name not in CHOICES]
    if unknown or not names:
        raise MisuseError(f"--methods must be some of {', '.join(CHOICES)}, got {', '.join(unknown) or 'none'}.")
    if "crs" in names and min(ks, default=0) < 1:
        raise MisuseError("-k must be numbers of at least 1, by commas.")
    curve = {f"{CURVE}{k}": crs(k) for k in sorted(ks)} if "crs" in names else {}
    return curve | {CHOICES[name]: BASELINES[CHOICES[name]] for name in names if name != "crs"}


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
        raise ValueError(
            f"comparing needs at least two clusters, but all labels are {str(loaded.labels[0])!r}; is --label right?"
        )
    cut = list(StratifiedKFold(folds, shuffle=True, random_state=0).split(np.zeros(len(loaded.labels)), loaded.labels))

    def split(seed: int, data_home: Any) -> Split:
        kept, asked = cut[seed]
        X, queries = pick(loaded.objects, kept), pick(loaded.objects, asked)
        if loaded.recipe.kind in ("matrix", "distances"):
            X, queries = (np.asarray(part)[:, kept] for part in (X, queries))
        return Split(X, loaded.labels[kept], queries, loaded.labels[asked], shown=kept)

    return split


def _specs(name: str, methods: tuple[str, ...], shown: str) -> list[Spec]:
    """The report's sections; of the methods, `shown` is looked at more closely."""
    contrasted = tuple(method for method in methods if method in (shown, DELTA_MEDOIDS, SPARSE))
    return [
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
        Spec("By cluster", "The largest clusters, all methods.", figures.bar_charts, (name,), methods),
        Spec("Confusion matrices", "All folds together.", figures.confusions, (name,), contrasted),
        Spec(
            "Representatives to look at",
            "Of the first fold, each with the number of objects that it stands for.",
            figures.galleries,
            (name,),
            (shown,),
            seeds=1,
        ),
    ]


def _summary(loaded: Loaded, folds: int, advice: Recommendation | None) -> list[str]:
    n_clusters = np.unique(loaded.labels).size
    told = [f"{len(loaded.labels)} objects in {n_clusters} clusters; {folds}-fold cross-validation."]
    if loaded.recipe.vocabulary is not None:
        told.append("Words weigh as in all texts, those to classify included; labels play no part in it.")
    return told + ([] if advice is None else [advice.sentence])


def _fingerprint(source: Source, function: Any, *settings: Any) -> str:
    """Of the data, the user's code and all that is asked: records of anything else must not be taken for these."""
    content = hashlib.sha256(repr((source, settings)).encode())
    code = getsourcefile(function) if isfunction(function) else None
    for path in (source.path, source.labels, code):
        if path is not None:
            with open(path, "rb") as file:
                content.update(file_digest(file, "sha256").digest())
    return content.hexdigest()[:12]
