"""Calibrated rejection: bars equal those of a slow reference, and about the asked share of new objects is rejected."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import covey
from covey.rejection import bars
from tests import reference
from tests.damage import change_file
from tests.forms import COSINES, Counted, similarity_matrix

RATES = [0.01, 0.05, 0.1, 0.29, 0.5, 0.9]


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return train_test_split(X, y, test_size=0.5, random_state=0, stratify=y)


def calibrated(selector=None, rate=0.05, **parameters):
    return covey.NearestPrototypeClassifier(selector, reject="calibrated", rejection_rate=rate, **parameters)


@given(
    seed=st.integers(0, 1000),
    n=st.integers(2, 60),
    n_classes=st.integers(1, 4),
    rate=st.sampled_from(RATES),
    symmetric=st.booleans(),
    levels=st.sampled_from([None, 4]),
)
def test_bars_are_those_of_the_reference(seed, n, n_classes, rate, symmetric, levels):
    rng = np.random.default_rng(seed)
    values = similarity_matrix(n, rng, symmetric, levels)
    labels = rng.integers(0, n_classes, n).tolist()
    selector = covey.RandomSelector(
        0.4, similarity=covey.Similarity(Counted(values), symmetric=symmetric), random_state=seed
    )
    model = calibrated(selector, rate).fit(list(range(n)), labels)
    expected = reference.rejection_bars(values, range(n), labels, model.selector_.sample_indices_.tolist(), rate)
    assert model.rejection_bars_.tolist() == [expected[label] for label in model.classes_]


@given(seed=st.integers(0, 1000), n=st.integers(2, 40), rate=st.sampled_from(RATES), every=st.booleans())
def test_copies_are_not_compared_with_each_other(seed, n, rate, every):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 3, (n, 2)).astype(float), rng.integers(0, 2, n)
    values = [[reference.SIMILARITIES["euclidean"](a, b) for b in X.tolist()] for a in X.tolist()]
    selector = covey.KeepAll(similarity="euclidean") if every else covey.CRS(3, similarity="euclidean")
    model = calibrated(selector, rate).fit(X, y)
    kinds = [tuple(row) for row in X.tolist()]
    expected = reference.rejection_bars(values, kinds, y.tolist(), model.selector_.sample_indices_.tolist(), rate)
    np.testing.assert_allclose(model.rejection_bars_, [expected[label] for label in model.classes_], rtol=1e-12)


@pytest.mark.parametrize("selector", [covey.KeepAll(), covey.CRS(5)], ids=["all", "CRS"])
def test_repeating_every_object_changes_no_bar(digits, selector):
    """Otherwise objects would be compared with their own copies, and no new object would reach the bars."""
    X, _, y, _ = digits
    once = calibrated(selector).fit(X, y)
    often = calibrated(selector).fit(np.tile(X, (3, 1)), np.tile(y, 3))
    if isinstance(selector, covey.KeepAll):  # CRS weighs copies, so that others may be selected
        np.testing.assert_array_equal(often.rejection_bars_, once.rejection_bars_)
    np.testing.assert_allclose(often.rejection_bars_, once.rejection_bars_, atol=0.05)


@given(seed=st.integers(0, 1000), n=st.integers(1, 80), rate=st.sampled_from(RATES))
def test_no_more_than_the_rate_lies_below_a_bar(seed, n, rate):
    """In each sample, the objects below the bar and one more are at most `rate` of the sample and one more."""
    rng = np.random.default_rng(seed)
    similarities, winners = rng.random(n), rng.integers(0, 3, n)
    found = bars(similarities, winners, np.arange(n), 3, rate)
    for bar in set(found.tolist()) - {-np.inf}:
        sample = np.isin(winners, np.flatnonzero(found == bar))
        below = (similarities[sample] < bar).sum()
        assert below + 1 <= rate * (sample.sum() + 1) + 1e-9 < below + 2 + 1e-9


def test_a_new_object_is_rejected_with_the_probability_of_the_rate():
    """The mean over many samples is floor(rate * (n + 1)) / (n + 1) if all objects are exchangeable."""
    rng = np.random.default_rng(0)
    for n, rate in [(19, 0.05), (30, 0.1), (99, 0.01)]:
        drawn = rng.random((4000, n + 1))
        zeros, kinds = np.zeros(n, dtype=int), np.arange(n)
        rejected = [row[-1] < bars(row[:-1], zeros, kinds, 1, rate)[0] for row in drawn]
        expected = np.floor(rate * (n + 1) + 1e-9) / (n + 1)
        assert abs(np.mean(rejected) - expected) < 3 * np.sqrt(expected / 4000)


def test_classes_of_few_objects_share_a_bar_or_reject_nothing():
    similarities = np.arange(40.0)
    winners = np.repeat([0, 1, 2, 3], [20, 10, 9, 1])
    found = bars(similarities, winners, np.arange(40), 5, 0.05)
    assert found.tolist() == [0, 20, 20, 20, 20]  # 10 + 9 + 1 objects are enough together; class 4 wins none
    assert bars(similarities[:38], winners[:38], np.arange(38), 5, 0.05).tolist() == [0] + [-np.inf] * 4
    assert bars(np.empty(0), np.empty(0, dtype=int), np.empty(0, dtype=int), 2, 0.05).tolist() == [-np.inf] * 2


def test_one_object_alone_rejects_nothing():
    model = calibrated().fit([[1.0, 0.0]], [0])
    assert model.rejection_bars_.tolist() == [-np.inf]
    assert model.predict([[0.0, 1.0]]).tolist() == [0]


@pytest.mark.parametrize("selector", [covey.KeepAll(), covey.CRS(5), covey.CRS(10), covey.RandomSelector(0.1)])
def test_about_the_asked_share_of_new_objects_is_rejected(digits, selector):
    X, queries, y, _ = digits
    for rate in (0.05, 0.1):
        answers = calibrated(selector, rate).fit(X, y).predict(queries)
        assert 0.6 * rate < (answers == -1).mean() < 1.5 * rate


def test_more_unknown_objects_are_caught_than_by_thresholds(digits):
    X, queries, y, truth = digits
    known = y < 8
    model = calibrated(covey.CRS(10), 0.1).fit(X[known], y[known])
    unknown = queries[truth >= 8]
    caught = (model.predict(unknown) == -1).mean()
    assert caught > 0.4 > 0.2 > (model.set_params(reject="threshold").predict(unknown) == -1).mean()


@pytest.mark.parametrize("form", COSINES)
def test_every_form_of_a_similarity_gives_the_same_bars(form):
    rng = np.random.default_rng(0)
    rows, y = rng.integers(0, 5, (80, 6)).astype(float), np.arange(80) % 3
    # Under cosine, multiples of a row are copies of it; a function of the user's own cannot know this.
    rows = rows[np.unique(rows / np.linalg.norm(rows, axis=1, keepdims=True).round(9), axis=0, return_index=True)[1]]
    y = y[: len(rows)]
    expected = calibrated(covey.CRS(4), 0.1).fit(rows, y).rejection_bars_
    objects, similarity = COSINES[form](rows)
    found = calibrated(covey.CRS(4, similarity=similarity), 0.1).fit(objects, y)
    np.testing.assert_array_equal(found.rejection_bars_, expected)


def test_threads_change_nothing(digits):
    X, _, y, _ = digits
    one, two = (calibrated(covey.CRS(5, n_jobs=n_jobs)).fit(X, y).rejection_bars_ for n_jobs in (1, 2))
    np.testing.assert_array_equal(one, two)


def test_answers_and_explanations_follow_the_bars(digits):
    X, queries, y, _ = digits
    model = calibrated(covey.CRS(5), 0.1, unknown_label=99).fit(X, y)
    plain = clone(model).set_params(reject=None).fit(X, y).explain(queries)
    rejected = plain.similarities < model.rejection_bars_[plain.labels]
    expected = np.where(rejected, 99, plain.labels)
    np.testing.assert_array_equal(model.predict(queries), expected)
    np.testing.assert_array_equal(model.explain(queries).labels, expected)
    np.testing.assert_array_equal(model.explain(queries).rejected, rejected)


def test_what_was_not_calibrated_at_fit_needs_another_fit(digits):
    X, queries, y, _ = digits
    model = covey.NearestPrototypeClassifier(covey.CRS(5)).fit(X, y).set_params(reject="calibrated")
    for method in (model.predict, model.explain):
        with pytest.raises(ValueError, match=r"reject='calibrated' sets its bars at fit, .*; fit again"):
            method(queries)
    model.fit(X, y).set_params(rejection_rate=0.2)
    with pytest.raises(ValueError, match=r"rejection_rate must be .* which was 0.05, got 0.2; fit again"):
        model.predict(queries)
    model.set_params(reject=None)
    assert (model.predict(queries) >= 0).all()
    assert not hasattr(model.fit(X, y), "rejection_bars_")
    for wrong in (0, 1, -0.1, 1.5, "low", None, np.nan, True):
        with pytest.raises(ValueError, match="'rejection_rate' parameter of NearestPrototypeClassifier must be"):
            calibrated(rate=wrong).fit(X, y)


def test_bars_are_saved_and_loaded(digits, tmp_path):
    X, queries, y, _ = digits
    few = np.r_[np.flatnonzero(y < 3), np.flatnonzero(y == 3)[:2]]
    model = calibrated(covey.CRS(5)).fit(X[few], y[few])
    assert np.isneginf(model.rejection_bars_).any()
    covey.save(model, tmp_path / "model")
    again = covey.load(tmp_path / "model")
    np.testing.assert_array_equal(again.rejection_bars_, model.rejection_bars_)
    assert (again.rejection_rate_, again.rejection_rate) == (0.05, 0.05)
    np.testing.assert_array_equal(again.predict(queries), model.predict(queries))
    with pytest.raises(ValueError, match=r"Cannot save this NearestPrototypeClassifier, .* fit again"):
        covey.save(covey.NearestPrototypeClassifier().fit(X, y).set_params(reject="calibrated"), tmp_path / "other")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda model: model["state"].pop("rejection_bars_"), "rejection_bars_ must be one for each class"),
        (lambda model: model["state"].pop("rejection_rate_"), "rejection_bars_ must be one for each class"),
        (lambda model: model["state"].update(rejection_rate_=7), r"rejection_rate_ must be a number in \[0, 1\]"),
        (lambda model: model["state"].update(rejection_rate_=0.5), "rejection_rate must be the one"),
        (lambda model: model["state"].update(rejection_bars_=3), "rejection_bars_ must be an array of numbers"),
        (lambda model: model["parameters"].update(rejection_rate="x"), "'rejection_rate' parameter"),
    ],
)
def test_bars_that_could_not_have_been_saved_are_refused(digits, change, message, tmp_path):
    X, _, y, _ = digits
    covey.save(calibrated(covey.CRS(5)).fit(X, y), tmp_path / "model")
    change_file(tmp_path / "model", lambda content, _: change(content["content"]["NearestPrototypeClassifier"]))
    with pytest.raises(covey.FileFormatError, match=message):
        covey.load(tmp_path / "model")


def test_bars_of_no_number_are_refused(digits, tmp_path):
    X, _, y, _ = digits
    covey.save(calibrated(covey.CRS(5)).fit(X, y), tmp_path / "model")

    def put_nan(content, arrays):
        number = content["content"]["NearestPrototypeClassifier"]["state"]["rejection_bars_"]["array"]
        arrays[number] = np.full_like(arrays[number], np.nan)

    change_file(tmp_path / "model", put_nan)
    with pytest.raises(covey.FileFormatError, match="rejection_bars_ must be an array of numbers below inf"):
        covey.load(tmp_path / "model")


def test_a_file_of_an_earlier_version_is_not_calibrated():
    model = covey.load(Path(__file__).parent / "files" / "format-1" / "dense.covey")
    assert not hasattr(model, "rejection_bars_")
    with pytest.raises(ValueError, match="fit again"):
        model.set_params(reject="calibrated", unknown_label=-99).predict(model.representatives_)


def test_tables_of_numbers_and_categories_are_calibrated_as_their_matrix_is():
    rng = np.random.default_rng(0)
    table = [[number, color] for number, color in zip(rng.random(60), rng.choice(["red", "blue"], 60), strict=True)]
    table, y = np.array(table, dtype=object), np.arange(60) % 2
    matrix = covey.neighbor_graph(table, 59, similarity="gower", method="exact").to_csr().toarray()
    np.fill_diagonal(matrix, 1)
    found = calibrated(covey.KeepAll(similarity="gower"), 0.1).fit(table, y)
    expected = calibrated(covey.KeepAll(similarity="precomputed"), 0.1).fit(matrix, y)
    np.testing.assert_array_equal(found.rejection_bars_, expected.rejection_bars_)
