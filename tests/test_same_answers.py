"""The comparison of two source trees: what counts as a difference, and that problems can be repeated."""

import numpy as np

from tests.same_answers.__main__ import Differences, differing
from tests.same_answers.answers import plain
from tests.same_answers.worker import as_line, solve


def test_a_problem_has_the_same_answer_each_time():
    for number in range(30):
        assert as_line(solve(number)) == as_line(solve(number))


def test_answers_differ_in_one_bit():
    old, new = ({"fitted": plain(np.array([1.0, value]))} for value in (1.5, np.nextafter(1.5, 2)))
    ((path, values),) = differing(old, new)
    assert path == "fitted.values[1]"
    assert values == ("1.5", "1.5000000000000002")
    assert list(differing(old, old)) == []


def test_types_of_arrays_and_missing_parts_are_differences():
    assert plain(np.zeros(2, np.float32)) != plain(np.zeros(2))
    assert list(differing({"a": 1}, {"b": 1})) == [("a", (1, None)), ("b", (None, 1))]


def test_renamed_errors_and_parts_of_newer_files_are_no_differences():
    found = Differences()
    old = {"call": "fit", "error": "OtherRunError: no", "file": {"covey.json": {"format": 2}}}
    found.add("1", old, {"call": "fit", "error": "CheckpointMismatchError: no", "file": {"covey.json": {"format": 3}}})
    assert (found.n_cases, found.n_different) == (1, 0)
    found.add("2", {"call": "fit", "n": 1}, {"call": "fit", "n": 2})
    assert (found.n_cases, found.n_different) == (2, 1)
    assert "1 x fit: n" in str(found)
