"""CRS as a whole: every kind of input, edge cases, exact counts, one clear sentence for bad input."""

import logging

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.metrics import precision_score, recall_score
from sklearn.utils.validation import check_is_fitted

import covey
from covey.graph import descent, exact
from covey.selectors.crs import auto_neighbors
from tests import reference
from tests.forms import COSINES, Counted, similarity_matrix


def letters(a, b):
    return len(set(a) & set(b)) / len(set(a) | set(b))


WORDS = ["cat", "cart", "care", "dog", "dodge", "lodge", "bird", "brd", "bride", "fish", "dish", "shift"]


@pytest.mark.parametrize("form", COSINES)
@pytest.mark.parametrize("graph", ["exact", "nn-descent"])
def test_every_form_of_a_similarity_selects_the_same(form, graph):
    """Homogeneity is computed in another way for each form, so only the threshold may differ, and by rounding."""
    X = np.random.default_rng(0).integers(0, 5, (130, 9)).astype(float)
    y = np.arange(130) % 2
    expected = covey.CRS(5, graph=graph, random_state=0).fit(X, y)
    objects, similarity = COSINES[form](X)
    found = covey.CRS(5, graph=graph, similarity=similarity, random_state=0).fit(objects, y)
    np.testing.assert_array_equal(found.sample_indices_, expected.sample_indices_)
    for label in (0, 1):
        assert found.prototypes_[label].homogeneity == pytest.approx(expected.prototypes_[label].homogeneity)


@given(
    n=st.integers(2, 30),
    k=st.integers(1, 6),
    levels=st.sampled_from([2, 4, None]),
    symmetric=st.booleans(),
    seed=st.integers(0, 999),
    coverage=st.sampled_from([0.5, 0.95, 1.0]),
)
def test_crs_is_graph_then_cut_then_greedy(n, k, levels, symmetric, seed, coverage):
    values = similarity_matrix(n, np.random.default_rng(seed), symmetric, levels)
    values[np.triu_indices(n)] = np.round(values[np.triu_indices(n)] * 64) / 64  # exact sums in any order
    values[np.tril_indices(n)] = np.round(values[np.tril_indices(n)] * 64) / 64
    lists = reference.neighbors(lambda i, j: values[i, j], n, min(k, n - 1))
    homogeneity = reference.homogeneity(lambda i, j: values[i, j], n)
    threshold = homogeneity * (1 - 1e-9)
    picked, gains, covered_by = reference.greedy(lists, coverage, threshold)
    selector = covey.CRS(k, coverage=coverage, similarity=Counted(values, symmetric)).fit(range(n))
    prototype = selector.prototypes_[0]
    assert prototype.homogeneity == homogeneity
    assert prototype.threshold == pytest.approx(threshold, rel=1e-12)
    assert selector.sample_indices_.tolist() == prototype.indices.tolist() == picked
    assert prototype.gains.tolist() == gains
    assert prototype.covered_by.tolist() == covered_by


@pytest.mark.parametrize("graph", ["auto", "exact", "nn-descent"])
@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("n", [1, 2, 11, 60, 201, 450])
def test_evaluations_are_counted_exactly_and_never_repeated(n, symmetric, graph):
    """Homogeneity, forest and descent share what they know, in each of two clusters."""
    counted = Counted(similarity_matrix(2 * n, np.random.default_rng(n), symmetric), symmetric)
    y = np.arange(2 * n) % 2
    selector = covey.CRS(6, similarity=counted, graph=graph, random_state=0).fit(range(2 * n), y)
    assert selector.n_evaluations_ == len(counted.calls) == len(set(counted.pairs))
    assert all(a % 2 == b % 2 for a, b in counted.calls)
    n_pairs = n * (n - 1) // (2 if symmetric else 1)
    assert selector.scan_rate_ == len(counted.calls) / max(2 * n_pairs, 1)
    for prototype in selector.prototypes_.values():
        assert prototype.scan_rate == prototype.n_evaluations / max(n_pairs, 1)


def test_a_matrix_tells_by_itself_whether_it_is_symmetric():
    for symmetric in (True, False):
        values = similarity_matrix(30, np.random.default_rng(0), symmetric)
        selector = covey.CRS(3, similarity="precomputed").fit(values, np.arange(30) % 2)
        assert selector.n_evaluations_ == 2 * 15 * 14 / (1 + symmetric)
        assert selector.scan_rate_ == 1


def test_a_symmetric_pair_is_always_asked_in_the_same_direction():
    """So that a function which is symmetric only up to rounding still gives one answer for every method."""
    for graph in ("exact", "nn-descent"):
        counted = Counted(similarity_matrix(250, np.random.default_rng(0)))
        covey.CRS(5, similarity=counted, graph=graph, random_state=0).fit(range(250))
        assert all(a < b for a, b in counted.calls)


@pytest.mark.parametrize("similarity", ["cosine", "euclidean", "dot", letters])
def test_threads_and_blocks_change_nothing(similarity, monkeypatch):
    X, y = load_digits(return_X_y=True)
    X, y = (
        (X[:400], y[:400] % 2) if isinstance(similarity, str) else ([str(x.sum() ** 3) for x in X[:400]], y[:400] % 2)
    )
    selector = covey.CRS(4, similarity=similarity, graph="nn-descent", random_state=0)
    for graph in ("exact", "nn-descent"):
        selector.set_params(graph=graph)
        expected = clone(selector).fit(X, y)
        for n_jobs, size in [(2, 64), (3, 7), (-1, 1024)]:
            monkeypatch.setattr(exact, "TILE", size)
            monkeypatch.setattr(descent, "OWNERS", size)
            found = clone(selector).set_params(n_jobs=n_jobs).fit(X, y)
            np.testing.assert_array_equal(found.sample_indices_, expected.sample_indices_)
            assert found.n_evaluations_ == expected.n_evaluations_


def container_cases():
    X = np.random.default_rng(0).integers(0, 9, (40, 5)).astype(float)
    names = [f"f{i}" for i in range(5)]
    return {
        "array": X,
        "float32": X.astype(np.float32),
        "integers": X.astype(np.int32),
        "list of lists": X.tolist(),
        "csr matrix": sp.csr_matrix(X),
        "csr array": sp.csr_array(X),
        "csc array": sp.csc_array(X),
        "tuple": tuple(X.tolist()),
        "pandas": pd.DataFrame(X, columns=names, index=[f"row {i}" for i in range(40)]),
        "polars": pl.DataFrame(X, schema=names),
    }


@pytest.mark.parametrize("kind", container_cases())
def test_containers_keep_their_type(kind):
    X, y = container_cases()[kind], np.arange(40) % 3
    expected = covey.CRS(3).fit(container_cases()["array"], y)
    selector = covey.CRS(3)
    few, labels = selector.fit_resample(X, y)
    np.testing.assert_array_equal(selector.sample_indices_, expected.sample_indices_)
    np.testing.assert_array_equal(labels, y[expected.sample_indices_])
    assert type(few) is type(X)
    if kind == "pandas":
        assert few.index.tolist() == [f"row {i}" for i in expected.sample_indices_]
    assert hasattr(selector, "feature_names_in_") == (kind in ("pandas", "polars"))
    assert selector.n_features_in_ == 5
    assert not hasattr(selector.fit([{"a": 1}, {"b": 1}]), "n_features_in_")


@pytest.mark.parametrize("form", ["coo", "bsr", "dia", "dok"])
def test_other_sparse_formats_become_csr(form):
    X = container_cases()["csr array"]
    few, _ = covey.CRS(3).fit_resample(X.asformat(form))
    assert few.format == "csr"
    assert (few != X[covey.CRS(3).fit(X).sample_indices_]).nnz == 0


@pytest.mark.parametrize(
    "X",
    [
        WORDS,
        tuple(WORDS),
        np.array(WORDS),
        np.array(WORDS, dtype=object),
        pd.Series(WORDS),
        pl.Series(WORDS),
    ],
    ids=["list", "tuple", "array", "object array", "pandas", "polars"],
)
def test_any_sequence_of_objects(X):
    selector = covey.CRS(2, similarity=letters)
    few, _ = selector.fit_resample(X)
    assert sorted(few) == sorted(WORDS[i] for i in selector.sample_indices_)
    assert selector.sample_indices_.tolist() == covey.CRS(2, similarity=letters).fit(WORDS).sample_indices_.tolist()
    assert 1 < selector.sample_indices_.size < 6


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_rows_of_a_mixed_frame_are_dicts(frame):
    X = frame({"name": ["ann", "anna", "bob"], "age": [30, 31, 60]})

    def alike(a, b):
        return letters(a["name"], b["name"]) / (1 + abs(a["age"] - b["age"]))

    few, _ = covey.CRS(1, similarity=alike).fit_resample(X)
    assert isinstance(few, frame)
    assert few["name"].to_list() == ["ann", "bob"]


def test_dicts_sets_and_arrays_of_any_shape():
    images = np.random.default_rng(0).random((12, 4, 4))
    selector = covey.CRS(3, similarity=lambda a, b: float((a * b).sum())).fit(images)
    assert selector.n_evaluations_ == 66
    hosts = [{"dns": 1, "web": i} for i in range(9)]
    assert covey.CRS(3).fit(hosts).sample_indices_.size >= 1
    assert covey.CRS(3, similarity="jaccard").fit([set(word) for word in WORDS]).prototypes_[0].coverage >= 0.95
    assert covey.CRS(3, similarity=lambda a, b: float(a == b)).fit([1, 2, 2, 1]).sample_indices_.tolist() == [0, 1]


def test_float32_is_not_doubled(monkeypatch):
    from covey.similarity import rows

    seen = []
    original = rows.DenseRows.__init__
    monkeypatch.setattr(
        rows.DenseRows, "__init__", lambda self, values: (seen.append(values), original(self, values))[1]
    )
    X = np.random.default_rng(0).random((50, 4), dtype=np.float32)
    covey.CRS(3).fit(X)
    assert [values.base is X or values is X for values in seen] == [True]
    covey.CRS(3).fit(X > 0.5)
    assert seen[-1].dtype == np.float32


@pytest.mark.parametrize("graph", ["auto", "exact", "nn-descent"])
class TestEdgeCases:
    def test_one_object(self, graph):
        for X, similarity in [([[1.0, 2.0]], "cosine"), (["a"], letters), ([[1.0]], "precomputed")]:
            for on_orphan in ("self", "outlier"):
                selector = covey.CRS(similarity=similarity, graph=graph, on_orphan=on_orphan).fit(X)
                prototype = selector.prototypes_[0]
                assert selector.sample_indices_.tolist() == [0]
                assert (prototype.coverage, prototype.n_orphans, prototype.n_evaluations) == (1, 1, 0)
                assert np.isnan(prototype.homogeneity)

    def test_fewer_objects_than_neighbors(self, graph):
        prototype = covey.CRS(10, graph=graph).fit(np.eye(4) + 1).prototypes_[0]
        assert prototype.indices.tolist() == [0]
        assert prototype.coverage == 1

    @pytest.mark.parametrize("similarity", ["cosine", "dot", "euclidean", "jaccard", "ruzicka", "hamming"])
    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_identical_objects_are_one(self, graph, similarity, dtype):
        for n in (2, 5, 11, 50, 400):
            row = np.random.default_rng(n).random(33).astype(dtype)
            X = np.tile((row > 0.5).astype(dtype) if similarity == "jaccard" else row, (n, 1))
            selector = covey.CRS(12, similarity=similarity, graph=graph, coverage=1.0, random_state=0).fit(X)
            prototype = selector.prototypes_[0]
            assert (prototype.coverage, prototype.n_orphans) == (1, 0)
            assert selector.sample_indices_.tolist() == [0]

    @pytest.mark.parametrize("n", [3, 7, 50])
    def test_equal_similarities_of_different_objects_are_no_less_than_their_mean(self, graph, n):
        """A mean of thirds may be rounded to more than a third, and every edge would be cut."""
        prototype = covey.CRS(12, similarity=lambda a, b: 1 / 3, graph=graph).fit(range(n)).prototypes_[0]
        assert prototype.n_orphans == 0

    def test_no_similarity_at_all(self, graph):
        for X, similarity in [
            (np.eye(30), "cosine"),
            (list(range(30)), lambda a, b: 0.0),
            (np.zeros((30, 2)), "cosine"),
        ]:
            prototype = covey.CRS(3, similarity=similarity, graph=graph, random_state=0).fit(X).prototypes_[0]
            assert prototype.homogeneity == pytest.approx(0, abs=1e-15)
            assert prototype.coverage >= 0.95

    def test_zero_vectors(self, graph):
        """One is an orphan; several are copies of one object, which cover each other."""
        for n_zeros, n_orphans in [(1, 1), (3, 0)]:
            X = np.vstack([np.random.default_rng(0).random((40, 5)), np.zeros((n_zeros, 5))])
            prototype = covey.CRS(12, graph=graph, coverage=1.0, random_state=0).fit(X).prototypes_[0]
            assert prototype.n_orphans == n_orphans
            assert prototype.coverage == 1
            assert set(prototype.covered_by[40:]) == {40}

    def test_a_threshold_above_everything(self, graph):
        X = np.random.default_rng(0).random((40, 3))
        options = {"threshold": 2.0, "graph": graph, "random_state": 0}
        prototype = covey.CRS(5, coverage=0.5, **options).fit(X).prototypes_[0]
        assert prototype.indices.tolist() == list(range(20))
        assert prototype.n_orphans == 40
        assert covey.CRS(5, on_orphan="outlier", **options).fit(X).prototypes_[0].indices.tolist() == [0]

    def test_full_coverage(self, graph):
        X = np.random.default_rng(0).random((80, 4))
        prototype = covey.CRS(6, coverage=1.0, graph=graph, random_state=0).fit(X).prototypes_[0]
        assert prototype.coverage == 1
        assert (prototype.covered_by >= 0).all()

    def test_one_class_and_a_class_of_one(self, graph):
        X = np.random.default_rng(0).random((30, 4))
        assert list(covey.CRS(3, graph=graph).fit(X, ["a"] * 30).prototypes_) == ["a"]
        selector = covey.CRS(3, graph=graph).fit(X, [7] * 29 + [3])
        assert list(selector.prototypes_) == [3, 7]
        assert selector.prototypes_[3].indices.tolist() == [29]


def test_prototypes_speak_of_rows_of_x():
    X, y = load_digits(return_X_y=True)
    selector = covey.CRS(8).fit(X, y)
    assert (
        selector.sample_indices_.tolist() == np.concatenate([p.indices for p in selector.prototypes_.values()]).tolist()
    )
    assert selector.n_evaluations_ == sum(p.n_evaluations for p in selector.prototypes_.values())
    for label, prototype in selector.prototypes_.items():
        assert prototype.label == label
        assert prototype.members.tolist() == np.flatnonzero(y == label).tolist()
        assert set(prototype.indices) <= set(prototype.members)
        assert set(prototype.covered_by) - {-1} == set(prototype.indices)
        assert prototype.coverage == np.mean(prototype.covered_by >= 0)
        assert (np.diff(prototype.gains) <= 0).all()
        own = np.isin(prototype.members, prototype.indices)
        assert (prototype.covered_by[own] == prototype.members[own]).all()
        assert repr(prototype).startswith(f"Prototype({label}: {prototype.indices.size} of")


def test_a_graph_made_elsewhere_is_used_within_clusters():
    X, y = load_digits(return_X_y=True)
    X, y = X[:300], y[:300] % 3
    for label in range(3):  # the whole graph, cut down to a cluster, holds its edges
        members = np.flatnonzero(y == label)
        graph = covey.neighbor_graph(X, 299)
        expected = covey.CRS(5).fit(X[members])
        for given_graph in (graph, graph.to_csr(), sp.csc_matrix(graph.to_csr())):
            found = covey.CRS(5, graph=given_graph).fit(X, y)
            assert found.prototypes_[label].indices.tolist() == members[expected.sample_indices_].tolist()
            assert found.n_evaluations_ == 3  # an edge of each cluster, to see that graph and similarity agree
    counted = Counted(1 - np.abs(np.subtract.outer(np.arange(40), np.arange(40))) / 40)
    found = covey.CRS(5, graph=covey.neighbor_graph(range(40), 39, Counted(counted.values)), similarity=counted)
    assert found.fit(range(40)).n_evaluations_ == len(counted.calls) == len(set(counted.pairs)) == 780
    with pytest.raises(ValueError, match="graph and similarity must agree for threshold='homogeneity', but an edge of"):
        covey.CRS(5, graph=graph, similarity="euclidean").fit(X, y)
    no_cut = covey.CRS(5, graph=graph, threshold=None).fit(X, y).prototypes_[0]
    assert np.isnan(no_cut.homogeneity)
    assert no_cut.threshold == -np.inf
    with pytest.raises(ValueError, match="graph must have one row for each of the 10 objects of X, got 300"):
        covey.CRS(graph=graph).fit(X[:10])


def test_a_scikit_learn_graph_plugs_in():
    from sklearn.neighbors import kneighbors_graph

    X = load_digits().data[:200]
    graph = kneighbors_graph(X, 6, mode="connectivity")
    found = covey.CRS(6, graph=graph, threshold=None, gain="count").fit(X)
    assert found.prototypes_[0].coverage >= 0.95
    assert found.n_evaluations_ == 0


def test_gain_and_threshold_are_parameters():
    X = load_digits().data[:300]
    tight = covey.CRS(5, threshold=0.97).fit(X).prototypes_[0]
    loose = covey.CRS(5, threshold=None).fit(X).prototypes_[0]
    assert tight.indices.size > loose.indices.size
    assert tight.n_orphans > loose.n_orphans == 0
    counts = covey.CRS(5, gain="count").fit(X).prototypes_[0].gains
    assert (counts == np.round(counts)).all()


@pytest.mark.parametrize(("n", "k"), [(1, 5), (2, 5), (1000, 7), (6000, 15), (100_000, 54)])
def test_automatic_number_of_neighbors(n, k):
    """k^2 n log2(n) joins stay within all pairs."""
    assert auto_neighbors(n) == k == max(5, int(np.sqrt((n - 1) / (2 * np.log2(max(n, 2))))))


def test_auto_neighbors_follow_each_cluster():
    X = np.random.default_rng(0).random((1010, 4))
    y = [0] * 1000 + [1] * 10
    auto = covey.CRS("auto", graph="exact").fit(X, y)
    seven, five = (covey.CRS(k, graph="exact").fit(X, y) for k in (7, 5))
    assert auto.prototypes_[0].indices.tolist() == seven.prototypes_[0].indices.tolist()
    assert auto.prototypes_[1].indices.tolist() == five.prototypes_[1].indices.tolist()


def test_verbose_speaks_through_logging(caplog):
    with caplog.at_level(logging.INFO, logger="covey"):
        covey.CRS(2).fit(np.eye(4), [0, 0, 1, 1])
        assert not caplog.messages
        covey.CRS(2, verbose=1).fit(np.eye(4), [0, 0, 1, 1])
    assert [message.split(":")[0] for message in caplog.messages] == ["CRS Prototype(0", "CRS Prototype(1"]


class Returning:
    """A similarity that answers one pair with something else."""

    def __init__(self, answer):
        self.answer = answer

    def __call__(self, a, b):
        if (a, b) == (2, 5):
            return self.answer() if callable(self.answer) else self.answer
        return 0.5


def fail():
    raise KeyError("no such letter")


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        (float("nan"), ValueError, "objects? 2 and object 5 returned nan, but it must be one finite real number"),
        (float("inf"), ValueError, "object 2 and object 5 returned inf"),
        (None, TypeError, "object 2 and object 5 returned None"),
        (1j, TypeError, r"object 2 and object 5 returned complex 1j"),
        ("0.5", TypeError, "object 2 and object 5 returned str '0.5'"),
        (np.zeros(2), TypeError, "object 2 and object 5 returned ndarray"),
        (np.zeros(1), TypeError, "object 2 and object 5 returned ndarray"),
        (fail, RuntimeError, "object 2 and object 5 raised KeyError: 'no such letter'"),
    ],
)
def test_what_a_similarity_must_not_return(answer, error, message):
    with pytest.raises(error, match=message) as caught:
        covey.CRS(2, similarity=Returning(answer)).fit(list(range(10)))
    if answer is fail:
        assert isinstance(caught.value.__cause__, KeyError)


def test_a_similarity_that_stops_the_iteration_is_an_error():
    with pytest.raises(RuntimeError, match="object 0 and object 1 raised StopIteration"):
        covey.CRS(2, similarity=lambda a, b: next(iter([]))).fit([1, 2, 3])


def test_labels_keep_their_type():
    X = np.random.default_rng(0).random((6, 2))
    for y in ([True, False] * 3, ["b", "a"] * 3, [1.5, 0.5] * 3, np.array(["2026-01-01", "2025-01-01"] * 3, "M8[ns]")):
        assert list(covey.CRS().fit(X, y).prototypes_) == sorted(set(y))


def test_positions_are_rows_of_x_also_within_clusters():
    with pytest.raises(ValueError, match="object 2 and object 5 returned nan"):
        covey.CRS(2, similarity=Returning(float("nan"))).fit(list(range(10)), [0, 1, 1, 0, 0, 1, 1, 0, 0, 1])


def test_batches_are_checked():
    for answer, message in [
        (lambda A, B: np.zeros(3), r"one real number a pair, 45 in all.*got an array of shape \(3,\)"),
        (lambda A, B: [None] * len(A), "dtype object"),
        (lambda A, B: np.zeros(len(A), complex), "dtype complex128"),
    ]:
        with pytest.raises(TypeError, match=message):
            covey.CRS(2, similarity=covey.batched(answer)).fit(list(range(10)))
    with pytest.raises(ValueError, match="object 0 and object 1 returned nan"):
        covey.CRS(2, similarity=covey.batched(lambda A, B: np.full(len(A), np.nan))).fit(list(range(10)))
    with pytest.raises(RuntimeError, match=r"batched similarity raised KeyError.*in the batch of 45 pairs") as caught:
        covey.CRS(2, similarity=covey.batched(lambda A, B: fail())).fit(list(range(10)))
    assert isinstance(caught.value.__cause__, KeyError)


def test_compiled_functions_are_checked():
    import numba

    @numba.njit
    def wrong(x):
        return x

    @numba.njit
    def raising(x, y):
        if x[0] == 2 and y[0] == 5:
            raise ValueError("odd pair")
        return 0.5

    X = np.arange(10.0)[:, None]
    with pytest.raises(TypeError, match="similarity does not compile on these rows"):
        covey.CRS(2, similarity=wrong).fit(X)
    with pytest.raises(RuntimeError, match="object 2 and object 5 raised ValueError: odd pair") as caught:
        covey.CRS(2, similarity=raising).fit(X)
    assert "odd pair" in str(caught.value.__cause__)


def test_distances_must_not_be_negative():
    with pytest.raises(
        ValueError, match=r"distance of object 0 and object 1 is -1.0, but a distance must not be negative"
    ):
        covey.CRS(2, similarity=covey.from_distance(lambda a, b: -1.0)).fit([1, 2, 3])


@pytest.mark.parametrize(
    ("X", "y", "options", "message"),
    [
        ([[1, np.nan]], None, {}, "X must be finite, got NaN at row 0, column 1; drop or impute"),
        ([[1, 2], [np.inf, 1]], None, {}, "X must be finite, got inf at row 1, column 0"),
        (sp.csr_array([[0, 1], [0, np.nan]]), None, {}, "X must be finite, got NaN at row 1, column 1"),
        (np.ones((2, 3)), None, {"similarity": "precomputed"}, r"square matrix.*got shape \(2, 3\)"),
        (1 - np.eye(4), None, {"similarity": "precomputed"}, "X looks like distances: its diagonal is smaller"),
        (sp.csr_array(2 - np.eye(4)), None, {"similarity": "precomputed"}, "X looks like distances"),
        (np.eye(3), [0, 1], {}, "y must hold one label for each of the 3 objects of X, got 2 labels"),
        ([], None, {"similarity": letters}, "X must hold at least one object, got an empty X"),
        ([], None, {}, "X must hold at least one object, got an empty X"),
        (pd.DataFrame({"a": [1], "b": ["x"]}), None, {}, "column 'b' holds text; drop or encode it"),
        (np.eye(3) - 2, None, {"similarity": covey.from_distance("precomputed")}, "must not hold negative numbers"),
        (sp.csr_array(np.eye(3)), None, {"similarity": covey.from_distance("precomputed")}, "dense matrix for precomp"),
        (np.empty((0, 2)), None, {}, "0 sample"),
        (np.eye(3), None, {"similarity": "cosin"}, "similarity must be .*'cosine'.* got 'cosin'"),
        (
            np.eye(3),
            None,
            {"coverage": 2},
            r"'coverage' parameter of CRS must be a float in the range \(0.0, 1.0\]. Got 2",
        ),
        (np.eye(3), None, {"n_neighbors": 0}, "'n_neighbors' parameter of CRS must be .* Got 0 instead"),
        (
            np.eye(3),
            None,
            {"graph": "fast"},
            "'graph' parameter of CRS must be a str among .*'nn-descent'.* Got 'fast'",
        ),
        (np.eye(3), None, {"gain": "sum"}, "'gain' parameter of CRS must be a str among"),
        (np.eye(3), None, {"on_orphan": "drop"}, "'on_orphan' parameter of CRS must be a str among"),
        (np.eye(3), None, {"threshold": "mean"}, "'threshold' parameter of CRS must be .*'homogeneity'.* Got 'mean'"),
        (np.eye(3), [0, "a", 1.5], {}, "y must hold"),
        (np.eye(3), np.array([1, np.nan, 1], dtype=object), {}, "y must hold finite labels, got nan"),
    ],
)
def test_bad_input_gets_one_clear_sentence(X, y, options, message):
    if message == "y must hold":
        y = np.array(y, dtype=object)
    with pytest.raises((ValueError, TypeError), match=message) as caught:
        covey.CRS(**options).fit(X, y)
    assert "\n" not in str(caught.value)


def test_what_is_no_sequence_is_refused():
    for X in ("a string", iter([1, 2]), 5, {"a", "b"}, {"a": "b"}):
        with pytest.raises(TypeError, match="X must be a sequence of objects, an array or a frame, got"):
            covey.CRS(similarity=letters).fit(X)


def test_the_users_matrix_is_left_alone():
    matrix = sp.csr_array((np.array([1.0, 0.0, 2.0]), np.array([2, 0, 1]), np.array([0, 2, 3])), shape=(2, 3))
    before = matrix.data.tolist(), matrix.indices.tolist()
    covey.CRS().fit(matrix)
    assert (matrix.data.tolist(), matrix.indices.tolist()) == before


def test_random_selector_and_keep_all():
    X, y = load_digits(return_X_y=True)
    few = covey.RandomSelector(fraction=0.1, random_state=0).fit(X, y)
    assert [p.indices.size for p in few.prototypes_.values()] == [
        round(0.1 * p.members.size) for p in few.prototypes_.values()
    ]
    assert len(set(few.sample_indices_)) == few.sample_indices_.size
    assert few.n_evaluations_ == few.scan_rate_ == 0
    again = covey.RandomSelector(fraction=0.1, random_state=0).fit(X, y)
    assert again.sample_indices_.tolist() == few.sample_indices_.tolist()
    one = covey.RandomSelector(fraction=0.001).fit(X, y)
    assert [p.indices.size for p in one.prototypes_.values()] == [1] * 10
    sizes = {label: label + 1 for label in range(10)}
    given_sizes = covey.RandomSelector(n=sizes).fit(X, y)
    assert {label: p.indices.size for label, p in given_sizes.prototypes_.items()} == sizes
    with pytest.raises(ValueError, match="n must give a number for each label, got none for 9"):
        covey.RandomSelector(n=dict.fromkeys(range(9), 1)).fit(X, y)
    assert covey.RandomSelector(n=10**6).fit(X).sample_indices_.size == len(X)
    everything = covey.KeepAll().fit(X, y)
    assert sorted(everything.sample_indices_) == list(range(len(X)))
    assert everything.prototypes_[3].coverage == 1


@pytest.mark.parametrize(
    ("k", "selected", "precision", "recall"),
    [(5, 9.9, 0.837, 0.833), (10, 5.4, 0.827, 0.823), (12, 4.6, 0.828, 0.823), (15, 3.7, 0.824, 0.820)],
)
def test_fashion_mnist(fashion, k, selected, precision, recall):
    """The exact graph on the official split; the share selected is known to the first decimal."""
    X, y, queries, truth = fashion
    model = covey.NearestPrototypeClassifier(covey.CRS(k, graph="exact")).fit(X, y)
    guess = model.predict(queries)
    assert round(100 * model.selector_.sample_indices_.size / len(X), 1) == selected
    assert precision_score(truth, guess, average="macro") >= precision
    assert recall_score(truth, guess, average="macro") >= recall


def test_proteins_by_their_dissimilarities(globins):
    distances, y = globins
    with pytest.raises(ValueError, match="looks like distances"):
        covey.CRS(similarity="precomputed").fit(distances, y)
    selector = covey.CRS(5, similarity=covey.from_distance("precomputed")).fit(distances, y)
    converted = covey.CRS(5, similarity="precomputed").fit(1 / (1 + distances), y)
    assert selector.sample_indices_.tolist() == converted.sample_indices_.tolist()
    assert min(p.coverage for p in selector.prototypes_.values()) >= 0.95
    assert selector.sample_indices_.size < 0.3 * y.size


class Failing:
    """A similarity that works for a number of calls."""

    def __init__(self, n_calls, error):
        self.left, self.error = n_calls, error

    def __call__(self, a, b):
        self.left -= 1
        if self.left < 0:
            raise self.error
        return 1 / (1 + abs(a - b))


SELECTORS = {"CRS": covey.CRS(3), "DeltaMedoids": covey.DeltaMedoids(), "DS3": covey.DS3()}


@pytest.mark.parametrize("name", SELECTORS)
@pytest.mark.parametrize("error", [RuntimeError("odd"), KeyboardInterrupt()], ids=["fails", "is interrupted"])
@pytest.mark.parametrize("classifies", [False, True])
def test_a_fit_that_fails_changes_nothing(name, error, classifies):
    """The second of two clusters fails: neither half a model nor a new one mixed with an old one is left."""

    def estimator(similarity):
        selector = clone(SELECTORS[name]).set_params(similarity=similarity)
        return covey.NearestPrototypeClassifier(selector) if classifies else selector

    X, y = list(range(20)), [0] * 10 + [1] * 10
    fresh = estimator(Failing(60, error))
    with pytest.raises((RuntimeError, KeyboardInterrupt)):
        fresh.fit(X, y)
    with pytest.raises(NotFittedError):
        check_is_fitted(fresh)
    fitted = estimator(Failing(10**6, error)).fit(X, y)
    before = dict(vars(fitted))
    selector = fitted.selector if classifies else fitted
    selector.similarity = Failing(30, error)
    before |= {} if classifies else {"similarity": selector.similarity}
    with pytest.raises((RuntimeError, KeyboardInterrupt)):
        fitted.fit(X[:-2], y[:-2])
    assert vars(fitted) == before
