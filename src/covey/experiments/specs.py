"""What an experiment is made of, as declarations: methods, problems, and the tables and figures wanted of them.

Nothing is computed here. `covey.experiments.runner` runs what is declared.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey.displays.report import Card
from covey.experiments.records import Fit, Record
from covey.similarity.inputs import take_rows

QUICK = 100
"""How many objects of each cluster a quick run keeps. With so few, all of the paper's experiments take two minutes."""
QUICK_SEEDS = 5
"""A quick run uses at most this many seeds, whatever a spec asks for."""


@dataclass(frozen=True)
class Method:
    """A method to select representatives.

    Attributes
    ----------
    make : callable
        Makes the selector from a similarity, a seed and a number of jobs.
    drawn : bool
        Whether the seed changes the selection. If not, one seed is enough.
    k : int or None
        The number of neighbors, if the method has one.
    curve : str or None
        What methods that differ only in k are called together. Figures draw them as one curve along k.
    """

    make: Callable[[Any, int, int | None], Any]
    drawn: bool = True
    k: int | None = None
    curve: str | None = None


@dataclass(frozen=True, eq=False)
class Split:
    """A data set, split into clusters to represent and queries to classify.

    Attributes
    ----------
    X, y : objects and array
        The objects of the clusters, and their labels.
    queries, truth : objects and array
        The objects to classify, and their true labels.
    shown, shown_queries : objects or None
        What a person can look at instead of X and of the queries, object by object; None if that is they themselves.
    """

    X: Any
    y: NDArray[Any]
    queries: Any
    truth: NDArray[Any]
    shown: Any | None = None
    shown_queries: Any | None = None

    def sample(self, n: int, seed: int) -> "Split":
        """A smaller split: at most n objects of each cluster, and at most n queries of each label."""
        rng = np.random.default_rng(seed)
        kept, asked = (_draw(labels, n, rng) for labels in (self.y, self.truth))
        sampled = take_rows(self.X, kept), self.y[kept], take_rows(self.queries, asked), self.truth[asked]
        return Split(
            *sampled,
            None if self.shown is None else take_rows(self.shown, kept),
            None if self.shown_queries is None else take_rows(self.shown_queries, asked),
        )


@dataclass(frozen=True)
class Problem:
    """A data set that methods are tried on.

    Attributes
    ----------
    load : callable
        Gives the split for a seed and a data_home.
    drawn : bool
        Whether the seed changes the split.
    paper : dict
        What a paper reports for each method: precision, recall and the percentage selected. Tables show it beside
        what is measured.
    similarity : str, callable or Similarity
    card : callable or None
        Makes of one object what a person can look at (see `covey.evaluation.Card`).
    """

    load: Callable[[int, Any], Split]
    drawn: bool = True
    paper: Mapping[str, tuple[float, float, float]] = field(default_factory=dict)
    similarity: Any = "cosine"
    card: Callable[[Any], Card] | None = None

    def split(self, seed: int, data_home: Any = None, quick: bool = False) -> Split:
        """The split for a seed; a quick one keeps 100 objects of each cluster."""
        split = self.load(seed, data_home)
        return split.sample(QUICK, seed) if quick else split


@dataclass(frozen=True)
class Results:
    """What a spec's `show` gets: its records, its problems by name, and the split of a problem for a seed."""

    records: list[Record]
    problems: Mapping[str, Problem]
    split: Callable[[str, int], Split]


@dataclass(frozen=True)
class Spec:
    """A section of a report: which fits it needs, and how their records become something to look at.

    Attributes
    ----------
    title, note : str
        What the section is, and how to read it.
    show : callable
        Makes its parts (`covey.evaluation.Table`, `Picture`, `Gallery`, for example) from `Results`. A section without
        parts is left out of the report.
    problems, methods : tuples of str
        Every method is tried on every problem.
    seeds : int or None
        How many seeds; None for as many as the whole report has.
    folded : bool
        Whether the page shows only the title until a reader asks for more.
    """

    title: str
    note: str
    show: Callable[[Results], Iterable[Any]]
    problems: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    seeds: int | None = None
    folded: bool = False

    def fits(
        self, problems: Mapping[str, Problem], methods: Mapping[str, Method], seeds: int, quick: bool = False
    ) -> Iterator[Fit]:
        """The fits that the section needs, on those of its problems that are there.

        Where neither the split nor the method depends on the seed, there is one fit.
        """
        most = seeds if self.seeds is None else self.seeds
        n = min(most, QUICK_SEEDS) if quick else most
        for problem in (name for name in self.problems if name in problems):
            for method in self.methods:
                drawn = problems[problem].drawn or methods[method].drawn
                yield from (Fit(problem, method, seed) for seed in range(n if drawn else 1))


def _draw(labels: NDArray[Any], n: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """The rows of at most n objects of each label, ascending."""
    members = (np.flatnonzero(labels == label) for label in np.unique(labels))
    return np.sort(np.concatenate([rng.choice(m, min(n, m.size), replace=False) for m in members]))
