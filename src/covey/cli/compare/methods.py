"""The methods that `covey compare` runs: what each name stands for, and in which order they run."""

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from covey.experiments.methods import (
    ALL,
    BASELINES,
    CRS_CURVE,
    DELTA_MEDOIDS,
    RANDOM,
    SHARPENED_CURVE,
    SPARSE,
    crs,
    crs_name,
    sharpened,
    sharpened_name,
)
from covey.experiments.specs import SelectorFactory

SELECTED = 0.1
"""The share of the objects that a method is expected to select, where the data decide it. It only weighs a little in
what a method is expected to cost."""
PASSES = {CRS_CURVE: 1, DELTA_MEDOIDS: 2, SPARSE: 10, SHARPENED_CURVE: 1}
"""How often a method is expected to go through the pairs within clusters: CRS evaluates them, delta-medoids sums them
up as well, and DS3 iterates over them. The numbers are such that the methods are expected in about the order of their
seconds; `benchmarks/method_costs.py` measures it."""
USUAL_K = 10
"""The number of neighbors that `covey select` uses by default."""
MOST_SHOWN = 12
"""With more methods than this, figures that show one beside the other have only one k of each curve: bars and names of
more would be too small to read."""


@dataclass(frozen=True)
class Candidate:
    """A method that can be recommended.

    Attributes
    ----------
    words : str
        What a sentence calls it.
    options : tuple of str
        The options of `covey select` that use it.
    k : int
    """

    words: str
    options: tuple[str, ...]
    k: int


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
"""The methods that are run with every k, by the names of --methods."""
CHOICES = {"delta-medoids": DELTA_MEDOIDS, "ds3": SPARSE, "random": RANDOM, "all": ALL}
"""What reports call the other methods, by the names of --methods."""


@dataclass(frozen=True)
class Methods:
    """The methods to compare by their names in reports, and those of them that can be recommended."""

    by_name: dict[str, SelectorFactory]
    candidates: dict[str, Candidate]

    def in_order(self, sizes: Sequence[int], n_folds: int) -> list[str]:
        """Return the methods in the order in which they are of most use if there is little time.

        Each gets one k before any gets another; what is expected to cost least for clusters of these sizes comes first.
        The next k is always the one that is farthest from all before it, so that those that are done cover the range of
        k.
        """
        ks = _spread_out(sorted({candidate.k for candidate in self.candidates.values()}))
        rounds: dict[str, tuple[int, float]] = {}
        for name, method in self.by_name.items():
            first = 0 if method.k is None else ks.index(method.k)
            rounds[name] = (first, expected_pairs(method.curve or name, sizes, n_folds))
        return sorted(self.by_name, key=lambda name: rounds[name])

    def described(self, names: Collection[str]) -> str:
        """Return the names of methods for a sentence, all of them; those that differ only in k are named together."""
        curves: dict[str, list[str]] = {}
        for name, method in self.by_name.items():
            if name in names:
                curves.setdefault(method.curve or name, []).extend([] if method.k is None else [str(method.k)])
        return "; ".join(f"{curve} with k = {', '.join(ks)}" if ks else curve for curve, ks in curves.items())

    def only(self, names: Collection[str]) -> "Methods":
        """Return some of the methods."""
        return Methods(
            {name: method for name, method in self.by_name.items() if name in names},
            {name: candidate for name, candidate in self.candidates.items() if name in names},
        )

    def beside(self, name: str) -> tuple[str, ...]:
        """Return the methods that figures show one beside the other, if one of them is looked at more closely."""
        if len(self.by_name) <= MOST_SHOWN or name not in self.candidates:
            return tuple(self.by_name)
        k = self.candidates[name].k
        return tuple(other for other, method in self.by_name.items() if method.k in (None, k))


def choose_methods(names: Sequence[str], ks: Sequence[int]) -> Methods:
    """Return the methods that the user has named; CRS and sharpened CRS are one method for each k."""
    made = {"crs": crs, "sharpened": sharpened}
    tried = [(name, k) for name in CURVES if name in names for k in sorted(ks)]
    methods = {CURVES[name].name(k): made[name](k) for name, k in tried}
    candidates = {CURVES[name].name(k): CURVES[name].candidate(k) for name, k in tried}
    return Methods(methods | {CHOICES[name]: BASELINES[CHOICES[name]] for name in names if name in CHOICES}, candidates)


def expected_pairs(method: str, sizes: Sequence[int], n_folds: int) -> float:
    """Return how many pairs a fold of a method, or of a curve of methods, is expected to go through.

    It follows from the sizes of the clusters alone, so that the same data always give the same order of methods.
    """
    fitted = [size * (n_folds - 1) / n_folds for size in sizes]
    n, n_queries = sum(fitted), sum(sizes) / n_folds
    if method in (RANDOM, ALL):
        return n * n_queries * (1.0 if method == ALL else 0.05)
    within = sum(size * size for size in fitted) / 2
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
