"""CRS as a whole: the same selection in every form, edge cases, exact counts, real data."""

import logging

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.metrics import precision_score, recall_score

import covey
from covey.graph import descent, exact
from covey.graph.build import auto_neighbors
from tests import reference
from tests.forms import COSINES, Counted, letters, similarity_matrix


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


def test_labels_keep_their_type():
    X = np.random.default_rng(0).random((6, 2))
    for y in ([True, False] * 3, ["b", "a"] * 3, [1.5, 0.5] * 3, np.array(["2026-01-01", "2025-01-01"] * 3, "M8[ns]")):
        assert list(covey.CRS().fit(X, y).prototypes_) == sorted(set(y))


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


def test_fashion_mnist(fashion):
    """The exact graph on the official split; the share selected is known to the first decimal."""
    X, y, queries, truth = fashion
    order = np.argsort(y, kind="stable")
    X, y = X[order], y[order]
    # The graph of the longest lists holds the shorter ones, so that it is computed once.
    graph = sp.block_diag([covey.neighbor_graph(X[y == label], 15, method="exact").to_csr() for label in range(10)])
    for k, selected, precision, recall in [
        (5, 9.9, 0.837, 0.833),
        (10, 5.4, 0.827, 0.823),
        (15, 3.7, 0.824, 0.820),
    ]:
        model = covey.NearestPrototypeClassifier(covey.CRS(k, graph=graph.tocsr())).fit(X, y)
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
