"""Groups: the lists are those of scored pairs in the total order, whatever divides the work, and few are missed."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

import covey
from covey.graph import exact, groups, recall
from covey.graph.groups import best_of_rows, drop_listed
from covey.graph.recall import SampledNeighbors
from tests.forms import space_of

K = 5


def blobs(n, width=8, seed=0):
    rng = np.random.default_rng(seed)
    centers = 2 * rng.standard_normal((6, width))
    return (centers[rng.integers(0, 6, n)] + rng.standard_normal((n, width))).astype(np.float32)


def topics(n, seed=0):
    """CSR rows of counts; those of a topic share columns."""
    rng = np.random.default_rng(seed)
    topic = rng.integers(0, 8, n)
    columns = (topic[:, None] * 12 + rng.integers(0, 20, (n, 9))) % 96
    rows = np.repeat(np.arange(n), 9)
    return sp.csr_array((rng.integers(1, 4, 9 * n).astype(float), (rows, columns.ravel())), shape=(n, 96))


def packed(n, seed=0):
    return covey.PackedBits(np.packbits(topics(n, seed).toarray() > 0, axis=1))


DATA = {
    "cosine": (blobs, "cosine"),
    "euclidean": (blobs, "euclidean"),
    "dot": (blobs, "dot"),
    "csr": (topics, "cosine"),
    "bits": (packed, "jaccard"),
}


@pytest.fixture
def small(monkeypatch):
    """Groups so small that a few hundred objects need many of them, and that some are split."""
    monkeypatch.setattr(groups, "LARGEST", 60)
    monkeypatch.setattr(groups, "FULL", 3)
    monkeypatch.setattr(groups, "CELLS_NEAR", 2)
    monkeypatch.setattr(recall, "SAMPLE", 50)
    monkeypatch.setattr(groups, "PAIR_IN_MEETING", 0)  # else so few objects would get the exact graph
    monkeypatch.setattr(groups, "PAIR_IN_GROUP", 0)


def graph_of(kind, n=700, **options):
    make, similarity = DATA[kind]
    return covey.neighbor_graph(make(n), K, similarity, "groups", random_state=0, **options)


@pytest.mark.parametrize("kind", DATA)
def test_lists_hold_scores_of_other_objects_in_the_total_order(kind, small):
    make, similarity = DATA[kind]
    graph, space = graph_of(kind), space_of(make(700), similarity)
    assert graph.method == "groups"
    everyone = np.repeat(np.arange(700, dtype=np.int32), K)
    others = graph.indices.ravel()
    assert (others != everyone).all()
    np.testing.assert_array_equal(graph.similarities.ravel(), space.score(everyone, others))
    for indices, similarities in zip(graph.indices, graph.similarities, strict=True):
        assert list(zip(-similarities, indices, strict=True)) == sorted(zip(-similarities, indices, strict=True))
        assert len(set(indices)) == K


@pytest.mark.parametrize("kind", DATA)
def test_threads_and_blocks_change_nothing(kind, small, monkeypatch):
    """Nearest pivots follow from scores, draws from generators of their own, and lists from their total order."""
    graph = graph_of(kind)
    monkeypatch.setattr(exact, "TILE", 37)
    monkeypatch.setattr(groups, "STRIP", 11)
    monkeypatch.setattr(groups, "AT_ONCE", 100)
    for n_jobs in (1, 2, 3):
        other = graph_of(kind, n_jobs=n_jobs)
        np.testing.assert_array_equal(other.indices, graph.indices)
        np.testing.assert_array_equal(other.similarities, graph.similarities)
        assert other.n_evaluations == graph.n_evaluations
        assert other.estimated_recall == graph.estimated_recall


@pytest.mark.parametrize("kind", DATA)
def test_most_neighbors_are_found_and_the_estimate_says_how_many(kind, small):
    make, similarity = DATA[kind]
    n = 1500
    graph = graph_of(kind, n)
    truth = covey.neighbor_graph(make(n), K, similarity, "exact")
    found = (graph.similarities >= truth.similarities[:, -1:]).mean()
    assert found >= 0.93
    assert graph.n_evaluations < truth.n_evaluations
    assert graph.estimated_recall.low - 0.02 <= found <= graph.estimated_recall.high + 0.02


def test_the_estimate_is_the_recall_of_all_objects_if_all_are_sampled(monkeypatch):
    X = blobs(300)
    monkeypatch.setattr(recall, "SAMPLE", 300)
    space = space_of(X, "cosine")
    graph, truth = (covey.neighbor_graph(X, K, "cosine", m, random_state=0) for m in ("nn-descent", "exact"))
    sampled = SampledNeighbors(space, K, np.random.default_rng(0))
    assert space.n_evaluations == 300 * 300
    np.testing.assert_array_equal(sampled.sample, np.arange(300))
    estimate = sampled.recall(graph.similarities)
    assert estimate.value == pytest.approx((graph.similarities >= truth.similarities[:, -1:]).mean(), abs=1e-15)
    assert sampled.recall(truth.similarities).value == 1.0


def test_the_estimate_counts_one_object_as_no_neighbor_of_itself():
    """Objects under "dot" may be more similar to others than to themselves, or equal to very many."""
    X = np.vstack([np.full((20, 2), 1.0), np.arange(1, 61).reshape(30, 2)])
    truth = covey.neighbor_graph(X, K, "dot", "exact")
    assert SampledNeighbors(space_of(X, "dot"), K, np.random.default_rng(0)).recall(truth.similarities).value == 1.0


def test_data_without_structure_get_the_exact_graph(small, monkeypatch):
    """Rounds would find so little that the graph of all pairs takes no longer."""
    monkeypatch.setattr(groups, "PAIR_IN_MEETING", 50)
    monkeypatch.setattr(groups, "PAIR_IN_GROUP", 3.5)
    X = np.random.default_rng(0).standard_normal((500, 60))
    graph = covey.neighbor_graph(X, K, "cosine", "groups", random_state=0)
    truth = covey.neighbor_graph(X, K, "cosine", "exact")
    assert graph.method == "exact"
    assert graph.estimated_recall is None
    np.testing.assert_array_equal(graph.indices, truth.indices)


def test_it_says_so_if_too_few_are_found(small, monkeypatch):
    monkeypatch.setattr(groups, "MOST_ROUNDS", 1)
    monkeypatch.setattr(groups, "MOST_MEETINGS", 0)
    with pytest.warns(ConvergenceWarning, match=r"holds about \d\d% of the true neighbors"):
        graph = graph_of("euclidean", 2000)
    assert graph.estimated_recall.value < 0.95


@pytest.mark.parametrize("share", [0.0, 1e-4, 0.3, 0.8, 1.0])
@pytest.mark.parametrize("wanted", [0.01, 0.95, 0.999999])
def test_so_many_rounds_find_what_is_wanted_and_fewer_do_not(share, wanted):
    n, share, wanted = groups.rounds_needed(share, wanted), min(max(share, 0.01), groups.MOST_SURE), min(wanted, 0.99)
    assert 1 <= n <= groups.MOST_ROUNDS
    assert n == groups.MOST_ROUNDS or 1 - (1 - share) ** n >= wanted - 1e-9
    assert n == 1 or 1 - (1 - share) ** (n - 1) < wanted


@pytest.mark.parametrize("kind", ["cosine", "csr"])
def test_the_share_that_is_done_rises_to_all(kind, small, monkeypatch):
    """A progress bar shows evaluations among those that are expected."""
    shares, expect = [], groups._GroupRounds.expect

    def expect_and_note(self, n_rounds):
        before = self.space.n_evaluations / (self.space.n_expected or np.inf)
        expect(self, n_rounds)
        shares.extend([before, self.space.n_evaluations / self.space.n_expected])

    monkeypatch.setattr(groups._GroupRounds, "expect", expect_and_note)
    graph_of(kind, 2000)
    assert shares[-1] == 1.0
    assert len(shares) >= 8  # the sample, groups, and two meetings
    assert (np.diff(shares) >= -0.15).all()  # group sizes vary, and so does the number of rounds


@pytest.mark.parametrize("n_equal", [100, 650])
def test_objects_that_resemble_no_pivot_are_divided_all_the_same(n_equal, small):
    """Rows that share no column with a pivot all have the similarity 0 to it, and go to the same one."""
    alone = sp.hstack([sp.csr_array((n_equal, 96)), sp.eye_array(n_equal)])
    others = sp.hstack([topics(700 - n_equal), sp.csr_array((700 - n_equal, n_equal))])
    X = sp.csr_array(sp.vstack([alone, others]))
    graph = covey.neighbor_graph(X, K, "cosine", "groups", random_state=0)
    assert (graph.indices >= 0).all()
    truth = covey.neighbor_graph(X, K, "cosine", "exact")
    assert (graph.similarities >= truth.similarities[:, -1:]).mean() >= 0.9


def test_objects_that_share_no_group_with_enough_others_get_their_nearest_all_the_same(small, monkeypatch):
    """Without meetings of neighbors, and with rounds of tiny groups, most lists would stay short."""
    monkeypatch.setattr(groups, "LARGEST", 4)
    monkeypatch.setattr(groups, "MOST_MEETINGS", 0)
    monkeypatch.setattr(groups, "MOST_ROUNDS", 1)
    X = blobs(200)
    with pytest.warns(ConvergenceWarning):
        graph = covey.neighbor_graph(X, 12, "cosine", "groups", random_state=0)
    truth = covey.neighbor_graph(X, 12, "cosine", "exact")
    assert (graph.indices >= 0).all()
    assert (graph.indices == truth.indices).all(axis=1).mean() > 0.5


def test_a_similarity_without_products_is_refused():
    with pytest.raises(ValueError, match=r"^method 'groups' needs a similarity that matrix products estimate"):
        covey.neighbor_graph(["a", "b"] * 50, K, lambda a, b: float(a == b), "groups")
    with pytest.raises(ValueError, match=r"^method 'groups' needs"):
        covey.neighbor_graph(blobs(100), K, "hamming", "groups")


@pytest.mark.parametrize("kind", DATA)
def test_parts_of_a_space_score_as_the_whole_does(kind):
    make, similarity = DATA[kind]
    space, rng = space_of(make(60), similarity), np.random.default_rng(1)
    left, right = rng.permutation(60)[:20].astype(np.int32), rng.permutation(60)[:30].astype(np.int32)
    i, j = rng.integers(0, 20, 200, dtype=np.int32), rng.integers(0, 20, 200, dtype=np.int32)
    among, between, some = space.among(left), space.between(left, right), space.between(None, right)
    assert (among.n_left, among.n_right, among.symmetric) == (20, 20, True)
    assert (between.n_left, between.n_right, between.symmetric) == (20, 30, False)
    assert (some.n_left, some.n_right) == (60, 30)
    np.testing.assert_array_equal(among.score(i, j), space.score(left[i], left[j]))
    np.testing.assert_array_equal(between.score(i, j), space.score(left[i], right[j]))
    np.testing.assert_array_equal(some.score(i, j), space.score(i, right[j]))
    assert space.n_evaluations == 6 * 200  # parts count for the whole
    estimates, slack = between.estimates(slice(0, 20), slice(0, 30)), between.slack(slice(0, 20))
    best = {row: set(np.argsort(-estimates[row], kind="stable")[:3]) for row in range(20)}
    exactly = between.score(*(side.ravel().astype(np.int32) for side in np.indices((20, 30)))).reshape(20, 30)
    for row, columns in best.items():  # what estimates put in front is in front, up to the slack
        last = np.sort(estimates[row])[-3]
        in_front = set(np.flatnonzero(exactly[row] >= np.sort(exactly[row])[-3]))
        assert in_front <= columns | set(np.flatnonzero(estimates[row] >= last - 2 * slack[row]))


@settings(deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 40), st.integers(1, 200), st.integers(1, 12), st.booleans())
def test_the_k_best_scores_of_each_row_clear_the_hurdles(seed, n, width, k, ties):
    """The estimates of a row are off by at most its slack, and its hurdle lies below the k-th best score so far."""
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 4, (n, width)) / 4 if ties else rng.random((n, width))
    slack = rng.choice([0.0, 0.01, 0.3], n)
    estimates = (scores + slack[:, None] * rng.uniform(-1, 1, (n, width))).astype(np.float32)
    slack += 1e-6  # what float32 rounds
    estimates[rng.random((n, width)) < 0.05] = -np.inf
    seen = np.where(np.isinf(estimates), -np.inf, scores)
    objects = rng.permutation(n + 3)[:n].astype(np.int32)
    hurdles = np.full(n + 3, -np.inf)
    i, j = best_of_rows(estimates, slack, objects, hurdles, k)
    listed = {(a, b) for a, b in zip(i.tolist(), j.tolist(), strict=True)}
    assert len(listed) == i.size
    for row in range(n):
        kth = np.sort(seen[row])[-k] if width >= k else -np.inf
        assert {(row, column) for column in np.flatnonzero((seen[row] >= kth) & (seen[row] > -np.inf))} <= listed
        assert hurdles[objects[row]] <= kth
    again = best_of_rows(estimates, slack, objects, hurdles.copy(), k)
    assert {(a, b) for a, b in zip(again[0].tolist(), again[1].tolist(), strict=True)} <= listed


def test_pairs_that_are_listed_are_dropped():
    lists = np.array([[3, 1], [0, -1], [1, 0], [-1, -1]], dtype=np.int32)
    i, j = np.array([0, 0, 1, 1, 2], dtype=np.int32), np.array([1, 2, 0, 2, 3], dtype=np.int32)
    numbers = np.array([0, 1, 2, 3], dtype=np.int32)
    n = drop_listed(lists, numbers, i, j)
    assert list(zip(i[:n].tolist(), j[:n].tolist(), strict=True)) == [(0, 2), (1, 2), (2, 3)]
