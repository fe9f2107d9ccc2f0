"""Random mixtures of classes under calibrated rejection: classes of equal objects, of few objects, of objects that have
nothing in common with each other, of one representative.

What has nothing in common with anything is unknown, under any bars. The bars are those of a slow reference. The
classifier warns if and only if no bar rejects anything. A saved model answers as the one that was fitted.
"""

import tempfile
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
from sklearn.base import clone

import covey
from covey.exceptions import MissingBarsWarning
from covey.similarity.kinds import collect
from covey.similarity.measures import resolve
from tests import reference

RATES = [0.01, 0.02, 0.05, 0.1, 0.29, 0.5, 0.9]
SELECTORS = [
    covey.CRS(3),
    covey.CRS(2, threshold=None),
    covey.CRS(5, on_orphan="outlier", random_state=0),
    covey.KeepAll(),
    covey.RandomSelector(0.3, random_state=0),
    covey.DeltaMedoids(random_state=0),
]
SIMILARITIES = ["cosine", "ruzicka", "dot"]
STRANGE = [{"nothing in common": 1}, {"nothing in common": 7, "at all": 2}]
ROUNDED = 1e-7
"""Ranks are rounded to nine decimals, and the reference computes with fractions."""


def attack(rng, n_cases):
    """How many cases ended in which way: "calibrated", "warned" or "WRONG: why"."""
    return Counter(outcome_of(rng) for _ in range(n_cases))


def outcome_of(rng):
    X, y = mixture(rng)
    selector = clone(SELECTORS[rng.integers(len(SELECTORS))]).set_params(similarity=str(rng.choice(SIMILARITIES)))
    rate = float(rng.choice(RATES))
    model = covey.NearestPrototypeClassifier(selector, reject="calibrated", rejection_rate=rate)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model.fit(X, y)
    fault = fault_of(model, X, y, [warning.category for warning in told])
    if fault:
        return f"WRONG: {fault}\n{selector}, rate {rate}\n{X}\n{y}"
    return "warned" if told else "calibrated"


def mixture(rng):
    """Profiles of one to five classes of all sorts, in random order, and their labels. No profile is empty."""
    X, y = [], []
    for number in range(rng.integers(1, 6)):
        size, n_kinds = int(rng.choice([1, 2, 5, 30, 60])), int(rng.choice([1, 2, 4, 100]))
        kinds = [
            {f"{number} {key}": int(count) for key, count in enumerate(rng.integers(0, 4, 3)) if count}
            if rng.random() < 0.5
            else {f"{number} only {kind}": 1}
            for kind in range(n_kinds)
        ]
        X += [kinds[kind] or {"something": 1} for kind in rng.integers(0, n_kinds, size)]
        y += [f"class {number}"] * size
    order = rng.permutation(len(X))
    return [X[at] for at in order], [y[at] for at in order]


def fault_of(model, X, y, told):
    """What is wrong with a fitted classifier, or None."""
    without = np.isneginf(model.rejection_bars_)
    if told != [MissingBarsWarning] * int(without.any()):
        return f"warnings {told}"
    if without.any() and not without.all():
        return "some classes have no bar, although others have"
    if (model.rejection_bars_[~without] <= 0).any():
        return "a bar rejects nothing"
    if not np.allclose(model.rejection_bars_, expected_bars(model, X, y), rtol=ROUNDED, atol=0):
        return "other bars than those of the reference"
    with tempfile.TemporaryDirectory() as folder:
        covey.save(model, Path(folder, "model"))
        loaded = covey.load(Path(folder, "model"))
    if loaded.predict(X).tolist() != model.predict(X).tolist():
        return "other answers after loading"
    for found in (model, loaded):
        if not all(found.explain(STRANGE).rejected) or set(found.predict(STRANGE)) != {"unknown"}:
            return "what has nothing in common is accepted"
    for reject in (0.0, -3.5):
        if set(clone(model).set_params(reject=reject).fit(X, y).predict(STRANGE)) != {"unknown"}:
            return f"what has nothing in common is accepted with reject={reject}"
    return None


def expected_bars(model, X, y):
    """The bars of the reference, class by class."""
    name = model.selector_.similarity
    keys = sorted({key for profile in X for key in profile})
    rows = [[profile.get(key, 0) for key in keys] for profile in X]
    similarities = [[reference.SIMILARITIES[name](a, b) for b in rows] for a in rows]
    kinds = collect(X, resolve(name)).distinct().kind.tolist()
    chosen = model.selector_.sample_indices_.tolist()
    expected = reference.rejection_bars(similarities, kinds, y, chosen, model.rejection_rate, nothing=0.0)
    return [expected[label] for label in model.classes_]
