"""Neighbor lists: what they hold is looked up, and what they do not hold is bounded."""

import numpy as np

from covey.graph.lists import NeighborLists


def test_lists_look_up_what_they_hold_and_bound_what_they_do_not():
    lists = NeighborLists.empty(2, 2)
    i, j = np.zeros(3, np.int32), np.array([5, 6, 7], np.int32)
    lists.offer(i, j, np.array([0.1, 0.9, 0.4]))
    np.testing.assert_array_equal(lists.look_up(i, j), [0.4, 0.9, 0.4])
    longer = lists.lengthened(4)  # empty places have no similarity
    np.testing.assert_array_equal(longer.look_up(i, j), [0.4, 0.9, 0.4])
