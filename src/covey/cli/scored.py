"""The scores of `covey classify`: where the right labels are, and what is said, on one screen for any classes."""

from pathlib import Path
from typing import Any

from covey.cli.files.block import Block
from covey.cli.files.standard import name_of
from covey.cli.scores import ClassScores, Scores, Tally
from covey.cli.terminal import say, show, width
from covey.cli.values import require_columns
from covey.runtime.wording import several, shortened, some_of

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
    made_of : str or None
        The path of the data that the model was made of.
    made_with : str or None
        The column that held their labels.
    classes : list of str
        The labels that the model knows.
    label : str or None
        The column that holds the labels, if it is another than the model was made with.
    unknown : str
        The answer of rejected rows.
    must_score : bool
        Whether rows without such a column are refused.
    """

    def __init__(
        self,
        made_of: str | None,
        made_with: str | None,
        classes: list[str],
        *,
        label: str | None,
        unknown: str,
        must_score: bool,
    ) -> None:
        self._made_of, self._made_with, self._classes = made_of, made_with, classes
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
        """Whether the model was made of these rows, as far as the names of files tell."""
        if self._path is None or self._made_of is None:
            return False
        return Path(self._made_of).resolve() == Path(self._path).resolve()

    def scores(self) -> Scores:
        """Return the scores of all answers so far."""
        return Scores(dict(self._tally.counts), self._tally.n_without, self._unknown, self._classes)


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
    """Say how many rows were rejected, and how good the other answers are."""
    answered = scores.n_rows - scores.n_rejected
    if not scores.n_rejected:
        return ""
    others = f"; of the other {answered:,}, {scores.accuracy_of_answered:.1%} are right" if answered else ""
    return f"{scores.n_rejected:,} of them were rejected as {scores.unknown}{others}."


def _strange(scores: Scores) -> str:
    """Say which labels the model does not know, those with most rows first."""
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
    found = scores.confusions()
    if not found:
        return
    more = "" if len(found) <= MOST_CONFUSIONS else f" ({MOST_CONFUSIONS} of {len(found):,}; --scores writes all)"
    say(f"most confused{more}:")
    for label, answer, n in found[:MOST_CONFUSIONS]:
        say(f"  {shortened(label)} was taken for {shortened(answer)} in {several(n, 'row')}.")
