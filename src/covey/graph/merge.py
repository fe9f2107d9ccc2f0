"""Merging the finished graphs of two groups of objects into the graph of both groups together.

Two machines may each make the graph of their own objects. What is missing then are the neighbors across. This file
finds them, and scores no pair within a group again:

1. Number the objects of both groups anew, in the order of their rows. Each object starts with the list that it has in
   its own group.
2. Where all pairs across are few, or cheap, score all of them (`nearest_across`).
3. Otherwise let each object meet some objects of the other group: those of its leaf in a pivot tree over both groups
   where cheap upper bounds can grow one, else random ones. Then go on as NN-Descent does (`descent.py`): neighbors of
   neighbors meet, if they belong to different groups. The lists within the groups are good already, so a few lucky
   pairs across spread quickly.
4. Check the recall by random pairs across, and extend the descent if it is low.
"""

import numpy as np

from covey.arrays import Flags, Indices
from covey.graph.descent import MANY, SMALLEST_LIST, Descent, NNDescent
from covey.graph.evaluator import Evaluator
from covey.graph.lists import NeighborLists
from covey.graph.pair_memory import CrossPairs, pair_set
from covey.graph.recall import RECALL, Recall
from covey.graph.starts import plant_tree
from covey.similarity.space import Space

RANDOM_PARTNERS = 5
"""How many random objects of the other group each object meets at the start, where pivots would have to be scored. With
10, or with one or two pivot trees, the recall was the same within .007, for up to 33 more evaluations per object
(16 000 rows in 16 dimensions, four groups, 15 neighbors). Where a tree costs only bounds it halves the time, because it
spares the first rounds: 5 s instead of 11 s for 200 000 rows in 32 dimensions, at the same recall."""

LONGER_LISTS = 1.5
"""How many times longer the lists are than the number of neighbors asked for, in groups that will be merged. Lists of
15 found .977 of 15 neighbors after eight groups were merged, and lists of 10 only .845 of 10 neighbors (the same
16 000 rows)."""


def length_of_lists(k: int) -> int:
    """Return how long the lists of groups have to be if k neighbors are wanted in the end."""
    return int(np.ceil(LONGER_LISTS * max(k, SMALLEST_LIST)))


def merge(
    space: Space,
    on_right: Flags,
    lists: NeighborLists,
    k: int,
    rng: np.random.Generator,
    method: NNDescent,
    recall: float = RECALL,
) -> tuple[NeighborLists, Recall]:
    """Add neighbors across two groups to the lists of all objects of both.

    Parameters
    ----------
    space : Space
        The objects of both groups.
    on_right : bool array
        Which of them belong to the second group.
    lists : NeighborLists
        The neighbors of each object within its own group.
    k : int
        How many neighbors are wanted in the end. The recall of this many is checked.
    rng : Generator
        Makes all random draws.
    method : NNDescent
        The parameters of the descent.
    recall : float
        The share of the true neighbors across that is wanted.

    Returns
    -------
    lists : NeighborLists
        The neighbors of each object in both groups. They may be longer than those given.
    recall : Recall
        Which share of the k nearest in both groups they hold, estimated from random pairs.
    """
    met = CrossPairs(on_right, pair_set(space))
    bounds = space.bounds() if space.n_left > MANY else None
    evaluator = Evaluator(space, lists.indices.shape[1], bounds, met)
    evaluator.lists = lists
    sides = [np.flatnonzero(~on_right).astype(np.int32), np.flatnonzero(on_right).astype(np.int32)]

    def start() -> Indices:
        if evaluator.bounded:
            return plant_tree(evaluator, rng)
        for own, others in (sides, sides[::-1]):
            evaluator.meet(*_random_pairs(own, others, rng))
        return np.arange(space.n_left, dtype=np.int32)

    descent = Descent.along(start(), evaluator, method.tol, rng)
    descent.join_until_stable(*descent.samples(method.sample_rate))
    found = descent.extend_until_good(k, recall, method.sample_rate, start)
    return descent.lists(), found


def _random_pairs(own: Indices, others: Indices, rng: np.random.Generator) -> tuple[Indices, Indices]:
    """Draw random partners among the others for each object."""
    return np.repeat(own, RANDOM_PARTNERS), others[rng.integers(others.size, size=own.size * RANDOM_PARTNERS)]
