"""The classifier on a Dask cluster: lazy answers that equal those of one process."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

pytest.importorskip("distributed", reason="needs the extra dask")

import dask
import dask.array as da
import dask.bag as db

import covey
import covey.dask
from covey.exceptions import MissingBarsWarning
from tests.dask import measures
from tests.dask.measures import assert_same_state

X, NUMBERS = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[NUMBERS]
ORDER = np.random.default_rng(0).permutation(150)
X, NUMBERS, NAMES = X[ORDER], NUMBERS[ORDER], NAMES[ORDER]
SPARSE = sp.random_array((150, 300), density=0.02, format="csr", rng=np.random.default_rng(0))
WORDS = measures.words(150)
METHODS = (
    "predict",
    "explain",
    "transform",
    "class_similarities",
    "class_evidence",
    "nearest_prototypes",
    "decision_function",
)


def in_parts(values, n=40):
    """Values in parts as a dask collection of their kind."""
    if isinstance(values, np.ndarray):
        return da.from_array(values, chunks=(n, *values.shape[1:]))
    if isinstance(values, list):
        return db.from_sequence(values, partition_size=n)
    return [dask.delayed(values[start : start + n]) for start in range(0, values.shape[0], n)]


def both(given, y, reject=None, similarity="euclidean", **arguments):
    """A classifier that was fitted on the cluster, and one of one process."""
    unknown = "unknown, which is longer than any label" if y.dtype.kind == "U" else -1
    options = {"reject": reject, "unknown_label": unknown}
    selector = {"n_neighbors": 4, "similarity": similarity, "random_state": 0, **arguments}
    found = covey.dask.NearestPrototypeClassifier(covey.dask.CRS(**selector), **options)
    expected = covey.NearestPrototypeClassifier(covey.CRS(**selector), **options)
    return found.fit(in_parts(given), in_parts(y)), expected.fit(given, y)


def test_the_default_answer_for_rejected_objects_is_that_of_one_process(client):
    options = {"n_neighbors": 4, "similarity": "euclidean", "random_state": 0}
    found = covey.dask.NearestPrototypeClassifier(covey.dask.CRS(**options), reject=2.0).fit(
        in_parts(X), in_parts(NAMES)
    )
    assert set(computed(found.predict(in_parts(X)))) == {"unknown"}
    found.fit(in_parts(X), in_parts(NUMBERS))
    assert set(computed(found.predict(in_parts(X)))) == {-1}


def computed(answer):
    """A lazy answer as local arrays, after a check that it is lazy, that its type and its shape are what it says."""
    if isinstance(answer, covey.results.Explanation):
        return {name: value if value is None else computed(value) for name, value in vars(answer).items()}
    if isinstance(answer, tuple):
        return [computed(part) for part in answer]
    assert isinstance(answer, da.Array)
    value = answer.compute()
    assert value.dtype == answer.dtype
    assert len(value.shape) == len(answer.shape)
    for says, is_so in zip(answer.shape, value.shape, strict=True):
        assert np.isnan(says) or says == is_so
    return value


def local(answer):
    if isinstance(answer, covey.results.Explanation):
        return dict(vars(answer))
    return list(answer) if isinstance(answer, tuple) else answer


def assert_same_answers(found, expected):
    if isinstance(expected, dict):
        assert list(found) == list(expected)
        for name, value in expected.items():
            assert_same_answers(found[name], value)
    elif isinstance(expected, list):
        for one, other in zip(found, expected, strict=True):
            assert_same_answers(one, other)
    elif sp.issparse(expected):
        assert sp.issparse(found)
        assert found.shape == expected.shape
        assert abs(found - expected).nnz == 0
    else:
        np.testing.assert_array_equal(found, expected)
        assert expected is None or found.dtype == expected.dtype


FORMS = {
    "rows": (X, NAMES, "euclidean"),
    "numbers as labels": (X, NUMBERS, "cosine"),
    "flags as labels": (X, NUMBERS > 0, "cosine"),
    "CSR": (SPARSE, NAMES, "cosine"),
    "words": (WORDS, NAMES, measures.ngrams),
}


@pytest.mark.parametrize(
    ("form", "reject"),
    [
        *((form, None) for form in FORMS),
        *((form, "calibrated") for form in FORMS if form != "flags as labels"),  # no flag can stand for the unknown
        ("rows", "threshold"),
        ("numbers as labels", 0.8),
    ],
)
def test_answers_are_those_of_one_process(client, form, reject):
    given, y, similarity = FORMS[form]
    found, expected = both(given, y, reject, similarity)
    np.testing.assert_array_equal(found.classes_, expected.classes_)
    assert found.classes_.dtype == expected.classes_.dtype
    if reject == "calibrated":
        np.testing.assert_array_equal(found.rejection_bars_, expected.rejection_bars_)
    for method in METHODS if reject is None else ["explain"]:
        answer = local(getattr(expected, method)(given))
        assert_same_answers(computed(getattr(found, method)(in_parts(given, 33))), answer)
        assert_same_answers(local(getattr(found, method)(given)), answer)
    plain = found.to_local()
    assert type(plain) is covey.NearestPrototypeClassifier
    assert_same_state(plain.selector_, expected.selector_)
    assert_same_answers(local(plain.explain(given)), local(expected.explain(given)))


def test_a_frame_keeps_its_columns(client):
    frames = pytest.importorskip("dask.dataframe", reason="needs dask.dataframe")
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abcd"))
    parts = frames.from_pandas(frame, npartitions=4, sort=False)
    labels = frames.from_pandas(pandas.Series(NAMES), npartitions=4, sort=False)
    found = covey.dask.NearestPrototypeClassifier(covey.dask.CRS(4, random_state=0)).fit(parts, labels)
    expected = covey.NearestPrototypeClassifier(covey.CRS(4, random_state=0)).fit(frame, NAMES)
    assert found.feature_names_in_.tolist() == list("abcd")
    assert_same_answers(computed(found.predict(parts)), expected.predict(frame))
    with pytest.raises(ValueError, match="feature names"):
        found.predict(parts[["b", "a", "c", "d"]]).compute()


def test_columns_of_one_table_of_files_are_cut_at_the_same_rows(client, tmp_path):
    """Dask reads a single column in fewer parts than the others, if it is left to optimise each of them alone."""
    frames = pytest.importorskip("dask.dataframe", reason="needs dask.dataframe")
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abcd")).assign(kind=NAMES)
    for number in range(4):
        frame.iloc[number * 40 : (number + 1) * 40].to_parquet(tmp_path / f"part-{number}.parquet")
    table = frames.read_parquet(str(tmp_path / "part-*.parquet"))
    given, labels = table.drop(columns="kind"), table["kind"]
    assert labels.optimize().npartitions < given.optimize().npartitions
    found = covey.dask.NearestPrototypeClassifier(covey.dask.CRS(4, random_state=0)).fit(given, labels)
    expected = covey.NearestPrototypeClassifier(covey.CRS(4, random_state=0)).fit(frame[list("abcd")], NAMES)
    assert_same_state(found.to_local().selector_, expected.selector_)
    assert_same_answers(computed(found.predict(given)), expected.predict(frame[list("abcd")]))


def test_nothing_is_computed_before_it_is_asked_for(client):
    found, _ = both(X, NAMES)

    def fail(block):
        raise ArithmeticError("computed")

    lazy = in_parts(X).map_blocks(fail, dtype=float, meta=np.empty((0, 4)))
    for method in METHODS:
        answers = getattr(found, method)(lazy)
        answer = answers.labels if method == "explain" else answers[0] if isinstance(answers, tuple) else answers
        with pytest.raises(ArithmeticError, match="computed"):
            answer.compute()


def test_the_model_is_in_the_graph_once(client):
    found, _ = both(X, NAMES)
    many = in_parts(np.tile(X, (20, 1)), 50)
    graph = found.predict(many).__dask_graph__()
    sizes = sorted((len(pickle.dumps(value)) for value in dict(graph).values()), reverse=True)
    model = len(pickle.dumps(found._model_to_send()))
    assert sizes[0] >= model // 2
    assert sum(size > model // 2 for size in sizes) <= 1 + 1  # the model, and X, which is in this process here


def test_empty_parts_get_empty_answers(client):
    found, expected = both(X, NAMES)
    given = [dask.delayed(X[:0]), dask.delayed(X[:7]), dask.delayed(X[7:7]), dask.delayed(X[7:8]), dask.delayed(X[:0])]
    for method in METHODS:
        assert_same_answers(computed(getattr(found, method)(given)), local(getattr(expected, method)(X[:8])))
    found, expected = both(SPARSE, NAMES, similarity="cosine")
    given = [dask.delayed(SPARSE[:0]), dask.delayed(SPARSE[:7]), dask.delayed(SPARSE[7:8])]
    assert_same_answers(computed(found.transform(given)), local(expected.transform(SPARSE[:8])))
    assert found.transform(given).compute().format == "csr"


def test_shapes_are_known_where_those_of_x_are(client):
    found, _ = both(X, NAMES)
    assert found.predict(in_parts(X)).chunks == ((40, 40, 40, 30),)
    n = found.selector_.sample_indices_.size
    assert found.transform(in_parts(X)).shape == (150, n)
    assert found.nearest_prototypes(in_parts(X), 1000)[0].shape == (150, n)
    assert found.class_evidence(in_parts(X))[1].shape == (150, 3)
    assert found.predict(da.from_array(X, chunks=(50, 3))).compute().shape == (150,)


def test_a_local_classifier_is_saved_and_loaded(client, tmp_path):
    found, expected = both(X, NAMES, "calibrated")
    covey.save(found.to_local(), tmp_path / "model.covey")
    loaded = covey.load(tmp_path / "model.covey")
    assert_same_answers(local(loaded.explain(X)), local(expected.explain(X)))
    assert_same_state(loaded.selector_, expected.selector_)
    assert loaded.get_params()["selector__n_neighbors"] == 4


def test_large_classes_are_cut_into_shards(client):
    found = covey.dask.NearestPrototypeClassifier(covey.dask.CRS(4, shard_size=20, random_state=0))
    found.set_params(reject="calibrated", unknown_label="?").fit(in_parts(X), in_parts(NAMES))
    plain = found.to_local()
    assert_same_answers(computed(found.explain(in_parts(X))), local(plain.explain(X)))
    assert np.mean(plain.predict(X) == NAMES) > 0.9
    np.testing.assert_array_equal(plain.representatives_, X[np.sort(plain.selector_.sample_indices_)])


@pytest.mark.parametrize("shard_size", [50, 1000])
def test_bars_are_those_of_one_process_with_copies_in_other_parts(client, shard_size):
    """An object is not compared with representatives that equal it, wherever they lie."""
    copied, y = np.vstack([X, X[:50], X[::2]]), np.concatenate([NAMES, NAMES[:50], NAMES[::2]])
    y[:5] = np.roll(y[:5], 1)  # equal objects of different classes
    arguments = {"graph": "exact", "threshold": 0.6}
    selector = {"n_neighbors": 4, "similarity": "euclidean", "random_state": 0, **arguments}
    options = {"reject": "calibrated", "unknown_label": "?"}
    found = covey.dask.NearestPrototypeClassifier(covey.dask.CRS(**selector, shard_size=shard_size), **options)
    expected = covey.NearestPrototypeClassifier(covey.CRS(**selector), **options).fit(copied, y)
    found.fit(in_parts(copied), in_parts(y))
    assert found.selector_.sample_indices_.tolist() == expected.selector_.sample_indices_.tolist()
    np.testing.assert_array_equal(found.rejection_bars_, expected.rejection_bars_)


def test_whether_numbers_are_signed_is_decided_by_all_parts(client):
    """Only the last part has a negative number, and no representative has."""
    rows = np.abs(X)
    for signed in (False, True):
        rows[-1, 0] = -rows[-1, 0] if signed else rows[-1, 0]
        found, expected = both(rows, NAMES, 0.0, similarity="cosine")
        assert found.nothing_in_common_ == expected.nothing_in_common_ == (None if signed else 0.0)
        assert found.to_local().nothing_in_common_ == expected.nothing_in_common_


def test_bars_that_reject_nothing_are_told(client):
    model = covey.dask.NearestPrototypeClassifier(covey.dask.CRS(4), reject="calibrated", rejection_rate=1e-4)
    with pytest.warns(MissingBarsWarning, match="needs 9,999 different objects or more"):
        model.fit(in_parts(X), in_parts(NAMES))
    assert np.isneginf(model.rejection_bars_).all()


def test_what_is_refused(client):
    with pytest.raises(TypeError, match=r"selector must be a covey\.dask\.CRS or None"):
        covey.dask.NearestPrototypeClassifier(covey.CRS(3)).fit(in_parts(X), in_parts(NAMES))
    with pytest.raises(ValueError, match="y is None"):
        covey.dask.NearestPrototypeClassifier(covey.dask.CRS(3)).fit(in_parts(X), None)
    for method in METHODS:
        with pytest.raises(NotFittedError):
            getattr(covey.dask.NearestPrototypeClassifier(covey.dask.CRS(3)), method)(in_parts(X))
    found, _ = both(X, NAMES)
    with pytest.raises(ValueError, match="features"):
        found.predict(in_parts(X[:, :3])).compute()
    for n in (0, 1.5, "all"):
        with pytest.raises(ValueError, match="n must be an int of at least 1"):
            found.nearest_prototypes(in_parts(X), n)


def test_one_class_has_no_runner_up(client):
    found, expected = both(X, np.full(150, "iris"))
    assert_same_answers(computed(found.explain(in_parts(X))), local(expected.explain(X)))


def test_copies_and_pickles(client):
    found, expected = both(X, NAMES, "threshold")
    again = pickle.loads(pickle.dumps(found))
    assert again.selector_.client is None
    assert_same_answers(computed(again.explain(in_parts(X))), local(expected.explain(X)))
    assert not hasattr(clone(found), "classes_")
    assert clone(found).get_params().keys() == found.get_params().keys()


def test_the_default_selector_is_that_of_the_cluster(client):
    found = covey.dask.NearestPrototypeClassifier().fit(in_parts(X), in_parts(NAMES))
    assert isinstance(found.selector_, covey.dask.CRS)
    assert type(found.to_local().selector_) is covey.CRS
    assert found.to_local().selector is None
