"""The classifier: nearest representative, evidence, rejection, features, and life among scikit-learn's tools."""

import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

import covey
from covey.graph import exact
from tests import reference
from tests.forms import COSINES, WORDS, letters


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:900], y[:900], X[900:1200], y[900:1200]


@given(seed=st.integers(0, 200), n=st.integers(3, 25), n_classes=st.integers(1, 4), high=st.sampled_from([2, 4]))
def test_the_nearest_representative_decides_ties_to_the_lowest_row(seed, n, n_classes, high):
    rng = np.random.default_rng(seed)
    X, Q = (rng.integers(0, high, (m, 4)).astype(float) for m in (n, 9))
    y = rng.integers(0, n_classes, n)
    model = covey.NearestPrototypeClassifier(covey.CRS(2)).fit(X, y)
    chosen = sorted(model.selector_.sample_indices_.tolist())
    scores = [[(reference.cosine(q, X[r].tolist()), r) for r in chosen] for q in Q.tolist()]
    ranked = [sorted(row, key=lambda item: (-item[0], item[1])) for row in scores]
    assert model.predict(Q).tolist() == [y[row[0][1]] for row in ranked]
    indices, similarities = model.nearest_prototypes(Q, n=3)
    assert indices.tolist() == [[r for _, r in row[:3]] for row in ranked]
    assert similarities.tolist() == [[s for s, _ in row[:3]] for row in ranked]
    best = [[max(s for s, r in row if y[r] == label) for label in model.classes_] for row in scores]
    assert model.class_similarities(Q).tolist() == best
    if model.classes_.size == 2:
        np.testing.assert_array_equal(model.decision_function(Q), np.diff(best)[:, 0])
    else:
        np.testing.assert_array_equal(model.decision_function(Q), best)


@pytest.mark.parametrize("form", COSINES)
def test_every_form_of_a_similarity_answers_the_same(form):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 5, (80, 6)).astype(float), np.arange(80) % 3
    expected = covey.NearestPrototypeClassifier(covey.CRS(4)).fit(X[:60], y[:60]).nearest_prototypes(X[60:])
    objects, similarity = COSINES[form](X)
    model = covey.NearestPrototypeClassifier(covey.CRS(4, similarity=similarity))
    if similarity == "precomputed":
        model.fit(objects[:60, :60], y[:60])
        found = model.nearest_prototypes(objects[60:, :60])
    else:
        found = model.fit(objects[:60], y[:60]).nearest_prototypes(objects[60:])
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_array_equal(found[1], expected[1])


def test_queries_may_come_in_another_form(digits):
    X, y, Q, _ = digits
    model = covey.NearestPrototypeClassifier(covey.CRS(5)).fit(X.astype(np.float32), y)
    expected = model.predict(Q)
    for queries in (Q.astype(np.int64), Q.tolist(), sp.csr_matrix(Q)):
        np.testing.assert_array_equal(model.predict(queries), expected)
    fine = covey.NearestPrototypeClassifier(covey.KeepAll(similarity="euclidean"))
    for coarse in (np.uint8, np.float32, np.float64):  # a query keeps its digits whatever the training rows had
        assert fine.fit(np.array([[0], [1]], coarse), [0, 1]).predict([[0.5 + 1e-9]]) == [1]
    sparse = covey.NearestPrototypeClassifier(covey.CRS(5)).fit(sp.csr_array(X), y)
    np.testing.assert_array_equal(sparse.predict(Q), sparse.predict(sp.csr_array(Q)))


def test_threads_and_tiles_change_nothing(digits, monkeypatch):
    from covey.graph import exact

    X, y, Q, _ = digits
    expected = covey.NearestPrototypeClassifier(covey.CRS(5)).fit(X, y).nearest_prototypes(Q, 4)
    monkeypatch.setattr(exact, "TILE", 13)
    for n_jobs in (1, 2):
        found = covey.NearestPrototypeClassifier(covey.CRS(5, n_jobs=n_jobs)).fit(X, y).nearest_prototypes(Q, 4)
        np.testing.assert_array_equal(found[0], expected[0])
        np.testing.assert_array_equal(found[1], expected[1])


def test_profiles_with_keys_never_seen(digits):
    """A server that no representative knows still adds to a host's length."""
    model = covey.NearestPrototypeClassifier(covey.KeepAll()).fit([{"web": 1}, {"dns": 1}], ["w", "d"])
    indices, similarities = model.nearest_prototypes([{"web": 3, "new": 4}, {"other": 1}], n=1)
    assert indices.ravel().tolist() == [0, 0]
    assert similarities.ravel().tolist() == [0.6, 0.0]


def test_rejection_below_the_winning_clusters_own_threshold(digits):
    X, y, Q, _ = digits
    model = covey.NearestPrototypeClassifier(covey.CRS(5), reject="threshold").fit(X, y)
    plain = clone(model).set_params(reject=None).fit(X, y)
    noise = np.random.default_rng(0).permuted(Q, axis=1)
    queries = np.vstack([Q, noise])
    _, similarities = model.nearest_prototypes(queries, 1)
    winners = plain.predict(queries)
    bars = np.array([model.selector_.prototypes_[label].threshold for label in winners])
    expected = np.where(similarities[:, 0] < bars, -1, winners)
    np.testing.assert_array_equal(model.predict(queries), expected)
    assert (expected[: len(Q)] == -1).mean() < 0.1 < 0.9 < (expected[len(Q) :] == -1).mean()


def test_rejection_below_a_fixed_bar(digits):
    X, y, Q, _ = digits
    names = np.array([f"digit {label}" for label in y])
    model = covey.NearestPrototypeClassifier(covey.CRS(5), reject=0.9, unknown_label="?").fit(X, names)
    answers = model.predict(Q)
    _, similarities = model.nearest_prototypes(Q, 1)
    np.testing.assert_array_equal(answers == "?", similarities[:, 0] < 0.9)
    assert set(answers) <= {*names, "?"}
    assert answers.dtype.kind == "U"


def test_rejection_needs_thresholds_and_a_free_label(digits):
    X, y, *_ = digits
    with pytest.raises(ValueError, match="unknown_label must not be a class, got 3"):
        covey.NearestPrototypeClassifier(reject=0.5, unknown_label=3).fit(X, y)
    for labels, unknown in [(y.astype(str), -2), (y, "?"), (y, None), (y == 3, -1)]:
        with pytest.raises(TypeError, match="unknown_label must be of the labels' type"):
            covey.NearestPrototypeClassifier(reject=0.5, unknown_label=unknown).fit(X, labels)
    with pytest.raises(TypeError, match=r"'reject' parameter of NearestPrototypeClassifier must be .* Got True"):
        covey.NearestPrototypeClassifier(reject=True).fit(X, y)
    with pytest.raises(TypeError, match=r"selector must be an instance, got the class CRS; pass CRS\(\)"):
        covey.NearestPrototypeClassifier(covey.CRS).fit(X, y)
    for selector in (covey.CRS(threshold=None), covey.RandomSelector()):
        with pytest.raises(ValueError, match="reject='threshold' needs a threshold for each cluster, but 0 has none"):
            covey.NearestPrototypeClassifier(selector, reject="threshold").fit(X, y)
    lonely = covey.NearestPrototypeClassifier(covey.CRS(), reject="threshold").fit(X[:50], [1] * 49 + [0])
    assert lonely.predict(X[49:50]) == [0]


def test_errors_name_queries():
    def picky(a, b):
        return float("nan") if a == "x" else letters(a, b)

    model = covey.NearestPrototypeClassifier(covey.CRS(2, similarity=picky)).fit(["ab", "ac", "zy", "zw"], [0, 0, 1, 1])
    with pytest.raises(ValueError, match="similarity of query 1 and object 0 returned nan"):
        model.predict(["b", "x"])
    with pytest.raises(ValueError, match="n must be an int of at least 1, got 0"):
        model.nearest_prototypes(["b"], n=0)
    with pytest.raises(ValueError, match="requires y to be passed"):
        model.fit(["a"], None)
    with pytest.raises(ValueError, match=r"'reject' parameter .* must be"):
        covey.NearestPrototypeClassifier(reject="always").fit([[1.0]], [0])
    for selector in (3, KMeans()):
        with pytest.raises(ValueError, match="'selector' parameter"):
            covey.NearestPrototypeClassifier(selector).fit([[1.0]], [0])
    rows = covey.NearestPrototypeClassifier(covey.KeepAll()).fit(np.eye(2), [0, 1])
    with pytest.raises(TypeError, match="X must be of the kind passed to fit"):
        rows.predict([{"a": 1}])


def test_cross_validation_slices_a_precomputed_matrix_both_ways(digits):
    X, y, *_ = digits
    matrix = cosines(X)
    scores = cross_val_score(covey.NearestPrototypeClassifier(covey.CRS(5, similarity="precomputed")), matrix, y, cv=3)
    plain = cross_val_score(covey.NearestPrototypeClassifier(covey.CRS(5)), X, y, cv=3)
    np.testing.assert_allclose(scores, plain, atol=0.01)
    model = covey.NearestPrototypeClassifier(covey.CRS(5, similarity="precomputed")).fit(matrix, y)
    with pytest.raises(ValueError, match=r"one column for each of the 900 objects passed to fit .* got 5 columns"):
        model.predict(matrix[:2, :5])


def test_scorers_for_two_classes(digits):
    X, y, *_ = digits
    scores = cross_val_score(covey.NearestPrototypeClassifier(covey.CRS(5)), X, y == 3, cv=3, scoring="roc_auc")
    assert scores.min() > 0.95


@pytest.mark.parametrize("reject", [None, 0.97, "threshold"])
def test_explanations_agree_with_predictions(reject):
    X, y = load_digits(return_X_y=True)
    model = covey.NearestPrototypeClassifier(covey.CRS(5), reject=reject).fit(X[:900], y[:900])
    queries = X[900:1200]
    found = model.explain(queries)
    np.testing.assert_array_equal(found.labels, model.predict(queries))
    rows, similarities = model.nearest_prototypes(queries, n=1)
    np.testing.assert_array_equal(found.representatives, rows[:, 0])
    np.testing.assert_array_equal(found.similarities, similarities[:, 0])
    np.testing.assert_array_equal(found.rejected, found.labels == -1)
    by_class = model.class_similarities(queries)
    order = np.sort(by_class, axis=1)
    np.testing.assert_array_equal(found.margins, order[:, -1] - order[:, -2])
    np.testing.assert_array_equal(by_class[np.arange(300), found.runners_up], order[:, -2])


def test_explanations_of_ties_and_of_a_single_class():
    """Equal similarities go to the lowest row, in `explain` as in `predict`."""
    X, y = np.array([[0.0, 1], [1, 0], [0, 1]]), ["b", "a", "a"]
    model = covey.NearestPrototypeClassifier(covey.KeepAll()).fit(X, y)
    found = model.explain([[0.0, 2.0]])
    assert (found.labels[0], found.representatives[0], found.runners_up[0], found.margins[0]) == ("b", 0, "a", 0)
    assert model.predict([[0.0, 2.0]])[0] == "b"
    alone = covey.NearestPrototypeClassifier(covey.KeepAll()).fit(X, ["a", "a", "a"]).explain(X)
    assert alone.runners_up is None
    assert alone.margins is None
    assert alone.labels.tolist() == ["a"] * 3


@given(st.integers(0, 10_000), st.booleans())
def test_what_representatives_stand_for(seed, refine):
    rng = np.random.default_rng(seed)
    X, y = rng.random((40, 3)), rng.integers(0, 3, 40)
    for found in covey.CRS(4, refine=refine).fit(X, y).prototypes_.values():
        counted = [int((found.covered_by == row).sum()) for row in found.indices]
        assert found.stands_for.tolist() == counted
        assert found.stands_for.sum() == round(found.coverage * found.members.size)


def test_parameters_changed_after_fit_are_checked_where_they_are_used(digits):
    X, y, Q, _ = digits
    model = covey.NearestPrototypeClassifier(covey.CRS(5)).fit(X, y)
    wrong = [
        ({"reject": 0.999, "unknown_label": "?"}, TypeError, "unknown_label must be of the labels' type, got '?'"),
        ({"reject": 0.999, "unknown_label": 3}, ValueError, "unknown_label must not be a class, got 3"),
        ({"reject": True}, TypeError, "'reject' parameter of NearestPrototypeClassifier must be .* Got True instead"),
        ({"reject": np.True_}, ValueError, "'reject' parameter of NearestPrototypeClassifier must be"),
        ({"reject": float("nan")}, ValueError, "'reject' parameter of NearestPrototypeClassifier must be"),
        ({"reject": "always"}, ValueError, "'reject' parameter of NearestPrototypeClassifier must be"),
    ]
    for parameters, error, message in wrong:
        model.set_params(**{"reject": None, "unknown_label": -1, **parameters})
        for method in (model.predict, model.explain):
            with pytest.raises(error, match=message):
                method(Q)
        with pytest.raises(error, match=message):
            clone(model).fit(X, y)


@pytest.mark.parametrize(
    ("labels", "unknown"),
    [
        (np.array([0, 200], dtype=np.uint8), -1),
        (np.array([1, 2**63], dtype=np.uint64), -1),
        (np.array([2**53, 2**53 + 1]), 0.5),
        (np.array(["a", "b"]), "unknown"),
        (np.array(["a", "b"], dtype=object), "unknown"),
    ],
    ids=["uint8", "uint64", "a float among integers", "text", "objects"],
)
def test_rejection_keeps_the_other_labels_exactly(labels, unknown):
    model = covey.NearestPrototypeClassifier(covey.KeepAll(), reject=0.9, unknown_label=unknown).fit(np.eye(2), labels)
    answers = model.predict([[1.0, 0], [0, 1], [1, 1]])
    assert answers.tolist() == [*labels.tolist(), unknown]
    assert model.predict(np.eye(2)).dtype == answers.dtype


def cosines(X):
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    matrix = np.clip(unit @ unit.T, 0, 1)
    np.fill_diagonal(matrix, 1)
    return matrix


@pytest.mark.parametrize("how", [None, "inverse", "negative"])
@pytest.mark.parametrize("piped", [False, True], ids=["alone", "in a pipeline"])
def test_precomputed_similarities_and_distances_are_cross_validated(digits, how, piped):
    """scikit-learn then takes the columns of the training objects, too."""
    X, y, *_ = digits
    X, y = X[:300], y[:300]
    matrix = cosines(X) if how is None else np.sqrt(2 - 2 * cosines(X))
    similarity = "precomputed" if how is None else covey.from_distance("precomputed", how)
    model = covey.NearestPrototypeClassifier(covey.CRS(5, gain="count", similarity=similarity))
    prefix = "model__" if piped else ""
    estimator = Pipeline([("model", model)]) if piped else model
    folds = list(StratifiedKFold(3).split(X, y))
    expected = [clone(model).fit(matrix[np.ix_(a, a)], y[a]).score(matrix[np.ix_(b, a)], y[b]) for a, b in folds]
    np.testing.assert_array_equal(cross_val_score(estimator, matrix, y, cv=folds), expected)
    search = GridSearchCV(estimator, {f"{prefix}selector__n_neighbors": [3, 10]}, cv=3).fit(matrix, y)
    assert search.best_score_ > 0.8
    assert search.predict(matrix[:50]).tolist() == search.best_estimator_.predict(matrix[:50]).tolist()
    assert get_tags(model.selector).input_tags.pairwise


def test_queries_as_distances_must_not_be_negative():
    distances = 1 - np.eye(3)
    model = covey.NearestPrototypeClassifier(covey.KeepAll(similarity=covey.from_distance("precomputed")))
    with pytest.raises(ValueError, match="X must not hold negative numbers as precomputed distances, got -1"):
        model.fit(distances, [0, 1, 2]).predict([[0.0, -1.0, 2.0]])


def test_the_default_takes_centred_data(digits):
    """Cosines of centred rows are often negative; they weigh nothing, but no data is refused."""
    X, y, queries, truth = digits
    model = make_pipeline(StandardScaler(), covey.NearestPrototypeClassifier()).fit(X, y)
    assert model.score(queries, truth) > 0.8


class WithItsOwnFit(covey.CRS):
    """A selector whose `fit` does something with X before it selects."""

    def fit(self, X, y=None):
        self.n_rows_ = np.asarray(X).shape[0]
        return super().fit(np.asarray(X), y)


def test_a_selector_with_its_own_fit_gets_the_x_of_the_user(digits):
    X, y, queries, _ = digits
    model = covey.NearestPrototypeClassifier(WithItsOwnFit(5)).fit(X.tolist(), y)
    assert model.selector_.n_rows_ == len(X)
    expected = covey.NearestPrototypeClassifier(covey.CRS(5)).fit(X, y).predict(queries)
    assert model.predict(queries).tolist() == expected.tolist()


def test_no_queries_get_no_answers():
    model = covey.NearestPrototypeClassifier(covey.KeepAll(similarity=lambda a, b: float(a == b)))
    model.fit(["a", "b", "c", "d"], [0, 0, 1, 2])
    none = np.empty(0, dtype=object).reshape(0, 1)
    assert model.predict(none).shape == (0,)
    assert model.explain(none).labels.shape == (0,)
    assert model.class_similarities(none).shape == (0, 3)


def test_a_model_is_its_own_when_x_changes(digits):
    X, y, queries, _ = digits
    mine = X.copy()
    model = covey.NearestPrototypeClassifier(covey.KeepAll()).fit(mine, y)
    before = model.class_similarities(queries)
    mine[:] = 1
    np.testing.assert_array_equal(model.class_similarities(queries), before)


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_a_pickled_model_holds_its_representatives_once(digits, dtype):
    """What is prepared for queries, in any precision they came, is made again and not stored."""
    X, y, queries, _ = digits
    model = covey.NearestPrototypeClassifier(covey.KeepAll()).fit(X.astype(dtype), y)
    answers = model.predict(queries.astype(np.float64))
    pickled = pickle.dumps(model)
    # `representatives_` and the prepared collection share one array; prototypes take four numbers an object.
    assert len(pickled) < 1.2 * (X.size * np.dtype(dtype).itemsize + 40 * len(X)) + 10_000
    np.testing.assert_array_equal(pickle.loads(pickled).predict(queries.astype(np.float64)), answers)


def test_profiles_keep_only_the_keys_of_representatives(tmp_path):
    """A model that was loaded answers to the bit as the one that was saved, whatever other keys X had."""
    rng = np.random.default_rng(0)
    X = [{f"k{i}_{j}": rng.random() for j in range(5)} | {f"c{j}": rng.random() for j in range(9)} for i in range(300)]
    model = covey.NearestPrototypeClassifier(covey.CRS(10)).fit(X, ["x"] * 300)
    covey.save(model, tmp_path / "model")
    loaded = covey.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.class_similarities(X[:50]), model.class_similarities(X[:50]))
    assert len(pickle.dumps(model)) < 30_000


@pytest.mark.parametrize("form", [sp.coo_array, sp.csr_array])
def test_sparse_queries_of_a_model_of_lists_come_as_rows(form):
    shapes = set()

    def similarity(a, b):
        shapes.add((np.shape(a), np.shape(b)))
        return 1.0

    model = covey.NearestPrototypeClassifier(covey.KeepAll(similarity=similarity)).fit([[0.0, 1.0], [1.0, 0.0]], [0, 1])
    model.predict(form(np.eye(2)))
    assert shapes == {((1, 2), (2,))}


DIGITS, LABELS = load_digits(return_X_y=True)
X, Y, Q, TRUTH = DIGITS[:600], LABELS[:600], DIGITS[600:900], LABELS[600:900]
PROFILES = [{f"key {i % 20} {j}": 1.0 for j in range(3)} for i in range(200)]
"""Profiles of 20 kinds that have nothing in common with each other."""


@pytest.mark.parametrize("form", COSINES)
def test_every_form_of_a_similarity_gives_the_same_features(form):
    rng = np.random.default_rng(0)
    rows, y = rng.integers(0, 5, (80, 6)).astype(float), np.arange(80) % 3
    plain = covey.NearestPrototypeClassifier(covey.CRS(4)).fit(rows[:60], y[:60])
    objects, similarity = COSINES[form](rows)
    model = covey.NearestPrototypeClassifier(covey.CRS(4, similarity=similarity))
    if similarity == "precomputed":
        found = model.fit(objects[:60, :60], y[:60]).transform(objects[60:, :60])
    else:
        found = model.fit(objects[:60], y[:60]).transform(objects[60:])
    np.testing.assert_array_equal(found, plain.transform(rows[60:]))
    assert model.get_feature_names_out().tolist() == plain.get_feature_names_out().tolist()


def test_columns_are_the_representatives_in_the_order_of_their_rows():
    """The best of the columns of a class is therefore the similarity to this class."""
    model = covey.NearestPrototypeClassifier(covey.CRS(5)).fit(X, Y)
    features, names = model.transform(Q), model.get_feature_names_out()
    rows = sorted(model.selector_.sample_indices_.tolist())
    assert names.tolist() == [f"similarity_to_{row}" for row in rows]
    of_class = [features[:, Y[rows] == label].max(axis=1) for label in model.classes_]
    np.testing.assert_array_equal(np.transpose(of_class), model.class_similarities(Q))
    np.testing.assert_array_equal(np.array(rows)[features.argmax(axis=1)], model.nearest_prototypes(Q, 1)[0][:, 0])
    np.testing.assert_array_equal(model.fit_transform(X, Y), model.transform(X))


def test_threads_and_blocks_change_nothing(monkeypatch):
    expected = covey.NearestPrototypeClassifier(covey.CRS(5)).fit(X, Y).transform(Q)
    monkeypatch.setattr(exact, "TILE", 13)
    for n_jobs in (1, 2):
        found = covey.NearestPrototypeClassifier(covey.CRS(5, n_jobs=n_jobs)).fit(X, Y).transform(Q)
        np.testing.assert_array_equal(found, expected)


def test_an_asymmetric_similarity_is_asked_from_the_object_to_the_representative():
    def within(a, b):
        return len(set(a) & set(b)) / len(set(a))

    model = covey.NearestPrototypeClassifier(covey.KeepAll(similarity=covey.Similarity(within, symmetric=False)))
    found = model.fit(WORDS, [0, 1] * 6).transform(["care", "dodo"])
    assert found.tolist() == [[within(word, other) for other in WORDS] for word in ("care", "dodo")]


def test_features_are_sparse_where_most_are_zero_whatever_is_asked():
    """What was decided at `fit` holds for every query, so that a further model gets what it has been fitted to."""
    model = covey.NearestPrototypeClassifier(covey.CRS(3)).fit(PROFILES, [i % 2 for i in range(200)])
    assert model.sparse_output_
    alike = [{f"key {i} {j}": 1.0 for i in range(20) for j in range(3)}]
    for queries in (PROFILES, alike):
        found = model.transform(queries)
        assert isinstance(found, sp.csr_array)
        dense = model.set_output(transform="pandas").transform(queries)
        np.testing.assert_array_equal(dense.to_numpy(), found.toarray())
        model.set_output(transform="default")
    assert not covey.NearestPrototypeClassifier().fit(X, Y).sparse_output_


@pytest.mark.parametrize(("container", "frame"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_frames_have_the_names_of_the_features(container, frame):
    model = covey.NearestPrototypeClassifier(covey.CRS(5)).set_output(transform=container)
    found = model.fit_transform(X, Y)
    assert isinstance(found, frame)
    assert list(found.columns) == model.get_feature_names_out().tolist()
    np.testing.assert_array_equal(found.to_numpy(), model.set_output(transform="default").transform(X))


def test_a_linear_model_on_top_in_a_pipeline_and_a_grid_search():
    features = covey.NearestPrototypeClassifier(covey.CRS(10))
    model = make_pipeline(features, StandardScaler(), LogisticRegression(max_iter=1000)).fit(X, Y)
    assert model.score(Q, TRUTH) > 0.8
    names = model[:-1].get_feature_names_out()
    assert names.tolist() == model[0].get_feature_names_out().tolist()
    grid = {"nearestprototypeclassifier__selector__n_neighbors": [5, 30]}
    search = GridSearchCV(model, grid, cv=3).fit(X, Y)
    assert search.best_score_ > 0.8
    again = pickle.loads(pickle.dumps(search.best_estimator_))
    np.testing.assert_array_equal(again.predict(Q), search.predict(Q))


def test_strings_and_profiles_in_a_pipeline():
    words, labels = WORDS * 3, ([0] * 6 + [1] * 6) * 3
    for similarity in (letters, covey.batched(lambda a, b: [letters(*pair) for pair in zip(a, b, strict=True)])):
        features = covey.NearestPrototypeClassifier(covey.CRS(2, similarity=similarity))
        assert make_pipeline(features, LogisticRegression(C=100)).fit(words, labels).score(words, labels) == 1
    sparse = make_pipeline(covey.NearestPrototypeClassifier(covey.CRS(3)), LogisticRegression(C=100))
    halves = [i % 20 < 10 for i in range(200)]
    assert sparse.fit(PROFILES, halves).score(PROFILES, halves) == 1


def test_a_precomputed_matrix_is_sliced_both_ways_in_cross_validation():
    unit = X[:200] / np.linalg.norm(X[:200], axis=1, keepdims=True)
    features = covey.NearestPrototypeClassifier(covey.CRS(5, similarity="precomputed"))
    scores = cross_val_score(make_pipeline(features, LogisticRegression(max_iter=1000)), unit @ unit.T, Y[:200], cv=3)
    assert scores.min() > 0.8


def test_features_need_a_fit():
    model = covey.NearestPrototypeClassifier()
    for method in (lambda: model.transform(X), model.get_feature_names_out):
        with pytest.raises(NotFittedError):
            method()


def test_a_file_keeps_whether_features_are_sparse(tmp_path):
    model = covey.NearestPrototypeClassifier(covey.CRS(3)).fit(PROFILES, [i % 2 for i in range(200)])
    covey.save(model, tmp_path / "model")
    again = covey.load(tmp_path / "model")
    found = again.transform(PROFILES[:30])
    assert isinstance(found, sp.csr_array)
    np.testing.assert_array_equal(found.toarray(), model.transform(PROFILES[:30]).toarray())
    assert again.get_feature_names_out().tolist() == model.get_feature_names_out().tolist()


def test_a_file_of_an_earlier_version_gives_dense_features():
    model = covey.load(Path(__file__).parent / "files" / "format-1" / "dates.covey")
    found = model.transform(model.representatives_)
    np.testing.assert_array_equal(found.max(axis=1), np.diag(found))
    assert not model.sparse_output_
