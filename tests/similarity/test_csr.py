"""Sparse matrices whose indices are out of range are refused wherever they come in, before compiled code sees them."""

import numpy as np
import pytest
import scipy.sparse as sp

import covey
from covey.similarity.inputs import check_csr
from tests.damage import put

FORMATS = ("csr", "csc", "bsr", "coo", "lil", "dok", "dia")
DENSE = np.arange(36.0).reshape(6, 6) % 5


def broken(name, value, form="csr"):
    """A matrix with one of its arrays replaced, as SciPy lets anybody do."""
    matrix = sp.csr_array(DENSE).asformat(form)
    setattr(matrix, name, value(np.array(getattr(matrix, name))))
    return matrix


BROKEN = {
    "column too large": (broken("indices", put(3, 10**8)), r"indices must lie in \[0, 6\), got 100000000"),
    "column below 0": (broken("indices", put(3, -1)), r"indices must lie in \[0, 6\), got -1"),
    "columns are floats": (broken("indices", lambda array: array.astype(float)), "indices must be .* integers"),
    "columns have two dimensions": (broken("indices", lambda array: array[:, None]), "one-dimensional"),
    "fewer columns than values": (broken("indices", lambda array: array[:-1]), "as many indices as values"),
    "fewer values than columns": (broken("data", lambda array: array[:-1]), "as many indices as values"),
    "starts do not begin with 0": (broken("indptr", put(0, 1)), "indptr must start with 0"),
    "starts decrease": (broken("indptr", put(2, 1)), "never decrease"),
    "starts end behind the values": (broken("indptr", put(-1, 10**8)), "indptr must end with their number"),
    "too few starts": (broken("indptr", lambda array: array[:-1]), "indptr must have 7 entries"),
    "too many starts": (broken("indptr", lambda array: np.append(array, array[-1])), "indptr must have 7 entries"),
    "row of CSC": (broken("indices", put(3, 10**8), "csc"), r"indices must lie in \[0, 6\)"),
    "block of BSR": (broken("indices", put(0, 10**8), "bsr"), r"indices must lie in \[0, \d+\)"),
    "row of COO": (broken("row", put(0, 10**8), "coo"), r"row must lie in \[0, 6\)"),
    "column of COO": (broken("col", put(0, -7), "coo"), r"col must lie in \[0, 6\), got -7"),
    "fewer rows than values of COO": (broken("data", lambda array: array[:-1], "coo"), "one entry for each of the 27"),
    "one dimension": (sp.coo_array(DENSE[0]), "two dimensions"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_matrix_is_refused_wherever_it_comes_in(case):
    matrix, message = BROKEN[case]
    fitted = covey.NearestPrototypeClassifier(covey.KeepAll()).fit(DENSE, [0, 1] * 3)
    for use in (
        lambda: covey.CRS(2).fit(matrix),
        lambda: covey.CRS(2, similarity=lambda a, b: 1.0).fit(matrix),
        lambda: covey.KeepAll(similarity="precomputed").fit(matrix),
        lambda: covey.CRS(2, graph=matrix).fit(DENSE),
        lambda: covey.NeighborGraph.from_csr(matrix),
        lambda: covey.cover(matrix),
        lambda: covey.cover_lower_bound(matrix),
        lambda: covey.neighbor_graph(matrix, 2),
        lambda: covey.homogeneity(matrix),
        lambda: fitted.predict(matrix),
    ):
        with pytest.raises(ValueError, match=message):
            use()


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csr_matrix])
@pytest.mark.parametrize("form", FORMATS)
def test_a_sound_matrix_of_any_format_comes_back_equal(form, kind):
    matrix = kind(DENSE).asformat(form)
    found = check_csr(matrix, "X")
    assert isinstance(found, sp.csr_array)
    np.testing.assert_array_equal(found.toarray(), DENSE)


def test_a_matrix_may_have_room_for_more_entries_behind_its_last():
    matrix = sp.csr_array(DENSE)
    matrix.indices, matrix.data = np.append(matrix.indices, 10**8), np.append(matrix.data, np.nan)
    found = check_csr(matrix, "X")
    np.testing.assert_array_equal(found.toarray(), DENSE)
    assert found.data.size == found.nnz
    assert matrix.data.size == found.nnz + 1  # the user's matrix stays as it is
    np.testing.assert_array_equal(covey.CRS(2).fit(matrix).sample_indices_, covey.CRS(2).fit(DENSE).sample_indices_)
