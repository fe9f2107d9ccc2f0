"""Hashes of contents and fingerprints say what is equal, in any process and part of the data it is."""

import functools
import os
import pickle
import re
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import cloudpickle
import numba
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import covey
from covey.similarity.fingerprint import data_fingerprint
from covey.similarity.kinds import collect
from covey.similarity.measures import resolve, similarity_fingerprint


def same_length(a, b):
    return 1.0 / (1 + abs(len(str(a)) - len(str(b))))


def hashes(X, similarity):
    return collect(X, resolve(similarity)).content_hashes()


def assert_hashes_are_equal_where_objects_are(X, similarity, cut):
    """All objects are compared at once by `distinct`, and their hashes are those of two collections of them."""
    collection = collect(X, resolve(similarity))
    kind = collection.distinct().kind
    found = collection.content_hashes()
    assert (found.dtype, found.shape) == (np.uint64, kind.shape)
    np.testing.assert_array_equal(found[:, None] == found, kind[:, None] == kind)
    parts = [collect(part, resolve(similarity)) for part in (X[:cut], X[cut:])]
    np.testing.assert_array_equal(np.concatenate([part.content_hashes() for part in parts]), found)
    np.testing.assert_array_equal(collection.take(np.arange(cut)).content_hashes(), found[:cut])


cuts = st.integers(1, 9)
numbers = st.one_of(
    st.integers(-3, 3), st.integers(-(2**70), 2**70), st.booleans(), st.floats(width=16, allow_nan=False),
    st.decimals(-3, 3, places=1), st.fractions(-2, 2, max_denominator=3), st.complex_numbers(max_magnitude=2),
)  # fmt: skip
keys = st.recursive(
    st.one_of(st.none(), numbers, st.text(max_size=2), st.binary(max_size=2)),
    lambda inner: st.one_of(st.tuples(inner, inner), st.frozensets(inner, max_size=3)),
    max_leaves=4,
)
objects = st.recursive(
    st.one_of(keys, st.lists(st.integers(0, 2), max_size=2).map(np.array), st.sets(keys, max_size=3)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(keys, inner, max_size=2)),
    max_leaves=4,
)


@given(
    seed=st.integers(0, 999),
    cut=cuts,
    form=st.sampled_from([np.asarray, sp.csr_array]),
    dtype=st.sampled_from([np.float64, np.float32, np.int8]),
    similarity=st.sampled_from(["cosine", "euclidean", same_length]),
)
def test_rows_have_equal_hashes_where_they_are_equal(seed, cut, form, dtype, similarity):
    X = np.random.default_rng(seed).integers(-2, 3, (10, 2)).astype(dtype)
    assert_hashes_are_equal_where_objects_are(form(X), similarity, cut)


@given(
    profiles=st.lists(st.dictionaries(keys, st.integers(-2, 2), max_size=3), min_size=10, max_size=10),
    cut=cuts,
    similarity=st.sampled_from(["cosine", "euclidean"]),
)
def test_profiles_have_equal_hashes_where_they_are_equal(profiles, cut, similarity):
    assert_hashes_are_equal_where_objects_are(profiles, similarity, cut)
    assert_hashes_are_equal_where_objects_are([set(profile) for profile in profiles], similarity, cut)


@given(strings=st.lists(st.text(st.characters(), max_size=2), min_size=10, max_size=10), cut=cuts)
def test_strings_have_equal_hashes_where_they_are_equal(strings, cut):
    assert_hashes_are_equal_where_objects_are(strings, "levenshtein", cut)
    assert_hashes_are_equal_where_objects_are(strings, same_length, cut)


@given(values=st.lists(objects, min_size=5, max_size=5), cut=cuts)
def test_objects_have_equal_hashes_where_they_are_equal(values, cut):
    assert_hashes_are_equal_where_objects_are(values + pickle.loads(pickle.dumps(values)), same_length, cut)


@dataclass(frozen=True)
class Point:
    x: float
    tags: frozenset = frozenset()


def test_objects_of_ones_own_classes_are_hashed_by_what_they_hold():
    values = [Point(1), Point(1.0), Point(2), Point(1, frozenset("abc")), Point(1, frozenset("cab")), re.compile("a"),
              re.compile("b"), re.compile("a")]  # fmt: skip
    assert_hashes_are_equal_where_objects_are(values, same_length, 4)


def test_every_object_has_a_hash():
    endless = []
    endless.append([endless, endless])
    deep = functools.reduce(lambda inner, _: [inner], range(5000), "a")
    values = [
        endless,
        deep,
        (at for at in "ab"),
        Decimal("sNaN"),
        float("nan"),
        object,
        np,
        np.timedelta64(1, "s"),
        ...,
    ]
    found = hashes(values, same_length)
    assert np.unique(found).size == len(values)
    np.testing.assert_array_equal(hashes(values, same_length), found)


def test_keys_are_equal_whatever_their_types_are():
    one = [{1: 2.0}, {True: 2}, {1.0: 2}, {Decimal(1): 2}, {Fraction(1): 2}, {np.int8(1): 2}, {1 + 0j: 2}]
    assert np.unique(hashes(one, "ruzicka")).size == 1
    assert np.unique(hashes([{-1: 1}, {-2: 1}, {2**61 - 1: 1}, {0: 1}], "ruzicka")).size == 4


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("similarity", ["cosine", "euclidean", same_length])
def test_hashes_of_rows_do_not_depend_on_the_type_of_numbers(form, similarity):
    X = np.random.default_rng(0).integers(0, 9, (50, 6))
    expected = hashes(form(X), similarity)
    for dtype in (np.int8, np.uint64, np.float32, np.float64):
        np.testing.assert_array_equal(hashes(form(X.astype(dtype)), similarity), expected)


def test_hashes_of_numbers_and_images_do_not_depend_on_their_type_either():
    X = np.random.default_rng(0).integers(0, 9, (12, 3, 2))
    for values in (X, X[:, 0, 0]):
        assert_hashes_are_equal_where_objects_are(values, same_length, 5)
        np.testing.assert_array_equal(hashes(values, same_length), hashes(values.astype(np.float32), same_length))


def test_large_whole_numbers_are_told_apart():
    X = np.array([[2**53], [2**53 + 1], [2**60], [2**60 + 1], [1], [-1]])
    assert np.unique(hashes(X, "euclidean")).size == len(X)


def test_multiples_that_are_rounded_have_equal_hashes_under_cosine():
    X = np.random.default_rng(0).random((50, 40))
    for form in (np.asarray, sp.csr_array, lambda rows: [dict(enumerate(row)) for row in rows.tolist()]):
        np.testing.assert_array_equal(hashes(form(3 * X), "cosine"), hashes(form(X), "cosine"))


def test_no_objects_have_no_hashes():
    for X, similarity in [
        (np.ones((3, 2)), "cosine"),
        (sp.csr_array(np.ones((3, 2))), "cosine"),
        ([{"a": 1}] * 3, "cosine"),
        (["a"] * 3, "levenshtein"),
        (["a"] * 3, same_length),
    ]:
        none = collect(X, resolve(similarity)).take(np.arange(0)).content_hashes()
        assert (none.dtype, none.shape) == (np.uint64, (0,))


def test_what_is_remembered_changes_no_hash():
    collection = collect(["a", "bb", "a"], resolve(same_length))
    np.testing.assert_array_equal(collection.cached_in_memory().content_hashes(), collection.content_hashes())


def test_a_matrix_has_no_contents():
    with pytest.raises(TypeError, match="have no content of their own"):
        hashes(np.eye(3), "precomputed")


@pytest.mark.parametrize("n_shards", [2, 3, 8, 10])
def test_hashes_divide_regular_objects_evenly(n_shards):
    """The counts of shards differ from the mean by less than five standard deviations."""
    n = 20_000
    for X, similarity in [
        (np.arange(n)[:, None], "euclidean"),
        (sp.csr_array(np.arange(1, n + 1)[:, None]), "euclidean"),
        ([{at} for at in range(n)], "jaccard"),
        ([str(at) for at in range(n)], "levenshtein"),
        (list(range(n)), same_length),
    ]:
        found = hashes(X, similarity)
        assert np.unique(found).size == n
        counts = np.bincount((found % np.uint64(n_shards)).astype(int), minlength=n_shards)
        assert np.abs(counts - n / n_shards).max() < 5 * np.sqrt(n / n_shards)


@given(n=st.integers(1, 30), seed=st.integers(0, 999))
def test_fingerprint_of_parts_add_up(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (n, 2))
    collection = collect(X, resolve("euclidean"))
    whole = data_fingerprint(collection.rows, collection.content_hashes())
    parts = [collection.take(part) for part in np.array_split(rng.permutation(n), rng.integers(1, 5))]
    assert sum(data_fingerprint(part.rows, part.content_hashes()) for part in parts) % 2**64 == whole
    other = X[rng.permutation(n)]
    other_hashes = collect(other, resolve("euclidean")).content_hashes()
    assert (data_fingerprint(np.arange(n), other_hashes) == whole) == np.array_equal(other, X)


def scaled(factor, kind=float):
    def similarity(a, b):
        return kind(factor * same_length(a, b))

    return similarity


class Scaled:
    def __init__(self, factor):
        self.factor = factor

    def __call__(self, a, b):
        return self.factor * same_length(a, b)

    def other(self, a, b):
        return -self(a, b)


@numba.njit
def compiled(a, b):
    return a[0] * b[0]


@numba.njit
def compiled_too(a, b):
    return a[0] * b[0] + 1


def two_measures():
    covey.register_similarity("double", covey.Measure("dot", lambda sums, a, b, width: 2 * sums, term="dot"))
    covey.register_similarity("triple", covey.Measure("dot", lambda sums, a, b, width: 3 * sums, term="dot"))
    return ["double", "triple"]


def many_similarities():
    """No two of these are the same."""
    return [
        "cosine", "dot", "levenshtein", "precomputed", "euclidean", covey.from_distance("euclidean", "negative"),
        covey.from_distance("precomputed"), same_length, covey.Similarity(same_length, symmetric=False),
        covey.batched(same_length), covey.from_distance(same_length), scaled(1), scaled(2), scaled(1, int), Scaled(1),
        Scaled(2), Scaled(1).other, Scaled(2).other, functools.partial(scaled, 1), functools.partial(scaled, 2),
        compiled, compiled_too, lambda a, b: 1, lambda a, b: 1.0, lambda a, b: 2, lambda a, b=1: 1, max, np.dot,
        lambda a, b: float(a in {"no", "yes", "perhaps"}), *two_measures(),
    ]  # fmt: skip


def fingerprints():
    return [similarity_fingerprint(resolve(similarity)) for similarity in many_similarities()]


def test_each_similarity_has_its_own_fingerprint():
    found = fingerprints()
    assert len(set(found)) == len(found)
    assert all(re.fullmatch("[0-9a-f]{16}", fingerprint) for fingerprint in found)


def test_a_fingerprint_stays_when_a_function_is_made_again_or_sent():
    for similarity in map(resolve, many_similarities()):
        sent = pickle.loads(cloudpickle.dumps(similarity))
        assert similarity_fingerprint(sent) == similarity_fingerprint(similarity)
    assert similarity_fingerprint(resolve(scaled(1))) == similarity_fingerprint(resolve(scaled(1)))


def test_a_function_of_the_script_is_the_same_in_a_process_that_the_script_has_started():
    """Multiprocessing imports the script again under another name there."""
    found = set()
    for module in ("__main__", "__mp_main__"):
        similarity = scaled(1)
        similarity.__module__ = module
        found.add(similarity_fingerprint(resolve(similarity)))
    assert len(found) == 1


def test_a_measure_of_another_form_has_another_fingerprint():
    found = set()
    for domain in ("real", "binary"):
        covey.register_similarity(domain, covey.Measure("dot", np.add, term="dot", domain=domain))
        found.add(similarity_fingerprint(resolve(domain)))
    assert len(found) == 2


def run(source, seed="0", stdin=None):
    """What a fresh process prints that has other hashes of strings."""
    path = os.pathsep.join([os.getcwd(), *sys.path])
    environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path}
    command = [sys.executable, "-c", textwrap.dedent(source)]
    done = subprocess.run(command, env=environment, input=stdin, capture_output=True, check=False)
    assert not done.returncode, done.stderr.decode()
    return done.stdout.decode().split()


def contents():
    """Objects of every kind, with a similarity."""
    words = ["no", "note", "notebook", "dög", ""]
    return [
        (np.arange(6.0).reshape(3, 2), "cosine"),
        (sp.csr_array(np.arange(6).reshape(3, 2)), "euclidean"),
        ([{word: len(word) for word in words}, dict.fromkeys("abc", 1), {("a", 1): 2}], "cosine"),
        ([set(word) for word in words], "jaccard"),
        (words, "levenshtein"),
        ([set(words), {"a": {*words}}, frozenset(words), Point(1, frozenset(words)), b"a", None, 2.5], same_length),
    ]


def all_hashes():
    return [str(value) for X, similarity in contents() for value in hashes(X, similarity)] + fingerprints()


@pytest.mark.parametrize("seed", ["1", "2"])
def test_every_process_computes_the_same(seed):
    source = "from tests.similarity import test_fingerprint; print(*test_fingerprint.all_hashes())"
    assert run(source, seed) == all_hashes()


# Registered similarities travel with their measure

RECEIVE = """
    import pickle, sys
    import numpy as np
    import covey
    from covey.similarity.kinds import collect
    from covey.similarity.measures import similarity_fingerprint
    {before}
    try:
        similarity = pickle.load(sys.stdin.buffer)
    except ValueError as error:
        print(error)
        sys.exit()
    print(covey.CRS(2, similarity=similarity).fit(np.eye(3)).prototypes_[0].homogeneity)
    print(collect([{{"a": 2}}, {{"a": 3}}], similarity).space().score(np.int32([0]), np.int32([1]))[0])
    print(similarity_fingerprint(similarity), "double" in covey.similarity_names())
"""


@pytest.mark.parametrize("dumps", [pickle.dumps, cloudpickle.dumps])
def test_a_registered_similarity_is_known_where_it_was_sent(dumps):
    name, _ = two_measures()
    found = run(RECEIVE.format(before=""), stdin=dumps(resolve(name)))
    assert found == ["0.0", "12.0", similarity_fingerprint(resolve(name)), "True"]


def test_a_process_that_has_registered_the_same_similarity_takes_it():
    name, _ = two_measures()
    before = "from tests.similarity import test_fingerprint; test_fingerprint.two_measures()"
    found = run(RECEIVE.format(before=before), stdin=cloudpickle.dumps(resolve(name)))
    assert found[2:] == [similarity_fingerprint(resolve(name)), "True"]


def test_a_name_that_means_something_else_there_is_refused():
    name, _ = two_measures()
    sent = cloudpickle.dumps(resolve(name))
    before = "covey.register_similarity('double', covey.Measure('dot', lambda sums, a, b, width: 4 * sums))"
    said = " ".join(run(RECEIVE.format(before=before), stdin=sent))
    assert said.startswith("similarity 'double' must be the same in all processes, but")


def test_a_registered_similarity_may_be_sent_back_and_registered_again():
    for name in two_measures():
        similarity = resolve(name)
        sent = pickle.loads(cloudpickle.dumps(similarity))
        assert (sent, hash(sent)) == (similarity, hash(similarity))
    two_measures()
    with pytest.raises(ValueError, match="name must not be taken"):
        covey.register_similarity("double", covey.Measure("dot", np.add))


def test_a_built_in_similarity_is_sent_by_its_name():
    for name in covey.similarity_names():
        sent = pickle.dumps(resolve(name))
        assert len(sent) < 250
        assert pickle.loads(sent) == resolve(name)
