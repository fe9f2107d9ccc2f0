"""A linear program has the same answer in this process and in one of its own."""

import numpy as np
import pytest

from covey.coverage import lower_bound
from covey.coverage.lower_bound import solve_program

rng = np.random.default_rng(0)


@pytest.mark.parametrize("method", ["highs-ipm", "highs-ds"])
def test_a_program_that_may_take_long_is_solved_by_another_process_to_the_same_answer(method, monkeypatch):
    problem = (-rng.random(300), rng.random((200, 300)), np.ones(200), (0, 1), method)
    here = solve_program(*problem)
    apart = []

    def call_apart(function, *args, **kwargs):
        apart.append(function)
        return linear_program_apart(function, *args, **kwargs)

    linear_program_apart = lower_bound.call_apart
    monkeypatch.setattr(lower_bound, "call_apart", call_apart)
    monkeypatch.setattr(lower_bound, "SMALL", 10)
    monkeypatch.setattr(lower_bound, "SHORT", 0.0)
    there = solve_program(*problem)
    assert len(apart) == 1
    np.testing.assert_array_equal(here.x, there.x)
    np.testing.assert_array_equal(here.ineqlin.marginals, there.ineqlin.marginals)
