"""Neighbor lists hold the best of all offers, in their total order, in whatever sequence these come."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from covey.graph.lists import NeighborLists


def test_lists_look_up_what_they_hold_and_bound_what_they_do_not():
    lists = NeighborLists.empty(2, 2)
    i, j = np.zeros(3, np.int32), np.array([5, 6, 7], np.int32)
    lists.offer(i, j, np.array([0.1, 0.9, 0.4]))
    np.testing.assert_array_equal(lists.look_up(i, j), [0.4, 0.9, 0.4])
    longer = lists.lengthened(4)  # empty places have no similarity
    np.testing.assert_array_equal(longer.look_up(i, j), [0.4, 0.9, 0.4])


@given(
    seed=st.integers(0, 10**6),
    size=st.sampled_from([1, 2, 9, 10, 31, 32, 33, 34, 70, 150]),
    n=st.sampled_from([3, 50, 400]),
    levels=st.sampled_from([1, 3, 10**6]),
)
def test_a_list_holds_the_best_of_what_was_offered(seed, size, n, levels):
    """Many pairs are offered more than once, always with the same similarity."""
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, levels, (4, n)) / levels - 0.5
    i, j = rng.integers(0, 4, 6 * n).astype(np.int32), rng.integers(0, n, 6 * n).astype(np.int32)
    lists = NeighborLists.empty(4, size)
    for part in np.array_split(np.arange(i.size), 3):
        lists.offer(i[part], j[part], scores[i[part], j[part]])
    for row in range(4):
        offered = sorted(set(j[i == row].tolist()), key=lambda other, row=row: (-scores[row, other], other))[:size]
        assert lists.indices[row].tolist() == offered + [-1] * (size - len(offered))
        expected = scores[row, offered].tolist() + [-np.inf] * (size - len(offered))
        assert lists.similarities[row].tolist() == expected


def test_states_move_with_their_entries():
    lists = NeighborLists.empty(1, 60)
    order = np.random.default_rng(0).permutation(60).astype(np.int32)
    for other in order:
        lists.offer(np.zeros(1, np.int32), np.array([other]), np.array([other / 60]))
        lists.states[0, lists.indices[0] == other] = other
    assert lists.states[0].tolist() == lists.indices[0].tolist() == list(range(59, -1, -1))
