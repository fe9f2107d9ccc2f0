"""Tables of pandas, polars and Arrow give the answers of plain arrays, and come back as what they were."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.datasets import load_iris

import covey
from tests.forms import letters

X, Y = load_iris(return_X_y=True)
NAMES = ["sepal length", "sepal width", "petal length", "petal width"]
FRAMES = {
    "pandas": pd.DataFrame,
    "pandas with Arrow's types": lambda columns: pa.table(columns).to_pandas(types_mapper=pd.ArrowDtype),
    "polars": pl.DataFrame,
    "Arrow": pa.table,
    "Arrow's batch": pa.RecordBatch.from_pydict,
}
MIXED = {
    "size": [1, 2, None, 40, 41, 39],
    "kind": ["a", "a", "b", None, "c", "c"],
    "new": [True, True, None, False, False, True],
    "day": [datetime.date(2020, 1, day) for day in (1, 2, 3, 28, 29, 30)],
}


def table(frame, columns=X.T):
    return FRAMES[frame](dict(zip(NAMES, columns, strict=True)))


def column(few, name):
    values = few[name]
    return values.to_pylist() if hasattr(values, "to_pylist") else values.to_list()


@pytest.mark.parametrize("frame", FRAMES)
def test_a_frame_of_numbers_gives_the_answers_of_an_array(frame):
    model = covey.NearestPrototypeClassifier(covey.CRS(5)).fit(table(frame), Y)
    expected = covey.NearestPrototypeClassifier(covey.CRS(5)).fit(X, Y)
    np.testing.assert_array_equal(model.selector_.sample_indices_, expected.selector_.sample_indices_)
    np.testing.assert_array_equal(model.predict(table(frame)), expected.predict(X))
    np.testing.assert_array_equal(model.transform(table(frame)), expected.transform(X))


@pytest.mark.parametrize("frame", sorted(FRAMES.keys() - {"Arrow's batch"}))  # scikit-learn sees no names in a batch
def test_names_of_columns_are_known_and_compared(frame):
    model = covey.NearestPrototypeClassifier(covey.CRS(5)).fit(table(frame), Y)
    assert model.feature_names_in_.tolist() == model.selector_.feature_names_in_.tolist() == NAMES
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(FRAMES[frame]({name[::-1]: column for name, column in zip(NAMES, X.T, strict=True)}))


@pytest.mark.parametrize("frame", FRAMES)
def test_selected_rows_are_a_frame_of_the_same_kind(frame):
    few, _ = covey.CRS(5).fit_resample(table(frame), Y)
    assert type(few) is type(table(frame))
    rows = covey.CRS(5).fit(X, Y).sample_indices_
    for name, values in zip(NAMES, X.T, strict=True):
        assert column(few, name) == values[rows].tolist()


@pytest.mark.parametrize("frame", FRAMES)
def test_columns_of_several_types_of_numbers_are_one_array(frame):
    columns = [X[:, 0], X[:, 1].astype(np.float32), (X[:, 2] * 10).astype(np.int16), X[:, 3] > 1]
    found = covey.CRS(5).fit(table(frame, columns), Y).sample_indices_
    np.testing.assert_array_equal(found, covey.CRS(5).fit(np.column_stack(columns), Y).sample_indices_)


@pytest.mark.parametrize("frame", FRAMES)
def test_a_missing_number_is_refused_by_its_place(frame):
    columns = [pa.array([None, *values[1:]]) if at == 2 else pa.array(values) for at, values in enumerate(X.T.tolist())]
    columns = columns if frame.startswith(("Arrow", "pandas with")) else [values.to_pylist() for values in columns]
    with pytest.raises(ValueError, match=r"X must be finite, got NaN at row 0, column 2"):
        covey.CRS(5).fit(table(frame, columns), Y)


@pytest.mark.parametrize("frame", FRAMES)
def test_mixed_columns_are_compared_by_gower(frame):
    rows = [dict(zip(MIXED, values, strict=True)) for values in zip(*MIXED.values(), strict=True)]
    days = [{**row, "day": row["day"].toordinal()} for row in rows]  # in a list of dicts a date would be a category
    expected = covey.neighbor_graph(days, 5, "gower")
    found = covey.neighbor_graph(FRAMES[frame](_dated(frame)), 5, "gower")
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_allclose(found.similarities, expected.similarities)


def _dated(frame):
    """The mixed columns; pandas takes dates for dates only if they are given as its own."""
    return {**MIXED, "day": pd.to_datetime(MIXED["day"])} if frame == "pandas" else MIXED


@pytest.mark.parametrize("frame", FRAMES)
def test_rows_of_a_mixed_frame_are_dicts(frame):
    mixed = FRAMES[frame]({"name": ["ann", "anna", "bob"], "age": [30, 31, 60]})

    def alike(a, b):
        return letters(a["name"], b["name"]) / (1 + abs(a["age"] - b["age"]))

    few, _ = covey.CRS(1, similarity=alike).fit_resample(mixed)
    assert type(few) is type(mixed)
    assert column(few, "name") == ["ann", "bob"]


@pytest.mark.parametrize("frame", FRAMES)
def test_columns_of_text_are_refused_by_name_where_rows_of_numbers_are_needed(frame):
    with pytest.raises(ValueError, match="column 'kind' holds text; drop or encode it"):
        covey.CRS(5).fit(FRAMES[frame]({"size": [1, 2], "kind": ["a", "b"]}))


@pytest.mark.parametrize("series", [pd.Series, pl.Series, pa.array, lambda values: pa.chunked_array([values])])
def test_a_single_column_is_a_sequence_of_objects_and_of_labels(series):
    words = ["cat", "cart", "care", "dog", "dodge", "lodge"]
    few, kinds = covey.CRS(2, similarity=letters).fit_resample(series(words), series(["c"] * 3 + ["d"] * 3))
    expected = covey.CRS(2, similarity=letters).fit(words, ["c"] * 3 + ["d"] * 3)
    assert type(few) is type(series(words))
    assert [str(word) for word in few] == [words[row] for row in expected.sample_indices_]
    assert len(kinds) == len(few)
