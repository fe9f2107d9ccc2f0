"""Each class declares what its fit sets: nothing is forgotten, and a selector of the user's own needs no more."""

import sys
from typing import ClassVar

import numpy as np
import pytest

import covey
from covey.exceptions import FileFormatError
from covey.selectors.base import Selector
from covey.selectors.baselines import standing_for_themselves
from covey.selectors.saved_state import COUNT, NOT_SAVED, declared
from tests.damage import change_file

Y = np.repeat([0, 1, 2], 6)
X = np.abs(np.random.default_rng(0).normal(Y[:, None], 0.3, (18, 4))) + 0.1

EXPORTED = [getattr(covey, name) for name in covey.__all__]
ESTIMATORS = [
    cls for cls in EXPORTED if isinstance(cls, type) and hasattr(cls, "_fitted_state") and cls is not Selector
]


class FirstFew(Selector):
    """A selector of a user's own: the first objects of each cluster represent it. It adds no state of its own."""

    def __init__(self, n=2, similarity="cosine"):
        self.n = n
        self.similarity = similarity

    def select(self, cluster, rng):
        return standing_for_themselves(cluster, cluster.members[: self.n])


class Counting(FirstFew):
    """A selector that adds state: some is saved, some only `fit` needs, and some is made again after loading."""

    _fitted_state: ClassVar = {"sizes_": dict, "n_clusters_": COUNT, "_last": NOT_SAVED, "_mean_size": NOT_SAVED}
    _fitted_facts: ClassVar = {
        "sizes_ must be those of all clusters": lambda self: len(self.sizes_) == self.n_clusters_
    }

    def __init__(self, n=2, similarity="cosine", base=None):
        super().__init__(n, similarity)
        self.base = base

    def fit(self, X, y=None):
        super().fit(X, y)
        self.sizes_ = {label: found.members.size for label, found in self.prototypes_.items()}
        self.n_clusters_ = len(self.prototypes_)
        self._restore()
        return self

    def select(self, cluster, rng):
        self._last = cluster
        return super().select(cluster, rng)

    def _restore(self):
        self._mean_size = sum(self.sizes_.values()) / self.n_clusters_


def again(estimator, tmp_path, **options):
    covey.save(estimator, tmp_path / "model")
    return covey.load(tmp_path / "model", **options)


@pytest.mark.parametrize("cls", ESTIMATORS)
def test_what_fit_sets_is_declared_and_comes_back(cls, tmp_path):
    fitted = cls().fit(X, Y)
    loaded = again(fitted, tmp_path)
    set_by_fit = vars(fitted).keys() - set(cls._get_param_names())
    rules = declared(cls)
    assert set_by_fit <= rules.keys()
    assert {name for name, rule in rules.items() if rule.required and rule.derive is None} <= set_by_fit
    kept = {name for name in set_by_fit if rules[name] is not NOT_SAVED}
    assert kept <= vars(loaded).keys()
    for name in kept:
        assert type(vars(loaded)[name]) is type(vars(fitted)[name])
    assert len(ESTIMATORS) >= 6


@pytest.mark.parametrize("name", ["n_rounds_", "_hidden", "written_on_it"])
def test_an_attribute_that_is_not_declared_is_refused(name, tmp_path):
    selector = covey.CRS(2).fit(X, Y)
    setattr(selector, name, 3)
    model = covey.NearestPrototypeClassifier(covey.CRS(2)).fit(X, Y)
    setattr(model.selector_, name, 3)
    for estimator in (selector, model):
        with pytest.raises(
            TypeError,
            match=rf"Cannot save this CRS: its attributes {name} are not declared .*; delete them before saving",
        ):
            covey.save(estimator, tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_what_scikit_learn_keeps_on_an_estimator_does_not_matter(tmp_path):
    selector = covey.KeepAll().fit(X)
    selector._skl_callbacks = []
    selector._metadata_request = object()
    assert isinstance(again(selector, tmp_path), covey.KeepAll)


def test_a_selector_of_your_own_is_saved_and_loaded(tmp_path):
    for selector in (FirstFew(3).fit(X, Y), Counting(3).fit(X, Y)):
        loaded = again(selector, tmp_path)
        assert type(loaded) is type(selector)
        assert loaded.n == 3
        np.testing.assert_array_equal(loaded.sample_indices_, selector.sample_indices_)


def test_what_a_selector_declares_is_saved_left_out_or_made_again(tmp_path):
    loaded = again(again(Counting(base=covey.CRS(4)).fit(X, Y), tmp_path), tmp_path)
    assert (loaded.sizes_, loaded.n_clusters_, loaded._mean_size) == ({0: 6, 1: 6, 2: 6}, 3, 6.0)
    assert not hasattr(loaded, "_last")
    assert loaded.base.get_params() == covey.CRS(4).get_params()


def test_a_classifier_with_a_selector_of_your_own_answers_the_same(tmp_path):
    model = covey.NearestPrototypeClassifier(FirstFew(1)).fit(X, Y)
    loaded = again(model, tmp_path)
    assert type(loaded.selector_) is FirstFew
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ({"n_clusters_": -1}, "n_clusters_ must be an integer of at least 0"),
        ({"n_clusters_": 4}, "sizes_ must be those of all clusters"),
        ({"sizes_": [6, 6, 6]}, "sizes_ must be of type dict"),
        ({"n_evaluations_": "many"}, "n_evaluations_ must be an integer"),
        ({"_last": 1}, r"keys \['_last'\] are unknown"),
    ],
)
def test_the_declarations_of_a_class_and_of_its_bases_are_checked(state, message, tmp_path):
    covey.save(Counting().fit(X, Y), tmp_path / "model")
    change_file(tmp_path / "model", lambda content, _: content["content"]["Counting"]["state"].update(state))
    with pytest.raises(FileFormatError, match=message):
        covey.load(tmp_path / "model")


def test_a_class_that_is_not_defined_is_named_with_the_remedy(tmp_path):
    """Nothing is imported, whatever the file calls the class."""
    for name in ("Elsewhere", "antigravity", "antigravity.Selector", "ABC", "save", "BaseEstimator", "Explanation"):
        covey.save(FirstFew().fit(X), tmp_path / "model")
        change_file(
            tmp_path / "model",
            lambda content, _, name=name: content.update(content={name: content["content"]["FirstFew"]}),
        )
        with pytest.raises(FileFormatError, match=rf"class '{name}', which .* import the module that defines it"):
            covey.load(tmp_path / "model")
    assert "antigravity" not in sys.modules


def test_a_class_called_like_one_of_coveys_cannot_be_saved(tmp_path):
    other = type("CRS", (covey.CRS,), {"__module__": "mine"})
    for estimator in (other(2).fit(X), covey.NearestPrototypeClassifier(other(2)).fit(X, Y)):
        with pytest.raises(TypeError, match=r"name of its own, got CRS of module mine, and there is .* rename"):
            covey.save(estimator, tmp_path / "model")
    assert type(again(covey.CRS(2).fit(X), tmp_path)) is covey.CRS


def test_two_classes_of_one_name_are_told_apart_or_refused(tmp_path):
    """A class that a notebook defines again replaces the earlier one; classes of two modules are two classes."""
    first, second = (type("Twice", (FirstFew,), {"__module__": "notebook"}) for _ in range(2))
    assert type(again(first().fit(X), tmp_path)) is second
    third = type("Twice", (FirstFew,), {"__module__": "elsewhere"})
    with pytest.raises(FileFormatError, match=r"Twice, .* more than once \(in elsewhere and notebook\)"):
        covey.load(tmp_path / "model")
    with pytest.raises(TypeError, match="there is a Twice of module notebook, too"):
        covey.save(third().fit(X), tmp_path / "model")


def test_only_estimators_of_covey_and_selectors_are_saved(tmp_path):
    other = type("Other", (covey.NearestPrototypeClassifier,), {})
    with pytest.raises(TypeError, match=r"estimator must be one of covey's .* got Other of module"):
        covey.save(other().fit(X, Y), tmp_path / "model")
