"""What X and y may hold: frames of any types of numbers, labels kept exactly, no missing values, and sparse matrices
whose indices are in range, before compiled code sees them."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

import covey
from covey.similarity.inputs import check_csr
from tests.damage import put

DATES = np.array(["2020-01-01", "NaT", "2020-01-03"], dtype="datetime64[D]")
NOTHING = np.datetime64("NaT")


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (DATES[:, None], "X must be finite, got NaT at row 1, column 0; drop or impute"),
        ((DATES - DATES[0])[:, None], "got NaT at row 1, column 0"),
        (pd.DataFrame({"day": DATES}), "got NaT at row 1, column 0"),
        (pl.DataFrame({"day": DATES}), "got NaT at row 1, column 0"),
        (pd.DataFrame({"n": [1.0, 2, 3], "day": DATES}), "column 'day' holds dates; drop or encode it"),
        (np.array([[1, 2], [3, pd.NA]], dtype=object), "must not hold missing values, got <NA> at row 1, column 1"),
        (np.array([[1, 2], [3, NOTHING]], dtype=object), "must not hold missing values, got NaT at row 1, column 1"),
        ([[1, 2], [None, 3]], "must not hold missing values, got None at row 1, column 0"),
        ([[1, 2], [pd.NA, 3]], "must not hold missing values, got <NA> at row 1, column 0"),
        (pd.DataFrame({"a": np.array([1, None], dtype=object)}), "got None at row 1, column 0"),
        (pd.DataFrame({"a": [1.5, 2], "b": pd.array([1, None], dtype="Int64")}), "got NaN at row 1, column 1"),
        (pd.DataFrame({"a": pd.array([True, None], dtype="boolean")}), "got NaN at row 1, column 0"),
        (pd.DataFrame({"a": pd.array([1, None], dtype="int64[pyarrow]")}), "got NaN at row 1, column 0"),
        (pl.DataFrame({"a": [1, 2], "b": [True, None]}), "got NaN at row 1, column 1"),
        (np.ma.masked_array(np.eye(2), [[0, 0], [0, 1]]), "masked entries, got one at row 1, column 1; drop or fill"),
    ],
)
def test_missing_values_in_rows_are_refused_with_their_place(X, message):
    with pytest.raises(ValueError, match=message):
        covey.neighbor_graph(X, 1, "euclidean")


def test_masked_entries_are_refused_under_any_similarity():
    """What lies under a mask would else count as a number."""
    with pytest.raises(ValueError, match="masked entries, got one at row 0, column 1"):
        covey.CRS(similarity=lambda a, b: 1.0).fit(np.ma.masked_array(np.eye(2), [[0, 1], [0, 0]]))
    with pytest.raises(ValueError, match="masked entries, got one at position 1"):
        covey.CRS(similarity=lambda a, b: 1.0).fit(np.ma.masked_array([1, 2], [0, 1]))
    nothing_hidden = np.ma.masked_array(np.eye(3))
    assert covey.KeepAll().fit(nothing_hidden).sample_indices_.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("y", "shown"),
    [
        (DATES, "NaT"),
        ([1, pd.NA, 2], "<NA>"),
        (np.array([1, pd.NA, 2], dtype=object), "<NA>"),
        (["a", None, "b"], "None"),
        (["a", float("nan"), "b"], "nan"),
        ([1.0, float("inf"), 2.0], "inf"),
        (pd.Series([1, None, 2], dtype="Int64"), "nan"),
        (pd.Series([1, None, 2], dtype="int64[pyarrow]"), "nan"),
        (pd.Series(["a", None, "b"], dtype="string"), "<NA>"),
        (pd.Series(["a", None, "b"], dtype="category"), "nan"),
        (pd.to_datetime(pd.Series(["2020-01-01", None, "2021-01-01"])).dt.tz_localize("UTC"), "NaT"),
        (pl.Series([1, None, 2]), "nan"),
        (pl.Series(["a", None, "b"]), "None"),
    ],
)
@pytest.mark.parametrize("estimator", [covey.KeepAll(), covey.NearestPrototypeClassifier(covey.KeepAll())])
def test_missing_labels_are_refused_with_their_place(estimator, y, shown):
    with pytest.raises(ValueError, match=f"y must hold finite labels, got {shown} at position 1; drop or label"):
        estimator.fit(np.eye(3), y)


def test_masked_labels_are_refused():
    with pytest.raises(ValueError, match="y must not hold masked entries, got one at position 2"):
        covey.KeepAll().fit(np.eye(3), np.ma.masked_array([1, 2, 3], [0, 0, 1]))


BIG = 2**53


@pytest.mark.parametrize(
    "y",
    [
        [BIG, BIG + 1, BIG],
        pd.Series([BIG, BIG + 1, BIG], dtype="Int64"),
        pd.Series([BIG, BIG + 1, BIG], dtype="int64[pyarrow]"),
        pd.Series([BIG, BIG + 1, BIG], dtype="category"),
        pl.Series([BIG, BIG + 1, BIG]),
        np.array([2**63, 2**63 + 1, 2**63], dtype=np.uint64),
        pd.Series([2**63, 2**63 + 1, 2**63], dtype="UInt64"),
        np.array([BIG, BIG + 1, BIG], dtype=object),
        [2**63, -1, 2**63],
        [2**70, 2**70 + 1, 2**70],
        [np.uint64(2**63), np.int64(-1), np.uint64(2**63)],
        [True, False, True],
        pd.Series([True, False, True], dtype="boolean"),
        pd.Series(["a", "b", "a"], dtype="string"),
    ],
    ids=lambda y: f"{type(y).__name__} {getattr(y, 'dtype', '')}",
)
def test_labels_keep_their_values_and_types(y):
    given = [label.item() if isinstance(label, np.generic) else label for label in list(y)]
    selector = covey.KeepAll().fit(np.eye(3), y)
    model = covey.NearestPrototypeClassifier(covey.KeepAll()).fit(np.eye(3), y)
    for labels in (list(selector.prototypes_), model.classes_.tolist()):
        assert labels == sorted(set(given))
        assert {type(label) for label in labels if not isinstance(label, np.generic)} <= {type(given[0])}
    assert model.predict(np.eye(3)).tolist() == given


def test_numbers_among_strings_are_not_taken_for_strings():
    for y in ([1, "1", 2], np.array([1, "1", 2], dtype=object)):
        for estimator in (covey.KeepAll(), covey.NearestPrototypeClassifier(covey.KeepAll())):
            with pytest.raises(TypeError, match="y must hold labels that can be sorted, all of one type"):
                estimator.fit(np.eye(3), y)


X = np.array([[1, 0], [1, 1], [0, 1], [2, 1]])


def as_type(dtype):
    return pd.DataFrame({"a": pd.array(X[:, 0], dtype=dtype), "b": pd.array(X[:, 1], dtype=dtype)})


FRAMES = {
    **{str(dtype): as_type(dtype) for dtype in ("int64", "float32", "Int64", "Float64", "UInt8")},
    "arrow": as_type("int64[pyarrow]"),
    "mixed": pd.DataFrame({"a": pd.array(X[:, 0], dtype="Int16"), "b": pd.array(X[:, 1], dtype="boolean")}),
    "numbers and truth values": pd.DataFrame({"a": X[:, 0], "b": X[:, 1] == 1}),
    "polars": pl.DataFrame({"a": X[:, 0], "b": X[:, 1] == 1}),
}


def dot(a, b):
    assert isinstance(a, np.ndarray)
    assert isinstance(b, np.ndarray)
    return float(a @ b)


@pytest.mark.parametrize("asked", FRAMES)
@pytest.mark.parametrize("fitted", FRAMES)
def test_a_frame_of_numbers_is_rows_to_a_callable_whatever_their_types(fitted, asked):
    model = covey.NearestPrototypeClassifier(covey.KeepAll(similarity=dot)).fit(FRAMES[fitted], [0, 1, 2, 3])
    np.testing.assert_array_equal(model.class_similarities(FRAMES[asked]), X @ X.T)


def test_what_were_rows_to_fit_are_rows_ever_after():
    model = covey.NearestPrototypeClassifier(covey.KeepAll(similarity=dot)).fit(FRAMES["int64"], [0, 1, 2, 3])
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        np.testing.assert_array_equal(model.class_similarities(X.tolist()), X @ X.T)
    objects = FRAMES["int64"].astype(object)
    np.testing.assert_array_equal(model.class_similarities(objects), X @ X.T)


def test_what_were_dicts_to_fit_are_dicts_ever_after():
    """New rows may happen to hold numbers only."""

    def same(a, b):
        return float(a["size"] == b["size"])

    sizes = pd.DataFrame({"size": np.array([1, "large"], dtype=object)})
    model = covey.NearestPrototypeClassifier(covey.KeepAll(similarity=same)).fit(sizes, [0, 1])
    assert model.predict(pd.DataFrame({"size": [1, 1]})).tolist() == [0, 0]


def test_nullable_whole_numbers_reach_a_callable_exactly():
    seen = []
    frame = pd.DataFrame({"a": pd.array([BIG, BIG + 1], dtype="Int64"), "b": pd.array([0, 1], dtype="Int64")})
    covey.CRS(similarity=lambda a, b: seen.extend([a[0], b[0]]) or 1.0).fit(frame)
    assert set(seen) == {BIG, BIG + 1}


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
