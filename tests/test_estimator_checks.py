"""scikit-learn's own checks, all of them."""

from sklearn.utils.estimator_checks import parametrize_with_checks

import covey

REFUSES_NEGATIVE_SIMILARITIES = {
    "check_n_features_in_after_fitting": (
        "fits ten centred random rows whose cosines are negative, which the default gain refuses on purpose; the same "
        "estimator with the remedy it names, gain='count', passes this check below"
    )
}


def expected_failures(estimator):
    """Only for the default gain: everything else passes everything."""
    selector = getattr(estimator, "selector", estimator) or covey.CRS()
    refuses = isinstance(selector, covey.CRS) and selector.gain == "similarity"
    return REFUSES_NEGATIVE_SIMILARITIES if refuses else {}


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
        covey.NearestPrototypeClassifier(covey.DeltaMedoids(similarity="euclidean")),
        covey.NearestPrototypeClassifier(covey.DS3(similarity="euclidean")),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_agrees(estimator, check):
    check(estimator)
