"""The evaluator, the pairs that it remembers and the lists that it fills."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.graph import pair_memory
from covey.graph.evaluator import Evaluator
from covey.graph.lists import NeighborLists
from covey.similarity.measures import resolve
from covey.similarity.space import draw_pairs
from tests.forms import space_of


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)).filter(lambda p: p[0] != p[1]), max_size=300))
def test_pair_sets_know_what_they_have_seen(pairs):
    i, j = np.array(pairs, dtype=np.int32).reshape(-1, 2).T
    seen = set()
    expected = []
    for pair in pairs:
        expected.append(frozenset(pair) not in seen)
        seen.add(frozenset(pair))
    for pair_set in (pair_memory.BitmapPairs(31), pair_memory.HashedPairs(600)):
        half = len(pairs) // 2
        first = np.concatenate([pair_set.add(i[:half], j[:half]), pair_set.add(i[half:], j[half:])])
        assert first.tolist() == expected


def test_a_hash_of_pairs_grows():
    i, j = draw_pairs(600, 600 * 599 // 2, np.random.default_rng(0))
    pair_set = pair_memory.HashedPairs(600)
    assert pair_set.add(i[:40000], j[:40000]).all()
    assert pair_set.add(i, j).sum() == i.size - 40000
    assert not pair_set.add(j, i).any()


def test_lists_look_up_what_they_hold_and_bound_what_they_do_not():
    lists = NeighborLists.empty(2, 2)
    i, j = np.zeros(3, np.int32), np.array([5, 6, 7], np.int32)
    lists.offer(i, j, np.array([0.1, 0.9, 0.4]))
    np.testing.assert_array_equal(lists.look_up(i, j), [0.4, 0.9, 0.4])
    longer = lists.lengthened(4)  # empty places have no similarity
    np.testing.assert_array_equal(longer.look_up(i, j), [0.4, 0.9, 0.4])


def test_only_an_evaluator_that_remembers_no_pairs_can_renumber_its_objects(monkeypatch):
    """Remembered pairs would keep their old numbers."""
    X, order = np.random.default_rng(0).random((40, 6)), np.arange(40, dtype=np.int32)[::-1]
    with pytest.raises(RuntimeError, match="only while no pairs are remembered"):
        Evaluator(space_of(X, resolve("cosine")), 5).renumber(order)
    monkeypatch.setattr(pair_memory, "BITMAP_LIMIT", 0)
    evaluator = Evaluator(space_of(X, resolve("cosine")), 5)
    i, j = np.array(np.triu_indices(40, 1), dtype=np.int32)
    evaluator.meet(i, j)
    expected = evaluator.lists.renumbered(order)
    evaluator.renumber(order)
    evaluator.meet(i, j)  # every pair is in its list already, under the new numbers
    np.testing.assert_array_equal(evaluator.lists.indices, expected.indices)
