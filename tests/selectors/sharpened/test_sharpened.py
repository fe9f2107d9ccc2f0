"""`Sharpened` searches: the loss falls, prototypes are true, and the answer is the same for any cut of the work."""

import os
import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone

import covey
from covey.graph import by_group, exact
from covey.runtime import executor
from covey.selectors.sharpened import search
from covey.similarity.calls import pool
from tests.selectors.sharpened.cases import ENGINES, INNER, check_prototypes, overlapping, state, table


@pytest.mark.parametrize("margins", ["exact", "listed"])
@pytest.mark.parametrize("n_neighbors", [2, 20, "auto"])
@pytest.mark.parametrize("seed", range(3))
def test_the_loss_falls_from_round_to_round(n_neighbors, margins, seed):
    """A round after which the loss is not lower is undone."""
    objects, y = overlapping(150, seed=seed)
    options = {"n_neighbors": n_neighbors, "margins": margins, "max_rounds": 8}
    selector = covey.Sharpened(covey.CRS(4, similarity="euclidean"), **options, random_state=seed).fit(objects, y)
    assert 1 <= selector.losses_.size <= 9
    assert (np.diff(selector.losses_) < 0).all()
    assert 0 <= selector.losses_.min() <= selector.losses_.max() <= 1
    assert selector.temperature_ > 0
    fewer = clone(selector).set_params(max_rounds=1).fit(objects, y)
    assert fewer.losses_.tolist() == selector.losses_[:2].tolist()


def test_a_round_that_raises_the_loss_is_undone(monkeypatch):
    """The representatives are then those from before it, and so are the prototypes."""
    objects, y = overlapping()
    selector = covey.Sharpened(covey.CRS(4, similarity="euclidean"), random_state=0, max_rounds=1).fit(objects, y)
    assert selector.sharpened_

    def worse(self, temperature, rng):
        chosen = self.indices
        self.replace_all(np.concatenate([chosen[np.unique(y[rows][chosen], return_index=True)[1]], chosen[-1:]]))
        return chosen.size

    rows = np.unique(np.column_stack([objects, y]), axis=0, return_index=True)[1]
    rows.sort()
    monkeypatch.setattr(search.RepresentativeSet, "sweep", worse)
    undone = clone(selector).fit(objects, y)
    assert undone.losses_.size == 1
    assert not undone.sharpened_
    assert undone.sample_indices_.tolist() == undone.selector_.sample_indices_.tolist()


@pytest.mark.parametrize("margins", ["exact", "listed"])
@pytest.mark.parametrize("size", [None, 3, 4, 30])
def test_every_class_keeps_at_least_one(size, margins):
    """A class without a representative could never be the answer, whatever the loss says."""
    rng = np.random.default_rng(0)
    y = np.array([0] * 100 + [1] * 15 + [2])
    objects = rng.normal(size=(116, 2))  # the classes cannot be told apart, so that the large one wants everything
    inner = covey.CRS(8, similarity="euclidean")
    selector = covey.Sharpened(inner, size=size, margins=margins, random_state=0).fit(objects, y)
    assert all(prototype.indices.size >= 1 for prototype in selector.prototypes_.values())
    assert selector.sample_indices_.size == (selector.selector_.sample_indices_.size if size is None else size)


@pytest.mark.parametrize("engine", ENGINES)
def test_the_answer_does_not_depend_on_how_the_work_is_shared(engine, monkeypatch):
    """One total order decides every list and every tie; sums are made in one order by one thread."""
    objects, y, inner = ENGINES[engine]()
    selector = covey.Sharpened(inner, n_neighbors=6, random_state=0)
    expected = state(selector.fit(objects, y))
    assert selector.sharpened_
    monkeypatch.setattr(pool, "WORTH_IT", 0.0)  # processes share however little work there is
    for n_jobs in (2, -1):
        assert state(clone(selector).set_params(n_jobs=n_jobs).fit(objects, y)) == expected
    for module in (by_group, exact):
        monkeypatch.setattr(module, "TILE", 13)
    monkeypatch.setattr(executor, "BATCH", 17)
    for n_jobs in (1, 2):
        assert state(clone(selector).set_params(n_jobs=n_jobs).fit(objects, y)) == expected


def sets_of_letters():
    """What is chosen of sets, whose order depends on the hashes of their elements."""
    words = [a + b + c for a in "abcd" for b in "abcd" for c in "abcd"]
    selector = covey.Sharpened(covey.CRS(3, similarity="jaccard"), size=15, n_neighbors=5, random_state=0)
    selector.fit([set(word) for word in words], [min(word[:2]) for word in words])
    return selector.sample_indices_.tolist(), selector.losses_.tolist()


def test_the_order_of_python_sets_plays_no_part():
    """Strings have other hashes in another process."""
    command = [sys.executable, "-c", f"from {__name__} import sets_of_letters; print(sets_of_letters())"]
    environment = {**os.environ, "PYTHONHASHSEED": "7"}
    answer = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    assert answer.strip() == str(sets_of_letters())


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("margins", ["exact", "listed"])
@pytest.mark.parametrize("inner", INNER)
def test_prototypes_are_true_whatever_the_inner_selector(inner, margins, symmetric):
    s, y = table(75, symmetric, levels=9)
    selector = covey.Sharpened(
        INNER[inner](similarity="precomputed"), n_neighbors=5, size=14, margins=margins, random_state=0
    ).fit(s, y)
    assert selector.sharpened_
    check_prototypes(selector, s, y)
    assert selector.sample_indices_.size == 14
    for label, prototype in selector.prototypes_.items():
        before = selector.selector_.prototypes_[label]
        for name in ("homogeneity", "threshold", "n_evaluations", "scan_rate"):
            np.testing.assert_equal(getattr(prototype, name), getattr(before, name))


def test_listed_margins_leave_prototypes_true_if_the_graph_is_exact():
    """An object may remember an own representative below the floor of its list, and not know a nearer one, which covers
    it. The graph of 240 objects is exact for 8 neighbors, so that everything above the floor is listed.
    """
    rng = np.random.default_rng(1)
    y = np.arange(240) % 3
    rows = rng.normal(1.5 * np.eye(25)[y])
    squares = (rows**2).sum(axis=1)
    s = 1 / (1 + np.sqrt(np.maximum(squares[:, None] + squares - 2 * rows @ rows.T, 0)))
    s = (s + s.T) / 2
    similarity = covey.batched(lambda a, b: s[np.array(a), np.array(b)], symmetric=True)
    inner = covey.CRS(5, graph="nn-descent", similarity=similarity)
    selector = covey.Sharpened(inner, n_neighbors=8, margins="listed", random_state=1).fit(list(range(240)), y)
    assert selector.sharpened_
    check_prototypes(selector, s, y)
