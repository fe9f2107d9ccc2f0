"""Similarities that are remembered: no pair is evaluated twice, and what is looked up is what was evaluated."""

import pickle

import numpy as np
import pytest

import covey
from covey.similarity.kinds import collect
from covey.similarity.measures import resolve
from covey.similarity.pair_cache import CachedCollection
from tests.forms import WORDS, Counted, letters, similarity_matrix

RNG = np.random.default_rng(0)


def collection_of(function, n=20, symmetric=True):
    similarity = covey.Similarity(function, symmetric=symmetric, trusted=True)
    return collect(list(range(n)), similarity).cached_in_memory()


def counted_collection(n=20, symmetric=True):
    counted = Counted(similarity_matrix(n, np.random.default_rng(1), symmetric), symmetric)
    return counted, collection_of(counted, n, symmetric)


def pairs(n, size, rng=RNG):
    i, j = rng.integers(0, n, (2, size)).astype(np.int32)
    return i, np.where(i == j, (j + 1) % n, j).astype(np.int32)


@pytest.mark.parametrize("symmetric", [True, False])
def test_no_pair_is_evaluated_twice_whichever_space_asks(symmetric):
    """All parts of a collection share one memory, and an evaluation is counted by the space that has caused it."""
    counted, whole = counted_collection(20, symmetric)
    part, other = whole.take(np.array([3, 5, 7, 11])), whole.take(np.array([1, 5, 19]))
    spaces = [whole.space(), part.space(), part.against(other), other.against(part), whole.against(part)]
    for space in spaces * 2:
        i = RNG.integers(0, space.n_left, 60).astype(np.int32)
        j = RNG.integers(0, space.n_right, 60).astype(np.int32)
        space.score(i, j)
    assert len(counted.calls) == len(set(counted.pairs)) == sum(space.n_evaluations for space in spaces)
    if symmetric:
        assert len(counted.calls) <= 20 * 21 // 2


@pytest.mark.parametrize("symmetric", [True, False])
def test_scores_are_those_of_the_plain_collection(symmetric):
    counted, whole = counted_collection(20, symmetric)
    left, right = RNG.permutation(20)[:9], RNG.permutation(20)[:13]
    space = whole.take(left).against(whole.take(right))
    for _ in range(3):
        i, j = RNG.integers(0, 9, 50).astype(np.int32), RNG.integers(0, 13, 50).astype(np.int32)
        np.testing.assert_array_equal(space.score(i, j), counted.values[left[i], right[j]])
    assert space.symmetric is False
    assert whole.space().symmetric is symmetric
    assert space.score(np.empty(0, np.int32), np.empty(0, np.int32)).size == 0


@pytest.mark.parametrize("symmetric", [True, False])
def test_known_pairs_are_what_was_evaluated_among_the_members(symmetric):
    """In both directions if these are the same; without the pairs of an object with itself or with others."""
    counted, whole = counted_collection(12, symmetric)
    assert whole.known_pairs()[0].size == 0
    whole.space().score(*pairs(12, 40))
    whole.space().score(np.array([2], np.int32), np.array([2], np.int32))
    members = np.array([9, 2, 4, 5, 0])
    for part, rows in ((whole, np.arange(12)), (whole.take(members), members)):
        i, j, similarities = part.known_pairs()
        found = dict(zip(zip(rows[i].tolist(), rows[j].tolist(), strict=True), similarities.tolist(), strict=True))
        expected = {pair for pair in counted.calls if pair[0] != pair[1] and {*pair} <= {*rows.tolist()}}
        expected |= {pair[::-1] for pair in expected} if symmetric else set()
        assert found == {pair: counted.values[pair] for pair in expected}
        assert len(found) == i.size


@pytest.mark.parametrize(
    ("X", "similarity", "kept"),
    [
        (RNG.random((9, 3)), "cosine", False),
        (np.eye(9), "precomputed", False),
        ([set(word) for word in WORDS], "jaccard", False),
        (WORDS, "levenshtein", False),
        (WORDS, letters, True),
        (RNG.random((9, 3)), covey.batched(lambda A, B: (A * B).sum(axis=1)), True),
        (WORDS, covey.from_distance(lambda a, b: abs(len(a) - len(b))), True),
    ],
)
def test_only_functions_of_the_users_own_are_remembered(X, similarity, kept):
    collection = collect(X, resolve(similarity)).prepared()
    found = collection.cached_in_memory()
    assert isinstance(found, CachedCollection) is kept
    assert kept or found is collection
    assert collection.known_pairs()[0].size == 0


def test_a_remembered_collection_has_the_properties_of_the_plain_one():
    X = RNG.integers(0, 2, (30, 3)).astype(float)
    plain = collect(X, resolve(lambda a, b: float(a @ b)))
    found = plain.cached_in_memory()
    assert (len(found), found.n_columns) == (30, 3)
    assert found.given is X
    np.testing.assert_array_equal(found.distinct().kind, plain.distinct().kind)
    rows = np.array([4, 2, 17])
    part = found.take(rows)
    np.testing.assert_array_equal(part.rows, rows)
    np.testing.assert_array_equal(part.objects, X[rows])
    np.testing.assert_array_equal(found.representatives(rows).objects, X[rows])
    np.testing.assert_array_equal(part.take(np.array([2, 0])).rows, [17, 4])
    assert found.take(np.arange(30)) is found


def test_errors_name_the_rows_of_x():
    def odd(a, b):
        return np.nan if {a, b} == {11, 17} else 0.5

    whole = collection_of(odd)
    space = whole.take(np.array([3, 11])).against(whole.take(np.array([5, 17])))
    with pytest.raises(ValueError, match=r"of object (11 and object 17|17 and object 11) returned nan"):
        space.score(np.array([0, 1], np.int32), np.array([0, 1], np.int32))
    assert space.n_evaluations == 1  # the first pair was evaluated before the second has failed


def test_a_function_declared_symmetric_is_asked_from_the_lower_row_to_the_higher():
    """It may be symmetric but for rounding; the answers must not depend on who asks first."""
    calls = []

    def lies(a, b):
        calls.append((a, b))
        return a - b / 100.0

    whole = collection_of(lies)
    space = whole.take(np.array([15, 16])).against(whole.take(np.array([2, 18])))
    found = space.score(np.array([0, 0, 1], np.int32), np.array([0, 1, 0], np.int32))
    assert found.tolist() == [lies(2, 15), lies(15, 18), lies(2, 16)]
    assert all(a <= b for a, b in calls)


def test_a_remembered_collection_can_be_pickled():
    """Selectors of the user's own may keep their cluster, and estimators are pickled."""
    found = collect(WORDS, resolve(letters)).cached_in_memory()
    again = pickle.loads(pickle.dumps(found))
    i, j = pairs(len(WORDS), 30)
    np.testing.assert_array_equal(again.space().score(i, j), found.space().score(i, j))
