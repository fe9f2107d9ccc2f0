"""What `covey compare` runs and shows: the methods, the folds of a cross-validation, the sections of the report."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import file_digest
from inspect import getsourcefile, isfunction
from typing import Any

import numpy as np

from covey.cli.misuse import MisuseError
from covey.cli.options import Source
from covey.cli.recommend import Recommendation
from covey.cli.source import Loaded
from covey.experiments import figures, tables
from covey.experiments.methods import BASELINES, crs
from covey.experiments.names import ALL, DELTA_MEDOIDS, RANDOM, SPARSE, crs_name
from covey.experiments.specs import Method, Problem, Spec, Split

CURVE = "crs"
"""The method that is run with every k."""
CHOICES = {"delta-medoids": DELTA_MEDOIDS, "ds3": SPARSE, "random": RANDOM, "all": ALL}
"""What reports call the other methods, by the user's name for them."""


@dataclass(frozen=True)
class Chosen:
    """The methods to compare by name, and the k of those that differ only in k."""

    methods: dict[str, Method]
    ks: dict[str, int]


def choose_methods(names: Sequence[str], ks: Sequence[int]) -> Chosen:
    """Return the methods that the user has named; CRS is one method for each k."""
    unknown = [name for name in names if name != CURVE and name not in CHOICES]
    if unknown or not names:
        known = ", ".join([CURVE, *CHOICES])
        raise MisuseError(f"--methods must be some of {known}, got {', '.join(unknown) or 'none'}.")
    if CURVE in names and min(ks, default=0) < 1:
        raise MisuseError("-k must be numbers of at least 1, by commas.")
    curve = {crs_name(k): k for k in sorted(ks)} if CURVE in names else {}
    others = {CHOICES[name]: BASELINES[CHOICES[name]] for name in names if name != CURVE}
    return Chosen({name: crs(k) for name, k in curve.items()} | others, curve)


def cross_validation(loaded: Loaded, n_folds: int) -> Problem:
    """Return the problem to classify the objects of each fold by representatives of the others; a seed is a fold."""
    from sklearn.model_selection import StratifiedKFold

    labels, sizes = np.unique(loaded.labels, return_counts=True)
    small = [f"{label} ({size})" for label, size in zip(labels, sizes, strict=True) if size < n_folds]
    if small:
        raise ValueError(
            f"each cluster needs at least as many objects as there are folds, {n_folds}; too small: {', '.join(small)}."
        )
    if labels.size < 2:
        raise ValueError(
            f"comparing needs at least two clusters, but all labels are {str(labels[0])!r}; is --label right?"
        )
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=0)
    cut = list(folds.split(np.zeros(len(loaded.labels)), loaded.labels))

    def split(seed: int, data_home: Any) -> Split:
        kept, asked = cut[seed]
        X, queries = loaded.recipe.split(loaded.objects, kept, asked)
        return Split(X, loaded.labels[kept], queries, loaded.labels[asked], shown=kept)

    return Problem(split, similarity=loaded.similarity, card=loaded.card)


def sections(name: str, methods: tuple[str, ...], looked_at: str) -> list[Spec]:
    """Return the sections of the report on the problem `name`; one of the methods is looked at more closely."""
    contrasted = tuple(method for method in methods if method in (looked_at, DELTA_MEDOIDS, SPARSE))
    first_fold = "Representatives of the first fold, each with the number of objects that it stands for."
    note = f"Means over clusters, then over folds, ± the standard deviation over folds. {tables.MEASURED}"
    better = "Up and to the left is better: the same quality with fewer objects, or with fewer evaluations."
    return [
        Spec("Methods", note, tables.methods_table, (name,), methods),
        Spec("Quality against size and evaluations", better, figures.trade_off, (name,), methods),
        Spec("Critical differences", figures.RANKED, figures.critical_differences, (name,), methods),
        Spec("By cluster", "All methods on the largest clusters.", figures.bar_charts, (name,), methods),
        Spec("Confusion matrices", "All folds are counted together.", figures.confusions, (name,), contrasted),
        Spec("Representatives to look at", first_fold, figures.galleries, (name,), (looked_at,), seeds=1),
    ]


def summary(loaded: Loaded, n_folds: int, advice: Recommendation | None) -> list[str]:
    """Return the sentences at the top of the report."""
    n_clusters = np.unique(loaded.labels).size
    opening = f"{len(loaded.labels)} objects in {n_clusters} clusters; {n_folds}-fold cross-validation."
    more = (loaded.recipe.remark(), None if advice is None else advice.sentence)
    return [opening, *(sentence for sentence in more if sentence is not None)]


def fingerprint(source: Source, function: Any, *settings: Any) -> str:
    """Return a text that differs if the data, the user's code or any setting differs.

    Records of a run that was stopped are only used again for exactly the same comparison.
    """
    content = hashlib.sha256(repr((source, settings)).encode())
    code = getsourcefile(function) if isfunction(function) else None
    for path in (source.path, source.labels, code):
        if path is not None:
            with open(path, "rb") as file:
                content.update(file_digest(file, "sha256").digest())
    return content.hexdigest()[:12]
