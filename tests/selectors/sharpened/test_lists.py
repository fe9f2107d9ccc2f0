"""Lists of the nearest others in each class, and of those that list an object."""

import numpy as np
import pytest

from tests import reference
from tests.selectors.sharpened.test_search import Problem


@pytest.mark.parametrize("symmetric", [True, False])
def test_lists_hold_the_nearest_others_and_their_reverse_the_same_entries(symmetric):
    problem = Problem(3, n=30, k=7, symmetric=symmetric, levels=5)
    expected = reference.neighbors(lambda x, r: problem.s[x, r], 30, 7)
    entries = set()
    for x in range(30):
        assert list(problem.listed(x).items()) == [(other, float(value)) for other, value in expected[x]]
        entries |= {(x, other, value) for other, value in problem.listed(x).items()}
    lists = problem.lists
    c = np.repeat(np.arange(30), np.diff(lists.row_starts))
    reverse = set(zip(lists.rows.tolist(), c.tolist(), lists.row_similarities.tolist(), strict=True))
    assert reverse == entries
    assert len(lists.rows) == len(entries)
