"""What `covey compare` runs and shows: the methods, the folds of a cross-validation, the sections of the report."""

import hashlib
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import file_digest
from inspect import getsourcefile, isfunction
from typing import Any

import numpy as np

from covey.cli.declaration import words
from covey.cli.misuse import MisuseError
from covey.cli.options import Source
from covey.cli.recommend import Candidate
from covey.cli.source import Loaded
from covey.experiments import curves, figures, tables
from covey.experiments.methods import BASELINES, crs
from covey.experiments.names import (
    ALL,
    CRS_CURVE,
    DELTA_MEDOIDS,
    RANDOM,
    SHARPENED_CURVE,
    SPARSE,
    crs_name,
    sharpened_name,
)
from covey.experiments.sharpening import sharpened
from covey.experiments.specs import Method, Problem, Spec, Split


@dataclass(frozen=True)
class Curve:
    """Methods that differ only in k.

    Attributes
    ----------
    words : str
        What a sentence calls them.
    name : callable
        What reports call the method with a k.
    options : tuple of str
        The options of `covey select` that use them, beside -k.
    """

    words: str
    name: Callable[[int], str]
    options: tuple[str, ...] = ()

    def candidate(self, k: int) -> Candidate:
        """Return the method with a k as one that can be recommended."""
        return Candidate(f"{self.words} with k = {k}", ("-k", str(k), *self.options), k)


CURVES: dict[str, Curve] = {
    "crs": Curve(CRS_CURVE, crs_name),
    "sharpened": Curve(SHARPENED_CURVE, sharpened_name, ("--sharpen",)),
}
"""The methods that are run with every k, by the user's name for them."""
CHOICES = {"delta-medoids": DELTA_MEDOIDS, "ds3": SPARSE, "random": RANDOM, "all": ALL}
"""What reports call the other methods, by the user's name for them."""
MOST_SHOWN = 12
"""With more methods than this, figures that show one beside the other have only one k of each curve: bars and names of
more would be too small to read."""


@dataclass(frozen=True)
class Chosen:
    """The methods to compare by name, and those of them that can be recommended."""

    methods: dict[str, Method]
    candidates: dict[str, Candidate]

    def beside(self, name: str) -> tuple[str, ...]:
        """Return the methods that figures show one beside the other, if one of them is looked at more closely."""
        if len(self.methods) <= MOST_SHOWN or name not in self.candidates:
            return tuple(self.methods)
        k = self.candidates[name].k
        return tuple(other for other, method in self.methods.items() if method.k in (None, k))


def choose_methods(names: Sequence[str], ks: Sequence[int]) -> Chosen:
    """Return the methods that the user has named; CRS and sharpened CRS are one method for each k."""
    unknown = [name for name in names if name not in CURVES and name not in CHOICES]
    if unknown or not names:
        known = ", ".join([*CURVES, *CHOICES])
        raise MisuseError(f"--methods must be some of {known}, got {', '.join(unknown) or 'none'}.")
    made = {"crs": crs, "sharpened": sharpened}
    tried = [(name, k) for name in CURVES if name in names for k in sorted(ks)]
    if any(name in CURVES for name in names) and min(ks, default=0) < 1:
        raise MisuseError("-k must be numbers of at least 1, by commas.")
    methods = {CURVES[name].name(k): made[name](k) for name, k in tried}
    candidates = {CURVES[name].name(k): CURVES[name].candidate(k) for name, k in tried}
    return Chosen(methods | {CHOICES[name]: BASELINES[CHOICES[name]] for name in names if name in CHOICES}, candidates)


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


def sections(name: str, chosen: Chosen, looked_at: str) -> list[Spec]:
    """Return the sections of the report on the problem `name`; one of the methods is looked at more closely."""
    methods, beside = tuple(chosen.methods), chosen.beside(looked_at)
    contrasted = tuple(method for method in methods if method in (looked_at, DELTA_MEDOIDS, SPARSE))
    first_fold = "Representatives of the first fold, each with the number of objects that it stands for."
    some = "" if len(beside) == len(methods) else f" Of all k, only {chosen.candidates[looked_at].k} is shown."
    note = (
        f"Means over clusters, then over folds, ± the standard deviation over folds. {tables.MEASURED} Sharpening also "
        "compares objects of different clusters, so that its scan rate can be above 1."
    )
    size = f"Up and to the left is better: the same quality with fewer objects. {curves.ERRORS}"
    evaluations = f"Up and to the left is better: the same quality with fewer evaluations. {curves.ERRORS}"
    return [
        Spec("Quality against size", size, curves.quality_against_size, (name,), methods),
        Spec("Methods", note, tables.methods_table, (name,), methods),
        Spec("Quality against evaluations", evaluations, curves.quality_against_evaluations, (name,), methods),
        Spec("Critical differences", f"{figures.RANKED}{some}", figures.critical_differences, (name,), beside),
        Spec("By cluster", f"The largest clusters.{some}", figures.bar_charts, (name,), beside),
        Spec("Confusion matrices", "All folds are counted together.", figures.confusions, (name,), contrasted),
        Spec("Representatives to look at", first_fold, figures.galleries, (name,), (looked_at,), seeds=1),
    ]


def how_to_select(source: Source, candidate: Candidate) -> str:
    """Return the command that selects from all of the data by a candidate."""
    return shlex.join(["covey", "select", *words(source), *candidate.options])


def summary(loaded: Loaded, n_folds: int, advice: Sequence[str]) -> list[str]:
    """Return the sentences at the top of the report."""
    n_clusters = np.unique(loaded.labels).size
    opening = f"{len(loaded.labels)} objects in {n_clusters} clusters; {n_folds}-fold cross-validation."
    remark = loaded.recipe.remark()
    return [opening, *([] if remark is None else [remark]), *advice]


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
