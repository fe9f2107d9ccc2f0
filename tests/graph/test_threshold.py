"""All pairs above a threshold, against a plain double loop."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

import covey
from covey.graph import groups
from covey.graph import threshold as _threshold
from covey.similarity.kinds import collect
from covey.similarity.measures import resolve

SPACES = {
    "cosine": "cosine",
    "dot": "dot",
    "euclidean": "euclidean",
    "minus euclidean": covey.from_distance("euclidean", "negative"),
    "exp of minus euclidean": covey.from_distance("euclidean", "exponential"),
    "squared": covey.from_distance("sqeuclidean"),
    "manhattan": covey.from_distance("manhattan"),
    "hamming": "hamming",
    "ruzicka": "ruzicka",
    "a function": lambda a, b: float(np.abs(a - b).max() < 2),
    "a function of two directions": covey.Similarity(lambda a, b: float(np.maximum(a - b, 0).sum()), symmetric=False),
}


def all_similarities(X, similarity):
    space = collect(X, resolve(similarity)).space()
    n = space.n_left
    every = np.arange(n, dtype=np.int32)
    return space.score(np.repeat(every, n), np.tile(every, n)).reshape(n, n)


def pairs_of(graph):
    coo = graph.tocoo()
    return {(int(i), int(j)): float(value) for i, j, value in zip(*coo.coords, coo.data, strict=True)}


@pytest.mark.parametrize("name", SPACES)
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_the_graph_holds_exactly_the_pairs_that_reach_the_threshold(name, data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    X = rng.integers(0, 4, (data.draw(st.integers(2, 90)), 3)).astype(float)
    matrix = all_similarities(X, SPACES[name])
    # A threshold that some pairs have exactly shows whether rounding excludes pairs on the border.
    i, j = rng.integers(len(X), size=2)
    threshold = float(matrix[i, j]) + data.draw(st.sampled_from([0.0, 0.01, -0.3]))
    found = pairs_of(covey.threshold_graph(X, threshold, SPACES[name]))
    n = len(X)
    expected = {(i, j): matrix[i, j] for i in range(n) for j in range(n) if i != j and matrix[i, j] >= threshold}
    assert found == expected


@pytest.mark.parametrize("threshold", [-1.0, 0.0, 0.3, 0.9, 1.0, 1.5])
def test_many_tiles_and_threads_give_the_same_graph(threshold):
    X = np.random.default_rng(0).standard_normal((2500, 6)).astype(np.float32)
    alone, together = (covey.threshold_graph(X, threshold, "cosine", n_jobs=jobs) for jobs in (1, 2))
    assert (alone != together).nnz == 0
    assert alone.nnz == together.nnz
    matrix = all_similarities(X[:300], "cosine")
    np.fill_diagonal(matrix, -np.inf)
    part = alone[:300, :300]
    assert part.nnz == np.count_nonzero(matrix >= threshold)


@pytest.mark.parametrize("name", ["cosine", "manhattan", "a function", "a function of two directions"])
@pytest.mark.parametrize("sampled", [False, True])
def test_rows_are_in_order_and_whole_however_many_tiles_are_searched_at_once(name, sampled, monkeypatch):
    """Pairs that were drawn for the estimate are evaluated once, and lie among the others of their rows."""
    X = np.random.default_rng(3).integers(0, 9, (300, 3)).astype(float)
    matrix = all_similarities(X, SPACES[name])
    threshold = float(np.median(matrix))
    np.fill_diagonal(matrix, -np.inf)
    expected = sp.csr_array(np.where(matrix >= threshold, matrix, 0))
    if sampled:
        monkeypatch.setattr(_threshold, "FEW_PAIRS", 100)
        monkeypatch.setattr(_threshold, "SAMPLED", 5_000)
    for at_once in (1, 20, 1000):
        monkeypatch.setattr(_threshold, "AT_ONCE", at_once)
        space = collect(X, resolve(SPACES[name])).space(2)
        graph = _threshold.edges_above(space, threshold)
        assert space.n_evaluations - space.evaluations.n_checks == space.n_pairs
        again = sp.csr_array((graph.data, graph.indices, graph.indptr), shape=graph.shape)
        assert again.has_canonical_format
        assert graph.indices.dtype == np.int32
        assert (graph.toarray() == expected.toarray()).all()


@pytest.mark.parametrize("similarity", ["cosine", covey.from_distance("manhattan"), "scored before"])
def test_a_graph_that_cannot_fit_is_refused_before_the_work_begins(similarity, monkeypatch):
    monkeypatch.setattr(_threshold, "FEW_PAIRS", 100)
    monkeypatch.setattr(_threshold, "SAMPLED", 2_000)
    monkeypatch.setattr("covey.runtime.memory.size_of_memory", lambda: 500_000)
    X = np.abs(np.random.default_rng(0).standard_normal((400, 4)))
    crs = covey.CRS(None, threshold=0.0, similarity="euclidean")
    run = crs.fit if similarity == "scored before" else lambda X: covey.threshold_graph(X, 0.0, similarity)
    message = r"about .* edges between 400 objects \(estimated from .* random pairs\) needs .* GiB of memory, but this "
    message += "machine has .* GiB; raise the threshold, or ask for a number of neighbors"
    with pytest.raises(MemoryError, match=message):
        run(X)
    assert covey.threshold_graph(X, 2.0, "cosine").nnz == 0


def test_the_number_of_edges_is_estimated_closely():
    X = np.random.default_rng(0).standard_normal((6000, 4))
    graph = covey.threshold_graph(X, 0.5)
    space = collect(X, resolve("cosine")).space()
    sample = _threshold._sample(space, None, counted=False)
    assert space.n_evaluations == 0
    assert np.mean(sample.forward >= 0.5) * 6000 * 5999 == pytest.approx(graph.nnz, rel=0.02)


def test_a_precomputed_matrix_keeps_both_directions_apart():
    matrix = np.array([[1, 0.9, 0.2], [0.1, 1, 0.8], [0.7, 0.0, 1]])
    for X in (matrix, sp.csr_array(matrix)):
        found = pairs_of(covey.threshold_graph(X, 0.5, "precomputed"))
        assert found == {(0, 1): 0.9, (1, 2): 0.8, (2, 0): 0.7}


@pytest.mark.parametrize("threshold", ["homogeneity", 0.5])
@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("n", [20, 260])  # up to 200 objects all pairs are scored for the mean, else a sample
def test_each_pair_of_a_function_is_evaluated_once(n, symmetric, threshold):
    calls = []

    def near(a, b):
        calls.append((a, b) if not symmetric else (min(a, b), max(a, b)))
        return 1 / (1 + abs(a - b)) if symmetric else 1 / (1 + max(a - b, 0))

    objects = [float(x) for x in np.random.default_rng(1).permutation(n)]
    similarity = covey.Similarity(near, symmetric=symmetric, trusted=True)
    selector = covey.CRS(None, threshold=threshold, similarity=similarity, random_state=0)
    selector.fit(objects)
    assert len(calls) == len(set(calls)) == selector.n_evaluations_ == n * (n - 1) // (2 if symmetric else 1)
    assert selector.scan_rate_ == 1.0


def test_a_measure_that_cannot_say_what_it_estimates_is_scored_pair_by_pair():
    measure = covey.Measure(
        "dot",
        lambda dot, a, b, width: 2 * dot,
        term="dot",
        estimate=lambda products, a, b: products,  # half of the similarity, which orders pairs alike
        slack=lambda rounding, a, b: np.full(a.size, 1e-6),
    )
    covey.register_similarity("twice the product", measure)
    X = np.random.default_rng(2).standard_normal((60, 3))
    graph = covey.threshold_graph(X, 1.0, "twice the product")
    matrix = 2 * X @ X.T
    np.fill_diagonal(matrix, -np.inf)
    assert graph.nnz == np.count_nonzero(matrix >= 1.0)


@pytest.mark.parametrize("threshold", [float("nan"), np.float32("nan"), "0.5", None, True, [0.5], 1j, 10**400])
def test_a_threshold_that_is_no_number_is_refused(threshold):
    with pytest.raises(ValueError, match="threshold must be a number, got "):
        covey.threshold_graph(np.eye(3), threshold)


@pytest.mark.parametrize("threshold", [1, np.float32(0.5), np.int64(-1), -np.inf, np.inf])
def test_a_threshold_may_be_a_number_of_any_type(threshold):
    assert covey.threshold_graph(np.ones((3, 2)), threshold, "dot").nnz == (6 if threshold <= 2 else 0)


GROUPED = {
    "cosine": ("cosine", 0.93),
    "dot": ("dot", 9.0),
    "euclidean": ("euclidean", 0.6),
    "csr": ("cosine", 0.93),
    "bits": ("jaccard", 0.6),
}


def rows_of(name, n, seed=0):
    """Rows around twelve centers, some of them equal."""
    rng = np.random.default_rng(seed)
    X = (2 * rng.standard_normal((12, 5)))[rng.integers(0, 12, n)] + 0.5 * rng.standard_normal((n, 5))
    X[rng.integers(0, n, n // 20)] = X[0]
    if name == "csr":
        return sp.csr_array(np.maximum(X, 0) + np.eye(1, 5))
    if name == "bits":
        return covey.PackedBits(np.packbits(X @ rng.standard_normal((5, 40)) > 2, axis=1))
    return X.astype(np.float32)


@pytest.fixture
def small_groups(monkeypatch):
    """Groups so small that a few hundred objects need many of them, on two levels, and that some are split."""
    for name, value in {"LARGEST": 60, "FULL": 3, "CELLS_NEAR": 2, "PAIR_IN_GROUP": 0, "STRIP": 17}.items():
        monkeypatch.setattr(groups, name, value)
    monkeypatch.setattr(_threshold, "STRIP", 17)
    monkeypatch.setattr(_threshold, "SAMPLE", 80)


@pytest.mark.parametrize("name", GROUPED)
def test_groups_find_most_edges_each_once_and_no_others(name, small_groups):
    similarity, threshold = GROUPED[name]
    X = rows_of(name, 900)
    exact = covey.threshold_graph(X, threshold, similarity, "exact")
    graph, recall = covey.threshold_graph(X, threshold, similarity, "groups", random_state=0, return_recall=True)
    found, true = pairs_of(graph), pairs_of(exact)
    assert found.items() <= true.items()
    assert len(found) == graph.nnz
    assert (graph != graph.T).nnz == 0
    again = sp.csr_array((graph.data, graph.indices, graph.indptr), shape=graph.shape)
    assert again.has_canonical_format
    share = len(found) / len(true)
    assert share >= 0.9
    assert recall.low - 0.03 <= share <= recall.high + 0.03
    assert recall.value >= 0.93


def test_the_estimate_is_the_share_of_edges_if_all_objects_are_sampled(small_groups, monkeypatch):
    monkeypatch.setattr(_threshold, "SAMPLE", 900)
    monkeypatch.setattr(groups, "MEMBERSHIPS", 1)
    monkeypatch.setattr(_threshold, "MOST_ROUNDS", 2)
    X = rows_of("cosine", 900)
    with pytest.warns(
        ConvergenceWarning, match="threshold graph holds about .* be content with a lower recall, or pass"
    ):
        graph, recall = covey.threshold_graph(X, 0.9, method="groups", recall=0.99, random_state=1, return_recall=True)
    assert recall.value == graph.nnz / covey.threshold_graph(X, 0.9).nnz < 0.99


def test_threads_and_blocks_do_not_change_what_groups_find(small_groups, monkeypatch):
    X = rows_of("cosine", 900)
    expected, recall = covey.threshold_graph(X, 0.9, method="groups", random_state=3, return_recall=True)
    for strip in (5, 200):
        monkeypatch.setattr(_threshold, "STRIP", strip)
        for n_jobs in (1, 2):
            found, again = covey.threshold_graph(
                X, 0.9, method="groups", random_state=3, return_recall=True, n_jobs=n_jobs
            )
            assert recall == again
            for part in ("data", "indices", "indptr"):
                np.testing.assert_array_equal(getattr(found, part), getattr(expected, part))


def test_many_objects_are_grouped_unless_all_pairs_are_asked_for_or_cost_no_more(small_groups, monkeypatch):
    X = rows_of("cosine", 900)
    exact = covey.threshold_graph(X, 0.95)
    monkeypatch.setattr(_threshold, "EXACT_UP_TO", 800)
    grouped, recall = covey.threshold_graph(X, 0.95, random_state=0, return_recall=True)
    assert recall is not None
    assert grouped.nnz <= exact.nnz
    selectors = [
        covey.CRS(None, threshold=0.95, graph=graph, random_state=0).fit(X) for graph in ("auto", "groups", "exact")
    ]
    np.testing.assert_array_equal(selectors[0].sample_indices_, selectors[1].sample_indices_)
    np.testing.assert_array_equal(selectors[2].sample_indices_, covey.cover(exact).indices)
    graph, recall = covey.threshold_graph(X, 0.95, "hamming", return_recall=True)
    assert recall is None
    monkeypatch.setattr(groups, "PAIR_IN_GROUP", 100)
    graph, recall = covey.threshold_graph(X, 0.95, random_state=0, return_recall=True)
    assert recall is None
    assert graph.nnz == exact.nnz


def test_no_edges_are_no_miss(small_groups):
    graph, recall = covey.threshold_graph(rows_of("cosine", 500), 1.5, method="groups", return_recall=True)
    assert (graph.nnz, recall.value) == (0, 1.0)


@pytest.mark.parametrize("similarity", ["hamming", covey.from_distance("euclidean", "exponential")])
def test_groups_need_a_similarity_that_products_estimate(similarity):
    with pytest.raises(ValueError, match="method 'groups' needs a similarity that matrix products estimate"):
        covey.threshold_graph(np.eye(50), 0.5, similarity, "groups")


@pytest.mark.parametrize(
    "options", [{"method": "nn-descent"}, {"method": None}, {"recall": 1.0}, {"return_recall": "yes"}]
)
def test_wrong_options_are_refused(options):
    with pytest.raises(ValueError, match=f"'{next(iter(options))}' parameter of threshold_graph"):
        covey.threshold_graph(np.eye(3), 0.5, **options)


def test_what_groups_have_missed_in_several_clusters_is_said_once(small_groups, monkeypatch):
    monkeypatch.setattr(groups, "MEMBERSHIPS", 1)
    monkeypatch.setattr(_threshold, "MOST_ROUNDS", 1)
    X, y = rows_of("cosine", 900), np.arange(900) % 2
    selector = covey.CRS(None, threshold=0.9, graph="groups", recall=0.999, random_state=0)
    with pytest.warns(ConvergenceWarning) as caught:
        selector.fit(X, y)
    assert len(caught) == 1
    assert str(caught[0].message).startswith("The threshold graphs of 2 of 2 clusters hold at most about")
