"""scikit-learn's own checks, all of them."""

import warnings

import numpy as np
import pytest
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks

import covey


@pytest.mark.filterwarnings("ignore:Sharpened needs at least two classes")
@parametrize_with_checks(
    [
        covey.CRS(),
        covey.CRS(gain="count"),
        covey.CRS(size=0.2),
        covey.NearestPrototypeClassifier(covey.CRS(random_state=0)),
        covey.NearestPrototypeClassifier(covey.CRS(gain="count", random_state=0)),
        covey.RandomSelector(),
        covey.KeepAll(),
        covey.CRS(gain="count", refine=True),
        covey.DeltaMedoids(),
        covey.DS3(),
        covey.DS3(alpha=0.5, p=2),
        covey.Sharpened(covey.CRS(n_neighbors=3)),
        covey.NearestPrototypeClassifier(covey.Sharpened(covey.CRS(n_neighbors=3), random_state=0)),
        covey.NearestPrototypeClassifier(covey.DeltaMedoids(similarity="euclidean", random_state=0)),
        covey.NearestPrototypeClassifier(covey.DS3(similarity="euclidean")),
    ],
)
def test_scikit_learn_agrees(estimator, check):
    check(estimator)


ANSWERS_ARE_NOT_ALWAYS_CLASSES = {
    "check_classifiers_classes": "one of its classes is -1, which the default of unknown_label must not be",
    "check_classifiers_train": "it takes the largest decision_function for the answer, but rejected objects get none",
}
"""What the checks of a classifier ask for that no classifier can do which rejects objects, and why."""
REJECTION = {
    "calibrated": ANSWERS_ARE_NOT_ALWAYS_CLASSES,
    "threshold": ANSWERS_ARE_NOT_ALWAYS_CLASSES
    | {"check_classifiers_one_label": "some of its random objects are less similar than the mean of the only class"},
    0.5: ANSWERS_ARE_NOT_ALWAYS_CLASSES,
}


@pytest.mark.filterwarnings("ignore::covey.exceptions.MissingBarsWarning")
@pytest.mark.parametrize("reject", REJECTION)
def test_scikit_learn_agrees_but_for_objects_that_are_rejected(reject):
    model = covey.NearestPrototypeClassifier(reject=reject)
    told = check_estimator(model, expected_failed_checks=REJECTION[reject], on_skip=None, on_fail=None)
    assert {result["check_name"]: result["exception"] for result in told if result["status"] == "failed"} == {}
    assert {result["check_name"] for result in told if result["status"] == "xfail"} == REJECTION[reject].keys()


@pytest.mark.parametrize("selector", [None, covey.Sharpened(covey.CRS(3))], ids=repr)
def test_a_classifier_without_a_seed_says_so_and_fails_only_where_two_fits_are_compared_all_the_same(selector):
    """The checks give a seed to an estimator that takes one, which a classifier does not."""
    model = covey.NearestPrototypeClassifier(selector)
    assert get_tags(model).non_deterministic
    # Estimators without a seed draw from NumPy's global generator. It gets one, so that no check depends on chance.
    before = np.random.get_state()  # noqa: NPY002
    np.random.seed(0)  # noqa: NPY002
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            results = check_estimator(model, on_fail=None, on_skip=None)
    finally:
        np.random.set_state(before)  # noqa: NPY002
    failed = {result["check_name"] for result in results if result["status"] == "failed"}
    assert failed <= {"check_fit_idempotent", "check_supervised_y_2d"}  # neither looks at the tag


@pytest.mark.parametrize("selector", [covey.CRS(random_state=0), covey.Sharpened(random_state=1), covey.KeepAll()])
def test_a_classifier_is_deterministic_if_its_selector_is(selector):
    assert not get_tags(covey.NearestPrototypeClassifier(selector)).non_deterministic
