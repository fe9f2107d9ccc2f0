"""What CRS refuses: bad input, similarities that fail or return nonsense. Each gets one clear sentence."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

import covey
from tests.forms import letters


class Returning:
    """A similarity that answers one pair with something else."""

    def __init__(self, answer):
        self.answer = answer

    def __call__(self, a, b):
        if (a, b) == (2, 5):
            return self.answer() if callable(self.answer) else self.answer
        return 0.5


def fail():
    raise KeyError("no such letter")


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        (float("nan"), ValueError, "objects? 2 and object 5 returned nan, but it must be one finite real number"),
        (float("inf"), ValueError, "object 2 and object 5 returned inf"),
        (None, TypeError, "object 2 and object 5 returned None"),
        (1j, TypeError, r"object 2 and object 5 returned complex 1j"),
        ("0.5", TypeError, "object 2 and object 5 returned str '0.5'"),
        (np.zeros(2), TypeError, "object 2 and object 5 returned ndarray"),
        (np.zeros(1), TypeError, "object 2 and object 5 returned ndarray"),
        (fail, RuntimeError, "object 2 and object 5 raised KeyError: 'no such letter'"),
    ],
)
def test_what_a_similarity_must_not_return(answer, error, message):
    with pytest.raises(error, match=message) as caught:
        covey.CRS(2, similarity=Returning(answer)).fit(list(range(10)))
    if answer is fail:
        assert isinstance(caught.value.__cause__, KeyError)


def test_a_similarity_that_stops_the_iteration_is_an_error():
    with pytest.raises(RuntimeError, match="object 0 and object 1 raised StopIteration"):
        covey.CRS(2, similarity=lambda a, b: next(iter([]))).fit([1, 2, 3])


def test_positions_are_rows_of_x_also_within_clusters():
    with pytest.raises(ValueError, match="object 2 and object 5 returned nan"):
        covey.CRS(2, similarity=Returning(float("nan"))).fit(list(range(10)), [0, 1, 1, 0, 0, 1, 1, 0, 0, 1])


def test_batches_are_checked():
    for answer, message in [
        (lambda A, B: np.zeros(3), r"one real number a pair, 45 in all.*got an array of shape \(3,\)"),
        (lambda A, B: [None] * len(A), "dtype object"),
        (lambda A, B: np.zeros(len(A), complex), "dtype complex128"),
    ]:
        with pytest.raises(TypeError, match=message):
            covey.CRS(2, similarity=covey.batched(answer)).fit(list(range(10)))
    with pytest.raises(ValueError, match="object 0 and object 1 returned nan"):
        covey.CRS(2, similarity=covey.batched(lambda A, B: np.full(len(A), np.nan))).fit(list(range(10)))
    with pytest.raises(RuntimeError, match=r"batched similarity raised KeyError.*in the batch of 45 pairs") as caught:
        covey.CRS(2, similarity=covey.batched(lambda A, B: fail())).fit(list(range(10)))
    assert isinstance(caught.value.__cause__, KeyError)


def test_compiled_functions_are_checked():
    import numba

    @numba.njit
    def wrong(x):
        return x

    @numba.njit
    def raising(x, y):
        if x[0] == 2 and y[0] == 5:
            raise ValueError("odd pair")
        return 0.5

    X = np.arange(10.0)[:, None]
    with pytest.raises(TypeError, match="similarity does not compile on these rows"):
        covey.CRS(2, similarity=wrong).fit(X)
    with pytest.raises(RuntimeError, match="object 2 and object 5 raised ValueError: odd pair") as caught:
        covey.CRS(2, similarity=raising).fit(X)
    assert "odd pair" in str(caught.value.__cause__)


def test_distances_must_not_be_negative():
    with pytest.raises(
        ValueError, match=r"distance of object 0 and object 1 is -1.0, but a distance must not be negative"
    ):
        covey.CRS(2, similarity=covey.from_distance(lambda a, b: -1.0)).fit([1, 2, 3])


@pytest.mark.parametrize(
    ("X", "y", "options", "message"),
    [
        ([[1, np.nan]], None, {}, "X must be finite, got NaN at row 0, column 1; drop or impute"),
        ([[1, 2], [np.inf, 1]], None, {}, "X must be finite, got inf at row 1, column 0"),
        (sp.csr_array([[0, 1], [0, np.nan]]), None, {}, "X must be finite, got NaN at row 1, column 1"),
        (np.ones((2, 3)), None, {"similarity": "precomputed"}, r"square matrix.*got shape \(2, 3\)"),
        (1 - np.eye(4), None, {"similarity": "precomputed"}, "X looks like distances: its diagonal is smaller"),
        (sp.csr_array(2 - np.eye(4)), None, {"similarity": "precomputed"}, "X looks like distances"),
        (np.eye(3), [0, 1], {}, "y must hold one label for each of the 3 objects of X, got 2 labels"),
        ([], None, {"similarity": letters}, "X must hold at least one object, got an empty X"),
        ([], None, {}, "X must hold at least one object, got an empty X"),
        (pd.DataFrame({"a": [1], "b": ["x"]}), None, {}, "column 'b' holds text; drop or encode it"),
        (np.eye(3) - 2, None, {"similarity": covey.from_distance("precomputed")}, "must not hold negative numbers"),
        (sp.csr_array(np.eye(3)), None, {"similarity": covey.from_distance("precomputed")}, "dense matrix for precomp"),
        (np.empty((0, 2)), None, {}, "0 sample"),
        (np.eye(3), None, {"similarity": "cosin"}, "similarity must be .*'cosine'.* got 'cosin'"),
        (
            np.eye(3),
            None,
            {"coverage": 2},
            r"'coverage' parameter of CRS must be a float in the range \(0.0, 1.0\]. Got 2",
        ),
        (np.eye(3), None, {"n_neighbors": 0}, "'n_neighbors' parameter of CRS must be .* Got 0 instead"),
        (
            np.eye(3),
            None,
            {"graph": "fast"},
            "'graph' parameter of CRS must be a str among .*'nn-descent'.* Got 'fast'",
        ),
        (np.eye(3), None, {"gain": "sum"}, "'gain' parameter of CRS must be a str among"),
        (np.eye(3), None, {"on_orphan": "drop"}, "'on_orphan' parameter of CRS must be a str among"),
        (np.eye(3), None, {"threshold": "mean"}, "'threshold' parameter of CRS must be .*'homogeneity'.* Got 'mean'"),
        (np.eye(3), [0, "a", 1.5], {}, "y must hold"),
        (np.eye(3), np.array([1, np.nan, 1], dtype=object), {}, "y must hold finite labels, got nan"),
        (np.eye(3), [[0], [1, 1], [0]], {}, r"labels that can be keys of a dict, got \[0\] at position 0; pass tuples"),
        (np.eye(3), [([0],), ([1],), ([0],)], {}, "labels that can be keys of a dict"),
        (np.eye(3), list(map(frozenset, ["a", "b", "a"])), {}, r"neither of frozenset.* and frozenset.* comes before"),
        (np.eye(3), [(np.nan, 1), (0, 1), (1, 1)], {}, "comes before the other; pass numbers, strings or tuples"),
        (np.eye(3), np.array([1j, 2j, 1j]), {}, "labels that can be sorted, got complex numbers"),
        ([[10**400, 1], [1, 2]], None, {}, "X must be finite, got an int beyond .* at row 0, column 0"),
        (
            [[1, 0], [-(10**309), 1]],
            None,
            {"similarity": "precomputed"},
            "X must be finite, got an int .* row 1, column 0",
        ),
    ],
)
def test_bad_input_gets_one_clear_sentence(X, y, options, message):
    if message == "y must hold":
        y = np.array(y, dtype=object)
    with pytest.raises((ValueError, TypeError), match=message) as caught:
        covey.CRS(**options).fit(X, y)
    assert "\n" not in str(caught.value)


def test_what_is_no_sequence_is_refused():
    for X in ("a string", iter([1, 2]), 5, {"a", "b"}, {"a": "b"}):
        with pytest.raises(TypeError, match="X must be a sequence of objects, an array or a frame, got"):
            covey.CRS(similarity=letters).fit(X)


class Failing:
    """A similarity that works for a number of calls."""

    def __init__(self, n_calls, error):
        self.left, self.error = n_calls, error

    def __call__(self, a, b):
        self.left -= 1
        if self.left < 0:
            raise self.error
        return 1 / (1 + abs(a - b))


SELECTORS = {"CRS": covey.CRS(3), "DeltaMedoids": covey.DeltaMedoids(), "DS3": covey.DS3()}


@pytest.mark.parametrize("name", SELECTORS)
@pytest.mark.parametrize("error", [RuntimeError("odd"), KeyboardInterrupt()], ids=["fails", "is interrupted"])
@pytest.mark.parametrize("classifies", [False, True])
def test_a_fit_that_fails_changes_nothing(name, error, classifies):
    """The second of two clusters fails: neither half a model nor a new one mixed with an old one is left."""

    def estimator(similarity):
        selector = clone(SELECTORS[name]).set_params(similarity=similarity)
        return covey.NearestPrototypeClassifier(selector) if classifies else selector

    X, y = list(range(20)), [0] * 10 + [1] * 10
    fresh = estimator(Failing(60, error))
    with pytest.raises((RuntimeError, KeyboardInterrupt)):
        fresh.fit(X, y)
    with pytest.raises(NotFittedError):
        check_is_fitted(fresh)
    fitted = estimator(Failing(10**6, error)).fit(X, y)
    before = dict(vars(fitted))
    selector = fitted.selector if classifies else fitted
    selector.similarity = Failing(30, error)
    before |= {} if classifies else {"similarity": selector.similarity}
    with pytest.raises((RuntimeError, KeyboardInterrupt)):
        fitted.fit(X[:-2], y[:-2])
    assert vars(fitted) == before
