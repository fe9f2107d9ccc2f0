"""Similarities that workers call, which write down what they were called with; and states that are compared."""

import os
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

FIELDS = ("coverage", "homogeneity", "threshold", "n_evaluations", "scan_rate", "n_orphans")
"""The numbers of a prototype."""

ARRAYS = ("members", "indices", "gains", "covered_by")
"""The arrays of a prototype."""


def close(a, b):
    """A similarity of numbers."""
    return 1 / (1 + abs(a - b))


def closer(a, b):
    """A similarity of numbers that depends on their order."""
    return 1 / (1 + abs(a - b) + 0.001 * (a > b))


def ngrams(a, b):
    """The share of pairs of letters that two words have in common."""
    x, y = ({word[t : t + 2] for t in range(-1, len(word))} for word in (f" {a} ", f" {b} "))
    return len(x & y) / len(x | y)


def overlap(a, b):
    """The share of entries that two sets, or two dicts, have in common."""
    return len(a & b) / len(a | b) if isinstance(a, frozenset) else len(a.items() & b.items()) / len({**a, **b})


def traces(a, b):
    """A similarity of matrices."""
    return float((a * b).sum())


class Written:
    """A similarity that appends each pair that it is called with to a file of its process.

    It is trusted, so that no call is only a check.
    """

    trusted = True

    def __init__(self, folder, measure=close, symmetric=True, seconds=0.0):
        self.folder, self.measure, self.symmetric, self.seconds = str(folder), measure, symmetric, seconds

    def __call__(self, a, b):
        with open(Path(self.folder, f"{os.getpid()}.calls"), "a", encoding="utf-8") as file:
            file.write(f"{a!r}\t{b!r}\n")
        if self.seconds:
            time.sleep(self.seconds)
        return self.measure(a, b)


@dataclass
class Reported:
    """The result of a task that has made some evaluations."""

    n_evaluations: int


def calls(folder):
    """All pairs that a `Written` of this folder was called with, in all processes. A torn last line does not count."""
    texts = (path.read_text(encoding="utf-8") for path in sorted(Path(folder).glob("*.calls")))
    return [tuple(line.split("\t")) for text in texts for line in text.split("\n")[:-1]]


def pairs(folder):
    """The same as unordered pairs."""
    return [tuple(sorted(call)) for call in calls(folder)]


def words(n, seed=0, length=6):
    """Distinct random words, most of which have relatives that differ in a letter or two."""
    rng = np.random.default_rng(seed)
    letters = np.array(list("abcdefgh"))
    stems = rng.choice(letters, size=(max(n // 12, 1), length))
    found = {}
    while len(found) < n:
        word = stems[rng.integers(len(stems))].copy()
        word[rng.integers(length, size=2)] = rng.choice(letters, 2)
        found.setdefault("".join(word))
    return list(found)


def assert_same_state(found, expected):
    """Assert that two fitted plain selectors are equal to the last bit."""
    assert list(found.prototypes_) == list(expected.prototypes_)
    assert [type(label) for label in found.prototypes_] == [type(label) for label in expected.prototypes_]
    for label, prototype in expected.prototypes_.items():
        other = found.prototypes_[label]
        for name in ARRAYS:
            np.testing.assert_array_equal(getattr(other, name), getattr(prototype, name), err_msg=name)
            assert getattr(other, name).dtype == getattr(prototype, name).dtype
        for name in FIELDS:
            np.testing.assert_equal(getattr(other, name), getattr(prototype, name), err_msg=name)
        assert (other.label, type(other.label)) == (prototype.label, type(prototype.label))
    np.testing.assert_array_equal(found.sample_indices_, expected.sample_indices_)
    assert found.sample_indices_.dtype == expected.sample_indices_.dtype
    assert (found.n_evaluations_, found.scan_rate_) == (expected.n_evaluations_, expected.scan_rate_)
    for name in ("n_features_in_", "feature_names_in_"):
        assert hasattr(found, name) == hasattr(expected, name), name
        if hasattr(expected, name):
            np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
