"""Rejection: bars are those of a slow reference, and about the right share of new objects is rejected."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import covey
from covey.exceptions import FileFormatError, MissingBarsWarning
from covey.rejection import bars, missing_bars, n_needed
from tests import reference
from tests.attack.rejection import ROUNDED
from tests.damage import change_file
from tests.forms import COSINES, Counted, similarity_matrix

RATES = [0.01, 0.05, 0.1, 0.29, 0.5, 0.9]


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return train_test_split(X, y, test_size=0.5, random_state=0, stratify=y)


few_objects = pytest.mark.filterwarnings("ignore::covey.exceptions.MissingBarsWarning")
"""Marks tests of fits to fewer objects than the rate needs."""


def calibrated(selector=None, rate=0.05, **parameters):
    return covey.NearestPrototypeClassifier(selector, reject="calibrated", rejection_rate=rate, **parameters)


def bars_of(similarities, winners, n_classes, rate):
    """The bars of examples that all have the weight 1."""
    similarities, winners = np.asarray(similarities, dtype=float), np.asarray(winners, dtype=int)
    return bars(similarities, winners, np.ones(similarities.size), n_classes, rate)


@few_objects
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
    np.testing.assert_allclose(model.rejection_bars_, [expected[label] for label in model.classes_], rtol=ROUNDED)


@few_objects
@given(seed=st.integers(0, 1000), n=st.integers(2, 40), rate=st.sampled_from(RATES), every=st.booleans())
def test_copies_are_not_compared_with_each_other(seed, n, rate, every):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 3, (n, 2)).astype(float), rng.integers(0, 2, n)
    values = [[reference.SIMILARITIES["euclidean"](a, b) for b in X.tolist()] for a in X.tolist()]
    selector = covey.KeepAll(similarity="euclidean") if every else covey.CRS(3, similarity="euclidean")
    model = calibrated(selector, rate).fit(X, y)
    kinds = [tuple(row) for row in X.tolist()]
    expected = reference.rejection_bars(values, kinds, y.tolist(), model.selector_.sample_indices_.tolist(), rate)
    np.testing.assert_allclose(model.rejection_bars_, [expected[label] for label in model.classes_], rtol=ROUNDED)


@pytest.mark.parametrize("selector", [covey.KeepAll(), covey.CRS(5)], ids=["all", "CRS"])
def test_repeating_every_object_changes_no_bar(digits, selector):
    """Otherwise objects would be compared with their own copies, and no new object would reach the bars."""
    X, _, y, _ = digits
    once = calibrated(selector).fit(X, y)
    often = calibrated(selector).fit(np.tile(X, (3, 1)), np.tile(y, 3))
    if isinstance(selector, covey.KeepAll):  # CRS weighs copies, so that others may be selected
        np.testing.assert_array_equal(often.rejection_bars_, once.rejection_bars_)
    np.testing.assert_allclose(often.rejection_bars_, once.rejection_bars_, atol=0.05)


@given(
    seed=st.integers(0, 1000),
    n=st.integers(1, 80),
    rate=st.sampled_from(RATES),
    levels=st.sampled_from([3, 10, 10_000]),
)
def test_a_bar_splits_its_sample_at_the_rate_as_well_as_ties_allow(seed, n, rate, levels):
    """No other bar would reject a share of the sample that is nearer to the rate by more than one object."""
    rng = np.random.default_rng(seed)
    similarities, winners = rng.integers(0, levels, n) / levels, rng.integers(0, 3, n)
    found = bars_of(similarities, winners, 3, rate)
    enough = np.bincount(winners, minlength=3) >= n_needed(rate)
    for number in np.flatnonzero(enough):
        sample = similarities[winners == number]
        rank = rate * (sample.size + 1)
        off = abs((sample < found[number]).sum() + 0.5 - rank)
        assert off <= min(abs((sample < other).sum() + 0.5 - rank) for other in sample) + 0.5 + 1e-9
    assert len(set(found[~enough].tolist())) <= 1
    assert np.isneginf(found).all() == (n < n_needed(rate))
    assert np.isneginf(found).all() or not np.isneginf(found).any()


def test_a_new_object_is_rejected_with_the_probability_of_the_rate():
    """The mean over many samples is the rate itself if all objects are exchangeable."""
    rng = np.random.default_rng(0)
    for n, rate in [(19, 0.05), (30, 0.05), (37, 0.1), (130, 0.01)]:
        drawn = rng.random((4000, n + 1))
        rejected = [row[-1] < bars_of(row[:-1], np.zeros(n), 1, rate)[0] for row in drawn]
        assert abs(np.mean(rejected) - rate) < 3 * np.sqrt(rate / 4000)


def test_the_rate_is_kept_on_average_if_similarities_are_few_different_numbers():
    """Of two bars, one of which rejects too few and the other too many objects, the nearer one is taken."""
    rng = np.random.default_rng(0)
    for n_levels in (7, 12, 20, 33):
        shares = []
        for _ in range(400):
            weights = rng.dirichlet(np.ones(n_levels))
            drawn = rng.choice(n_levels, 400, p=weights)
            bar = bars_of(drawn[:200], np.zeros(200), 1, 0.2)[0]
            shares.append((drawn[200:] < bar).mean())
        assert abs(np.mean(shares) - 0.2) < 0.02


def test_classes_of_few_objects_share_a_bar_and_all_classes_share_one_if_these_are_too_few():
    similarities = np.arange(40.0)
    winners = np.repeat([0, 1, 2, 3], [20, 10, 9, 1])
    found = bars_of(similarities, winners, 5, 1 / 20)
    assert found.round(12).tolist() == [0.05, 20.05, 20.05, 20.05, 20.05]  # 10 + 9 + 1 objects are enough together
    found = bars_of(similarities[:38], winners[:38], 5, 1 / 20)
    assert found.round(12).tolist() == [0.05] + [0.95] * 4  # 18 are not, so that all 38 set their bar
    assert np.isneginf(bars_of(similarities[:18], winners[:18], 5, 1 / 20)).all()
    assert np.isneginf(bars_of([], [], 2, 0.05)).all()


@given(rate=st.floats(0.01, 0.9999))
def test_the_size_of_the_smallest_sample_is_exact(rate):
    n = n_needed(rate)
    assert n >= 1
    assert np.isfinite(bars_of(np.arange(n), np.zeros(n), 1, rate)).all()
    assert np.isneginf(bars_of(np.arange(n - 1), np.zeros(n - 1), 1, rate)).all()
    assert reference.rejection_bar([(value, 1) for value in range(n)], rate) > -np.inf
    assert reference.rejection_bar([(value, 1) for value in range(n - 1)], rate) == -np.inf


def test_one_object_alone_has_no_bar_and_fit_says_so():
    with pytest.warns(
        MissingBarsWarning,
        match=r"for the class 0: a rejection rate of 0.05 needs 19 different objects or more",
    ):
        model = calibrated().fit([[1.0, 0.1]], [0])
    assert model.rejection_bars_.tolist() == [-np.inf]
    assert model.predict([[0.0, 1.0], [1.0, 0.0]]).tolist() == [0, 0]


def test_a_rate_that_the_objects_cannot_support_is_said_with_the_number_that_it_needs(digits):
    X, _, y, _ = digits
    with pytest.warns(MissingBarsWarning) as told:
        model = calibrated(covey.CRS(5), 0.001).fit(X, y)
    assert [str(warning.message) for warning in told] == [
        "no bar rejects what has something in common with a representative for the classes 0, 1, 2 and 7 more: a "
        "rejection rate of 0.001 needs 999 different objects or more beside representatives, and they have fewer even "
        "together; ask for a higher rate, or fit to more objects."
    ]
    assert np.isneginf(model.rejection_bars_).all()
    with pytest.warns(MissingBarsWarning, match="no bar rejects anything for the classes 0, 1, 2 and 7 more"):
        calibrated(covey.CRS(5, similarity="euclidean"), 0.001).fit(X, y)


def test_classes_of_equal_objects_leave_the_bars_of_other_classes_alone():
    rng = np.random.default_rng(0)
    hosts = [{"dns": 10 + int(a), "web": 1 + int(b)} for a, b in rng.integers(0, 30, (120, 2))]
    cameras = [{"camera": 10}] * 30
    for rate in (0.02, 0.05, 0.2):
        alone = calibrated(covey.CRS(10), rate).fit(hosts, ["pc"] * 120)
        both = calibrated(covey.CRS(10), rate).fit(hosts + cameras, ["pc"] * 120 + ["camera"] * 30)
        bar_of = dict(zip(both.classes_.tolist(), both.rejection_bars_.tolist(), strict=True))
        assert bar_of["pc"] == alone.rejection_bars_[0] > 0.9
        assert bar_of["camera"] == bar_of["pc"]  # it has no example of its own
        assert both.predict([{"camera": 1}, {"printer": 1}]).tolist() == ["camera", "unknown"]


def test_signed_vectors_distances_and_functions_have_no_value_that_is_always_rejected():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), np.arange(60) % 2
    for similarity in ("cosine", "euclidean", "dot", lambda a, b: float(a @ b)):
        model = covey.NearestPrototypeClassifier(covey.CRS(2, similarity=similarity), reject=-1e9).fit(X, y)
        assert model.nothing_in_common_ is None
        assert (model.predict([[-3.0, 0.0], [0.0, 0.0], [0.0, -1.0]]) >= 0).all()


def test_whether_numbers_are_signed_is_decided_by_all_objects_and_kept_in_the_file(tmp_path):
    """The representative has no negative number, but one of the objects that it stands for has."""
    X = [[1.0, 0.0], [1.0, -0.1], [1.0, 0.1]]
    model = covey.NearestPrototypeClassifier(covey.CRS(2, threshold=None), reject=-0.5).fit(X, [0] * 3)
    assert model.representatives_.tolist() == [[1.0, 0.0]]
    covey.save(model, tmp_path / "model")
    for found in (model, covey.load(tmp_path / "model")):
        assert found.nothing_in_common_ is None
        assert found.predict([[0.0, 1.0]]).tolist() == [0]


def test_files_of_earlier_versions_get_the_value_of_their_representatives(tmp_path):
    X, y = [{"a": 1}, {"a": 2, "b": 1}, {"c": 1}, {"c": 3, "d": 1}], [0, 0, 1, 1]
    covey.save(covey.NearestPrototypeClassifier(reject=0.1).fit(X, y), tmp_path / "model")

    def drop(content, _):
        del content["content"]["NearestPrototypeClassifier"]["state"]["nothing_in_common_"]

    change_file(tmp_path / "model", drop)
    model = covey.load(tmp_path / "model").set_params(reject=0.0)
    assert model.nothing_in_common_ == 0.0
    assert model.predict([{"e": 1}, {"a": 1}]).tolist() == [-1, 0]
    old = covey.load(Path(__file__).parent / "files" / "format-1" / "dense.covey")
    assert old.nothing_in_common_ in (None, 0.0)


@few_objects
def test_bars_of_an_earlier_version_that_reject_nothing_are_told(tmp_path):
    model = calibrated(covey.CRS(2)).fit([{"a": 1}, {"a": 2, "b": 1}, {"c": 1}, {"c": 3, "d": 1}], [0, 0, 1, 1])
    covey.save(model, tmp_path / "model")
    assert missing_bars(covey.load(tmp_path / "model")) == missing_bars(model) is not None
    assert missing_bars(covey.NearestPrototypeClassifier(covey.CRS(2)).fit([[1.0], [2.0]], [0, 1])) is None


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


@few_objects
def test_bars_are_saved_and_loaded(digits, tmp_path):
    X, queries, y, _ = digits
    for some in (np.flatnonzero(y < 3), np.arange(15)):
        model = calibrated(covey.CRS(5)).fit(X[some], y[some])
        assert np.isneginf(model.rejection_bars_).all() == (some.size == 15)
        covey.save(model, tmp_path / "model")
        again = covey.load(tmp_path / "model")
        np.testing.assert_array_equal(again.rejection_bars_, model.rejection_bars_)
        assert (again.rejection_rate_, again.rejection_rate) == (0.05, 0.05)
        assert again.nothing_in_common_ == model.nothing_in_common_ == 0.0
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
        (lambda model: model["state"].update(nothing_in_common_=0.5), "nothing_in_common_ must be 0.0 or None"),
        (lambda model: model["state"].update(nothing_in_common_="0"), "nothing_in_common_ must be a number, or None"),
    ],
)
def test_bars_that_could_not_have_been_saved_are_refused(digits, change, message, tmp_path):
    X, _, y, _ = digits
    covey.save(calibrated(covey.CRS(5)).fit(X, y), tmp_path / "model")
    change_file(tmp_path / "model", lambda content, _: change(content["content"]["NearestPrototypeClassifier"]))
    with pytest.raises(FileFormatError, match=message):
        covey.load(tmp_path / "model")


def test_bars_of_no_number_are_refused(digits, tmp_path):
    X, _, y, _ = digits
    covey.save(calibrated(covey.CRS(5)).fit(X, y), tmp_path / "model")

    def put_nan(content, arrays):
        number = content["content"]["NearestPrototypeClassifier"]["state"]["rejection_bars_"]["array"]
        arrays[number] = np.full_like(arrays[number], np.nan)

    change_file(tmp_path / "model", put_nan)
    with pytest.raises(FileFormatError, match="rejection_bars_ must be an array of numbers below inf"):
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


FAR = [[1.0, 1.0]]


def fitted(labels, **parameters):
    return covey.NearestPrototypeClassifier(covey.KeepAll(), reject=0.9, **parameters).fit(np.eye(2), labels)


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([0, 1], -1),
        ([1.0, 2.0], -1),
        (np.array([0, 200], dtype=np.uint8), -1),
        (["a", "b"], "unknown"),
        (np.array(["a", "b"]), "unknown"),
        (np.array(["a", "b"], dtype=object), "unknown"),
        (np.array(["a", "a longer name"]), "unknown"),
    ],
)
def test_the_default_has_the_type_of_the_labels(labels, expected):
    model = fitted(labels)
    assert model.get_params()["unknown_label"] == -1
    answers = [*model.predict(FAR).tolist(), *model.explain(FAR).labels.tolist()]
    assert answers == [expected, expected]
    assert type(answers[0]) is type(expected) or isinstance(labels[0], float)
    assert model.explain(FAR).rejected.tolist() == [True]
    assert model.predict(np.eye(2)).tolist() == list(labels)


def test_a_text_that_is_taken_must_be_replaced():
    message = r"unknown_label must be given if 'unknown' is a class, got the default -1.* choose another string"
    with pytest.raises(ValueError, match=message):
        fitted(["known", "unknown"])
    assert fitted(["known", "unknown"], unknown_label="neither").predict(FAR).tolist() == ["neither"]


def test_truth_values_need_an_answer_and_get_none_in_silence():
    with pytest.raises(TypeError, match="unknown_label must be of the labels' type, got -1"):
        fitted([True, False])


@pytest.mark.parametrize("unknown", [-2, -1.0, True, None])
def test_only_the_default_stands_for_a_text(unknown):
    with pytest.raises(TypeError, match="unknown_label must be of the labels' type"):
        fitted(["a", "b"], unknown_label=unknown)


def test_the_default_is_kept_in_files(tmp_path):
    covey.save(fitted(["a", "b"]), tmp_path / "m")
    again = covey.load(tmp_path / "m")
    assert again.unknown_label == -1
    assert again.predict(FAR).tolist() == ["unknown"]


def test_files_of_earlier_versions_answer_unknown():
    model = covey.load(Path(__file__).parent / "files" / "command-line" / "strings.covey")
    assert (model.unknown_label, model.classes_.dtype.kind) == (-1, "U")
    answers = model.set_params(reject=1e9).predict(model.representatives_)
    assert set(answers.tolist()) == {"unknown"}
