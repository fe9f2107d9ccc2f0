"""Labels of any type, and of any sequence, make the clusters that equality makes."""

from fractions import Fraction

import numpy as np
import pytest

import covey

LABELS = {
    "tuples of one length": [(0, "a"), (0, "b"), (1, "a")],
    "1-tuples": [(0,), (1,), (2,)],
    "tuples of several lengths": [(), (0,), (0, 1)],
    "a chain of frozensets": [frozenset(), frozenset("a"), frozenset("ab")],
    "numbers of several types": [Fraction(1, 2), 1, 2.5],
}


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("selector", [covey.CRS(3), covey.KeepAll(), covey.Sharpened(covey.CRS(3), random_state=0)])
def test_labels_of_any_type_make_the_clusters_that_equality_makes(kind, selector):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), [LABELS[kind][number] for number in rng.integers(0, 3, 60)]
    found = selector.fit(X, y).prototypes_
    assert list(found) == LABELS[kind]
    for label, prototype in found.items():
        assert prototype.members.tolist() == [row for row in range(60) if y[row] == label]
    model = covey.NearestPrototypeClassifier(covey.KeepAll()).fit(X, y)
    assert list(model.predict(X)) == y
    assert list(model.classes_) == LABELS[kind]


class Unordered:
    """A label that comes before no other."""

    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return self.value == other.value

    def __hash__(self):
        return hash(self.value)

    def __lt__(self, other):
        return False


@pytest.mark.parametrize("kind", [frozenset, Unordered])
def test_labels_without_an_order_are_refused_wherever_labels_are_taken(kind):
    X, y = np.random.default_rng(0).normal(size=(90, 4)), [kind("abc"[row % 3]) for row in range(90)]
    for estimator in (
        covey.CRS(4),
        covey.DeltaMedoids(),
        covey.Sharpened(covey.CRS(4)),
        covey.NearestPrototypeClassifier(),
    ):
        for labels in (y, np.array(y, dtype=object)):
            with pytest.raises(TypeError, match="y must hold labels that can be sorted, but neither of"):
                estimator.fit(X, labels)


def test_numpy_texts_of_any_length_are_texts():
    X, y = np.random.default_rng(0).normal(size=(60, 3)), np.array(["a", "long label"] * 30)
    own = y.astype(np.dtypes.StringDType())
    for selector in (covey.CRS(3), covey.KeepAll()):
        model = covey.NearestPrototypeClassifier(selector)
        assert model.fit(X, own).predict(X).tolist() == model.fit(X, y).predict(X).tolist()
        assert list(model.fit(X, own).selector_.prototypes_) == ["a", "long label"]
    missing = np.array(["a", np.nan] * 30, dtype=np.dtypes.StringDType(na_object=np.nan))
    with pytest.raises(ValueError, match="y must hold finite labels, got nan at position 1"):
        covey.CRS(3).fit(X, missing)
