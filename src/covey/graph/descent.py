"""NN-Descent (Dong, Moses and Li, 2011): approximate neighbor lists from few evaluations.

A neighbor of a neighbor is likely a neighbor. One round does this (`candidates.py`):

1. From each object's list, sample the entries that were not joined yet (new), and use all that were (old).
2. Reverse both: each object also gets a sample of the objects that have it in their lists.
3. Join: among the candidates of each object, every new one meets every other one, new or old. Pairs scored before are
   skipped. The others are scored and offered to the lists of both objects.

Rounds end when one changes no more than `tol` of all entries.

Two things surround the rounds. The *start* saves most evaluations: it uses landmarks where they predict neighbors
well, else a forest of pivot trees (`starts.py`). The *end* is checked: random pairs show what share of the neighbors
was missed (`recall.py`). If more were than the user allows for, the descent goes on with another tree and longer lists,
until few are missed. Few objects get all of their pairs scored in the end. For many, the work beyond the first pass is
bounded by a share of what that has cost; what is still missed then is said in a warning.

The result and the number of evaluations are the same for any number of threads and any block size. There are three
reasons: draws within a round are hashes of a seed and the objects, while one generator makes all other draws; every
pair belongs to its smaller index; and lists obey a total order.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from covey.arrays import Indices
from covey.graph.candidates import Candidates
from covey.graph.evaluator import Evaluator
from covey.graph.lists import NeighborLists
from covey.graph.recall import RECALL, RandomPairs, Recall, tolerated
from covey.graph.starts import plant_forest, plant_tree, start_from_landmarks
from covey.runtime.executor import share_out
from covey.runtime.parameters import is_number
from covey.similarity.space import ScoredPairs, Space

SMALLEST_LIST = 10
"""Lists are at least this long, however few neighbors are asked for. Neighbors of neighbors do not spread through
shorter ones: with 5 entries the recall was .64 to .69 on classes of Fashion-MNIST, with 10 it was .95 to .96."""

LONGER_FOR_HUBS = 2
"""How many times longer the lists of many objects are in a space with hubs. Hubs are objects that are near to very many
others, and neighbors of neighbors seldom lead past them. For 18 846 newsgroup posts and 15 neighbors, this lifts the
recall from .67 to .92."""

MORE_REVERSED = 2
"""How many times more reversed entries are joined where nothing is screened and no pair is scored twice. When it was
introduced for 60 000 rows of Fashion-MNIST, it lifted the recall from .984 to .989 in the same time; the latter is the
recall that benchmarks/RESULTS.md shows."""

SPARED, SPARED_AT_LAST = 0.1, 0.01
"""The shares of list entries that the screen keeps out, until the lists are stable and in the rounds after that. While
lists are poor, only the best pairs are worth a score; later on, each neighbor that is kept out is missed. `python -m
benchmarks.callables` compares with other choices on Fashion-MNIST."""

LOOKED_AT = 20
"""At how many others beyond the length of its list each object looks once the lists are stable, those with the largest
estimates of all. They find neighbors to which no neighbor of a neighbor leads."""

LONGER_IF_COSTLY, OWN_IF_COSTLY, REVERSED_IF_COSTLY = 1.1, 0.5, 4.0
"""How many times longer the lists of many objects are where a score costs more than the work around it and there is no
screen, and by how much the sample rate is multiplied for their own entries and for reversed ones. Many reversed entries
find more neighbors for the same evaluations: `python -m benchmarks.callables` compares with other choices on surnames.
For fewer objects the answer must not depend on what a score costs, because it must be the same for every form of X."""

FEW = 1000
"""With fewer objects there are no landmarks: scoring them against all objects would cost more than it saves."""

MANY, MANY_COSTLY = 10_000, 30_000
"""With more objects there are no landmarks either: finding candidates by estimates would take longer than scoring
pairs. The second number holds for similarities that are not cheap, for which saving evaluations pays longer. Beyond the
first, upper bounds are used where the space has them."""

MAX_ROUNDS = 50
"""The most rounds in a row. It only guards against a descent that never settles; `tol` is what normally ends it."""

EXTENSION = 1.1
"""How many times longer each extension makes the lists. The steps are small because length is expensive: on
Fashion-MNIST, lists 1.2 times as long cost half as many evaluations again and lift the recall from .95 to .98."""

EXTRA_WORK = 1.0
"""Extensions may take this many times the evaluations that everything before them took; none begins if the last one
would not fit any more. Longer lists buy little: a user who wants more is told to ask for it."""

ALL_PAIRS_UP_TO = 5000
"""For up to this many objects extensions are not bounded, and all pairs, 12.5 million, are scored in the end if nothing
else helps."""

SCORE_ALL_ABOVE = 1 / 3
"""Once this share of all pairs is scored and the recall is still low, the rest is scored, too. Going on would cost
about as much, and scoring the rest makes the graph exact."""

OWNERS = 1024
"""At most how many objects one task joins. It bounds the memory for the pairs of a task, and tasks stay small enough to
keep all threads busy."""


@dataclass(frozen=True)
class NNDescent:
    """NN-Descent with its two parameters, as the way to make a neighbor graph.

    `covey.neighbor_graph` takes it as ``method``, and `covey.CRS` as ``graph``, where the name "nn-descent" stands for
    the defaults.

    Parameters
    ----------
    sample_rate : float, default=0.7
        The share of the entries of a list that are joined in a round, in (0, 1]. It is rho in the paper. A larger share
        finds more neighbors and takes more evaluations.
    tol : float, default=0.001
        The share of changed entries at which rounds end, in [0, 1]. It is delta in the paper.

    Raises
    ------
    ValueError
        If a parameter is not a number in its range.

    See Also
    --------
    covey.neighbor_graph : Makes the graph.
    covey.CRS : Selects representatives by a graph.

    Notes
    -----
    The method is that of Dong, Moses and Li [1]_. They use the same `tol`, and sample rates of 0.5 and 1; the default
    lies between these.

    References
    ----------
    .. [1] W. Dong, C. Moses and K. Li, "Efficient k-nearest neighbor graph construction for generic similarity
       measures", Proceedings of the 20th International Conference on World Wide Web, 2011.

    Examples
    --------
    Joining fewer entries saves evaluations:

    >>> import covey
    >>> from sklearn.datasets import load_digits
    >>> def n_evaluations(method):
    ...     return covey.neighbor_graph(load_digits().data, 10, method=method, random_state=0).n_evaluations
    >>> n_evaluations(covey.NNDescent(sample_rate=0.4)) < n_evaluations(covey.NNDescent(sample_rate=1))
    True
    >>> covey.CRS(10, graph=covey.NNDescent(tol=0.01)).graph
    NNDescent(sample_rate=0.7, tol=0.01)
    """

    sample_rate: float = 0.7
    tol: float = 0.001

    def __post_init__(self) -> None:
        if not (is_number(self.sample_rate) and 0 < self.sample_rate <= 1):
            raise ValueError(f"sample_rate must be a number in (0, 1], got {self.sample_rate!r}.")
        if not (is_number(self.tol) and 0 <= self.tol <= 1):
            raise ValueError(f"tol must be a number in [0, 1], got {self.tol!r}.")


def descend(
    space: Space,
    k: int,
    rng: np.random.Generator,
    method: NNDescent,
    scored: ScoredPairs | None = None,
    recall: float = RECALL,
) -> tuple[NeighborLists, Recall]:
    """Return approximate lists of at least max(k, 10) others, and an estimate of their recall of the true k nearest.

    The descent is extended while the estimate is less than the `recall` that is wanted. The pairs of `scored` enter the
    lists. They are not scored again as long as pairs are remembered at all.
    """
    many = space.n_left > MANY
    longer = LONGER_FOR_HUBS if space.hubs and many else 1
    size = min(longer * max(k, SMALLEST_LIST), space.n_left - 1)
    evaluator = Evaluator(space, size, space.bounds() if many else None)
    if scored is not None:
        evaluator.admit(scored)
    order = np.arange(space.n_left, dtype=np.int32)
    worth_trying = FEW <= space.n_left <= (MANY if space.cheap else MANY_COSTLY)
    # The screen that landmarks bring takes pairs out of the memory again, which only a complete one allows.
    landmarks = worth_trying and evaluator.remembers_all and start_from_landmarks(evaluator, scored, rng)
    if not landmarks:
        if many and not space.cheap:
            evaluator.lengthen(LONGER_IF_COSTLY)
        order = plant_forest(evaluator, rng)
    descent = Descent.along(order, evaluator, method.tol, rng)
    descent.join_until_stable(*descent.samples(method.sample_rate), SPARED)
    if landmarks:
        descent.sweep()
    if not (many and space.cheap):
        descent.join_unsampled()
    found = descent.extend_until_good(k, recall, method.sample_rate, lambda: plant_tree(evaluator, rng))
    return descent.lists(), found


@dataclass(frozen=True)
class Descent:
    """Rounds of joins.

    `order` says in which order objects are joined. It does not change the result, but rounds are faster if similar
    objects lie near each other in it. `numbers` holds the original number of each object if the evaluator has
    renumbered them.
    """

    evaluator: Evaluator
    order: Indices
    tol: float
    rng: np.random.Generator
    numbers: Indices | None = None

    @classmethod
    def along(cls, order: Indices, evaluator: Evaluator, tol: float, rng: np.random.Generator) -> "Descent":
        """Make a descent that joins objects in this order.

        Very many objects are renumbered in this order: similar ones then lie near each other in memory.
        """
        if not evaluator.forgetful:
            return cls(evaluator, order, tol, rng)
        evaluator.renumber(order)
        return cls(evaluator, np.arange(order.size, dtype=np.int32), tol, rng, order)

    def lists(self) -> NeighborLists:
        """Return the lists as they are now, under the original numbers of the objects."""
        lists = self.evaluator.lists
        return lists if self.numbers is None else lists.renumbered(np.argsort(self.numbers))

    def samples(self, sample_rate: float) -> tuple[int, int]:
        """Return how many entries of a list are joined in a round, and how many reversed ones."""
        evaluator = self.evaluator
        size = evaluator.lists.indices.shape[1]
        n_sampled = int(np.ceil(sample_rate * size))
        if evaluator.forgetful or evaluator.screen is not None:
            return n_sampled, n_sampled
        if evaluator.space.cheap or evaluator.space.n_left <= MANY:
            return n_sampled, n_sampled * MORE_REVERSED
        return int(np.ceil(OWN_IF_COSTLY * sample_rate * size)), int(np.ceil(REVERSED_IF_COSTLY * sample_rate * size))

    def join_until_stable(
        self, n_sampled: int, n_reversed: int, spared: float = 0.0, *, tol: float | None = None, most: int = MAX_ROUNDS
    ) -> None:
        """Make rounds until one would join no more than a share `tol` of the entries, and no more than `most`.

        By default it is the tolerance of the descent. Each round joins this many entries of a list, and as many
        reversed ones as asked for. A screen, if there is one, keeps out `spared` of the entries of lists.
        """
        evaluator, tol = self.evaluator, self.tol if tol is None else tol
        for _ in range(most):
            if evaluator.next_round() <= tol * evaluator.lists.indices.size:
                break
            if evaluator.screen is not None:
                evaluator.screen.adapt(evaluator.lists, spared)
            self._join(n_sampled, n_reversed, int(self.rng.integers(1 << 63)))

    def sweep(self) -> None:
        """Score pairs with the best estimates of all pairs, as far as the screen lets them pass."""
        evaluator, screen = self.evaluator, self.evaluator.screen
        n, size = evaluator.lists.indices.shape
        assert screen is not None
        screen.adapt(evaluator.lists, SPARED)
        evaluator.meet_likely(*screen.estimator.candidates(min(LOOKED_AT + size, n - 1), evaluator.space.n_jobs))

    def join_unsampled(self) -> None:
        """Join all entries once more, without sampling. This finds about a fifth of the neighbors still missing."""
        self.evaluator.lengthen(1.0)
        size = self.evaluator.lists.indices.shape[1]
        self.join_until_stable(size, size, SPARED_AT_LAST)

    def extend_until_good(self, k: int, wanted: float, sample_rate: float, start_again: Callable[[], Any]) -> Recall:
        """Extend the descent until the estimated recall of the k nearest is as wanted, or more would cost too much.

        The first extension starts the descent again, with another tree for instance, and goes on from there. All later
        ones also make the lists longer.
        """
        evaluator, space = self.evaluator, self.evaluator.space
        pairs = RandomPairs(evaluator, k, self.rng)
        enough, longer = wanted - tolerated(wanted), 1.0
        most = sys.maxsize if space.n_left <= ALL_PAIRS_UP_TO else (1 + EXTRA_WORK) * space.n_evaluations
        recall, spent = pairs.estimate_recall(enough), 0
        while recall.value < enough and space.n_evaluations + spent < most:
            before = space.n_evaluations
            if evaluator.remembers_all and space.scan_rate > SCORE_ALL_ABOVE:
                evaluator.meet_all()
                return Recall(1.0, 1.0, 1.0)
            evaluator.screen = None  # what it keeps out is what was missed
            evaluator.lengthen(longer)
            start_again()
            self.join_until_stable(*self.samples(sample_rate))
            recall = pairs.estimate_recall()  # it always draws more pairs here, as the graph was bad before
            enough, longer, spent = wanted, EXTENSION, space.n_evaluations - before
        return recall

    def _join(self, n_sampled: int, n_reversed: int, seed: int) -> None:
        """Make one round, in blocks of owners; the owner of a pair is its smaller index.

        Owners that lie near each other in `order` meet much the same objects, which then stay in the processor's cache.
        """
        evaluator, executor = self.evaluator, self.evaluator.space.executor
        candidates = Candidates.sample(evaluator.lists, n_sampled, n_reversed, seed, executor)
        # Small blocks keep several threads busy. Without threads blocks are large, because worker processes, which
        # compute Python similarities, gain from large batches.
        step = share_out(evaluator.space.n_left, OWNERS) if evaluator.space.threaded else 16 * OWNERS
        blocks = [self.order[start : start + step] for start in range(0, self.order.size, step)]
        executor.run(
            lambda owners: evaluator.consider(*evaluator.likely(*candidates.unmet(owners, evaluator.met))), blocks
        )
