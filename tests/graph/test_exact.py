"""The matrix of all similarities holds exactly the scores of the pairs, however the work is cut up."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

from covey.graph import exact
from covey.graph.exact import all_similarities, has_few_nonzero, sample
from covey.similarity.kinds import collect
from covey.similarity.measures import resolve
from tests.forms import space_of

RNG = np.random.default_rng(0)
# Most numbers are 0, so that many rows have nothing in common and a similarity of 0.
QUERIES, MEMBERS = (RNG.random((n, 12)) * (RNG.random((n, 12)) < 0.15) for n in (90, 40))


def one_way(a, b):
    """An asymmetric similarity of two rows."""
    return float(a @ b) * float(a[0] + 1)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("tile", [7, 1024])
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("similarity", ["cosine", "euclidean"])
def test_every_entry_is_the_score_of_its_pair(similarity, form, n_jobs, tile, sparse, monkeypatch):
    monkeypatch.setattr(exact, "TILE", tile)
    space = collect(form(MEMBERS), resolve(similarity)).space_of_queries(form(QUERIES), n_jobs=n_jobs)
    found = all_similarities(space, sparse=sparse)
    assert space.n_evaluations == space.n_expected == 90 * 40
    i, j = np.divmod(RNG.permutation(90 * 40).astype(np.int32), 40)
    expected = np.empty((90, 40))
    expected[i, j] = collect(form(MEMBERS), resolve(similarity)).space_of_queries(form(QUERIES)).score(i, j)
    assert sp.issparse(found) is sparse
    assert found.dtype == np.float64
    assert (found.toarray() if sparse else found).tolist() == expected.tolist()
    if sparse:
        assert found.nnz == np.count_nonzero(expected)


def test_an_asymmetric_function_is_asked_from_query_to_member():
    space = collect(MEMBERS, resolve(one_way)).space_of_queries(QUERIES)
    assert all_similarities(space, sparse=False).tolist() == [[one_way(q, m) for m in MEMBERS] for q in QUERIES]


def test_no_queries_make_a_matrix_without_rows():
    space = collect(["a", "b"], resolve(lambda a, b: float(a == b))).space_of_queries(np.empty((0, 1), dtype=object))
    for sparse in (False, True):
        assert all_similarities(space, sparse=sparse).shape == (0, 2)


def test_a_sparse_result_never_needs_the_dense_matrix():
    """20 000 x 1 000 similarities would take 160 MB; a block and what is not 0 take a small part of this."""
    n, m = 20_000, 1_000
    space = collect(sp.eye_array(m, format="csr"), resolve("cosine")).space_of_queries(
        sp.csr_array((np.ones(n), np.arange(n) % m, np.arange(n + 1)), shape=(n, m))
    )
    tracemalloc.start()
    found = all_similarities(space, sparse=True)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.nnz == n
    assert peak < 80 * 2**20


def test_a_matrix_is_stored_sparse_if_less_than_a_third_of_it_is_not_zero():
    assert has_few_nonzero(space_of(sp.eye_array(50, format="csr"), "cosine"))
    assert not has_few_nonzero(space_of(np.ones((50, 3)), "cosine"))
    half = np.kron(np.eye(2), np.ones((20, 1)))  # two groups: half of the pairs have similarity 1
    assert not has_few_nonzero(space_of(half, "cosine"))
    quarter = np.kron(np.eye(4), np.ones((20, 1)))
    assert has_few_nonzero(space_of(quarter, "cosine"))
    assert not has_few_nonzero(space_of(quarter[:1], "cosine"))


@pytest.mark.parametrize("n", [0, 1, 2, 128, 129, 10_000])
def test_a_sample_is_small_and_spread_over_all_positions(n):
    """The first and the last position are in it, and none twice."""
    positions = 3 * np.arange(n)
    drawn = sample(positions)
    assert drawn.size == min(n, 128)
    assert np.unique(drawn).size == drawn.size
    assert set(drawn) <= set(positions)
    assert {*positions[:1], *positions[-1:]} <= set(drawn)


def test_an_expensive_similarity_is_not_asked_whether_it_is_often_zero():
    def never(a, b):
        raise AssertionError

    assert not has_few_nonzero(space_of(["a", "b", "c"], never))
