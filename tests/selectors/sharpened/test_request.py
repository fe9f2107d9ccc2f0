"""Weights of rows, and rows that must be representatives, when representatives are moved to tell classes apart."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import covey
from tests import reference

rng = np.random.default_rng(0)
Y = np.repeat([0, 1, 2], 40)
X = rng.standard_normal((120, 3)) + 1.5 * np.eye(3)[Y]  # the classes overlap


def sharpened(inner=None, **options):
    inner = covey.CRS(6, threshold=0.7, random_state=0) if inner is None else inner
    return covey.Sharpened(inner, random_state=0, **options)


@pytest.mark.parametrize("margins", ["exact", "listed"])
@pytest.mark.parametrize("size", [None, 9, 40])
def test_an_object_of_weight_k_counts_as_k_equal_objects_do(size, margins):
    """The homogeneity counts copies and no weights, so the threshold is a number here."""
    copies = np.random.default_rng(1).integers(1, 5, len(X))
    weighted = sharpened(size=size, margins=margins).fit(X, Y, sample_weight=copies)
    rows = np.repeat(np.arange(len(X)), copies)
    copied = sharpened(size=size, margins=margins).fit(X[rows], Y[rows])
    assert weighted.sharpened_
    assert rows[copied.sample_indices_].tolist() == weighted.sample_indices_.tolist()
    assert weighted.temperature_ == copied.temperature_
    assert weighted.losses_.tolist() == copied.losses_.tolist()
    for label, prototype in weighted.prototypes_.items():
        assert prototype.gains.tolist() == copied.prototypes_[label].gains.tolist()
        assert prototype.gains.sum() == copies[label == Y].sum()
    alone = sharpened(size=size, margins=margins).fit(X, Y)
    assert alone.sample_indices_.tolist() != weighted.sample_indices_.tolist()


def loss(chosen, weights, temperature):
    """The weighted mean error of all objects that are not chosen, by its definition."""
    chosen = set(chosen.tolist())
    of_class = {c: sum(w for w, own in zip(weights, Y, strict=True) if own == c) for c in set(Y.tolist())}
    total = errors = 0.0
    for x in range(len(X)):
        share = weights[x] / of_class[Y[x]] ** 0.5
        total += share
        if x not in chosen:
            near = {r: reference.cosine(X[x].tolist(), X[r].tolist()) for r in chosen}
            own = max(s for r, s in near.items() if Y[r] == Y[x])
            other = max(s for r, s in near.items() if Y[r] != Y[x])
            errors += share / (1 + np.exp((own - other) / temperature))
    return errors / total


def test_the_loss_is_the_weighted_mean_error():
    weights = np.random.default_rng(2).random(len(X))
    found = sharpened(size=9, temperature=0.1).fit(X, Y, sample_weight=weights)
    assert found.losses_[-1] == pytest.approx(loss(found.sample_indices_, weights, 0.1), rel=1e-9)
    others = [sharpened(size=9, temperature=0.1).fit(X, Y, sample_weight=w) for w in (None, weights[::-1])]
    for other in others:
        assert found.losses_[-1] < loss(other.sample_indices_, weights, 0.1)


def test_only_ratios_of_weights_matter_for_the_choice():
    weights = np.random.default_rng(3).random(len(X))
    found = [sharpened(size=9).fit(X, Y, sample_weight=scale * weights) for scale in (1, 1024)]
    assert found[0].sample_indices_.tolist() == found[1].sample_indices_.tolist()
    assert found[0].losses_.tolist() == found[1].losses_.tolist()


@settings(max_examples=30, deadline=None)
@given(
    rows=st.lists(st.integers(0, 119), min_size=1, max_size=12, unique=True),
    more=st.integers(0, 12),
    margins=st.sampled_from(["exact", "listed"]),
)
def test_included_rows_are_among_the_representatives_and_count_in_the_size(rows, more, margins):
    least = sum(max(1, int((Y[rows] == c).sum())) for c in range(3))
    found = sharpened(size=least + more, margins=margins, max_rounds=2).fit(X, Y, include=rows)
    assert set(rows) <= set(found.sample_indices_.tolist())
    assert found.sample_indices_.size == least + more
    assert all(prototype.indices.size for prototype in found.prototypes_.values())


def test_the_others_are_still_exchanged():
    plain = sharpened(size=9).fit(X, Y)
    rows = np.setdiff1d(np.arange(len(X)), plain.sample_indices_)[:3]
    mask = np.isin(np.arange(len(X)), rows)
    found = sharpened(size=9).fit(X, Y, include=mask)
    assert found.sharpened_
    assert set(rows.tolist()) <= set(found.sample_indices_.tolist())
    assert found.losses_[-1] < found.losses_[0]


def test_an_included_copy_is_the_one_of_its_equals_that_is_selected():
    doubled, labels = np.concatenate([X, X]), np.concatenate([Y, Y])
    found = sharpened(size=9).fit(doubled, labels, include=[125, 7, 127])  # 7 and 127 are equal
    assert 125 in found.sample_indices_
    assert (7 in found.sample_indices_) != (127 in found.sample_indices_)
    assert found.sample_indices_.size == 9


@pytest.mark.parametrize("inner", [covey.DeltaMedoids(), covey.RandomSelector(0.05)], ids=repr)
def test_an_inner_selector_that_takes_neither_chooses_without_them(inner):
    weights = np.random.default_rng(4).random(len(X))
    found = sharpened(inner).fit(X, Y, include=[3, 70], sample_weight=weights)
    chosen = set(found.selector_.sample_indices_.tolist())
    assert found.sample_indices_.size == len(chosen | {3, 70})
    assert {3, 70} <= set(found.sample_indices_.tolist())
    everything = sharpened(inner, max_rounds=0).fit(X, Y, include=[3, 70])
    assert set(everything.sample_indices_.tolist()) == chosen | {3, 70}
    with pytest.warns(UserWarning, match="two classes"), pytest.raises(ValueError, match="include needs at least two"):
        sharpened(inner).fit(X, include=np.arange(len(X)))


def test_the_inner_selector_gets_weights_rows_and_whatever_else_it_takes():
    seen = []

    class Spy(covey.CRS):
        def fit(self, X, y=None, *, sample_weight=None, include=None, color=None):
            seen.append((sample_weight, include, color))
            return super().fit(X, y, sample_weight=sample_weight, include=include)

    weights = np.ones(len(X))
    sharpened(Spy(6)).fit(X, Y, sample_weight=weights, include=[1], color="red")
    assert seen == [(weights, [1], "red")]
    with pytest.raises(TypeError, match="color"):
        sharpened().fit(X, Y, color="red")


@pytest.mark.parametrize(
    ("options", "fitting", "message"),
    [
        ({"size": 4}, {"include": [0, 1, 2]}, "each of the 3 clusters and the 3 rows to include, got 4 of 120"),
        (
            {},
            {"sample_weight": np.ones(3)},
            "sample_weight must hold one number for each of the 120 objects",
        ),
        ({}, {"sample_weight": np.repeat([1.0, 0.0, 1.0], 40)}, "all of cluster 1 have the weight zero"),
        ({}, {"include": [120]}, "include must hold numbers of rows of X, from 0 to 119, got 120"),
    ],
)
def test_wishes_that_cannot_be_fulfilled_are_refused(options, fitting, message):
    with pytest.raises(ValueError, match=message):
        sharpened(**options).fit(X, Y, **fitting)
