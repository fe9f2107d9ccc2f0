"""scikit-learn's own checks, all of them."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

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
