"""`Sharpened` as its users see it: parameters, inner selectors, pipelines, and classifiers on top."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils.validation import check_is_fitted

import covey
from covey.displays.estimators import fitted_selector
from covey.selectors.base import Selector
from covey.selectors.baselines import standing_for_themselves
from tests.selectors.sharpened.cases import DIGITS, ENGINES, INNER, TRUTH, X, Y, overlapping, state


@pytest.mark.parametrize(
    ("size", "expected"), [(10, 10), (60, 60), (0.05, 20), (0.5, 200), (400, 400), (np.int64(33), 33), (0.001, 10)]
)
@pytest.mark.parametrize("margins", ["exact", "listed"])
def test_there_are_as_many_representatives_as_asked_for(size, expected, margins):
    selector = covey.Sharpened(covey.CRS(10), size=size, margins=margins, max_rounds=1, random_state=0).fit(X, Y)
    assert selector.sample_indices_.size == expected
    assert all(prototype.indices.size for prototype in selector.prototypes_.values())
    assert expected == 400 or selector.sharpened_


def test_a_size_beyond_the_distinct_objects_selects_all_of_them_and_says_so():
    twice, labels = np.concatenate([X[:50], X[:50]]), np.concatenate([Y[:50], Y[:50]])
    for inner in (covey.CRS(3), covey.KeepAll()):  # the second chooses equal rows as well
        with pytest.warns(UserWarning, match="size asks for 60 representatives, but only 50 can be selected"):
            selector = covey.Sharpened(inner, size=60, random_state=0).fit(twice, labels)
        assert sorted(selector.sample_indices_) == list(range(50))
        assert covey.Sharpened(inner, size=50, random_state=0).fit(twice, labels).sample_indices_.size == 50


POINTS = np.random.default_rng(0).normal(size=(500, 3))
SIDES = (POINTS[:, 0] + np.random.default_rng(1).normal(size=500) > 0).tolist()
FORMS = {
    "in pools": (POINTS, "euclidean"),
    "dot products": (POINTS, "dot"),
    "strings": ([f"{number:b}" for number in range(60, 120)], "levenshtein"),
    "a function": (POINTS[:60].tolist(), lambda a, b: -abs(a[0] - b[0]) - abs(a[1] - b[1])),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "inner", [covey.KeepAll(), covey.CRS(1, coverage=1.0), covey.RandomSelector(0.4), covey.CRS(20)], ids=str
)
def test_any_number_of_representatives_to_begin_with_becomes_any_size(inner, form):
    """Pools are drawn around few representatives, however many the inner selector begins with."""
    objects, similarity = FORMS[form]
    start = clone(inner).set_params(similarity=similarity)
    for size in (2, 3, 0.005, 0.5):
        selector = covey.Sharpened(start, size=size, max_rounds=1, random_state=0).fit(objects, SIDES[: len(objects)])
        assert selector.sample_indices_.size == (size if size >= 1 else max(round(size * len(objects)), 2))
        assert all(prototype.indices.size for prototype in selector.prototypes_.values())


@pytest.mark.parametrize("inner", ["KeepAll", "RandomSelector"])
def test_a_choice_of_all_objects_can_be_made_smaller(inner):
    """There are no objects whose margins could give a temperature then."""
    start = {"KeepAll": covey.KeepAll(), "RandomSelector": covey.RandomSelector(1.0)}[inner]
    selector = covey.Sharpened(start, size=40, random_state=0).fit(X[:200], Y[:200])
    assert selector.sample_indices_.size == 40
    assert np.isfinite(selector.temperature_)
    assert (np.diff(selector.losses_) < 0).all()


def test_by_default_there_are_as_many_as_the_inner_selector_has_chosen():
    selector = covey.Sharpened(covey.CRS(10), random_state=0).fit(X, Y)
    assert selector.sample_indices_.size == selector.selector_.sample_indices_.size
    assert selector.sample_indices_.tolist() != selector.selector_.sample_indices_.tolist()


@pytest.mark.parametrize(
    ("parameter", "value", "message"),
    [
        ("size", 0, "The 'size' parameter of Sharpened must be"),
        ("size", 1.0, "The 'size' parameter of Sharpened must be"),
        ("size", 1.5, "The 'size' parameter of Sharpened must be"),
        ("size", -3, "The 'size' parameter of Sharpened must be"),
        ("size", "all", "The 'size' parameter of Sharpened must be"),
        ("size", np.nan, "The 'size' parameter of Sharpened must be"),
        ("size", 9, "size must allow for one representative of each of the 10 clusters, got 9 of 400"),
        ("size", True, "The 'size' parameter of Sharpened must be"),
        ("temperature", 0, "The 'temperature' parameter of Sharpened must be"),
        ("temperature", "warm", "The 'temperature' parameter of Sharpened must be"),
        ("n_neighbors", 0, "The 'n_neighbors' parameter of Sharpened must be"),
        ("n_neighbors", None, "The 'n_neighbors' parameter of Sharpened must be"),
        ("margins", "wide", "The 'margins' parameter of Sharpened must be"),
        ("max_rounds", -1, "The 'max_rounds' parameter of Sharpened must be"),
        ("selector", "CRS", "The 'selector' parameter of Sharpened must be"),
        ("selector", covey.CRS, "The 'selector' parameter of Sharpened must be"),
        ("random_state", "seed", "The 'random_state' parameter of Sharpened must be"),
        ("n_jobs", 1.5, "The 'n_jobs' parameter of Sharpened must be"),
    ],
)
def test_wrong_values_are_refused_in_a_sentence_and_leave_no_fit(parameter, value, message):
    selector = covey.Sharpened(covey.CRS(10)).set_params(**{parameter: value})
    with pytest.raises(ValueError, match=message):
        selector.fit(X, Y)
    with pytest.raises(NotFittedError):
        check_is_fitted(selector)


def test_a_wrong_size_is_refused_before_any_similarity_is_computed():
    """A costly function must not run for hours first."""

    def never(a, b):
        raise AssertionError("no similarity was needed")

    selector = covey.Sharpened(covey.CRS(3, similarity=never), size=1)
    with pytest.raises(ValueError, match="size must allow"):
        selector.fit(list("abcdef"), [0, 0, 0, 1, 1, 1])


def test_a_failed_fit_leaves_the_fit_before():
    selector = covey.Sharpened(covey.CRS(10), random_state=0).fit(X, Y)
    before = dict(vars(selector))
    with pytest.raises(ValueError, match="size must allow"):
        selector.set_params(size=5).fit(X, Y)
    after = {**vars(selector), "size": None}
    assert all(after[name] is value for name, value in before.items())


class OwnFit(Selector):
    """A selector with no parameters of covey's, and with a `fit` of its own that needs X as the user has passed it."""

    def fit(self, X, y=None):
        self.n_ = len(np.asarray(X)[:, 0])
        return super().fit(X, y)

    def select(self, cluster, rng):
        return standing_for_themselves(cluster, cluster.members[:2])


class FirstTwo(Selector):
    """A selector with none of the parameters that others have."""

    def select(self, cluster, rng):
        return standing_for_themselves(cluster, cluster.members[:2])


@pytest.mark.parametrize("own", [FirstTwo, OwnFit])
def test_a_selector_of_your_own_can_be_sharpened(own):
    selector = covey.Sharpened(own(), random_state=0).fit(X, Y)
    assert selector.sharpened_
    assert selector.sample_indices_.size == 20
    model = covey.NearestPrototypeClassifier(covey.Sharpened(own(), random_state=0)).fit(X, Y)
    assert model.selector_.sample_indices_.tolist() == selector.sample_indices_.tolist()


class Noting(covey.CRS):
    """A selector with a `fit` of its own, which passes X on."""

    def fit(self, X, y=None, **fit_params):
        self.seen_ = X
        return super().fit(X, y, **fit_params)


class Changing(covey.CRS):
    """A selector with a `fit` of its own, which passes something else on."""

    def fit(self, X, y=None):
        return super().fit([-x for x in X], y)


class Switching(covey.CRS):
    """A selector that changes its mind about the similarity."""

    def fit(self, X, y=None):
        self.similarity = product
        return super().fit(X, y)


def difference(a, b):
    return -abs(a - b)


def product(a, b):
    return a * b


NUMBERS = np.random.default_rng(2).normal(size=40).tolist()
SIGNS = [number + shift > 0 for number, shift in zip(NUMBERS, np.random.default_rng(3).normal(size=40), strict=True)]


def test_a_selector_with_a_fit_of_its_own_shares_the_evaluated_pairs():
    own, plain = (
        covey.Sharpened(inner(3, similarity=difference), random_state=0).fit(NUMBERS, SIGNS)
        for inner in (Noting, covey.CRS)
    )
    assert own.selector_.seen_ is NUMBERS
    assert own.n_evaluations_ == plain.n_evaluations_ == 40 * 39 // 2
    assert own.sample_indices_.tolist() == plain.sample_indices_.tolist()


@pytest.mark.parametrize("inner", [Changing, Switching])
def test_what_a_fit_of_its_own_changes_is_what_is_fitted(inner):
    """Neither the X nor the similarity is then the one that was prepared."""
    selector = inner(3, similarity=difference)
    alone = clone(selector).fit(NUMBERS, SIGNS)
    for outer in (covey.Sharpened(selector, random_state=0), covey.NearestPrototypeClassifier(selector)):
        found = outer.fit(NUMBERS, SIGNS).selector_
        assert found.sample_indices_.tolist() == alone.sample_indices_.tolist()
        assert found.n_evaluations_ == alone.n_evaluations_


def test_what_is_prepared_is_for_one_selector_in_one_fit():
    """Another selector in the fit, and a later fit of the same one, prepare X themselves."""

    class Asking(covey.CRS):
        def fit(self, X, y=None):
            self.other_ = covey.CRS(3, similarity=product).fit(X, y)
            return super().fit(X, y)

    expected = covey.CRS(3, similarity=product).fit(NUMBERS, SIGNS)
    found = covey.Sharpened(Asking(3, similarity=difference), random_state=0).fit(NUMBERS, SIGNS).selector_
    assert found.other_.sample_indices_.tolist() == expected.sample_indices_.tolist()
    assert found.other_.n_evaluations_ == expected.n_evaluations_
    assert (
        found.fit(NUMBERS, SIGNS).n_evaluations_
        == covey.CRS(3, similarity=difference).fit(NUMBERS, SIGNS).n_evaluations_
    )


@pytest.mark.parametrize("inner", INNER)
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_every_selector_can_be_the_inner_one(inner, n_jobs):
    selector = covey.Sharpened(INNER[inner](), size=30, n_jobs=n_jobs, verbose=0, random_state=0).fit(X[:150], Y[:150])
    assert selector.sample_indices_.size == 30
    assert getattr(selector.selector_, "n_jobs", n_jobs) == n_jobs


def test_what_the_inner_selector_has_set_itself_stays():
    inner = covey.CRS(10, n_jobs=2, random_state=3)
    selector = covey.Sharpened(inner, n_jobs=1, random_state=0).fit(X, Y)
    assert (selector.selector_.n_jobs, selector.selector_.random_state) == (2, 3)
    assert selector.selector_ is not inner
    assert not hasattr(inner, "prototypes_")


def test_an_inner_selector_without_a_seed_gets_one():
    """So the seed of the outer one decides everything."""
    drawn = [
        covey.Sharpened(covey.RandomSelector(0.1), max_rounds=0, size=100, random_state=seed).fit(X, Y)
        for seed in (0, 0, 1)
    ]
    starts = [selector.selector_.sample_indices_.tolist() for selector in drawn]
    assert starts[0] == starts[1] != starts[2]
    assert drawn[0].selector_.random_state is not None


def test_the_same_seed_gives_the_same_answer_and_so_does_the_same_fit_again():
    selector = covey.Sharpened(covey.CRS(5, graph="nn-descent"), n_neighbors=5, random_state=7)
    first = state(selector.fit(X, Y))
    assert state(selector.fit(X, Y)) == first
    assert state(clone(selector).fit(X, Y)) == first
    generator = np.random.RandomState(7)
    assert state(clone(selector).set_params(random_state=generator).fit(X, Y)) == first


def test_parameters_are_those_of_scikit_learn():
    selector = covey.Sharpened(covey.CRS(7), size=0.1, random_state=1)
    assert selector.get_params()["selector__n_neighbors"] == 7
    again = clone(selector).set_params(selector__n_neighbors=9, selector__similarity="euclidean")
    assert (again.selector.n_neighbors, again.similarity, selector.selector.n_neighbors) == (9, "euclidean", 7)
    assert covey.Sharpened().similarity == "cosine"
    assert covey.Sharpened(covey.CRS(similarity="precomputed")).__sklearn_tags__().input_tags.pairwise
    assert not covey.Sharpened().__sklearn_tags__().input_tags.pairwise
    default = covey.Sharpened().fit(X, Y).selector_
    assert default.get_params() == {**covey.CRS().get_params(), "random_state": default.random_state}


def test_grid_searches_and_pipelines_reach_the_inner_selector():
    model = covey.NearestPrototypeClassifier(covey.Sharpened(covey.CRS(), random_state=0))
    grid = {"selector__selector__n_neighbors": [5, 30], "selector__size": [None, 20]}
    search = GridSearchCV(model, grid, cv=2).fit(X, Y)
    assert search.best_score_ > 0.8
    pipeline = make_pipeline(MinMaxScaler(), model)
    assert cross_val_score(pipeline, X, Y, cv=2).min() > 0.8
    features = make_pipeline(model, LogisticRegression(max_iter=2000))
    assert features.fit(X, Y).score(DIGITS[400:900], TRUTH[400:900]) > 0.6


@pytest.mark.parametrize("engine", ["dense", "callable", "matrix"])
def test_a_fitted_selector_can_be_pickled(engine):
    objects, y, inner = ENGINES[engine]()
    selector = covey.Sharpened(inner, n_neighbors=6, random_state=0).fit(objects, y)
    again = pickle.loads(pickle.dumps(selector))
    assert state(again) == state(selector)
    assert state(again.fit(objects, y)) == state(selector)


def test_the_temperature_is_the_one_asked_for_or_of_the_size_of_the_margins():
    assert covey.Sharpened(covey.CRS(10), temperature=0.3, random_state=0).fit(X, Y).temperature_ == 0.3
    rows, y = overlapping(100)
    scaled = [
        covey.Sharpened(covey.CRS(5, similarity="dot"), random_state=0).fit(rows * scale, y) for scale in (1.0, 2.0)
    ]
    assert scaled[1].temperature_ == pytest.approx(4 * scaled[0].temperature_)
    assert scaled[0].sample_indices_.tolist() == scaled[1].sample_indices_.tolist()
    assert scaled[0].losses_ == pytest.approx(scaled[1].losses_)


def test_without_rounds_and_with_the_same_size_the_inner_choice_is_kept():
    selector = covey.Sharpened(covey.CRS(10), max_rounds=0, random_state=0).fit(X, Y)
    assert not selector.sharpened_
    assert selector.losses_.size == 1
    for label, prototype in selector.prototypes_.items():
        assert prototype is selector.selector_.prototypes_[label]


def test_progress_is_logged(caplog):
    caplog.set_level("INFO", logger="covey")
    covey.Sharpened(covey.CRS(10), verbose=1, random_state=0).fit(X, Y)
    rounds = [record.message for record in caplog.records if record.message.startswith("Sharpened")]
    assert rounds
    assert all("loss" in message for message in rounds)


def test_a_classifier_does_all_it_can_with_sharpened_prototypes():
    queries, truth = DIGITS[400:], TRUTH[400:]
    model = covey.NearestPrototypeClassifier(covey.Sharpened(covey.CRS(10), random_state=0)).fit(X, Y)
    assert model.score(queries, truth) > 0.85
    found = model.explain(queries)
    assert set(found.representatives.tolist()) <= set(model.selector_.sample_indices_.tolist())
    np.testing.assert_array_equal(Y[found.representatives], model.predict(queries))
    assert model.transform(queries).shape == (queries.shape[0], model.selector_.sample_indices_.size)
    assert model.get_feature_names_out().size == model.selector_.sample_indices_.size


@pytest.mark.parametrize("reject", ["calibrated", "threshold", 0.5])
def test_a_classifier_of_sharpened_prototypes_can_reject(reject):
    """The digits are drawn at random, because a rate is promised for new objects that are like those of the fit; the
    last ones of the file were written by other people."""
    drawn = np.random.default_rng(0).permutation(TRUTH.size)
    digits, truth = DIGITS[drawn], TRUTH[drawn]
    fitted, asked = np.flatnonzero(truth[:900] < 8), slice(900, None)
    selector = covey.Sharpened(covey.CRS(10), random_state=0)
    model = covey.NearestPrototypeClassifier(selector, reject=reject).fit(digits[fitted], truth[fitted])
    rejected, known = model.predict(digits[asked]) == -1, truth[asked] < 8
    assert rejected[known].mean() <= rejected[~known].mean() < 1
    if reject == "calibrated":
        assert 0.02 < rejected[known].mean() < 0.1
        assert rejected[~known].mean() > 2 * rejected[known].mean()


def test_displays_show_sharpened_prototypes():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    model = covey.NearestPrototypeClassifier(covey.Sharpened(covey.CRS(10), random_state=0)).fit(X, Y)
    curves = covey.displays.CoverageDisplay.from_estimator(model).plot()
    assert len(curves.ax_.lines) >= len(model.classes_)
    assert covey.displays.PrototypeMapDisplay.from_estimator(model, X, label=3).plot().ax_ is not None
    pyplot.close("all")


def test_displays_of_a_sharpened_selector_show_its_own_prototypes_and_not_those_of_the_inner_one():
    selector = covey.Sharpened(covey.CRS(10), random_state=0).fit(X, Y)
    assert selector.sharpened_
    assert fitted_selector(selector) is selector


def test_on_real_images_sharpened_prototypes_classify_much_better(fashion):
    """algorithms.md measures .04 more on all 60 000 images, with as many representatives."""
    train, y, queries, truth = fashion
    few = np.concatenate([np.flatnonzero(y == label)[:300] for label in range(10)])
    model = covey.NearestPrototypeClassifier(covey.Sharpened(covey.CRS(20), random_state=0)).fit(train[few], y[few])
    before, after = model.selector_.selector_.sample_indices_, model.selector_.sample_indices_
    assert before.size == after.size < 0.1 * few.size
    scores = [
        covey.NearestPrototypeClassifier(covey.KeepAll()).fit(train[few][rows], y[few][rows])
        for rows in (before, after)
    ]
    plain, sharp = (nearest.score(queries[:1000], truth[:1000]) for nearest in scores)
    assert sharp == model.score(queries[:1000], truth[:1000])
    assert sharp > plain + 0.02
