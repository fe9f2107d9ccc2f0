"""The nearest object of each group is the one that a look at all pairs finds, however the work is cut up."""

import numpy as np
import pytest

from covey.graph import by_group
from covey.graph.by_group import nearest_of_groups
from covey.similarity.kinds.dispatch import collect
from covey.similarity.measures import resolve

RNG = np.random.default_rng(0)
# Small whole numbers make many ties, which go to the lowest index.
QUERIES, MEMBERS = RNG.integers(0, 3, (70, 4)).astype(float), RNG.integers(0, 3, (50, 4)).astype(float)
GROUPS = np.concatenate([np.arange(6), RNG.integers(0, 6, 44)])


def product(a, b):
    return float(a @ b)


def space(similarity, n_jobs=1):
    return collect(MEMBERS, resolve(similarity)).space_of_queries(QUERIES, n_jobs=n_jobs)


def obvious():
    """For each query and group (similarity, index), the most similar first, then the lowest index."""
    products = QUERIES @ MEMBERS.T
    best = [[min((-row[m], m) for m in np.flatnonzero(group == GROUPS)) for group in range(6)] for row in products]
    return [[(-negative, int(index)) for negative, index in row] for row in best]


@pytest.mark.parametrize("tile", [7, 1024])
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("similarity", ["dot", product])
def test_every_group_has_its_nearest(similarity, n_jobs, tile, monkeypatch):
    monkeypatch.setattr(by_group, "TILE", tile)
    asked = space(similarity, n_jobs)
    indices, similarities = nearest_of_groups(asked, GROUPS)
    expected = obvious()
    assert indices.tolist() == [[index for _, index in row] for row in expected]
    assert similarities.tolist() == [[value for value, _ in row] for row in expected]
    assert asked.n_evaluations == len(QUERIES) * len(MEMBERS)


@pytest.mark.parametrize("tile", [7, 1024])
@pytest.mark.parametrize("n_best", [1, 2, 5])
def test_the_best_groups_are_right_and_the_others_do_not_reach_them(n_best, tile, monkeypatch):
    monkeypatch.setattr(by_group, "TILE", tile)
    indices, similarities = nearest_of_groups(space("dot"), GROUPS, n_best)
    for found, values, row in zip(indices.tolist(), similarities.tolist(), obvious(), strict=True):
        wanted = sorted((value for value, _ in row), reverse=True)[n_best - 1]
        for index, value, (true_value, true_index) in zip(found, values, row, strict=True):
            if true_value >= wanted:
                assert (index, value) == (true_index, true_value)
            else:
                assert value < wanted


def test_groups_that_cannot_be_among_the_best_are_not_scored():
    """Otherwise `explain` would cost as much as evidence for all classes."""
    indices, _ = nearest_of_groups(space("dot"), GROUPS, 1)
    assert (indices < 0).any()
