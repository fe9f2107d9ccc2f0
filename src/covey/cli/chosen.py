"""The methods that `covey compare` has been asked for: in which order they run, and the sections of their report."""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial

from covey.cli.recommend import Candidate
from covey.experiments import confusions, curves, figures, tables
from covey.experiments.names import ALL, CRS_CURVE, DELTA_MEDOIDS, RANDOM, SHARPENED_CURVE, SPARSE
from covey.experiments.specs import Method, Spec

SELECTED = 0.1
"""The share of the objects that a method is expected to select, where the data decide it. It only weighs a little in
what a method is expected to cost."""
PASSES = {CRS_CURVE: 1, DELTA_MEDOIDS: 2, SPARSE: 10, SHARPENED_CURVE: 1}
"""How often a method is expected to go through the pairs within clusters: CRS evaluates them, delta-medoids sums them
up as well, and DS3 iterates over them. The numbers are such that the methods are expected in about the order of their
seconds; `benchmarks/method_costs.py` measures how far that is true."""
USUAL_K = 10
"""The number of neighbors that `covey select` uses if nobody says another."""
MOST_SHOWN = 12
"""With more methods than this, figures that show one beside the other have only one k of each curve: bars and names of
more would be too small to read."""


@dataclass(frozen=True)
class Chosen:
    """The methods to compare by name, and those of them that can be recommended."""

    methods: dict[str, Method]
    candidates: dict[str, Candidate]

    def in_order(self, sizes: Sequence[int], n_folds: int) -> list[str]:
        """Return the methods in the order in which they are of most use if there is little time.

        Each gets one k before any gets another; what is expected to cost least for clusters of these sizes comes first.
        The next k is always the one that is farthest from all before it, so that whatever is done covers the range of
        k.
        """
        ks = _spread_out(sorted({candidate.k for candidate in self.candidates.values()}))
        rounds: dict[str, tuple[int, float]] = {}
        for name, method in self.methods.items():
            first = 0 if method.k is None else ks.index(method.k)
            rounds[name] = (first, expected_pairs(method.curve or name, sizes, n_folds))
        return sorted(self.methods, key=lambda name: rounds[name])

    def described(self, names: Collection[str]) -> str:
        """Return the names of methods for a sentence, all of them; those that differ only in k are named together."""
        curves: dict[str, list[str]] = {}
        for name, method in self.methods.items():
            if name in names:
                curves.setdefault(method.curve or name, []).extend([] if method.k is None else [str(method.k)])
        return "; ".join(f"{curve} with k = {', '.join(ks)}" if ks else curve for curve, ks in curves.items())

    def only(self, names: Collection[str]) -> "Chosen":
        """Return some of the methods."""
        return Chosen(
            {name: method for name, method in self.methods.items() if name in names},
            {name: candidate for name, candidate in self.candidates.items() if name in names},
        )

    def beside(self, name: str) -> tuple[str, ...]:
        """Return the methods that figures show one beside the other, if one of them is looked at more closely."""
        if len(self.methods) <= MOST_SHOWN or name not in self.candidates:
            return tuple(self.methods)
        k = self.candidates[name].k
        return tuple(other for other, method in self.methods.items() if method.k in (None, k))


def expected_pairs(method: str, sizes: Sequence[int], n_folds: int) -> float:
    """Return how many pairs a fold of a method, or of a curve of methods, is expected to go through.

    It follows from the sizes of the clusters alone, so that the same data always give the same order of methods.
    """
    kept = [size * (n_folds - 1) / n_folds for size in sizes]
    n, n_queries = sum(kept), sum(sizes) / n_folds
    if method in (RANDOM, ALL):
        return n * n_queries * (1.0 if method == ALL else 0.05)
    within = sum(size * size for size in kept) / 2
    # Sharpening compares objects of different clusters, too.
    between = n * n / 2 if method == SHARPENED_CURVE else 0.0
    return PASSES[method] * within + between + SELECTED * n * n_queries


def _spread_out(ks: Sequence[int]) -> list[int]:
    """Return numbers of neighbors so that the first ones tell most: the usual one, then always the farthest."""
    order = sorted(ks, key=lambda k: abs(math.log(k / USUAL_K)))[:1]
    while len(order) < len(ks):
        rest = [k for k in ks if k not in order]
        order.append(max(rest, key=lambda k: min(abs(math.log(k / other)) for other in order)))
    return order


def sections(name: str, chosen: Chosen, looked_at: str, recommended: str | None) -> list[Spec]:
    """Return the sections of the report on the problem `name`; one of the methods is looked at more closely."""
    one, methods, beside = (looked_at,), tuple(chosen.methods), chosen.beside(looked_at)
    with_all = tuple(dict.fromkeys((looked_at, *(method for method in methods if method == ALL))))
    first_fold = "Selected to answer for the first fold, each with the number of objects that it stands for."
    some = "" if len(beside) == len(methods) else f" Of all k, only {chosen.candidates[looked_at].k} is shown."
    note = (
        f"Means over clusters, then over folds, ± the standard deviation over folds. {tables.MEASURED} Sharpening also "
        "compares objects of different clusters, so that its scan rate can be above 1."
    )
    size = f"Up and to the left is better: the same quality with fewer objects. {curves.ERRORS} {curves.CHANCE}"
    evaluations = f"Up and to the left is better: the same quality with fewer evaluations. {curves.ERRORS}"
    by_size = partial(curves.quality_against_size, marked=recommended)
    by_evaluations = partial(curves.quality_against_evaluations, marked=recommended)
    table = partial(tables.methods_table, marked=recommended)
    confused = "The largest first; all folds are counted together, so each object is asked about once."
    heat = "A color means the same share in every report."
    ranked = f"{figures.RANKED}{some}"
    ordered = "Means over folds, ± the standard deviation over folds; the clusters that are hardest to tell come first."
    return [
        Spec("Quality against size", size, by_size, (name,), methods),
        Spec("All methods", note, table, (name,), methods),
        Spec(f"What {looked_at} confuses", confused, confusions.largest_confusions, (name,), one),
        Spec("Confusion matrix", heat, confusions.confusion_matrices, (name,), one),
        Spec("Representatives to look at", first_fold, figures.galleries, (name,), one, seeds=1),
        Spec("What small selections can do", "", curves.quality_by_budget, (name,), methods, folded=True),
        Spec("Quality against evaluations", evaluations, by_evaluations, (name,), methods, folded=True),
        Spec("By cluster", ordered, tables.by_cluster, (name,), with_all, folded=True),
        Spec("Critical differences", ranked, figures.critical_differences, (name,), beside, folded=True),
    ]
