"""Small runs of every kind that a checkpoint can belong to. Each takes the path of a checkpoint, checks its own result,
and returns what another run with the same checkpoint must find as well.
"""

import tempfile
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path

import numpy as np

import covey
from covey.selectors.saved_state import PROTOTYPE_FACTS, check_facts
from tests.attack._model_kinds import WORDS, alike

Y = np.repeat(["a", "b", "c"], 5)
X = np.abs(np.random.default_rng(0).normal(np.repeat([0, 1, 2], 5)[:, None], 0.3, (15, 4))) + 0.1
MANY = np.random.default_rng(1).random((60, 3))
broken: list[str] = []
"""The words for which `fragile` fails. A fingerprint does not show them, as if they lay in a file."""


@contextmanager
def failing():
    """Let `fragile` fail for two words."""
    broken.extend(["cart", "doe"])
    try:
        yield
    finally:
        broken.clear()


def fragile(a, b):
    """A similarity that fails for some words at some times."""
    if a in broken or b in broken:
        raise ArithmeticError("it is broken")
    return alike(a, b)


def farness(a, b):
    """A distance of numbers that is not symmetric."""
    return abs(a - b) + float(a < b)


def select(path, selector, objects, function=None, state=nullcontext, y=Y):
    """Fit a classifier with this selector, whose similarity may be a function, and check that what it has found is like
    any other result.
    """
    selector = selector.set_params(checkpoint=path)
    with state():
        model = covey.NearestPrototypeClassifier(selector).fit(objects, y)
    found = model.selector_
    assert [*found.prototypes_] == sorted(set(y.tolist())), "a label is missing"
    for label, prototype in found.prototypes_.items():
        check_facts(prototype, PROTOTYPE_FACTS)
        np.testing.assert_equal(prototype.members, np.flatnonzero(y == label))
    assert set(model.predict(objects)) <= set(y.tolist())
    with tempfile.TemporaryDirectory() as folder:  # what breaks a rule of the fitted state cannot be loaded
        covey.save(model, Path(folder) / "model")
        loaded = covey.load(Path(folder) / "model", function)
    answers = answers_of(model)
    np.testing.assert_equal(answers_of(loaded), answers)
    return answers


def answers_of(model):
    """What a classifier has found, and what it says about its own representatives."""
    prototypes = model.selector_.prototypes_.values()
    found = [(repr(prototype), prototype.indices, prototype.stands_for) for prototype in prototypes]
    queries = model.representatives_
    return [*found, model.predict(queries), *model.nearest_prototypes(queries)]


def select_in_spite_of_failures(path):
    """Fit with a similarity that fails for some pairs."""
    selector = covey.CRS(2, similarity=fragile, on_error="lowest", random_state=0)
    return select(path, selector, WORDS, fragile, failing)


def select_when_nothing_fails_any_more(path):
    """Fit with a similarity that does not fail, with the checkpoint of a fit whose similarity has failed."""
    if not path.exists():
        return select_in_spite_of_failures(path)
    return select(path, covey.CRS(2, similarity=fragile, random_state=0), WORDS, fragile)


def graph(path, objects, k, similarity="cosine", method="auto"):
    """Make a neighbor graph, and check that it is like any other."""
    made = covey.neighbor_graph(objects, k, similarity, method, checkpoint=path, random_state=0)
    assert made.indices.shape == made.similarities.shape == (len(objects), k)
    assert (np.diff(made.similarities, axis=1) <= 0).all(), "the most similar neighbor must come first"
    assert made.n_evaluations >= 0
    assert made.method == ("exact" if method == "auto" else method)
    for x, neighbors in enumerate(made.indices.tolist()):
        assert len({x, *neighbors}) == k + 1, "an object is its own neighbor, or has one twice"
    assert np.isfinite(
        covey.CRS(graph=made, similarity=similarity, threshold=None).fit(objects).prototypes_[0].coverage
    )
    return made.indices, made.similarities


NUMBERED = [*range(0, 10, 2), *range(20, 25), 40, 41, 43, 46, 50]

RUNS = {
    "CRS of a function": lambda path: select(path, covey.CRS(2, similarity=alike, random_state=0), WORDS, alike),
    "CRS of an asymmetric function": lambda path: select(
        path, covey.CRS(2, similarity=covey.from_distance(farness, symmetric=False)), NUMBERED, farness
    ),
    "CRS of a function that fails": select_in_spite_of_failures,
    "CRS of a function that fails no more": select_when_nothing_fails_any_more,
    "DeltaMedoids of a function": lambda path: select(path, covey.DeltaMedoids(similarity=alike), WORDS, alike),
    "DS3 of a function": lambda path: select(path, covey.DS3(2, similarity=alike), WORDS, alike),
    "Sharpened of a function": lambda path: select(
        path, covey.Sharpened(covey.CRS(2, similarity=alike), size=6, random_state=0), WORDS, alike
    ),
    "graph of a function": lambda path: graph(path, WORDS, 3, alike),
    "CRS": lambda path: select(path, covey.CRS(2, random_state=0), X),
    "CRS with a size": lambda path: select(path, covey.CRS(2, size=5, random_state=0), X),
    "DeltaMedoids": lambda path: select(path, covey.DeltaMedoids(similarity="dot", random_state=0), X),
    "DS3": lambda path: select(path, covey.DS3(2, outliers=True), X),
    "Sharpened": lambda path: select(path, covey.Sharpened(covey.CRS(2), size=6, random_state=0), X),
    "exact graph": partial(graph, objects=X, k=4),
    "approximate graph": partial(graph, objects=MANY, k=4, method="nn-descent"),
}
