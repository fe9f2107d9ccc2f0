"""What an experiment is made of, as declarations: methods, problems, and the tables and figures wanted of them.

Nothing is computed here. `covey.experiments.runner` runs what is declared.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey.displays.cards import Card
from covey.experiments.records import Trial, TrialRecord
from covey.similarity.inputs import take_rows

QUICK = 100
"""How many objects of each cluster a quick run keeps. With so few, all of the paper's experiments take two minutes."""
QUICK_SEEDS = 5
"""A quick run uses at most this many seeds, even if a spec asks for more."""


@dataclass(frozen=True)
class SelectorFactory:
    """A way to select representatives that an experiment tries.

    Attributes
    ----------
    make : callable
        Makes the selector from a similarity, a seed and a number of jobs.
    drawn : bool
        Whether the seed changes the selection. If not, one seed is enough.
    k : int or None
        The number of neighbors, which is k in the paper, if the method has one.
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
        What a person can look at instead of X and of the queries, object by object, for example texts instead of their
        vectors. None means X and the queries themselves.

    Examples
    --------
    >>> import numpy as np
    >>> from covey.datasets import make_spirals
    >>> from covey.experiments.specs import Split
    >>> split = Split(*make_spirals(600, random_state=0), *make_spirals(200, random_state=1))
    >>> small = split.sample(20, seed=0)
    >>> np.bincount(split.y).tolist(), np.bincount(small.y).tolist(), np.bincount(small.truth).tolist()
    ([300, 300], [20, 20], [20, 20])
    """

    X: Any
    y: NDArray[Any]
    queries: Any
    truth: NDArray[Any]
    shown: Any | None = None
    shown_queries: Any | None = None

    def sample(self, n: int, seed: int) -> "Split":
        """Return at most n objects of each cluster, and at most n queries of each label, drawn by the seed."""
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
    """A data set that methods are tried on, and the similarity of its objects.

    Attributes
    ----------
    load : callable
        Returns the `Split` for a seed and for a folder in which to look for data, or None. It raises
        `covey.exceptions.MissingDataError` if the data are not on the machine.
    drawn : bool
        Whether the seed changes the split.
    paper : dict
        What a paper reports for each method: precision, recall and the percentage selected. Tables show it beside
        what is measured.
    similarity : str, callable or Similarity
        How similar two objects are, s in the paper, as in `covey.CRS`.
    card : callable or None
        Makes of one object what a person can look at (see `covey.displays.cards.Card`).
    """

    load: Callable[[int, Any], Split]
    drawn: bool = True
    paper: Mapping[str, tuple[float, float, float]] = field(default_factory=dict)
    similarity: Any = "cosine"
    card: Callable[[Any], Card] | None = None

    def split(self, seed: int, data_home: Any = None, *, quick: bool = False) -> Split:
        """Load the data, split for a seed; a `quick` run keeps at most 100 objects of each cluster and label."""
        split = self.load(seed, data_home)
        return split.sample(QUICK, seed) if quick else split


@dataclass(frozen=True)
class Results:
    """What a section of a report is made of: the function `show` of a `Spec` gets it.

    Attributes
    ----------
    records : list of TrialRecord
        What the section's methods did on its problems.
    problems : mapping of str to Problem
        Its problems by name, those whose data are there.
    split : callable
        Returns the split of a problem, given by its name, for a seed.
    """

    records: list[TrialRecord]
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
        Makes its parts (`Table`, `Picture`, `Gallery`, for example) from `Results`. A section without parts is left
        out of the report.
    problems, methods : tuples of str
        Their names. Every method is tried on every problem.
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

    def trials(
        self,
        problems: Mapping[str, Problem],
        methods: Mapping[str, SelectorFactory],
        seeds: int,
        *,
        quick: bool = False,
    ) -> Iterator[Trial]:
        """Yield the trials that the section needs, on those of its problems that are there.

        Where neither the split nor the method depends on the seed, there is one trial. A `quick` run
        uses at most five seeds.
        """
        most = seeds if self.seeds is None else self.seeds
        n = min(most, QUICK_SEEDS) if quick else most
        for problem in (name for name in self.problems if name in problems):
            for method in self.methods:
                drawn = problems[problem].drawn or methods[method].drawn
                yield from (Trial(problem, method, seed) for seed in range(n if drawn else 1))


def _draw(labels: NDArray[Any], n: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return the rows of at most n objects of each label, ascending."""
    members = (np.flatnonzero(labels == label) for label in np.unique(labels))
    return np.sort(np.concatenate([rng.choice(m, min(n, m.size), replace=False) for m in members]))
