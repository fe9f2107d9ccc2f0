"""Which clusters are taken for which: confusion matrices, and the largest confusions with objects to look at."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from covey.displays.confusion import Confusion, ConfusionMatrix, Confusions, Example
from covey.experiments.names import slug
from covey.experiments.records import Record
from covey.experiments.specs import Problem, Results

LARGEST = 5
"""How many confusions are told in words: what a reader takes in at once."""
EXAMPLES = 3
"""How many objects are shown for each of them."""


def confusion_matrices(results: Results) -> Iterable[ConfusionMatrix]:
    """For each problem the confusion matrix of each method, all seeds together; none if no query is answered wrong."""
    for problem in results.problems:
        for method, records in _by_method(results, problem).items():
            clusters = _clusters(records)
            counts = confusion(records, clusters)
            if counts.sum() > np.trace(counts):
                caption = f"{problem}, {method}: of each cluster (row), the share that got each label (column)."
                yield ConfusionMatrix(f"confusion-{slug(problem)}-{slug(method)}", caption, clusters, counts)


def largest_confusions(results: Results) -> Iterable[Confusions]:
    """For each problem and method the largest confusions in words, with examples where objects can be looked at."""
    for name, problem in results.problems.items():
        for records in _by_method(results, name).values():
            clusters = _clusters(records)
            found = [_told(pair, clusters, records) for pair in _largest(confusion(records, clusters))]
            if found:
                yield Confusions([_with_examples(own, records, problem, name, results) for own in found])


def confusion(records: Iterable[Record], clusters: Sequence[str]) -> NDArray[np.int64]:
    """How many queries of each cluster (row) got which label (column), all seeds together."""
    place = {cluster: at for at, cluster in enumerate(clusters)}
    counts = np.zeros((len(clusters), len(clusters)), dtype=np.int64)
    for r in records:
        for label, n in r.predicted.items():
            counts[place[r.cluster], place[label]] += n
    return counts


def _by_method(results: Results, problem: str) -> dict[str, list[Record]]:
    """The records of a problem, by the name of their method."""
    found: dict[str, list[Record]] = {}
    for r in results.records:
        if r.problem == problem:
            found.setdefault(r.method, []).append(r)
    return found


def _clusters(records: Iterable[Record]) -> list[str]:
    """The clusters of the records, each once, in the order in which they first come."""
    return list(dict.fromkeys(r.cluster for r in records))


def _largest(counts: NDArray[np.int64]) -> list[tuple[int, int]]:
    """The rows and columns of the largest numbers outside the diagonal; 0 is no confusion."""
    wrong = counts - np.diag(np.diag(counts))
    order = np.argsort(-wrong, axis=None, kind="stable")[:LARGEST]
    pairs = zip(*np.unravel_index(order, wrong.shape), strict=True)
    return [(int(row), int(column)) for row, column in pairs if wrong[row, column] > 0]


def _told(pair: tuple[int, int], clusters: Sequence[str], records: Sequence[Record]) -> Confusion:
    """A confusion in a sentence."""
    label, given = (clusters[at] for at in pair)
    own = [r for r in records if r.cluster == label]
    times = sum(r.predicted.get(given, 0) for r in own)
    n = sum(sum(r.predicted.values()) for r in own)
    verb = "was" if times == 1 else "were"
    return Confusion(f"{times} of {n} objects of {label} ({times / n:.1%}) {verb} taken for {given}.", label, given)


def _with_examples(
    told: Confusion, records: Iterable[Record], problem: Problem, name: str, results: Results
) -> Confusion:
    """The confusion with some of its objects, each beside the representative that decided, if they can be shown."""
    if problem.card is None:
        return told
    return replace(told, examples=list(islice(_examples(told, records, problem, name, results), EXAMPLES)))


def _examples(
    told: Confusion, records: Iterable[Record], problem: Problem, name: str, results: Results
) -> Iterable[Example]:
    """All examples that the records list, seed by seed."""
    assert problem.card is not None
    for r in records:
        rows = r.mistaken.get(told.given, ()) if r.cluster == told.label else ()
        if rows:
            split = results.split(name, r.seed if problem.drawn else 0)
            asked = split.queries if split.shown_queries is None else split.shown_queries
            kept = split.X if split.shown is None else split.shown
            yield from (Example(problem.card(asked[query]), problem.card(kept[row])) for query, row in rows)
