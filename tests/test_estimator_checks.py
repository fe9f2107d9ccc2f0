"""scikit-learn's own checks, all of them."""

import pytest
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks

import covey


@pytest.mark.filterwarnings("ignore:Sharpened needs at least two classes")
@parametrize_with_checks(
    [
        covey.CRS(),
        covey.CRS(gain="count"),
        covey.NearestPrototypeClassifier(),
        covey.NearestPrototypeClassifier(covey.CRS(gain="count")),
        covey.RandomSelector(),
        covey.KeepAll(),
        covey.CRS(gain="count", refine=True),
        covey.DeltaMedoids(),
        covey.DS3(),
        covey.DS3(alpha=0.5, p=2),
        covey.Sharpened(covey.CRS(n_neighbors=3), random_state=0),
        covey.NearestPrototypeClassifier(covey.Sharpened(covey.CRS(n_neighbors=3), random_state=0)),
        covey.NearestPrototypeClassifier(covey.DeltaMedoids(similarity="euclidean")),
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


@pytest.mark.filterwarnings("ignore::covey.MissingBarsWarning")
@pytest.mark.parametrize("reject", REJECTION)
def test_scikit_learn_agrees_but_for_objects_that_are_rejected(reject):
    model = covey.NearestPrototypeClassifier(reject=reject)
    told = check_estimator(model, expected_failed_checks=REJECTION[reject], on_skip=None, on_fail=None)
    assert {result["check_name"]: result["exception"] for result in told if result["status"] == "failed"} == {}
    assert {result["check_name"] for result in told if result["status"] == "xfail"} == REJECTION[reject].keys()
