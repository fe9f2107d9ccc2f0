"""Named similarities against their definitions, on rows of every kind and strings; batches, distances, wrong names."""

import pickle
import sys

import numpy as np
import pandas as pd
import pytest
import rapidfuzz.distance
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import covey
from covey.similarity.kinds import collect
from covey.similarity.kinds.rows import CsrRows
from covey.similarity.kinds.strings import MODULES
from covey.similarity.measures import DISTANCES, MEASURES, resolve, similarity_names
from covey.similarity.names import MIXED, STRINGS
from covey.similarity.pair_cache import CachedCollection
from tests import reference
from tests.forms import letters, space_of

NAMED = sorted(set(similarity_names()) - {"precomputed", *STRINGS, *MIXED})


def whole_numbers(name):
    low, high = {"jaccard": (0, 1), "ruzicka": (0, 4)}.get(name, (-3, 3))
    return arrays(np.int8, st.tuples(st.integers(2, 8), st.integers(1, 20)), elements=st.integers(low, high))


def every_pair(n):
    i, j = np.indices((n, n)).reshape(2, -1).astype(np.int32)
    return i, j


@pytest.mark.parametrize("form", ["dense", "csr"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.uint8])
@pytest.mark.parametrize("name", NAMED)
@given(data=st.data())
def test_named_similarity_is_its_definition(name, dtype, form, data):
    X = data.draw(whole_numbers(name))
    X = (abs(X) if dtype == np.uint8 else X).astype(dtype)
    rows = X if form == "dense" else sp.csr_array(X)
    i, j = every_pair(len(X))
    scores = space_of(rows, resolve(name)).score(i, j)
    expected = [reference.SIMILARITIES[name](X[a].tolist(), X[b].tolist()) for a, b in zip(i, j, strict=True)]
    np.testing.assert_array_equal(scores, expected)


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("form", ["dense", "csr"])
def test_equal_rows_are_exactly_as_similar_as_a_row_to_itself(name, form):
    """Similarity 1 must be reached to the bit, or a threshold of 1 would separate duplicates."""
    X = np.random.default_rng(0).random((30, 101)).astype(np.float32)
    X = (X > 0.5).astype(np.float32) if name == "jaccard" else X
    X = np.vstack([X, X])
    space = space_of(X if form == "dense" else sp.csr_array(X), resolve(name))
    i = np.arange(30, dtype=np.int32)
    np.testing.assert_array_equal(space.score(i, i + np.int32(30)), space.with_itself()[:30])


@pytest.mark.parametrize("name", NAMED)
def test_scores_do_not_depend_on_the_direction(name):
    X = np.random.default_rng(1).random((40, 77))
    X = (X > 0.5).astype(float) if name == "jaccard" else X
    i, j = every_pair(40)
    space = space_of(X, resolve(name))
    np.testing.assert_array_equal(space.score(i, j), space.score(j, i))


@pytest.mark.parametrize("distance", sorted(DISTANCES))
@pytest.mark.parametrize("how", ["inverse", "negative", "exponential"])
@pytest.mark.parametrize("form", ["dense", "csr"])
def test_named_distances(distance, how, form):
    from scipy.spatial.distance import cdist

    X = np.random.default_rng(2).integers(-3, 4, (12, 9)).astype(float)
    metric = {"manhattan": "cityblock"}.get(distance, distance)
    expected = {"inverse": lambda d: 1 / (1 + d), "negative": lambda d: -d, "exponential": lambda d: np.exp(-d)}[how](
        cdist(X, X, metric)
    )
    rows = X if form == "dense" else sp.csr_array(X)
    scores = space_of(rows, covey.from_distance(distance, how)).score(*every_pair(12))
    np.testing.assert_allclose(scores.reshape(12, 12), expected, rtol=1e-12, atol=1e-12)


def test_euclidean_is_the_inverse_of_a_distance():
    assert resolve("euclidean") == covey.from_distance("euclidean", how="inverse")


def test_sets_and_dicts_of_numbers_have_named_similarities():
    sets = [{"a", "b"}, {"b", "c"}, frozenset(), {"b", "a"}]
    space = space_of(sets, resolve("jaccard"))
    i, j = np.array([0, 0, 0, 2], np.int32), np.array([1, 2, 3, 2], np.int32)
    np.testing.assert_array_equal(space.score(i, j), [1 / 3, 0, 1, 1])
    hosts = [{"dns": 3, "web": 4}, {"web": 1}, {}]
    space = space_of(hosts, resolve("cosine"))
    np.testing.assert_array_equal(space.score(np.array([0, 0], np.int32), np.array([1, 2], np.int32)), [0.8, 0])
    space = space_of(hosts, resolve("ruzicka"))
    np.testing.assert_array_equal(space.score(np.array([0], np.int32), np.array([1], np.int32)), [1 / 7])


@given(st.integers(2, 30), st.integers(1, 7))
def test_batches_of_any_size_score_the_same(n, batch_size):
    X = np.random.default_rng(n).random((n, 3))
    sizes = []

    def product(A, B):
        sizes.append(len(A))
        return (A * B).sum(axis=1)

    i, j = every_pair(n)
    space = space_of(X, covey.batched(product, batch_size=batch_size))
    np.testing.assert_array_equal(space.score(i, j), (X[i] * X[j]).sum(axis=1))
    assert max(sizes) <= batch_size
    assert sum(sizes) == space.n_evaluations == n * n


def test_batches_of_lists_are_lists():
    def same_length(A, B):
        assert isinstance(A, list)
        return [float(len(a) == len(b)) for a, b in zip(A, B, strict=True)]

    space = space_of(["a", "bb", "cc"], covey.batched(same_length))
    np.testing.assert_array_equal(space.score(np.array([0, 1], np.int32), np.array([1, 2], np.int32)), [0, 1])


def test_a_callable_may_say_that_it_is_not_symmetric():
    def contains(a, b):
        return float(a in b)

    assert resolve(contains).symmetric
    contains.symmetric = False
    assert not resolve(contains).symmetric
    assert not covey.from_distance(contains).symmetric
    assert not covey.batched(contains, symmetric=False).symmetric
    assert not covey.Similarity(contains, symmetric=False).symmetric


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: resolve("cosin"), r"similarity must be .*'cosine', 'dot', 'euclidean'.* got 'cosin'"),
        (lambda: resolve("manhattan"), r"got 'manhattan'; pass covey.from_distance\('manhattan'\)"),
        (lambda: resolve(None), "similarity must be .* got None"),
        (
            lambda: covey.from_distance("cosine"),
            "distance must be a callable or one of .*manhattan.*precomputed.* got 'cosine'",
        ),
        (lambda: covey.from_distance("euclidean", how="minus"), "how must be one of .* got 'minus'"),
        (lambda: covey.from_distance(covey.from_distance("euclidean")), "distance must be a name"),
        (lambda: covey.batched(len, batch_size=0), "batch_size must be an int of at least 1, got 0"),
    ],
)
def test_wrong_names_list_the_right_ones(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_similarities_say_what_they_are():
    assert repr(covey.Similarity(min)) == "Similarity(min)"
    assert repr(covey.batched(min, symmetric=False)) == "Similarity(batched(min), symmetric=False)"
    assert repr(covey.from_distance("euclidean")) == "from_distance('euclidean', 'inverse')"
    assert repr(covey.from_distance(min, "negative")) == "from_distance(min, 'negative')"


def test_no_cosine_exceeds_one():
    rng = np.random.default_rng(0)
    X = rng.random((3000, 7))
    parallel = X * rng.random((3000, 1))  # rounding alone decides on which side of 1 they would fall
    i = np.arange(3000, dtype=np.int32)
    scores = space_of(np.vstack([X, parallel]), resolve("cosine")).score(i, i + np.int32(3000))
    np.testing.assert_allclose(scores, 1)
    assert scores.max() == 1


def test_close_rows_far_from_the_origin_keep_their_distance():
    X = np.array([[1e9, 1], [1e9 + 4, 1], [1e9 + 1, 1], [1e9 + 9, 1]])
    for rows in (X, sp.csr_array(X)):
        scores = space_of(rows, resolve("euclidean")).score(np.zeros(3, np.int32), np.array([1, 2, 3], np.int32))
        np.testing.assert_array_equal(scores, [0.2, 0.5, 0.1])


def test_a_similarity_needs_a_callable():
    with pytest.raises(TypeError, match="function must be callable, got 'cosine'"):
        covey.Similarity("cosine")


def test_table_is_complete():
    assert set(NAMED) == set(MEASURES) | {"euclidean"} == set(reference.SIMILARITIES)


@pytest.mark.parametrize(
    ("X", "name", "message"),
    [
        (
            [[0.5, 1]],
            "jaccard",
            "rows of 0 and 1 for similarity='jaccard', got 0.5; pass X != 0 or sets, or use 'ruzicka'",
        ),
        ([[0.5, -1]], "ruzicka", "must not hold negative numbers for similarity='ruzicka', got -1.0"),
        ([{"a": 1}, ["b"]], "cosine", "only sets or dicts .* got list at position 1"),
        ([{"a": "x"}], "cosine", "dicts of numbers"),
        ([{"a": 1}, {"a": float("nan")}], "cosine", "object 1 holds nan"),
        ([{"a"}, {"b"}], "hamming", "similarity='hamming' needs rows of one width, got sets or dicts; use 'jaccard'"),
        (np.full((2, 2), 1e-80), "cosine", "too small for float64 arithmetic"),
        (sp.csr_array(np.full((2, 2), 1e20, np.float32)), "euclidean", "too large for float32 arithmetic"),
        (["ab", "cd"], "cosine", r"got strings; pass similarity= one of \['indel', .* or a callable"),
        ([{"a": 1}, {"a": pd.NA}], "cosine", "object 1 holds <NA>; leave such values out"),
        ([{"a": np.datetime64("NaT")}], "cosine", "object 0 holds .*NaT"),
        (np.full((2, 2), 1e30, np.float32), "cosine", "too large for float32 arithmetic, first in row 0; scale X down"),
        (np.full((2, 2), 1e-30, np.float32), "cosine", "too small for float32 arithmetic, first in row 0; scale X up"),
    ],
)
def test_rows_outside_a_similarity_s_domain_are_refused(X, name, message):
    with pytest.raises((ValueError, TypeError), match=message):
        covey.CRS(similarity=name).fit(X)


def test_a_failure_that_does_not_come_back_is_still_a_failure():
    calls = []

    def flaky(a, b):
        calls.append((a, b))
        if len(calls) == 5:
            raise TimeoutError("once")
        return 0.5

    with pytest.raises(RuntimeError, match=r"The similarity of object \d+ and object \d+ raised TimeoutError: once"):
        covey.neighbor_graph(list(range(9)), 3, flaky)


@pytest.mark.parametrize("statistic", ["dot", "minimum"])
def test_spread_out_rows_give_the_same_bits(statistic):
    rng = np.random.default_rng(0)
    rows = CsrRows(sp.random_array((40, 300), density=0.2, format="csr", rng=rng))
    i, j = np.indices((40, 40)).reshape(2, -1).astype(np.int32)
    together = rows.sums(statistic, i, rows, j)  # enough pairs to spread rows out
    alone = np.concatenate([rows.sums(statistic, i[t : t + 1], rows, j[t : t + 1]) for t in range(i.size)])
    np.testing.assert_array_equal(together, alone)


texts = st.lists(st.text(st.sampled_from("abcdé\U0001f600 "), max_size=90), min_size=2, max_size=12)


@pytest.mark.parametrize("name", STRINGS)
@given(strings=texts)
def test_similarities_of_strings_are_those_of_rapidfuzz_to_the_bit(name, strings):
    """Pairs and whole blocks go by different functions of rapidfuzz; a graph mixes them, so that they must agree."""
    one_pair = getattr(rapidfuzz.distance, MODULES[name]).normalized_similarity
    space = space_of(strings, resolve(name))
    i, j = every_pair(len(strings))
    expected = np.array([one_pair(strings[a], strings[b]) for a, b in zip(i, j, strict=True)])
    np.testing.assert_array_equal(space.score(i, j), expected)
    np.testing.assert_array_equal(space.estimates(slice(None), slice(None)).ravel(), expected)
    np.testing.assert_array_equal(space.score(j, i), expected)
    np.testing.assert_array_equal(space.with_itself(), [one_pair(a, a) for a in strings])


def surnames_like(n):
    rng = np.random.default_rng(0)
    return ["".join(rng.choice(list("abcdef"), rng.integers(3, 9))) for _ in range(n)]


@pytest.mark.parametrize("graph", ["exact", "nn-descent"])
@pytest.mark.parametrize("name", STRINGS)
def test_strings_by_name_select_as_strings_by_function(name, graph):
    """On any number of threads, in any form of a sequence of strings."""
    strings = surnames_like(120)
    one_pair = getattr(rapidfuzz.distance, MODULES[name]).normalized_similarity
    options = {"graph": graph, "random_state": 0, "threshold": 0.3}
    expected = covey.CRS(5, similarity=covey.Similarity(one_pair, trusted=True), **options).fit(strings)
    for X in (strings, tuple(strings), np.array(strings), np.array(strings, dtype=object), pd.Series(strings)):
        for n_jobs in (1, 2):
            found = covey.CRS(5, similarity=name, n_jobs=n_jobs, **options).fit(X)
            assert found.sample_indices_.tolist() == expected.sample_indices_.tolist()
            assert found.n_evaluations_ == expected.n_evaluations_


def test_a_model_of_strings_is_saved_with_the_name_of_its_similarity(tmp_path):
    strings = surnames_like(60)
    model = covey.NearestPrototypeClassifier(covey.CRS(3, similarity="jaro-winkler")).fit(strings, np.arange(60) % 2)
    covey.save(model, tmp_path / "m")
    again = covey.load(tmp_path / "m")
    assert again.predict(surnames_like(90)).tolist() == model.predict(surnames_like(90)).tolist()
    assert again.selector_.similarity == "jaro-winkler"


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (["ab", None], "only strings for similarity='osa', got None at position 1; drop such objects"),
        (["ab", b"cd"], "got bytes at position 1"),
        ([["ab"], ["cd"]], "got list at position 0"),
        (pd.Series(["ab", None, "cd"]), "got (nan|None) at position 1"),
        (np.eye(2), r"sequence of strings for similarity='osa', got ndarray of shape \(2, 2\); pass one column"),
        (pd.DataFrame({"a": ["x", "y"]}), r"got DataFrame of shape \(2, 1\); pass one column of it"),
        (sp.eye_array(2, format="csr"), "got csr_array of shape"),
    ],
)
def test_similarities_of_strings_refuse_all_else(X, message):
    with pytest.raises(TypeError, match=message):
        covey.CRS(similarity="osa").fit(X)


def test_without_rapidfuzz_one_sentence_tells_what_to_install(monkeypatch):
    for module in [name for name in sys.modules if name.startswith("rapidfuzz.")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "rapidfuzz", None)
    with pytest.raises(ModuleNotFoundError, match=r"needs rapidfuzz.*, which is not installed; run: .* 'rapidfuzz>="):
        covey.CRS(similarity="levenshtein").fit(["ab", "cd"])


@pytest.mark.parametrize(
    ("X", "similarity", "message"),
    [
        ([1, 2, 3], lambda a, b: 1.5e308, r"object 0 and object 1 returned 1\.5e\+308, .* below 1e\+150 in magnitude"),
        (
            [1, 2, 3],
            lambda a, b: -1.5e308,
            r"object 0 and object 1 returned -1\.5e\+308, .* below 1e\+150 in magnitude",
        ),
        ([1, 2, 3], covey.batched(lambda A, B: [1.1e308] * len(A)), r"returned 1\.1e\+308"),
        ([1, 2, 3], covey.from_distance(lambda a, b: 1.1e308, "negative"), r"returned 1\.1e\+308"),
        (np.full((2, 2), 1.1e308), "precomputed", r"below 1e\+150 .* got 1\.1e\+308 at row 0, column 0; scale X down"),
        (sp.csr_array([[1, -1.1e308], [0, 1]]), "precomputed", r"got -1\.1e\+308 at row 0, column 1"),
        (
            np.array([[0, 1.1e308], [1.1e308, 0]]),
            covey.from_distance("precomputed"),
            r"got 1\.1e\+308 at row 0, column 1",
        ),
        (np.array([[1.0], [1e200]]), covey.from_distance("manhattan", "negative"), "too large for float64 arithmetic"),
    ],
)
@pytest.mark.parametrize("selector", [covey.CRS, covey.DeltaMedoids, covey.DS3])
def test_similarities_that_cannot_be_computed_with_are_refused(selector, X, similarity, message):
    """One rule for the whole library, where scores enter it."""
    with pytest.raises(ValueError, match=message):
        selector(similarity=similarity).fit(X)


PROFILES = [{"dns": 3, "web": 1.5}, {"cam": 2}]
SIGNED = np.array([[1.0, -2.0], [0.5, 3.0]])
NOTHING_IN_COMMON = {
    "profiles": (PROFILES, "cosine", 0.0),
    "sets": ([{"a", "b"}, {"c"}], "jaccard", 0.0),
    "counts": (sp.csr_array([[0, 3, 1], [2, 0, 0]]), "dot", 0.0),
    "weights": (np.abs(SIGNED), "ruzicka", 0.0),
    "bits": (covey.PackedBits(np.array([[3], [4]], dtype=np.uint8)), "jaccard", 0.0),
    "edit ratio": (["cat", "dog"], "levenshtein", 0.0),
    "mixed columns": ([{"age": 3, "sex": "f"}, {"age": 5, "sex": "m"}], "gower", 0.0),
    "positions of signed codes": (np.sign(SIGNED), "hamming", 0.0),
    "signed vectors": (SIGNED, "cosine", None),
    "signed sparse rows": (sp.csr_array(SIGNED), "dot", None),
    "signed profiles": ([{"up": 1, "down": -1}, {"up": 2}], "cosine", None),
    "a distance": (np.abs(SIGNED), "euclidean", None),
    "a converted distance": (np.abs(SIGNED), covey.from_distance("manhattan", "exponential"), None),
    "a function": (["cat", "dog"], letters, None),
    "a matrix": (np.eye(2), "precomputed", None),
}


@pytest.mark.parametrize("case", NOTHING_IN_COMMON)
def test_a_collection_knows_the_value_that_says_nothing_in_common(case):
    X, similarity, expected = NOTHING_IN_COMMON[case]
    collection = collect(X, resolve(similarity))
    assert collection.nothing_in_common == expected
    assert CachedCollection(collection, np.arange(2), None).nothing_in_common == expected


def test_a_measure_of_your_own_may_declare_the_value_that_says_nothing_in_common():
    def shared_less_one(dot, a, b, width):
        return dot - 1

    for name, declared in (("undeclared", None), ("declared", -1.0)):
        measure = covey.Measure("dot", shared_less_one, nothing_in_common=declared)
        covey.register_similarity(f"nothing in common {name}", measure)
        similarity = pickle.loads(pickle.dumps(resolve(f"nothing in common {name}")))
        assert collect(PROFILES, similarity).nothing_in_common == declared
