"""Delta-medoids against its pseudo-code, written out."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import covey
from covey.runtime import memory
from covey.selectors import delta_medoids
from covey.selectors.delta_medoids import EvaluatedSimilarities
from covey.similarity.measures import resolve
from covey.similarity.similarity import Similarity
from tests import reference
from tests.forms import Counted, similarity_matrix, space_of


def eighths(n, seed, symmetric):
    """Similarities whose sums are exact, with many ties."""
    return similarity_matrix(n, np.random.default_rng(seed), symmetric, levels=8)


@given(
    n=st.integers(1, 40),
    seed=st.integers(0, 10_000),
    symmetric=st.booleans(),
    delta=st.sampled_from([0.0, 0.25, 0.5, 0.625, 0.75, 0.875, 1.0, 2.0]),
    strict=st.booleans(),
    one_shot=st.booleans(),
    batch=st.sampled_from([1, 3, 256]),
)
def test_it_is_the_pseudo_code(n, seed, symmetric, delta, strict, one_shot, batch):
    values = eighths(n, seed, symmetric)
    counted = Counted(values, symmetric)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(delta_medoids, "BATCH", batch)
        selector = covey.DeltaMedoids(
            delta, similarity=Similarity(counted, symmetric=symmetric), strict=strict, one_shot=one_shot
        ).fit(list(range(n)))
    groups, n_iter, stopped_by = reference.delta_medoids(lambda x, r: values[x, r], n, delta, strict, one_shot)
    assert set(selector.sample_indices_.tolist()) == set(groups)
    assert (selector.n_iter_, selector.stopped_by_) == (n_iter, {0: stopped_by})
    assert selector.n_evaluations_ == len(counted.calls) == len(set(counted.pairs))


@given(n=st.integers(1, 40), seed=st.integers(0, 10_000), symmetric=st.booleans(), delta=st.sampled_from([0.5, 0.75]))
def test_everyone_is_covered_after_every_iteration(n, seed, symmetric, delta):
    values = eighths(n, seed, symmetric)
    space = space_of(list(range(n)), resolve(Similarity(Counted(values, symmetric), symmetric=symmetric)))
    evaluated = EvaluatedSimilarities(space, "")
    every = delta_medoids.iterations(evaluated, delta, np.ones(n, dtype=int), strict=True, one_shot=False)
    for groups in itertools.islice(every, 6):
        others = groups.medoids != np.arange(n)
        assert np.all(values[np.arange(n), groups.medoids][others] >= delta)
        np.testing.assert_array_equal(groups.similarities[others], values[np.arange(n), groups.medoids][others])


def test_one_asks_for_no_more_pairs_than_the_pseudo_code(monkeypatch):
    """One shot compares each object with those that represent when its turn comes, and with no others."""
    values = eighths(60, 3, True)
    counted = Counted(values)
    selector = covey.DeltaMedoids(0.75, similarity=counted, one_shot=True).fit(list(range(60)))
    opened = sorted(selector.sample_indices_)
    expected = {(r, x) for x in range(60) for r in opened if r < x and x not in opened}
    expected |= set(itertools.combinations(opened, 2))
    assert set(counted.pairs) == expected


@pytest.mark.parametrize("symmetric", [True, False])
def test_extremes(symmetric):
    values = similarity_matrix(30, np.random.default_rng(0), symmetric)
    similarity = Similarity(Counted(values, symmetric), symmetric=symmetric)
    one = covey.DeltaMedoids(-1.0, similarity=similarity).fit(list(range(30)))
    assert one.sample_indices_.tolist() == [np.argmax(values.sum(axis=0))]
    everyone = covey.DeltaMedoids(1.5, similarity=similarity).fit(list(range(30)))
    assert sorted(everyone.sample_indices_) == list(range(30))
    assert everyone.prototypes_[0].n_orphans == 30


def test_what_ends_the_iterations(monkeypatch):
    """A cycle cannot happen but for rounding: here it is made up."""
    values = eighths(14, 0, True)
    selector = covey.DeltaMedoids(0.625, similarity="precomputed")
    assert selector.fit(values).stopped_by_ == {0: "unchanged"}
    assert selector.set_params(max_iter=1).fit(values).stopped_by_ == {0: "max_iter"}
    assert selector.n_iter_ == 1

    def circle(*args, **options):
        for at in itertools.count():
            yield delta_medoids.MedoidGroups(np.full(14, at % 3, dtype=np.int32), np.ones(14))

    monkeypatch.setattr(delta_medoids, "iterations", circle)
    assert selector.set_params(max_iter=9).fit(values).stopped_by_ == {0: "cycle"}
    assert selector.n_iter_ == 4


@given(n=st.integers(1, 40), seed=st.integers(0, 10_000), symmetric=st.booleans(), strict=st.booleans())
def test_groups_only_get_more_and_closer(n, seed, symmetric, strict):
    """Why it ends: the number of groups, then the sum of similarities to medoids, never falls."""
    values = eighths(n, seed, symmetric)
    space = space_of(list(range(n)), resolve(Similarity(Counted(values, symmetric), symmetric=symmetric)))
    before = (0, 0.0)
    once = np.ones(n, dtype=int)
    every = delta_medoids.iterations(EvaluatedSimilarities(space, ""), 0.625, once, strict=strict, one_shot=False)
    for groups in itertools.islice(every, 8):
        similarities = groups.similarities[np.isfinite(groups.similarities)]
        now = (np.unique(groups.medoids).size, similarities.sum())
        assert now >= before
        before = now


def test_without_strict_some_may_not_be_covered():
    """0 opens the group and is near all; 1 is nearer to all but 2, which it does not reach."""
    values = np.array(
        [[1, 0.7, 0.7, 0.7, 0.7], [0, 1, 0.2, 1, 1], [0, 0, 1, 0.6, 0.6], [0, 0, 0, 1, 0.6], [0, 0, 0, 0, 1]]
    )
    values = np.triu(values) + np.triu(values, 1).T
    loose, strict = (
        covey.DeltaMedoids(0.7, similarity="precomputed", strict=strict, max_iter=1).fit(values).prototypes_[0]
        for strict in (False, True)
    )
    assert (loose.indices.tolist(), loose.coverage) == ([1], 0.8)
    assert loose.covered_by.tolist() == [1, 1, -1, 1, 1]
    assert (strict.indices.tolist(), strict.coverage) == ([0], 1)


def test_a_single_object_represents_itself():
    prototype = covey.DeltaMedoids().fit(np.ones((1, 3))).prototypes_[0]
    assert prototype.indices.tolist() == prototype.covered_by.tolist() == [0]
    assert prototype.coverage == 1


def test_identical_objects_have_one_representative():
    """The mean of equal cosines may be rounded above them."""
    X = np.tile(np.random.default_rng(0).random(7), (50, 1))
    assert covey.DeltaMedoids().fit(X).sample_indices_.tolist() == [0]


def test_sampled_homogeneity_is_not_evaluated_twice():
    values = similarity_matrix(300, np.random.default_rng(0))
    counted = Counted(values)
    selector = covey.DeltaMedoids(similarity=counted, random_state=0).fit(list(range(300)))
    assert selector.n_evaluations_ == len(counted.calls) == len(set(counted.pairs))
    assert selector.prototypes_[0].homogeneity == pytest.approx(0.5, abs=0.03)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_clusters_and_forms(n_jobs):
    rng = np.random.default_rng(0)
    X, y = rng.random((90, 4)), rng.integers(0, 3, 90)
    named = covey.DeltaMedoids(n_jobs=n_jobs).fit(X, y)
    assert set(named.prototypes_) == {0, 1, 2}
    for label, prototype in named.prototypes_.items():
        assert np.all(y[prototype.indices] == label)
        assert prototype.coverage == 1
        assert prototype.gains.sum() == prototype.members.size
        assert np.all(np.diff(prototype.gains) <= 0)


def test_too_many_objects_are_refused_at_once(monkeypatch):
    monkeypatch.setattr(memory.os, "sysconf", lambda name: 1000)
    with pytest.raises(MemoryError, match=r"Keeping the similarities of 900 objects needs .* use covey.CRS"):
        covey.DeltaMedoids().fit(np.random.default_rng(0).random((900, 3)))


def test_share_selected_on_fashion_mnist(fashion):
    """With delta at the homogeneity, .7 to 10 % of a class."""
    X, y = fashion[:2]
    shares = []
    for label in (1, 5, 7):
        members = X[y == label][:3000].astype(np.float32)
        selector = covey.DeltaMedoids(n_jobs=2).fit(members)
        shares.append(selector.sample_indices_.size / 3000)
        assert selector.prototypes_[0].coverage == 1
        assert 0.2 < selector.scan_rate_ < 0.7
    assert all(0.006 < share < 0.11 for share in shares)
