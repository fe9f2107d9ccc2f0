"""Greedy coverage against recomputed sets and against the optimum."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import covey
from covey.coverage.gains import required
from tests import reference
from tests.forms import similarity_matrix

graphs = st.builds(
    lambda n, k, levels, seed: covey.neighbor_graph(
        similarity_matrix(n, np.random.default_rng(seed), symmetric=False, levels=levels), k, "precomputed"
    ),
    n=st.integers(1, 30),
    k=st.integers(1, 6),
    levels=st.sampled_from([1, 2, 4, None]),
    seed=st.integers(0, 10_000),
)


def as_lists(graph):
    return [
        [(int(j), float(s)) for j, s in zip(*row, strict=True)]
        for row in zip(graph.indices, graph.similarities, strict=True)
    ]


@given(
    graph=graphs,
    coverage=st.sampled_from([0.01, 0.5, 0.9, 0.95, 1.0]),
    threshold=st.sampled_from([None, 0.0, 0.4, 0.5, 0.8, 1.1]),
    gain=st.sampled_from(["similarity", "count"]),
    on_orphan=st.sampled_from(["self", "outlier"]),
    own=st.sampled_from([None, 0.25, 3.0]),
)
def test_greedy_is_what_the_sets_say(graph, coverage, threshold, gain, on_orphan, own):
    n = graph.n_objects
    own = None if own is None else np.full(n, own)
    found = covey.cover(graph, coverage, threshold, gain=gain, on_orphan=on_orphan, with_itself=own)
    picked, gains, covered_by = reference.greedy(as_lists(graph), coverage, threshold, gain, on_orphan, own)
    assert found.indices.tolist() == picked
    assert found.gains.tolist() == pytest.approx(gains, rel=1e-9)  # those of the reference are exact
    assert found.covered_by.tolist() == covered_by
    assert found.coverage == np.mean(np.array(covered_by) >= 0)
    if on_orphan == "self":
        assert found.coverage >= coverage - 1e-12


@given(graph=graphs, coverage=st.sampled_from([0.7, 0.95, 1.0]), threshold=st.sampled_from([None, 0.5]))
def test_greedy_stays_within_its_guarantee(graph, coverage, threshold):
    """Partial set cover by counts is within a harmonic factor of the optimum (Wolsey 1982, Slavik 1997)."""
    best = reference.smallest_cover(as_lists(graph), coverage, threshold)
    largest = max(len(covered) + 1 for covered in reference.covers(as_lists(graph), threshold))
    harmonic = sum(1 / i for i in range(1, min(largest, required(coverage, graph.n_objects)) + 1))
    found = covey.cover(graph, coverage, threshold, gain="count").indices.size
    assert best <= found <= harmonic * best + 1e-9
    assert best <= covey.cover(graph, coverage, threshold).indices.size


def test_covered_objects_may_be_picked():
    """3 is covered by 0, yet nobody else can cover 4 and 5 at once."""
    lists = {1: [0], 2: [0], 3: [0], 4: [3], 5: [3]}
    matrix = np.eye(6) * 0
    for x, coverers in lists.items():
        matrix[x, coverers] = 0.5
    graph = covey.NeighborGraph.from_csr(sp.csr_array(matrix))
    found = covey.cover(graph, 1.0, gain="count")
    assert found.indices.tolist() == [0, 3]
    assert found.covered_by.tolist() == [0, 0, 0, 3, 3, 3]
    assert found.gains.tolist() == [4, 2]


def test_a_sparse_matrix_will_do():
    graph = covey.neighbor_graph(np.random.default_rng(0).random((30, 3)), 4)
    assert covey.cover(graph.to_csr()).indices.tolist() == covey.cover(graph).indices.tolist()


@given(
    graph=graphs,
    threshold=st.sampled_from([None, 0.0, 0.4, 0.8, 1.1]),
    gain=st.sampled_from(["similarity", "count"]),
    kind=st.sampled_from([np.int32, np.int64]),
    size=st.sampled_from([None, 1, 4]),
)
def test_a_matrix_gives_what_its_lists_give(graph, threshold, gain, kind, size):
    """In a matrix, edges that a threshold cuts stand between the others, and objects may be listed with themselves."""
    itself, edges = np.arange(graph.n_objects), graph.to_csr().tocoo()  # which may store zeros that a sum would drop
    i, j = (np.append(side, itself) for side in edges.coords)
    matrix = sp.coo_array((np.append(edges.data, np.full(itself.size, 7.0)), (i, j)), shape=edges.shape).tocsr()
    matrix.indices, matrix.indptr = matrix.indices.astype(kind), matrix.indptr.astype(kind)
    before = matrix.copy()
    lists, rows = (covey.cover(form, 0.9, threshold, gain=gain, size=size) for form in (graph, matrix))
    for name in ("indices", "gains", "covered_by", "first_covered_by", "coverage", "n_orphans"):
        np.testing.assert_array_equal(getattr(lists, name), getattr(rows, name))
    np.testing.assert_array_equal(before.data, matrix.data)


@given(st.lists(st.integers(0, 40).map(lambda e: 2**e + e % 3), min_size=1, max_size=60))
def test_gains_of_any_size_are_picked_in_order(weights):
    """Without edges each object covers itself alone."""
    n = len(weights)
    found = covey.cover(sp.csr_array((n, n)), 1.0, gain="count", sample_weight=np.array(weights))
    expected = sorted(range(n), key=lambda x: (-weights[x], x))
    bits = sum(weights).bit_length()
    if bits <= 37:  # longer sums are compared by their leading bits
        assert found.indices.tolist() == expected
    assert sorted(found.indices.tolist()) == list(range(n))


def test_negative_similarities_cover_but_weigh_nothing():
    """Every object weighs 1 for itself alone: ties go to the lowest, which covers its neighbor, too."""
    graph = covey.neighbor_graph([[0.0], [1.0], [3.0]], 1, covey.from_distance("euclidean", "negative"))
    found = covey.cover(graph)
    assert found.indices.tolist() == [0, 2]
    assert found.gains.tolist() == [1.0, 1.0]
    assert found.covered_by.tolist() == [0, 0, 2]
    assert covey.cover(graph, gain="count").indices.tolist() == [1]
    assert covey.cover(graph, threshold=0.0).indices.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"coverage": 0}, r"coverage must be in \(0, 1\], got 0"),
        ({"gain": "sum"}, r"gain must be one of \['similarity', 'count'\], got 'sum'"),
        ({"on_orphan": "drop"}, r"on_orphan must be one of \['self', 'outlier'\], got 'drop'"),
    ],
)
def test_wrong_options_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        covey.cover(covey.neighbor_graph(np.eye(3), 1), **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"multiplicity": [1, 2]}, "multiplicity must hold a whole number of at least 1 for each of the 3 objects"),
        ({"multiplicity": [1, 0, 2]}, "multiplicity must hold a whole number of at least 1"),
        ({"with_itself": 1.0}, r"with_itself must hold a finite number, below .* for each of the 3 objects"),
        ({"with_itself": [1, np.inf, 1]}, "with_itself must hold a finite number"),
        ({"threshold": np.nan}, "threshold must be a number or None, got nan"),
        ({"threshold": [0.5]}, r"threshold must be a number or None, got \[0.5\]"),
        ({"coverage": "all"}, r"coverage must be in \(0, 1\], got 'all'"),
    ],
)
def test_odd_options_are_refused_by_name(options, message):
    with pytest.raises(ValueError, match=message):
        covey.cover(sp.csr_array(np.ones((3, 3))), **options)
