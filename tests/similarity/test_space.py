"""Spaces: the pairs that are drawn from one."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from covey.similarity.space import draw_pairs


@given(st.integers(2, 2000), st.integers(0, 9))
def test_drawn_pairs_are_different_pairs(n, seed):
    n_pairs = n * (n - 1) // 2
    for size in {min(n_pairs, 50), n_pairs if n < 80 else 1}:
        i, j = draw_pairs(n, size, np.random.default_rng(seed))
        assert len(set(zip(i.tolist(), j.tolist(), strict=True))) == size
        assert (i >= 0).all()
        assert (i < j).all()
        assert (j < n).all()
