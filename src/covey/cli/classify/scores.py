"""The scores of `covey classify`: how often answers agree with the labels that the rows have themselves.

1. `Examiner` finds the labels of the rows of a block, and lets a `Tally` count how many rows of each label got each
   answer. Only pairs that occur take memory.
2. `Scores` are made of these counts by scikit-learn, each pair with its count as weight. A rejected row is an answer
   that no class gets, so that it lowers the recall of its label and no precision.
3. `show_scores` prints them on one screen, however many classes there are.
"""

import json
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey.cli.classify.options import ClassifyOptions
from covey.cli.files.block import STANDARD, Block, name_of
from covey.cli.files.columns import require_columns
from covey.cli.model_file import Model
from covey.cli.terminal import say, show, width
from covey.runtime.libraries import require
from covey.runtime.wording import several, shortened, some_of
from covey.storage.atomic import whole


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
    """Return for each value the number of its string, -1 for a missing one, and these strings.

    The strings are those of `covey.cli.objects.load.labels_of`, but only different values are converted.
    """
    pandas = require("pandas", "cli")
    column = pandas.Series(values)
    if column.dtype == object:  # in Python 1, 1.0 and True are equal, but their strings differ
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
        strange: Counter[str] = Counter()
        for (label, _), n in self.counts.items():
            if label not in known:
                strange[label] += n
        return strange

    @property
    def n_strange_rejected(self) -> int:
        """How many of the rows with a label that the model does not know were rejected."""
        return self._total(lambda label, answer: label in self.strange and answer == self.unknown)

    @cached_property
    def by_class(self) -> dict[str, ClassScores]:
        columns = self._measured(None)
        return {
            label: ClassScores(precision, recall, f1, int(rows))
            for label, precision, recall, f1, rows in zip(self.labels, *columns, strict=True)
        }

    @cached_property
    def mean(self) -> ClassScores:
        """The means over classes: each class counts the same (scikit-learn's macro average)."""
        precision, recall, f1, _ = self._measured("macro")
        return ClassScores(precision, recall, f1, self.n_rows)

    @cached_property
    def weighted_mean(self) -> ClassScores:
        """The means over classes, weighted by the number of rows (scikit-learn's weighted average)."""
        precision, recall, f1, _ = self._measured("weighted")
        return ClassScores(precision, recall, f1, self.n_rows)

    def _measured(self, average: str | None) -> list[Any]:
        """Return precision, recall, F1 and the number of rows, of each label or on average."""
        from sklearn.metrics import precision_recall_fscore_support

        if not self.counts:
            return [[]] * 4 if average is None else [0.0] * 4
        measured = precision_recall_fscore_support(
            *zip(*self.counts, strict=True),
            labels=self.labels,
            average=average,
            sample_weight=list(self.counts.values()),
            zero_division=0,
        )
        return [measure.tolist() if average is None else measure for measure in measured]

    def confusions(self) -> list[tuple[str, str, int]]:
        """Return label, answer and number of rows where both differ, most rows first; rejected rows are left out."""
        wrong = [
            (label, answer, n) for (label, answer), n in self.counts.items() if answer not in (label, self.unknown)
        ]
        return sorted(wrong, key=lambda confusion: (-confusion[2], confusion[:2]))

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


def _averages(mean: ClassScores) -> dict[str, float]:
    return {"precision": mean.precision, "recall": mean.recall, "f1": mean.f1}


MOST_CLASSES = 10
"""How many classes the tables show one by one. With ten, both tables together fit on a screen of 30 lines."""
MOST_CONFUSIONS = 5
"""How many pairs of classes are named if there is no room for the matrix."""
LONGEST_NAME = 24
"""How many characters of a label a table shows: with three scores beside it, a line fits into 80 characters."""
GAP = 2
"""How many blanks stand between two columns of a table."""


class Examiner:
    """Compares answers with the labels that the rows have themselves, block by block.

    Parameters
    ----------
    model : Model
        It knows the data that it was made of, the column that held their labels, and these labels.
    label : str or None
        The column that holds the labels, if it is another than the model was made with.
    unknown : str
        The answer of rejected rows.
    must_score : bool
        Whether rows without such a column are refused.
    """

    def __init__(self, model: Model, *, label: str | None, unknown: str, must_score: bool) -> None:
        self._made_of, self._made_with = model.data, model.recipe.settings.label
        self._classes = model.classifier.classes_.astype(str).tolist()
        self._label, self._unknown, self._must_score = label, unknown, must_score
        self._tally = Tally()
        self._path: str | None = None
        self.where: str | None = None
        """Where the labels are, in words; None if the rows have none."""

    def add(self, block: Block, answers: Any) -> None:
        """Compare the answers to the rows of a block."""
        self._path = block.path
        labels = self._labels(block)
        if labels is not None:
            self._tally.add(labels, answers)
            return
        self._tally.n_without += len(block)
        if self._must_score and self.where is None:
            named = "" if self._made_with is None else f": the model was made with column {self._made_with!r}"
            raise ValueError(
                f"{name_of(block.path)} has no labels to score the answers by{named}; say where they are by --label, "
                "or leave out --scores."
            )

    def _labels(self, block: Block) -> Any:
        """Return the labels of the rows, or None."""
        if block.frame is None:
            if block.labels is None:
                return None
            self.where = f"the labels of {name_of(block.path)}"
            return block.labels.astype(str)
        name = self._label or self._made_with
        if self._label is not None:
            require_columns(block.frame, [self._label], block.path)
        if name not in block.frame.columns:
            return None
        self.where = f"column {name!r}"
        return block.frame[name]

    @property
    def knows_the_rows(self) -> bool:
        """Whether the model was made of these rows, going by the names of files."""
        if self._path is None or self._made_of is None:
            return False
        return Path(self._made_of).resolve() == Path(self._path).resolve()

    def scores(self) -> Scores:
        """Return the scores of all answers so far."""
        return Scores(dict(self._tally.counts), self._tally.n_without, self._unknown, self._classes)


def write_scores(options: ClassifyOptions, examiner: Examiner) -> None:
    """Write the scores as JSON."""
    values = {"data": options.files[0], "model": options.model, **examiner.scores().as_values()}
    text = json.dumps(values, indent=2)
    path = str(options.scores)
    if path == STANDARD:
        print(text)
        return
    with whole(path) as temporary:
        temporary.write_text(f"{text}\n", encoding="utf-8")


def say_scores(examiner: Examiner) -> None:
    """Say how well the answers agree with the labels of the rows, if they have any."""
    if examiner.where is None:
        return
    show_scores(examiner.scores(), examiner.where)
    if examiner.knows_the_rows:
        say("the model was made of these rows; scores of new rows are lower, as covey compare tells.")


def show_scores(scores: Scores, where: str) -> None:
    """Print the scores to standard error. `where` says in words where the labels are."""
    without = f" (left out: {several(scores.n_without, 'row')} without a label)" if scores.n_without else ""
    if not scores.n_rows:
        say(f"no row has a label in {where}, so that the answers are not scored.")
        return
    if scores.strange.total() == scores.n_rows:
        say(
            f"no label in {where} is one of the model's, so that the answers are not scored: it has "
            f"{some_of(sorted(scores.strange))}, and the model knows {some_of(scores.classes)}."
        )
        if hint(scores):
            say(hint(scores))
        return
    right = f"{scores.n_right:,} of {several(scores.n_rows, 'row')} got the label in {where}"
    say(f"accuracy {scores.accuracy:.3f}: {right}{without}.")
    for sentence in (_rejected(scores), _strange(scores), hint(scores)):
        if sentence:
            say(sentence)
    _show_classes(scores)
    _show_confusions(scores)


def _rejected(scores: Scores) -> str:
    """Return in words how many rows were rejected, and how good the other answers are."""
    answered = scores.n_rows - scores.n_rejected
    if not scores.n_rejected:
        return ""
    others = f"; of the other {answered:,}, {scores.accuracy_of_answered:.1%} are right" if answered else ""
    return f"{scores.n_rejected:,} of them were rejected as {scores.unknown}{others}."


def _strange(scores: Scores) -> str:
    """Return in words which labels the model does not know, those with most rows first."""
    if not scores.strange:
        return ""
    names = [f"{label!r} ({n:,})" for label, n in scores.strange.most_common()]
    right = "; --reject lets the model answer that it does not know such rows"
    if scores.n_rejected:
        right = f"; {scores.n_strange_rejected:,} of them were rejected, as all of them should be"
    unknown = f"labels that the model does not know: {some_of(names)}"
    return f"counted as errors are {several(scores.strange.total(), 'row')} with {unknown}{right}."


def hint(scores: Scores) -> str:
    """Return a sentence about labels that differ from the model's only in how they are written; empty if none does."""
    known = {_bare(str(label)): str(label) for label in scores.classes}
    pairs = [(label, known[_bare(label)]) for label in sorted(scores.strange) if _bare(label) in known]
    if not pairs:
        return ""
    named = some_of([f"{label!r} for {own!r}" for label, own in pairs], 3)
    return f"some of these labels are most likely the model's, written in another way: {named}."


def _bare(label: str) -> str:
    """Return a label without what people do not mean by it: blanks around it, capitals, and .0 after a number."""
    text = label.strip().casefold()
    try:
        return repr(float(text))
    except ValueError:
        return text


def _show_classes(scores: Scores) -> None:
    """Print the scores of each class, or of the largest classes, and the means."""
    own = list(scores.by_class.items())
    if len(own) > MOST_CLASSES:
        own.sort(key=lambda item: -item[1].rows)
    lines: list[list[Any]] = [[shortened(label, LONGEST_NAME), *_cells(part)] for label, part in own[:MOST_CLASSES]]
    folded = own[MOST_CLASSES:]
    if folded:
        lines.append([f"{len(folded):,} more classes", "", "", "", f"{sum(part.rows for _, part in folded):,}"])
    lines += [["mean of classes", *_cells(scores.mean)], ["weighted by rows", *_cells(scores.weighted_mean)]]
    show(["label", "precision", "recall", "F1", "rows"], lines, to_error=True)


def _cells(own: ClassScores) -> list[str]:
    return [f"{own.precision:.3f}", f"{own.recall:.3f}", f"{own.f1:.3f}", f"{own.rows:,}"]


def _show_confusions(scores: Scores) -> None:
    """Print the confusion matrix, or the largest confusions if it has no room."""
    names = [shortened(label, LONGEST_NAME) for label in scores.labels]
    titles = [shortened(answer, LONGEST_NAME) for answer in scores.answers]
    if len(names) <= MOST_CLASSES:
        cells = [[f"{n:,}" for n in row] for row in scores.matrix()]
        wide = [max(map(len, column)) + GAP for column in zip(titles, *cells, strict=True)]
        if max(map(len, names)) + sum(wide) <= width():
            say("rows with each label (down) and answer (across):")
            show(["", *titles], [[name, *row] for name, row in zip(names, cells, strict=True)], to_error=True)
            return
    confusions = scores.confusions()
    if not confusions:
        return
    some = f" ({MOST_CONFUSIONS} of {len(confusions):,}; --scores writes all)"
    say(f"most confused{some if len(confusions) > MOST_CONFUSIONS else ''}:")
    for label, answer, n in confusions[:MOST_CONFUSIONS]:
        say(f"  {shortened(label)} was taken for {shortened(answer)} in {several(n, 'row')}.")
