"""From what a user passes as X and y to parts that live on the workers.

A *part* is a run of consecutive objects: a block of rows of a dask array, a partition of a dask dataframe or bag, a
delayed object, or a slice of an X that is in the memory of this process. The driver never holds more than one number
for each part and label.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from covey.arrays import Integers
from covey.dask.engine import Engine
from covey.dask.worker import (
    PartFacts,
    count_labels,
    label_codes,
    part_facts,
    part_labels,
    prepare_packed,
    prepare_part,
)
from covey.runtime.libraries import require
from covey.runtime.wording import some_of
from covey.selectors.labels import check_labels, clusters
from covey.similarity.inputs import check_input, take_rows
from covey.similarity.measures import measure_of
from covey.similarity.packed_bits import PackedBits, are_packed
from covey.similarity.similarity import Similarity

PART = 10_000
"""How many objects of an X in this process make a part. Larger parts would be sent less evenly to the workers."""


@dataclass(frozen=True)
class LabelledParts:
    """All objects and labels, part by part.

    Attributes
    ----------
    collections : list of futures
        The collection of each part.
    codes : list of futures
        For each object of a part, the number of its label in `labels`.
    labels : list
        The labels in ascending order. Without labels it is [0].
    counts : int array of shape (n_parts, n_labels)
        How many objects of each label each part has.
    facts : PartFacts
        What all parts have in common, and the number of all objects.
    """

    collections: list[Any]
    codes: list[Any]
    labels: list[Hashable]
    counts: Integers
    facts: PartFacts

    @property
    def first_rows(self) -> Integers:
        """The number of the first row of each part."""
        sizes = self.counts.sum(axis=1)
        return np.cumsum(sizes) - sizes


def is_dask(X: Any) -> bool:
    """Return whether X lives on a cluster, or will be computed there."""
    if _is_delayed(X) or require("dask", "dask").is_dask_collection(X):
        return True
    if not isinstance(X, list | tuple) or len(X) == 0 or not _is_delayed(X[0]):
        return False
    for number, part in enumerate(X):
        if not _is_delayed(part):
            raise TypeError(
                f"A list must hold delayed parts only once its first element is one, got {type(part).__name__} at "
                f"position {number}; pass dask.delayed of it."
            )
    return True


def _is_delayed(value: Any) -> bool:
    """Return whether a value is a delayed object or a future. No library is imported for it."""
    return type(value).__module__.startswith(("dask.delayed", "distributed.client")) and hasattr(value, "key")


def delayed_parts(X: Any) -> list[Any]:
    """Return the parts of what lives on a cluster as delayed objects or futures."""
    if isinstance(X, list | tuple):
        return list(X)
    if _is_delayed(X):
        return [X]
    if hasattr(X, "rechunk"):  # a dask array: a part needs all columns of its rows
        X = X.rechunk(dict.fromkeys(range(1, X.ndim), -1))
        return list(X.to_delayed().ravel())
    if hasattr(X, "simplify"):  # a dataframe: columns that are not needed are not read; the parts stay as they are cut
        return list(X.simplify().to_delayed(optimize_graph=False))
    if hasattr(X, "to_delayed"):
        return list(X.to_delayed())
    raise TypeError(
        f"X must be a dask array, dataframe, series or bag, or a list of delayed parts, got {type(X).__name__}."
    )


def read(engine: Engine, X: Any, y: Any, similarity: Similarity) -> LabelledParts:
    """Let workers check and prepare each part, and learn which labels there are."""
    if similarity.kind == "matrix":
        raise ValueError(
            "similarity='precomputed' needs the whole matrix in one process; use covey.CRS, or pass the objects and a "
            "similarity of them."
        )
    if similarity.kind == "mixed":
        raise ValueError(
            f"similarity={similarity.function!r} needs the ranges of all data, which no part on a cluster knows; use "
            "covey.CRS, or scale the columns yourself and pass a similarity of numbers."
        )
    given, prepare = _parts_on_cluster(engine, X), partial(prepare_part, packed=_is_packed(X, similarity))
    collections = [engine.submit("collect", prepare, part, number, similarity) for number, part in enumerate(given)]
    del given
    facts = engine.gather("reading", [engine.submit("facts", part_facts, part) for part in collections])
    if any(fact.packed for fact in facts):  # a part that holds only 0 and 1 does not tell that it is packed
        collections = [
            part if fact.packed else engine.submit("pack", prepare_packed, part, number)
            for number, (part, fact) in enumerate(zip(collections, facts, strict=True))
        ]
    n = sum(fact.n for fact in facts)
    if n == 0:
        raise ValueError("X must hold at least one object, got an empty X.")
    if n > np.iinfo(np.int32).max:
        raise ValueError(f"X must hold fewer than 2^31 objects, got {n}.")
    related = {fact.nothing_in_common for fact in facts if fact.n}  # parts differ if only some have negative numbers
    whole = PartFacts(n, *_common_columns(facts), nothing_in_common=related.pop() if len(related) == 1 else None)
    if y is None:
        counts = np.array([[fact.n] for fact in facts])
        codes = [engine.submit("codes", np.zeros, fact.n, np.intp) for fact in facts]
        return LabelledParts(collections, codes, [0], counts, whole)
    return _labelled(engine, collections, _parts_of_labels(engine, y, facts), facts, whole)


def _parts_on_cluster(engine: Engine, X: Any) -> list[Any]:
    """Return the parts of X as futures."""
    if is_dask(X):
        return engine.compute(delayed_parts(X))
    X = check_input(X)
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    slices = [np.arange(start, min(start + PART, n)) for start in range(0, max(n, 1), PART)]
    return [engine.submit_value("part", take_rows(X, rows)) for rows in slices]


def _is_packed(X: Any, similarity: Similarity) -> bool:
    """Return whether X is known to hold packed bits before its parts are read.

    A dask array of packed bits says it by what Dask calls its meta, an empty array of the same class. Its blocks cannot
    say it: Dask sends the blocks of every class of arrays as plain arrays.
    """
    if is_dask(X):
        return isinstance(getattr(X, "_meta", None), PackedBits)
    return similarity.kind == "rows" and are_packed(X, measure_of(similarity).domain)


def _parts_of_labels(engine: Engine, y: Any, facts: Sequence[PartFacts]) -> list[Any]:
    """Return the labels of each part as futures or arrays."""
    if is_dask(y):
        parts = engine.compute(delayed_parts(y))
        if len(parts) != len(facts):
            raise ValueError(
                f"y must have as many parts as X, which has {len(facts)}, got {len(parts)}; cut both at the same rows."
            )
        return parts
    n = sum(fact.n for fact in facts)
    labels = check_labels(y, n)
    return np.split(labels, np.cumsum([fact.n for fact in facts])[:-1])


def _labelled(
    engine: Engine, collections: list[Any], given: list[Any], facts: Sequence[PartFacts], whole: PartFacts
) -> LabelledParts:
    """Number the labels of all parts."""
    checked = [
        engine.submit("labels", part_labels, part, number, fact.n)
        for number, (part, fact) in enumerate(zip(given, facts, strict=True))
    ]
    counters = engine.gather("reading labels", [engine.submit("label counts", count_labels, part) for part in checked])
    values = [value for counter in counters for value in counter]
    everything = np.fromiter(values, dtype=object, count=len(values))
    labels = [label for label, _ in clusters(everything, everything.size)]
    number_of = {label: number for number, label in enumerate(labels)}
    counts = np.zeros((len(counters), len(labels)), dtype=np.int64)
    for part, counter in enumerate(counters):
        for label, n in counter.items():
            counts[part, number_of[label]] = n
    codes = [engine.submit("codes", label_codes, part, number_of) for part in checked]
    return LabelledParts(collections, codes, labels, counts, whole)


def _common_columns(facts: Sequence[PartFacts]) -> tuple[int | None, tuple[str, ...] | None]:
    """Return the number and names of the columns. Raise ValueError if parts disagree."""
    filled = [(number, fact) for number, fact in enumerate(facts) if fact.n]
    first = filled[0][1]
    for number, fact in filled:
        if (fact.n_columns, fact.names) != (first.n_columns, first.names):
            raise ValueError(
                f"All parts of X must have the same columns, but part {filled[0][0]} has {_columns(first)} and part "
                f"{number} has {_columns(fact)}."
            )
    return first.n_columns, first.names


def _columns(facts: PartFacts) -> str:
    return f"the columns {some_of(facts.names)}" if facts.names else f"{facts.n_columns} columns"
