"""How often answers agree with the labels that the rows have themselves.

1. `Tally` counts, block by block, how many rows of each label got each answer. Only pairs that occur are kept.
2. `Scores` are made of these counts: accuracy, and the precision, recall and F1 of each class with their means, as
   scikit-learn's `classification_report` defines them. A rejected row is an answer that no class gets, so that it
   lowers the recall of its label and no precision.
"""

from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey.arrays import Integers
from covey.runtime.extras import require


@dataclass(frozen=True)
class ClassScores:
    """The scores of one class, or means over classes.

    Attributes
    ----------
    precision, recall, f1 : float
        Each is 0 where it is 0 / 0.
    rows : int
        How many rows have this label.
    """

    precision: float
    recall: float
    f1: float
    rows: int


class Tally:
    """Counts how many rows of each label got each answer."""

    def __init__(self) -> None:
        self.counts: Counter[tuple[str, str]] = Counter()
        self.n_without = 0

    def add(self, labels: Any, answers: Any) -> None:
        """Count the rows of a block. Rows whose label is missing or blank are counted apart."""
        (true, names), (given, words) = _coded(labels), _coded(answers)
        filled = np.array([bool(name.strip()) for name in names] + [False])[true]  # -1, the last, is a missing label
        self.n_without += int(filled.size - filled.sum())
        pairs, times = np.unique(true[filled] * len(words) + given[filled], return_counts=True)
        for pair, n in zip(pairs.tolist(), times.tolist(), strict=True):
            self.counts[names[pair // len(words)], words[pair % len(words)]] += n


def _coded(values: Any) -> tuple[NDArray[np.intp], list[str]]:
    """Return for each value the number of its text, -1 for a missing one, and these texts.

    The texts are those of `covey.cli.source.labels_of`, but only different values are made to texts.
    """
    pandas = require("pandas", "cli")
    column = pandas.Series(values)
    if column.dtype == object:  # in Python 1, 1.0 and True are equal, but their texts differ
        column = column.map(str, na_action="ignore")
    codes, different = pandas.factorize(column)
    return codes, [str(value) for value in pandas.Series(different)]


@dataclass(frozen=True)
class Scores:
    """How well answers agree with labels.

    Attributes
    ----------
    counts : dict
        How many rows there are of each label and answer.
    n_without : int
        How many rows have no label; they count nowhere else.
    unknown : str
        The answer of rejected rows.
    classes : collection of str
        The labels that the model knows.
    """

    counts: dict[tuple[str, str], int]
    n_without: int
    unknown: str
    classes: Collection[str]

    @property
    def n_rows(self) -> int:
        """How many rows have a label."""
        return sum(self.counts.values())

    @property
    def n_rejected(self) -> int:
        return self._total(lambda label, answer: answer == self.unknown)

    @property
    def n_right(self) -> int:
        return self._total(lambda label, answer: label == answer)

    @property
    def accuracy(self) -> float:
        """The share of the rows with a label that got it."""
        return self.n_right / max(self.n_rows, 1)

    @property
    def accuracy_of_answered(self) -> float:
        """The same of the rows that were not rejected."""
        answered = self._total(lambda label, answer: answer != self.unknown)
        return self._total(lambda label, answer: label == answer != self.unknown) / max(answered, 1)

    @cached_property
    def labels(self) -> list[str]:
        """The labels of the rows and those answered, sorted; what rejected rows get is none."""
        given = {answer for _, answer in self.counts if answer != self.unknown}
        return sorted({label for label, _ in self.counts} | given)

    @cached_property
    def strange(self) -> Counter[str]:
        """How many rows have a label that the model does not know, for each such label.

        A row may well have the label that rejected rows get: then this answer is right.
        """
        known = {*self.classes, self.unknown}
        found: Counter[str] = Counter()
        for (label, _), n in self.counts.items():
            if label not in known:
                found[label] += n
        return found

    @property
    def n_strange_rejected(self) -> int:
        """How many of the rows with a label that the model does not know were rejected."""
        return self._total(lambda label, answer: label in self.strange and answer == self.unknown)

    @cached_property
    def by_class(self) -> dict[str, ClassScores]:
        """The scores of each label."""
        rows, given = Counter[str](), Counter[str]()
        for (label, answer), n in self.counts.items():
            rows[label] += n
            given[answer] += n
        return {
            label: _class_scores(self.counts.get((label, label), 0), rows[label], given[label]) for label in self.labels
        }

    @property
    def mean(self) -> ClassScores:
        """The means over classes: each class counts the same (scikit-learn's macro average)."""
        return self._mean(np.ones(len(self.labels), dtype=np.int64))

    @property
    def weighted_mean(self) -> ClassScores:
        """The means over classes, weighted by the number of rows (scikit-learn's weighted average)."""
        return self._mean(np.array([own.rows for own in self.by_class.values()], dtype=np.int64))

    def confusions(self) -> list[tuple[str, str, int]]:
        """Return label, answer and number of rows where both differ, most rows first; rejected rows are left out."""
        wrong = [
            (label, answer, n) for (label, answer), n in self.counts.items() if answer not in (label, self.unknown)
        ]
        return sorted(wrong, key=lambda found: (-found[2], found[:2]))

    @property
    def answers(self) -> list[str]:
        """The columns of the confusion matrix: what the model can answer, and at last what rejected rows get."""
        able = [label for label in self.labels if label not in self.strange and label != self.unknown]
        return [*able, *([self.unknown] if self.n_rejected else [])]

    def matrix(self) -> list[list[int]]:
        """Return how many rows of each of the labels got each of the answers."""
        return [[self.counts.get((label, answer), 0) for answer in self.answers] for label in self.labels]

    def as_values(self) -> dict[str, Any]:
        """Return the scores in plain values, for a file."""
        return {
            "rows": self.n_rows,
            "rows_without_label": self.n_without,
            "rows_rejected": self.n_rejected,
            "accuracy": self.accuracy,
            "macro": _averages(self.mean),
            "weighted": _averages(self.weighted_mean),
            "unknown_labels": sorted(self.strange),
            "classes": [{"label": label, **asdict(own)} for label, own in self.by_class.items()],
            "confusion": [
                {"label": label, "answer": answer, "rows": n} for (label, answer), n in sorted(self.counts.items())
            ],
        }

    def _total(self, counts: Callable[[str, str], bool]) -> int:
        return sum(n for (label, answer), n in self.counts.items() if counts(label, answer))

    def _mean(self, weights: Integers) -> ClassScores:
        own = self.by_class.values()
        if not weights.sum():
            return ClassScores(0.0, 0.0, 0.0, self.n_rows)
        precision, recall, f1 = (
            float(np.average([getattr(scores, name) for scores in own], weights=weights))
            for name in ("precision", "recall", "f1")
        )
        return ClassScores(precision, recall, f1, self.n_rows)


def _class_scores(n_right: int, n_rows: int, n_given: int) -> ClassScores:
    return ClassScores(
        n_right / max(n_given, 1), n_right / max(n_rows, 1), 2 * n_right / max(n_rows + n_given, 1), n_rows
    )


def _averages(mean: ClassScores) -> dict[str, float]:
    return {"precision": mean.precision, "recall": mean.recall, "f1": mean.f1}
