"""Gower's similarity of rows of mixed columns, against its definition."""

import math
import pickle
import zipfile
from datetime import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import covey
from covey.dask import inputs
from covey.exceptions import FileFormatError
from covey.similarity.collection import Collection
from covey.similarity.kinds import collect
from covey.similarity.measures import resolve
from tests import reference
from tests.damage import change_file
from tests.forms import space_of

GOWER = resolve("gower")


def is_missing(value):
    return value is None or value != value


def gower(a, b, ranges):
    """The definition, of two dicts. The ranges of columns of numbers are given by key, as lowest and highest."""
    terms = []
    for key in a.keys() & b.keys():
        if is_missing(a[key]) or is_missing(b[key]):
            continue
        if key not in ranges:
            terms.append(float(a[key] == b[key]))
        elif a[key] == b[key]:
            terms.append(1.0)
        else:
            lowest, highest = ranges[key]
            distance = abs(a[key] - b[key]) / (highest - lowest) if highest > lowest else math.inf
            terms.append(max(0.0, 1 - distance))
    return math.fsum(terms) / len(terms) if terms else 0.0


def ranges_of(rows, keys):
    found = {key: [row[key] for row in rows if not is_missing(row[key])] for key in keys}
    return {key: (min(values), max(values)) for key, values in found.items() if values}


def kernel_case(rng):
    """Rows on both sides. All terms are multiples of a quarter, so that their sums are exact."""
    numbers = rng.choice([0.0, 1.0, 2.0, 6.0, np.nan], (2, 20, 7))
    codes = rng.integers(-2, 3, (2, 20, 5)).astype(np.int32)
    codes[1][codes[1] == -2] = -1
    return numbers[0], codes[0], numbers[1], codes[1], rng.choice([2.0, 4.0, np.finfo(float).tiny], 7)


def table(n=60, seed=0):
    """Rows of two columns of numbers and two of categories, with gaps, and one column without any value."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 90, n).astype(float),
            "income": rng.lognormal(size=n),
            "town": rng.choice(["Brno", "Oulu", "Graz"], n),
            "member": rng.choice([True, False], n).astype(object),
            "nothing": [None] * n,
        }
    )
    for column in ("age", "income", "town", "member"):
        frame.loc[rng.random(n) < 0.15, column] = None if frame[column].dtype == object else np.nan
    return frame


NUMBERS = ["age", "income"]
FRAME = table()
ROWS = FRAME.astype(object).where(FRAME.notna(), None).to_dict("records")
FORMS = {
    "pandas": FRAME,
    "pandas with categories": FRAME.assign(town=FRAME["town"].astype("category")),
    "pandas with Arrow's types": FRAME.convert_dtypes(dtype_backend="pyarrow"),
    "pandas with its own types": FRAME.convert_dtypes(),
    "polars": pl.from_dicts(ROWS, infer_schema_length=None),
    "dicts": ROWS,
    "dicts with gaps left out": [{key: value for key, value in row.items() if value is not None} for row in ROWS],
    "objects": FRAME.to_numpy(dtype=object),
    "lists": [list(row.values()) for row in ROWS],
}


def expected_matrix(rows, keys=NUMBERS):
    ranges = ranges_of(rows, keys)
    return np.array([[gower(a, b, ranges) for b in rows] for a in rows])


def every_pair(space):
    i, j = np.indices((space.n_left, space.n_right)).astype(np.int32).reshape(2, -1)
    return space.score(i, j).reshape(space.n_left, space.n_right)


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_table_gives_the_similarities_of_the_definition(form):
    space = space_of(FORMS[form], "gower")
    assert space.symmetric
    found = every_pair(space)
    np.testing.assert_allclose(found, expected_matrix(ROWS), atol=1e-15, rtol=0)
    assert (found == found.T).all()
    assert (np.diag(found) == 1).all()


VALUES = st.none() | st.sampled_from([-7.0, 0.0, 0.1, 3.0, 1e9]) | st.floats(-1e6, 1e6)


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(VALUES, VALUES, st.sampled_from([None, "a", "b", ""]), st.sampled_from([None, True])), min_size=1
    ),
    st.lists(st.tuples(VALUES, VALUES, st.sampled_from([None, "a", "c"]), st.sampled_from([None, False])), min_size=1),
)
def test_members_and_queries_have_the_similarities_of_the_definition(members, queries):
    members = [dict(zip("xyzt", row, strict=True)) for row in [(0.0, None, None, None), *members]]
    queries = [dict(zip("xyzt", row, strict=True)) for row in queries]
    ranges = ranges_of(members, "xy")
    if "y" not in ranges:  # without any number, y is a column of categories
        queries = [row | {"y": None} for row in queries]
    collection = collect(members, GOWER)
    found = every_pair(collection.space())
    np.testing.assert_allclose(found, [[gower(a, b, ranges) for b in members] for a in members], atol=1e-12)
    np.testing.assert_array_equal(np.diag(found), collection.space().with_itself())
    asked = every_pair(collection.representatives(np.arange(len(members))).space_of_queries(queries))
    np.testing.assert_allclose(asked, [[gower(a, b, ranges) for b in members] for a in queries], atol=1e-12)


def test_numbers_alone_are_compared_by_range():
    X = np.array([[0, 5, 7], [10, 5, 7], [5, 5, np.nan]])
    found = every_pair(space_of(X, "gower"))
    np.testing.assert_allclose(found, [[1, 2 / 3, 3 / 4], [2 / 3, 1, 3 / 4], [3 / 4, 3 / 4, 1]])
    np.testing.assert_allclose(every_pair(space_of(X[:2].astype(np.uint8), "gower")), [[1, 2 / 3], [2 / 3, 1]])


def test_truth_values_are_categories_and_decimals_are_numbers():
    X = [{"a": True, "b": Decimal(1)}, {"a": False, "b": Decimal(2)}, {"a": True, "b": Decimal(3)}]
    np.testing.assert_allclose(every_pair(space_of(X, "gower"))[0], [1, 0.25, 0.5])


@pytest.mark.parametrize("zone", [None, "Europe/Prague"])
def test_a_column_of_dates_is_compared_by_range(zone):
    days = pd.Series(pd.to_datetime(["2020-01-01", "2020-01-11", None, "2020-01-05"])).dt.tz_localize(zone)
    for X in (days.to_frame("day"), pl.from_pandas(days.to_frame("day"))):
        np.testing.assert_allclose(every_pair(space_of(X, "gower"))[0], [1, 0, 0, 0.6])
    lasted = (days - days[0]).to_frame("lasted")
    np.testing.assert_allclose(every_pair(space_of(lasted, "gower"))[1], [0, 1, 0, 0.4])


def test_a_cluster_is_compared_by_the_ranges_of_all_of_x():
    X = pd.DataFrame({"x": [0.0, 1, 2, 100]})
    found = covey.CRS(1, similarity="gower").fit(X, ["a", "a", "a", "b"])
    assert found.prototypes_["a"].homogeneity == pytest.approx(1 - 4 / 300)


def test_queries_beyond_the_range_and_unseen_categories_are_similar_to_nothing():
    X = pd.DataFrame({"x": [0.0, 10], "same": [3.0, 3], "town": ["Brno", "Oulu"]})
    collection = collect(X, GOWER)
    queries = pd.DataFrame({"x": [-5.0, 25], "same": [3.0, 4], "town": ["Graz", None]})
    np.testing.assert_allclose(every_pair(collection.space_of_queries(queries)), [[0.5, 1 / 3], [0, 0]])


def test_equal_rows_are_merged_and_a_row_without_values_is_like_nothing():
    rows = pd.DataFrame({"x": [None, 1.0, None, 1.0, -0.0, 0.0], "y": [None, "a", None, "a", None, None]})
    collection = collect(rows, GOWER)
    found = collection.distinct()
    assert found.kind.tolist() == [0, 1, 0, 1, 2, 2]
    assert collection.space().with_itself().tolist() == [0, 1, 0, 1, 1, 1]
    assert collection.space().score(*np.array([[0, 0], [0, 1]], dtype=np.int32)).tolist() == [0, 0]
    selector = covey.CRS(2, similarity="gower", coverage=1.0).fit(rows)
    assert selector.prototypes_[0].coverage == 1


def test_equal_rows_of_different_tables_have_equal_hashes():
    a, b = pd.DataFrame({"x": [1.0, 2, np.nan], "y": ["u", "v", None]}), [{"x": np.nan, "y": None}, {"x": 2, "y": "v"}]
    hashes, others = collect(a, GOWER).content_hashes(), collect(b, GOWER).content_hashes()
    assert [others[0], others[1]] == [hashes[2], hashes[1]]
    assert np.unique(hashes).size == 3


@pytest.mark.parametrize("method", ["exact", "nn-descent"])
def test_the_graph_is_that_of_the_definition_for_any_number_of_threads(method):
    X = table(300, seed=1)
    rows = X.astype(object).where(X.notna(), None).to_dict("records")
    matrix = every_pair(space_of(X, "gower"))
    np.testing.assert_allclose(matrix, expected_matrix(rows), atol=1e-15, rtol=0)
    one, two = (
        covey.neighbor_graph(X, n_neighbors=5, similarity="gower", method=method, random_state=0, n_jobs=n_jobs)
        for n_jobs in (1, 2)
    )
    assert (one.indices == two.indices).all()
    expected = reference.neighbors(lambda i, j: matrix[i, j], len(rows), 5)
    same = np.mean([set(found) == {j for j, _ in others} for found, others in zip(one.indices, expected, strict=True)])
    assert same == 1 if method == "exact" else same > 0.8


SELECTORS = [
    covey.CRS(5, random_state=0),
    covey.DeltaMedoids(random_state=0),
    covey.DS3(),
    covey.Sharpened(covey.CRS(5, random_state=0), random_state=0),
]


@pytest.mark.parametrize("selector", SELECTORS, ids=lambda selector: type(selector).__name__)
def test_every_selector_selects_what_it_does_with_the_definition(selector):
    labels = FRAME["town"].fillna("none").to_numpy(dtype=str)
    ranges = ranges_of(ROWS, NUMBERS)
    inner = "selector__similarity" if isinstance(selector, covey.Sharpened) else "similarity"
    by_name = selector.set_params(**{inner: "gower"}).fit(FRAME, labels).sample_indices_
    by_function = selector.set_params(**{inner: lambda a, b: gower(a, b, ranges)}).fit(ROWS, labels).sample_indices_
    assert by_name.tolist() == by_function.tolist()


@pytest.mark.parametrize("form", FORMS)
def test_a_saved_classifier_answers_as_before(form, tmp_path):
    labels = (FRAME["income"].fillna(0) > 1).to_numpy()
    model = covey.NearestPrototypeClassifier(covey.CRS(3, similarity="gower", random_state=0)).fit(FORMS[form], labels)
    covey.save(model, tmp_path / "model.covey")
    for again in (covey.load(tmp_path / "model.covey"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(again.decision_function(FORMS[form]), model.decision_function(FORMS[form]))
    n_columns = None if "dicts" in form else FRAME.shape[1]
    assert getattr(model, "n_features_in_", None) == n_columns


def test_a_model_holds_no_categories_but_those_of_its_representatives(tmp_path):
    X = pd.DataFrame({"x": np.zeros(40), "secret": [f"person {at}" for at in range(40)]})
    model = covey.NearestPrototypeClassifier(covey.CRS(3, similarity="gower", threshold=None)).fit(X, np.arange(40) % 2)
    chosen = X["secret"][np.sort(model.selector_.sample_indices_)].tolist()
    assert sorted(model.representatives_.categories[0]) == sorted(chosen)
    covey.save(model, tmp_path / "model.covey")
    with zipfile.ZipFile(tmp_path / "model.covey") as archive:
        text = archive.read("covey.json").decode()
    assert [name for name in X["secret"] if f'"{name}"' in text] == chosen
    assert len(chosen) < 40


DAMAGES = {
    "codes beyond the categories": lambda rows: rows.update(categories=[[] for _ in rows["categories"]]),
    "categories twice": lambda rows: rows.update(categories=[["a"] * 3 for _ in rows["categories"]]),
    "a missing category": lambda rows: rows["categories"][0].append(None),
    "a list as a category": lambda rows: rows["categories"][0].append([1]),
    "ranges of other columns": lambda rows: rows.update(lowest=rows["numbers"]),
    "ranges exchanged": lambda rows: rows.update(lowest=rows["highest"], highest=rows["lowest"]),
    "numbers for codes": lambda rows: rows.update(codes=rows["numbers"]),
    "no keys": lambda rows: rows.update(keys=["only one"]),
    "keys no list": lambda rows: rows.update(keys=3),
    "no list of categories": lambda rows: rows.update(categories=3),
    "one field less": lambda rows: rows.pop("is_number"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_model_is_refused(damage, tmp_path):
    labels = np.arange(len(FRAME)) % 2
    model = covey.NearestPrototypeClassifier(covey.CRS(3, similarity="gower", random_state=0)).fit(FRAME, labels)
    covey.save(model, tmp_path / "model.covey")
    covey.load(tmp_path / "model.covey")

    def change(content, arrays):
        DAMAGES[damage](content["content"]["NearestPrototypeClassifier"]["state"]["representatives_"]["MixedRows"])

    change_file(tmp_path / "model.covey", change)
    with pytest.raises(FileFormatError):
        covey.load(tmp_path / "model.covey")


REFUSED = {
    "strings": (["a", "b"], TypeError, "X must be a frame, a list of dicts or an array of two dimensions"),
    "one dimension": (np.zeros(3), TypeError, r"got ndarray of shape \(3,\)"),
    "sparse rows": (sp.csr_array(np.eye(3)), TypeError, "got csr_array of shape"),
    "rows of two lengths": ([[1, 2], [3]], ValueError, "row 0 has 2 values, and row 1 1"),
    "not only dicts": ([{"a": 1}, 2], TypeError, "got int at position 1"),
    "a list in a column": ([{"a": [1]}], TypeError, "column 'a' does not"),
    "infinity": (pd.DataFrame({"a": [1, np.inf]}), ValueError, "got inf at row 1, column 'a'"),
    "a number of 400 digits": ([{"a": 10**400}], ValueError, "got inf at row 0, column 'a'"),
    "no columns": (pd.DataFrame(index=range(3)), ValueError, "got 3 rows of 0 columns"),
    "no rows": (np.empty((0, 2)), ValueError, "got 0 rows of 2 columns"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_table_is_refused_in_words(name):
    X, error, message = REFUSED[name]
    with pytest.raises(error, match=message):
        covey.CRS(2, similarity="gower").fit(X)


def test_queries_of_another_kind_are_refused_in_words():
    labels = np.arange(len(FRAME)) % 2
    model = covey.NearestPrototypeClassifier(covey.CRS(3, similarity="gower")).fit(FRAME, labels)
    with pytest.raises(ValueError, match="column 'age', as in fit, got 'old' at row 1"):
        model.predict(FRAME.iloc[:2].assign(age=[3, "old"]))
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(FRAME.rename(columns={"age": "years"}))
    with pytest.raises(ValueError, match="columns of the X passed to fit, got 2"):
        collect(FRAME, GOWER).space_of_queries([[1, 2]])
    with pytest.raises(TypeError, match="which was dicts, got a table"):
        model.fit(ROWS, labels).predict(FRAME)
    with pytest.raises(TypeError, match="which was a table, got dicts"):
        collect(FRAME, GOWER).space_of_queries(ROWS)


def test_tables_with_ranges_of_their_own_are_not_joined():
    with pytest.raises(TypeError, match="each has ranges and categories of its own"):
        Collection.joined([collect(FRAME, GOWER), collect(FRAME, GOWER)])
    with pytest.raises(ValueError, match="part 1 holds 1 columns of numbers and categories"):
        Collection.joined([collect(FRAME, GOWER), collect(np.zeros((3, 1)), GOWER)])


def test_workers_of_a_cluster_do_not_know_the_ranges():
    with pytest.raises(ValueError, match="needs the ranges of all data, which no part on a cluster knows"):
        inputs.read(None, FRAME, None, GOWER)


def test_an_error_of_another_similarity_names_gower():
    with pytest.raises(ValueError, match="similarity='gower', which takes mixed columns"):
        covey.CRS(2).fit(FRAME[["age", "town"]].dropna())


def test_dates_among_objects_are_categories():
    X = [{"day": datetime(2020, 1, day)} for day in (1, 2, 1)]
    assert every_pair(space_of(X, "gower"))[0].tolist() == [1, 0, 1]
