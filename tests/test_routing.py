"""Weights and rows to include reach a selector through anything that is around it, cut along with X or refused."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from imblearn import pipeline as imbalanced
from imblearn.under_sampling import RandomUnderSampler
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import BaggingClassifier
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score, cross_validate, learning_curve
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import covey

rng = np.random.default_rng(0)
N = 60
X = np.column_stack([np.arange(N), rng.standard_normal((N, 3)) + 5])  # the first column says which row it is
Y = np.arange(N) % 3
WEIGHTS = rng.random(N) + 0.5
MASK = np.isin(np.arange(N), [3, 7, 31, 44, 58])
ROWS = [3, 7, 31]
MEANT_ELSEWHERE = "include must hold True or False for each row of X if fit is called by (sklearn|imblearn)"
SEEN = []


class Spy(covey.CRS):
    """Writes down what its fit gets. X comes as the user has passed it."""

    def fit(self, X, y=None, *, sample_weight=None, include=None):
        SEEN.append((np.asarray(X)[:, 0], sample_weight, include))
        return super().fit(X, y, sample_weight=sample_weight, include=include)


@pytest.fixture(autouse=True)
def nothing_seen():
    SEEN.clear()


@pytest.fixture(params=[False, True], ids=["without routing", "with routing"])
def routing(request):
    with sklearn.config_context(enable_metadata_routing=request.param):
        yield request.param


def asking(selector):
    """The selector, which requests both if there is somebody to ask."""
    enabled = sklearn.get_config()["enable_metadata_routing"]
    return selector.set_fit_request(sample_weight=True, include=True) if enabled else selector


def nearest(selector):
    model = covey.NearestPrototypeClassifier(selector)
    enabled = sklearn.get_config()["enable_metadata_routing"]
    return model.set_score_request(sample_weight=True) if enabled else model


def direct():
    return nearest(asking(Spy(3)))


def sharpened():
    return nearest(covey.Sharpened(asking(Spy(3)), random_state=0, max_rounds=1))


def twice_sharpened():
    inner = covey.Sharpened(asking(Spy(3)), random_state=0, max_rounds=0)
    return nearest(covey.Sharpened(inner, random_state=0, max_rounds=0))


MODELS = [direct, sharpened, twice_sharpened]


def assert_each_row_has_its_own(n_fits=None, sizes=None):
    """Rows tell by their first column which weights and flags they must have come with."""
    assert n_fits is None or len(SEEN) == n_fits
    assert SEEN
    for rows, weights, mask in SEEN:
        rows = rows.astype(int)
        np.testing.assert_array_equal(weights, WEIGHTS[rows])
        np.testing.assert_array_equal(mask, MASK[rows])
        assert sizes is None or rows.size in sizes


@pytest.mark.parametrize("make", MODELS)
def test_a_classifier_hands_on_what_its_selector_asks_for(routing, make):
    model = make().fit(X, Y, sample_weight=WEIGHTS, include=MASK)
    assert_each_row_has_its_own(1)
    assert set(np.flatnonzero(MASK)) <= set(model.selector_.sample_indices_)


@pytest.mark.parametrize("make", MODELS)
def test_a_search_cuts_weights_and_masks_along_with_the_rows(routing, make):
    search = GridSearchCV(make(), {"reject": [None, 0.5]}, cv=3, error_score="raise")
    search.fit(X, Y, sample_weight=WEIGHTS, include=MASK)
    assert_each_row_has_its_own(7, sizes={N * 2 // 3, N})


@pytest.mark.parametrize("make", MODELS)
@pytest.mark.parametrize("validate", [cross_validate, cross_val_score, cross_val_predict])
def test_cross_validation_cuts_weights_and_masks_along_with_the_rows(routing, validate, make):
    options = {} if validate is cross_val_predict else {"error_score": "raise"}
    validate(make(), X, Y, cv=3, params={"sample_weight": WEIGHTS, "include": MASK}, **options)
    assert_each_row_has_its_own(3, sizes={N * 2 // 3})


@pytest.mark.parametrize("cut", [list, np.asarray, pd.Series], ids=["list", "array", "series"])
def test_masks_and_weights_may_be_any_sequence(routing, cut):
    given = {"sample_weight": cut(WEIGHTS.tolist()), "include": cut(MASK.tolist())}
    GridSearchCV(direct(), {"reject": [None]}, cv=3, error_score="raise").fit(X, Y, **given)
    assert_each_row_has_its_own(4)


def named(step, **given):
    """Without routing, a pipeline takes parameters by the name of their step."""
    enabled = sklearn.get_config()["enable_metadata_routing"]
    return given if enabled else {f"{step}__{name}": value for name, value in given.items()}


class Unchanged(StandardScaler):
    """A step that changes nothing, so that rows still say which they are."""

    def transform(self, X, copy=None):
        return X


@pytest.mark.parametrize("make_any", [make_pipeline, imbalanced.make_pipeline], ids=["sklearn", "imblearn"])
@pytest.mark.parametrize("make", MODELS)
def test_pipelines_hand_them_on(routing, make, make_any):
    first = Unchanged()
    if routing:
        first.set_fit_request(sample_weight=False)
    given = named("nearestprototypeclassifier", sample_weight=WEIGHTS, include=MASK)
    make_any(first, make()).fit(X, Y, **given)
    assert_each_row_has_its_own(1)
    SEEN.clear()
    search = GridSearchCV(make_any(first, make()), {"nearestprototypeclassifier__reject": [None]}, cv=2)
    search.set_params(error_score="raise").fit(X, Y, **given)
    assert_each_row_has_its_own(3, sizes={N // 2, N})


@pytest.mark.parametrize("wrapped", [False, True], ids=["CRS", "Sharpened"])
def test_a_selector_that_thins_out_a_pipeline_gets_them(wrapped):
    """Without routing, pipelines of imbalanced-learn pass nothing to their samplers."""
    with sklearn.config_context(enable_metadata_routing=True):
        sampler = asking(Spy(3))
        sampler = covey.Sharpened(sampler, random_state=0, max_rounds=1) if wrapped else sampler
        classifier = KNeighborsClassifier(1).set_score_request(sample_weight=True)
        model = imbalanced.Pipeline([("few", sampler), ("knn", classifier)])
        model.fit(X, Y, sample_weight=WEIGHTS, include=MASK)
        assert_each_row_has_its_own(1)
        assert model[-1].n_samples_fit_ == model[0].sample_indices_.size < N
        SEEN.clear()
        search = GridSearchCV(model, {"knn__p": [1, 2]}, cv=2, error_score="raise")
        search.fit(X, Y, sample_weight=WEIGHTS, include=MASK)
        assert_each_row_has_its_own(5, sizes={N // 2, N})
        with pytest.raises(ValueError, match=MEANT_ELSEWHERE):
            model.fit(X, Y, include=ROWS)


@pytest.mark.parametrize("make", MODELS)
def test_a_classifier_that_makes_features_in_a_pipeline_gets_them(routing, make):
    last = KNeighborsClassifier(1)
    if routing:
        last.set_score_request(sample_weight=True)
    model = make_pipeline(make(), last)
    given = named("nearestprototypeclassifier", sample_weight=WEIGHTS, include=MASK)
    GridSearchCV(model, {}, cv=2, error_score="raise").fit(X, Y, **given)
    assert_each_row_has_its_own(3, sizes={N // 2, N})


def test_bags_and_calibration_cut_them_too():
    """They take parameters beside weights only if routing is enabled."""
    with sklearn.config_context(enable_metadata_routing=True):
        BaggingClassifier(nearest(Spy(3).set_fit_request(include=True)), 3, max_samples=0.5, random_state=0).fit(
            X, Y, include=MASK
        )
        for rows, _, mask in SEEN:
            np.testing.assert_array_equal(mask, MASK[rows.astype(int)])
        assert len(SEEN) == 3
        SEEN.clear()
        CalibratedClassifierCV(direct(), cv=2, ensemble=True).fit(X, Y, sample_weight=WEIGHTS, include=MASK)
        assert_each_row_has_its_own(2, sizes={N // 2})


# row numbers


def searched(model, given):
    GridSearchCV(model, {}, cv=2, error_score="raise").fit(X, Y, **given)


def validated(model, given):
    cross_validate(model, X, Y, cv=2, params=given, error_score="raise")


def learned(model, given):
    learning_curve(model, X, Y, cv=2, train_sizes=[0.9], params=given, error_score="raise")


def predicted(model, given):
    cross_val_predict(model, X, Y, cv=2, params=given)


@pytest.mark.parametrize("rows", [ROWS, np.array(ROWS), np.arange(N)], ids=["list", "array", "as many as rows"])
@pytest.mark.parametrize("split", [searched, validated, learned, predicted])
@pytest.mark.parametrize("make", MODELS)
def test_row_numbers_are_refused_where_x_is_cut(routing, make, split, rows):
    with pytest.raises(ValueError, match=MEANT_ELSEWHERE + "[.]model_selection[.].*pass np.isin"):
        split(make(), {"include": rows})
    with pytest.raises(ValueError, match=MEANT_ELSEWHERE):
        split(make_pipeline(Unchanged(), make()), named("nearestprototypeclassifier", include=rows))


def test_row_numbers_are_refused_in_workers_as_they_are_here():
    with pytest.raises(ValueError, match=MEANT_ELSEWHERE):
        GridSearchCV(nearest(covey.CRS(3)), {}, cv=2, error_score="raise", n_jobs=2).fit(X, Y, include=ROWS)


def test_row_numbers_are_refused_by_a_selector_behind_a_sampler_and_in_a_search(routing):
    class Scored(Spy):
        """A selector that can be searched over by itself."""

        def score(self, X, y=None):
            return 1.0

    with pytest.raises(ValueError, match=MEANT_ELSEWHERE):
        searched(asking(Scored(3)), {"include": ROWS})
    thinned = imbalanced.make_pipeline(RandomUnderSampler(random_state=0), direct())
    with pytest.raises(ValueError, match=MEANT_ELSEWHERE):
        thinned.fit(X, Y, **named("nearestprototypeclassifier", include=ROWS))


@pytest.mark.parametrize("make", MODELS)
def test_row_numbers_are_taken_where_x_is_passed_whole(routing, make):
    make().fit(X, Y, include=ROWS)
    make_pipeline(Unchanged(), make()).fit(X, Y, **named("nearestprototypeclassifier", include=ROWS))
    assert [rows.size for rows, _, _ in SEEN] == [N, N]
    assert all(given == ROWS for _, _, given in SEEN)
    assert asking(covey.CRS(3)).fit(X, Y, include=ROWS).sample_indices_.size
    assert asking(covey.CRS(3)).fit_resample(X, Y, include=ROWS)[0].shape[1] == 4
    if routing:
        around = ColumnTransformer([("near", make(), [0, 1, 2, 3])])
        around.fit(X, Y, include=ROWS)
        assert len(SEEN) == 3


# requests


def test_what_nobody_has_decided_about_is_refused_by_scikit_learn():
    with sklearn.config_context(enable_metadata_routing=True):
        for selector in (covey.CRS(3), covey.Sharpened(covey.CRS(3)), covey.Sharpened()):
            with pytest.raises(UnsetMetadataPassedError, match=r"sample_weight.*CRS\.fit"):
                covey.NearestPrototypeClassifier(selector).fit(X, Y, sample_weight=WEIGHTS)
        with pytest.raises(TypeError, match="color"):
            direct().fit(X, Y, color="red")
        with pytest.raises(TypeError, match="include"):
            covey.NearestPrototypeClassifier(covey.KeepAll()).fit(X, Y, include=MASK)


def test_an_inner_selector_may_decline_what_sharpening_uses():
    with sklearn.config_context(enable_metadata_routing=True):
        inner = Spy(3).set_fit_request(sample_weight=False, include=False)
        model = covey.NearestPrototypeClassifier(covey.Sharpened(inner, random_state=0))
        model.fit(X, Y, sample_weight=WEIGHTS, include=MASK)
        assert [(weights, mask) for _, weights, mask in SEEN] == [(None, None)]
        assert set(np.flatnonzero(MASK)) <= set(model.selector_.sample_indices_)


def test_a_request_may_have_another_name(routing):
    if not routing:
        with pytest.raises(TypeError, match="heaviness"):
            direct().fit(X, Y, heaviness=WEIGHTS)
        return
    selector = Spy(3).set_fit_request(sample_weight="heaviness", include=True)
    for wrapped in (selector, covey.Sharpened(selector, random_state=0, max_rounds=0)):
        GridSearchCV(nearest(wrapped), {}, cv=2, error_score="raise").fit(X, Y, heaviness=WEIGHTS, include=MASK)
    assert_each_row_has_its_own(6)


def test_weights_of_the_score_go_to_the_score():
    with sklearn.config_context(enable_metadata_routing=True):
        model = covey.NearestPrototypeClassifier(Spy(3).set_fit_request(sample_weight="learning", include=False))
        model.set_score_request(sample_weight="judging")
        judged = np.where(Y == 0, 1.0, 0.0)
        folds = [(np.arange(0, N, 2), np.arange(1, N, 2))]
        found = GridSearchCV(model, {}, cv=folds, refit=False, error_score="raise")
        found.fit(X, Y, learning=WEIGHTS, judging=judged)
    (rows, weights, mask), (fold, rest) = SEEN[0], folds[0]
    np.testing.assert_array_equal(weights, WEIGHTS[rows.astype(int)])
    assert mask is None
    alone = covey.NearestPrototypeClassifier(covey.CRS(3)).fit(X[fold], Y[fold], sample_weight=WEIGHTS[fold])
    expected = alone.score(X[rest], Y[rest], sample_weight=judged[rest])
    assert found.cv_results_["mean_test_score"].tolist() == [expected]
