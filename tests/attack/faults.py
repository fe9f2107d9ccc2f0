"""Similarities that fail at one pair, or lie: the error names the pair, and no estimator is left half-fitted."""

import contextlib
import os
import re
import signal
import threading
import time
from unittest import mock

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

import covey
from covey.similarity.calls import pool
from tests.attack._outcomes import FaultError, sentence, tally
from tests.forms import similarity_matrix


class TwoArgumentsError(Exception):
    """It cannot be rebuilt from its message alone, as pickle would."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


class UnpicklableError(Exception):
    def __init__(self):
        super().__init__("it holds a lock")
        self.lock = threading.Lock()


RAISED = {
    type(error).__name__: error
    for error in (
        ValueError("odd pair"),
        KeyError("odd pair"),
        ZeroDivisionError(),
        AssertionError("two\nlines"),
        StopIteration(),
        TwoArgumentsError(5, "odd pair"),
        UnpicklableError(),
    )
}
NO_SCORE = {"NaN": np.nan, "infinity": np.inf, "minus infinity": -np.inf}
NO_NUMBER = {"None": None, "a string": "0.5", "a list": [0.5, 0.5], "a complex number": 1j, "an array": np.ones(2)}
RETURNED = {**NO_SCORE, **NO_NUMBER, "a negative distance": -1.0}


class Faulty:
    """A similarity of row numbers that misbehaves at one pair once it is armed."""

    def __init__(self, values, pair, fault, batched):
        self.values, self.pair, self.fault, self.batched = values, pair, fault, batched
        self.armed, self.home = False, os.getpid()

    def __call__(self, a, b):
        return [self.score(x, y) for x, y in zip(a, b, strict=True)] if self.batched else self.score(a, b)

    def score(self, a, b):
        if not self.armed or {a, b} != set(self.pair):
            return float(self.values[a, b])
        if self.fault == "Ctrl-C":
            return self.interrupted()
        if self.fault in RAISED:
            raise RAISED[self.fault]
        return RETURNED[self.fault]

    def interrupted(self):
        """Ctrl-C reaches the process that fits, wherever the pair is scored."""
        if os.getpid() == self.home:
            raise KeyboardInterrupt
        os.kill(self.home, signal.SIGINT)
        time.sleep(0.5)
        return 0.5


def attack(rng, n_cases):
    return tally(one_case, rng, n_cases)


def one_case(rng):
    n_jobs = 2 if rng.random() < 0.05 else None
    check = liar if rng.random() < 0.2 else failing_query if rng.random() < 0.2 else failing_fit
    with eager_processes():
        return f"{check(rng, n_jobs)}{', two processes' if n_jobs else ''}"


@contextlib.contextmanager
def eager_processes():
    """Processes share however little work there is, in small batches, as soon as two are asked for."""
    with mock.patch.multiple(pool, WORTH_IT=0.0, BATCH_SECONDS=1e-4, TIMED=5):
        yield


SELECTORS = {
    "CRS": lambda **options: covey.CRS(3, gain="count", **options),
    "CRS, nn-descent": lambda **options: covey.CRS(2, gain="count", graph="nn-descent", random_state=0, **options),
    "DeltaMedoids": lambda **options: covey.DeltaMedoids(**options),
    "DS3": lambda **options: covey.DS3(2, **options),
}
EVERY_PAIR = ("CRS", "DeltaMedoids", "DS3")
"""These score every pair of a few objects: the homogeneity of DeltaMedoids is the mean of all."""


def faulty(rng, n, n_jobs):
    """(the function, the similarity made of it) with a fault at a random pair of n objects."""
    faults = [*RAISED, *RETURNED, "Ctrl-C"]
    fault = "Ctrl-C" if n_jobs and rng.random() < 0.05 else faults[rng.integers(len(faults) - bool(n_jobs))]
    pair = rng.choice(n, 2, replace=False).tolist()
    function = Faulty(similarity_matrix(n, rng), pair, fault, batched=bool(rng.random() < 0.3))
    similarity = covey.batched(function, batch_size=9) if function.batched else covey.Similarity(function)
    return function, covey.from_distance(similarity) if fault == "a negative distance" else similarity


def failing_fit(rng, n_jobs):
    """A fit fails; the estimator is not fitted then, or is what it was before."""
    n = int(rng.integers(2, 25))
    function, similarity = faulty(rng, n, n_jobs)
    name = sorted(SELECTORS)[rng.integers(len(SELECTORS))]
    estimator = SELECTORS[name](similarity=similarity, n_jobs=n_jobs)
    y = None
    if rng.random() < 0.4:
        estimator, y = covey.NearestPrototypeClassifier(estimator), [0] * n
    again = rng.random() < 0.5
    example = f"{' '.join(repr(estimator).split())}.fit(range({n}), {y}), {function.fault} at {function.pair}"
    if again:
        estimator.fit(list(range(n - 1)), None if y is None else y[1:])
    before = fitted_state(estimator)
    function.armed = True
    met = check_error(function, lambda: estimator.fit(list(range(n)), y), "object", example)
    if not met and name in EVERY_PAIR:
        raise FaultError(f"{function.fault}: accepted", example)
    if met:
        check_state(estimator, before, example)
    function.armed = False
    estimator.fit(list(range(n)), y)  # nothing is broken for good
    return f"failed {'second' if again else 'first'} fit" if met else "the pair is not needed"


def failing_query(rng, n_jobs):
    """A prediction fails; the next one is as good as any."""
    n = int(rng.integers(2, 12))
    function, similarity = faulty(rng, 2 * n, n_jobs)
    function.pair = [int(rng.integers(n)), n + int(rng.integers(n))]
    selector = covey.KeepAll(similarity=similarity)
    model = covey.NearestPrototypeClassifier(selector).fit(list(range(n)), [0, *[1] * (n - 1)])
    queries = list(range(n, 2 * n))
    expected = model.predict(queries)
    kept = model.selector_.similarity.function  # a copy, since the classifier clones its selector
    kept.armed = True
    ask = [model.predict, model.explain, model.class_similarities][rng.integers(3)]
    example = f"{ask.__name__}(range({n}, {2 * n})), {function.fault} at {function.pair}"
    if not check_error(kept, lambda: ask(queries), "query", example, query=function.pair[1] - n):
        raise FaultError(f"{function.fault} in a query: accepted", example)
    kept.armed = False
    if not np.array_equal(model.predict(queries), expected):
        raise FaultError("a failed query changes later answers", example)
    return "failed query"


def check_error(function, call, noun, example, query=None):
    """Whether the call failed; a fault if it failed in another way than it should, or without naming the pair."""
    fault = function.fault
    expected = (
        KeyboardInterrupt
        if fault == "Ctrl-C"
        else RuntimeError
        if fault in RAISED
        else ValueError
        if fault in (*NO_SCORE, "a negative distance")
        else TypeError
    )
    with default_interrupts():
        try:
            call()
        except expected as error:
            if expected is not KeyboardInterrupt:
                check_message(function, error, noun, query, example)
            return True
        except (Exception, KeyboardInterrupt) as error:
            raise FaultError(
                f"{fault}: {type(error).__name__}, not {expected.__name__}", example, sentence(error)
            ) from error
    return False


@contextlib.contextmanager
def default_interrupts():
    """SIGINT raises KeyboardInterrupt, also where this process was started in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def check_message(function, error, noun, query, example):
    """The message names the pair, or the first pair of its batch; the cause is the function's own error."""
    first, second = function.pair if query is None else (query, function.pair[0])
    pairs = [rf"{noun} {first} and object {second}\b", rf"{noun} {second} and object {first}\b"]
    if function.batched and function.fault not in (*NO_SCORE, "a negative distance"):
        pairs = [rf"{noun} \d+ and object \d+"]
    if not any(re.search(pair, str(error)) for pair in pairs):
        raise FaultError(f"{function.fault}: the error does not name the pair", example, sentence(error))
    # What cannot be sent back from a worker is told by its traceback.
    told = type(RAISED[function.fault]).__name__ in str(error.__cause__) if function.fault in RAISED else True
    if not told and not isinstance(error.__cause__, type(RAISED[function.fault])):
        raise FaultError(f"{function.fault}: the cause is lost", example, sentence(error), repr(error.__cause__))


def fitted_state(estimator):
    return {name: value for name, value in vars(estimator).items() if name.endswith("_")}


def check_state(estimator, before, example):
    """After a failed fit the estimator is not fitted, or has the very state of the fit before."""
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        return
    after = fitted_state(estimator)
    changed = sorted(name for name in {*before, *after} if before.get(name) is not after.get(name))
    if changed:
        when = "second" if before else "first"
        raise FaultError(f"{type(estimator).__name__} is half-fitted after a failed {when} fit", example, changed)


def liar(rng, n_jobs):
    """An asymmetric function that is declared symmetric is asked from the lower row to the higher, always."""
    n = int(rng.integers(2, 25))
    values = similarity_matrix(n, rng, symmetric=False, levels=[4, None][rng.integers(2)])
    honest = np.triu(values) + np.triu(values, 1).T
    name = sorted(SELECTORS)[rng.integers(len(SELECTORS))]
    found, expected = (
        SELECTORS[name](similarity=Faulty(table, [0, 0], "None", False), n_jobs=jobs).fit(list(range(n)))
        for table, jobs in ((values, n_jobs), (honest, None))
    )
    for field in ("indices", "gains", "covered_by", "homogeneity", "n_evaluations"):
        pair = getattr(found.prototypes_[0], field), getattr(expected.prototypes_[0], field)
        if not np.array_equal(*pair, equal_nan=True):
            raise FaultError(f"{name}: declared symmetric, {field} depends on the direction", values.tolist(), *pair)
    return "declared symmetric"
