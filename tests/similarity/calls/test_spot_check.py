"""A function is asked for a few pairs in both directions, and for some of them again: exactly counted, without any
other effect than a warning that tells the truth."""

import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import covey
from covey.exceptions import AsymmetryWarning, NondeterminismWarning
from covey.similarity.calls.spot_check import CHECKED_AGAIN, CHECKED_PAIRS, FEWEST_PAIRS, MOST_SHARE
from covey.similarity.kinds import collect
from covey.similarity.measures import resolve

N = 60  # objects make 1770 pairs
MESSAGE = re.compile(
    r"The similarity of objects (\d+) and (\d+) is (\S+) in this order and (\S+) in the other, .* "
    r"\((\d+) of (\d+) pairs that were looked at do\)"
)


class Calls:
    """A function of two numbers that counts its calls."""

    def __init__(self, function):
        self.function, self.n = function, 0

    def __call__(self, a, b):
        self.n += 1
        return self.function(a, b)


def nearness(a, b):
    return 1 / (1 + abs(a - b))


def share(a, b):
    """It depends on the order of any two numbers but 0."""
    return 1 / (1 + abs(a - b)) + 0.001 * a


def numbers(n=N):
    return np.random.default_rng(0).permutation(n).tolist()


def pairwise(function):
    return lambda A, B: [function(a, b) for a, b in zip(A, B, strict=True)]


def told_by(fit):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        result = fit()
    doubts = AsymmetryWarning, NondeterminismWarning
    return result, [str(warning.message) for warning in told if warning.category in doubts]


def n_to_check(n):
    n_pairs = n * (n - 1) // 2
    return min(CHECKED_PAIRS, int(MOST_SHARE * n_pairs / (2 + CHECKED_AGAIN))) if n_pairs >= FEWEST_PAIRS else 0


def n_checks(n):
    """There and back, and some of them again."""
    return 2 * n_to_check(n) + int(CHECKED_AGAIN * n_to_check(n))


SELECTORS = {
    "exact": lambda s: covey.CRS(5, graph="exact", similarity=s, random_state=0),
    "nn-descent": lambda s: covey.CRS(5, graph="nn-descent", similarity=s, random_state=0),
    "no threshold": lambda s: covey.CRS(5, graph="nn-descent", threshold=None, similarity=s, random_state=0),
    "all above": lambda s: covey.CRS(None, threshold=0.3, similarity=s, random_state=0),
    "delta medoids": lambda s: covey.DeltaMedoids(similarity=s, random_state=0),
    "ds3": lambda s: covey.DS3(budget=3, similarity=s),
}


@pytest.mark.parametrize("name", SELECTORS)
@pytest.mark.parametrize("n", [30, N, 200])
def test_checks_are_counted_and_change_nothing_else(name, n):
    checked, trusted = Calls(nearness), Calls(nearness)
    found, told = told_by(lambda: SELECTORS[name](checked).fit(numbers(n)))
    expected = SELECTORS[name](covey.Similarity(trusted, trusted=True)).fit(numbers(n))
    assert told == []
    assert found.n_evaluations_ == checked.n
    assert expected.n_evaluations_ == trusted.n
    assert found.n_evaluations_ == expected.n_evaluations_ + n_checks(n)
    np.testing.assert_array_equal(found.sample_indices_, expected.sample_indices_)
    np.testing.assert_array_equal(found.prototypes_[0].covered_by, expected.prototypes_[0].covered_by)


def test_sharpened_selections_are_counted_exactly_too():
    X, y = numbers(150), [number % 2 for number in range(150)]
    for function, warned in ((nearness, False), (share, True)):
        calls = Calls(function)
        sharpened = covey.Sharpened(covey.CRS(5, similarity=calls, random_state=0), random_state=0)
        found, told = told_by(lambda selector=sharpened: selector.fit(X, y))
        assert found.n_evaluations_ == calls.n
        assert bool(told) is warned


@given(st.integers(2, 400))
def test_checks_take_at_most_a_hundredth_of_all_pairs(n):
    calls = Calls(nearness)
    space = collect(list(range(n)), resolve(calls)).space()
    zero, one = np.array([0], dtype=np.int32), np.array([1], dtype=np.int32)
    assert calls.n == 0  # a space that scores nothing checks nothing
    space.score(zero, one)
    assert space.n_evaluations == calls.n == 1 + n_checks(n)
    assert space.evaluations.n_checks == n_checks(n) <= MOST_SHARE * n * (n - 1) / 2
    space.score(one, zero)
    assert calls.n == 2 + n_checks(n)  # it is done once


@pytest.mark.parametrize("wrapped", [lambda f: f, covey.Similarity, lambda f: covey.batched(pairwise(f))])
def test_every_fit_warns_once(wrapped):
    """However many clusters it has, and also if an earlier one with the same object has warned."""
    similarity = wrapped(share)
    for _ in range(2):
        for estimator in (covey.CRS(5, similarity=similarity), covey.Sharpened(covey.CRS(5, similarity=similarity))):
            _, told = told_by(lambda fitted=estimator: fitted.fit(numbers(180), np.arange(180) % 3))
            assert len(told) == 1


@pytest.mark.parametrize("name", SELECTORS)
def test_the_warning_names_a_pair_that_differs(name):
    X = [f"{number}" for number in numbers()]
    _, [message] = told_by(lambda: SELECTORS[name](lambda a, b: share(int(a), int(b))).fit(X))
    i, j, forward, backward, n_different, n_checked = MESSAGE.match(message).groups()
    a, b = int(X[int(i)]), int(X[int(j)])
    assert float(forward) == pytest.approx(share(a, b))
    assert float(backward) == pytest.approx(share(b, a))
    assert (int(n_different), int(n_checked)) == (n_to_check(N), n_to_check(N))


def test_one_warning_for_all_clusters_of_a_fit_and_one_for_the_next_fit():
    X, y = numbers(200), [number % 3 for number in range(200)]
    for _ in range(2):
        assert len(told_by(lambda: covey.CRS(5, similarity=share).fit(X, y))[1]) == 1


def test_rows_are_those_of_all_of_x():
    X = [0.0] * 100 + [float(number) for number in numbers(100)]
    _, [message] = told_by(lambda: covey.CRS(5, similarity=share).fit(X, ["a"] * 100 + ["b"] * 100))
    i, j, forward, *_ = MESSAGE.match(message).groups()
    assert min(int(i), int(j)) >= 100
    assert float(forward) == pytest.approx(share(X[int(i)], X[int(j)]))


def test_a_graph_and_a_mean_are_checked():
    assert len(told_by(lambda: covey.neighbor_graph(numbers(), 3, similarity=share))[1]) == 1
    assert len(told_by(lambda: covey.homogeneity(numbers(), similarity=share))[1]) == 1


def test_a_graph_that_is_given_needs_no_check():
    calls = Calls(share)
    graph = covey.neighbor_graph(np.eye(N), 3, similarity="euclidean")
    found, told = told_by(lambda: covey.CRS(3, graph=graph, threshold=None, similarity=calls).fit(numbers()))
    assert (found.n_evaluations_, calls.n, told) == (0, 0, [])


def marked(symmetric):
    def function(a, b):
        return share(a, b)

    function.symmetric = symmetric
    return function


def trusted(a, b):
    return share(a, b)


trusted.trusted = True


@pytest.mark.parametrize(
    "similarity",
    [
        covey.Similarity(share, trusted=True),
        covey.Similarity(share, symmetric=False),
        covey.batched(lambda A, B: np.array([share(a, b) for a, b in zip(A, B, strict=True)]), symmetric=False),
        covey.from_distance(trusted),
        trusted,
        marked(False),
    ],
    ids=["trusted", "not symmetric", "batched, not symmetric", "trusted distance", "marked as trusted", "marked"],
)
def test_what_is_trusted_or_known_to_depend_on_the_order_gets_no_warning(similarity):
    assert told_by(lambda: covey.CRS(5, similarity=similarity).fit(numbers()))[1] == []


@pytest.mark.parametrize(
    "similarity",
    [
        covey.Similarity(share),
        covey.Similarity(share, symmetric=True),
        covey.batched(lambda A, B: np.array([share(a, b) for a, b in zip(A, B, strict=True)]), symmetric=True),
        covey.from_distance(share, symmetric=True),
        marked(True),
    ],
    ids=["wrapped", "symmetric", "batched", "distance", "marked"],
)
def test_what_is_declared_symmetric_but_is_not_gets_a_warning(similarity):
    _, [message] = told_by(lambda: covey.CRS(5, similarity=similarity).fit(numbers()))
    assert "because it is declared symmetric; pass" in message


class Moody:
    """Its answers to the same question differ from time to time."""

    def __init__(self, symmetric=True):
        self.symmetric, self.rng = symmetric, np.random.default_rng(0)

    def __call__(self, a, b):
        return nearness(a, b) + self.rng.random()


@pytest.mark.parametrize("name", SELECTORS)
@pytest.mark.parametrize("symmetric", [True, False])
def test_an_answer_that_changes_from_time_to_time_gets_one_warning(name, symmetric):
    _, [message] = told_by(lambda: SELECTORS[name](Moody(symmetric)).fit(numbers()))
    assert re.match(
        r"The similarity of objects \d+ and \d+ is \S+ when it is asked for the first time and \S+ the second time",
        message,
    )


@pytest.mark.parametrize(
    ("similarity", "remedy"),
    [
        (share, r"pass covey.Similarity\(share, symmetric=False\), or set share.symmetric = False\.$"),
        (lambda a, b: share(a, b), r"pass covey.Similarity\(f, symmetric=False\), or set f.symmetric = False\.$"),
        (covey.from_distance(share), r"pass covey.from_distance\(share, symmetric=False\), or set share.symmetric"),
        (
            covey.batched(lambda A, B: np.array([share(a, b) for a, b in zip(A, B, strict=True)])),
            r"pass covey.batched\(f, symmetric=False\)\.$",
        ),
    ],
    ids=["function", "lambda", "distance", "batched"],
)
def test_the_warning_says_what_to_do(similarity, remedy):
    _, [message] = told_by(lambda: covey.CRS(5, similarity=similarity).fit(numbers()))
    assert re.search(remedy, message)


def test_the_remedy_ends_the_warning():
    share_too = marked(False)
    found, told = told_by(lambda: covey.CRS(5, similarity=share_too).fit(numbers()))
    assert told == []
    assert found.n_evaluations_ > N * (N - 1) / 2  # both directions are scored


@pytest.mark.parametrize("noise", [0.0, 1e-16, 1e-10])
def test_rounding_is_no_asymmetry(noise):
    assert told_by(lambda: covey.CRS(5, similarity=lambda a, b: nearness(a, b) + noise * a).fit(numbers()))[1] == []


def test_values_that_are_all_zero_are_symmetric():
    assert told_by(lambda: covey.CRS(5, similarity=lambda a, b: 0.0).fit(numbers()))[1] == []


def test_compiled_functions_are_checked():
    numba = pytest.importorskip("numba")

    @numba.njit
    def compiled(x, y):
        return x[0] - y[0]

    X = np.array(numbers(), dtype=float)[:, None]
    one, two = (told_by(lambda n=n: covey.CRS(5, similarity=compiled, n_jobs=n, random_state=0).fit(X)) for n in (1, 2))
    assert one[1] == two[1]
    assert len(one[1]) == 1
    assert one[0].n_evaluations_ == two[0].n_evaluations_


SLOW = """
import time

def slow(a, b):
    time.sleep(5e-4)
    return 1 / (1 + abs(a["a"] - b["a"])) + 0.001 * a["a"]
"""


def test_the_command_line_says_it_in_one_line_with_any_number_of_processes(folder):
    Path("mine.py").write_text(SLOW)
    Path("t.csv").write_text("a\n" + "\n".join(map(str, numbers(80))) + "\n")
    command = [sys.executable, "-m", "covey", "select", "t.csv", "-s", "mine.py:slow", "-o"]
    said = [
        subprocess.run([*command, f"{n}.csv", "-j", n], capture_output=True, text=True, check=True).stderr
        for n in ("1", "2")
    ]
    assert said[0] == said[1]
    line, *others = said[0].splitlines()
    assert line.startswith("covey: The similarity of objects ")
    assert "set slow.symmetric = False" in line
    assert not any("similarity of objects" in other for other in others)
    assert Path("1.csv").read_text() == Path("2.csv").read_text()
    quiet = subprocess.run([*command, "q.csv", "-q"], capture_output=True, text=True, check=True)
    assert quiet.stderr == ""
