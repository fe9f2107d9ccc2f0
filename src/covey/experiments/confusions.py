"""Which clusters are taken for which: confusion matrices, and the largest confusions with objects to look at."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from covey.displays.confusion import Confusion, ConfusionMatrix, Confusions, Example, largest
from covey.experiments.names import slug
from covey.experiments.records import EXAMPLES, TrialRecord
from covey.experiments.specs import Problem, Results
from covey.experiments.tables import each_once


def confusion_matrices(results: Results) -> Iterable[ConfusionMatrix]:
    """Yield for each problem the confusion matrix of each method, all seeds together, unless no answer is wrong."""
    for problem in results.problems:
        for method, records in _by_method(results, problem).items():
            labels, counts = confusion(records)
            if counts.sum() > np.trace(counts):
                caption = f"{problem}, {method}: of each cluster (row), the share that got each label (column)."
                yield ConfusionMatrix(f"confusion-{slug(problem)}-{slug(method)}", caption, labels, counts)


def largest_confusions(results: Results) -> Iterable[Confusions]:
    """Yield for each problem and method the largest confusions in words, with examples where objects can be shown."""
    for name, problem in results.problems.items():
        for records in _by_method(results, name).values():
            labels, counts = confusion(records)
            found = [
                Confusion(labels[row], labels[column], int(counts[row, column]), int(counts[row].sum()))
                for row, column in largest(counts)
            ]
            if found:
                yield Confusions([_with_examples(own, records, problem, name, results) for own in found])


def confusion(records: Sequence[TrialRecord]) -> tuple[list[str], NDArray[np.int64]]:
    """Return all labels, and how many queries of each of them (row) got which (column), all seeds together."""
    labels = list(dict.fromkeys([*each_once(records, "cluster"), *(label for r in records for label in r.predicted)]))
    place = {label: at for at, label in enumerate(labels)}
    counts = np.zeros((len(labels), len(labels)), dtype=np.int64)
    for r in records:
        for label, n in r.predicted.items():
            counts[place[r.cluster], place[label]] += n
    return labels, counts


def _by_method(results: Results, problem: str) -> dict[str, list[TrialRecord]]:
    """Return the records of a problem, by the name of their method."""
    found: dict[str, list[TrialRecord]] = {}
    for r in results.records:
        if r.problem == problem:
            found.setdefault(r.method, []).append(r)
    return found


def _with_examples(
    confused: Confusion, records: Iterable[TrialRecord], problem: Problem, name: str, results: Results
) -> Confusion:
    """Return the confusion with some of its objects, each beside its nearest representative, if there are cards."""
    if problem.card is None:
        return confused
    return replace(confused, examples=list(islice(_examples(confused, records, problem, name, results), EXAMPLES)))


def _examples(
    confused: Confusion, records: Iterable[TrialRecord], problem: Problem, name: str, results: Results
) -> Iterable[Example]:
    """Yield all examples that the records list, seed by seed."""
    assert problem.card is not None
    for r in records:
        rows = r.mistaken.get(confused.given, ()) if r.cluster == confused.label else ()
        if rows:
            split = results.split(name, r.seed if problem.drawn else 0)
            asked = split.queries if split.shown_queries is None else split.shown_queries
            kept = split.X if split.shown is None else split.shown
            yield from (Example(problem.card(asked[query]), problem.card(kept[row])) for query, row in rows)
