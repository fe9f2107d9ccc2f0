"""What runs on the workers of a Dask cluster: functions of one part of a table, and how a worker takes Ctrl-C."""

import signal
from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey.cli.files.columns import Evidence, evidence_of, sums_of
from covey.cli.files.parquet import Part
from covey.cli.objects.load import labels_of
from covey.cli.objects.recipe import Recipe


def ignore_interrupts() -> None:
    """Leave Ctrl-C, which reaches all processes of a terminal, to the process that has started the workers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def evidence(part: Part, names: list[str]) -> dict[str, Evidence]:
    """Return for each of these columns whether it holds numbers."""
    return evidence_of(part.read(names).frame, names)


def sums(part: Part, recipe: Recipe) -> NDArray[np.float64]:
    """Return the sum of the numbers in each column, and how many there are."""
    numbers = recipe.settings.numbers
    return sums_of(part.read(numbers), numbers)


def facts(part: Part, recipe: Recipe) -> Any:
    """Return what has to be known of the objects to learn from all rows."""
    return recipe.facts(objects(part, recipe))


def objects(part: Part, recipe: Recipe) -> Any:
    """Return the objects of the rows."""
    return recipe.objects(part.read(recipe.columns))


def labels(part: Part, recipe: Recipe) -> NDArray[Any]:
    """Return the labels of the rows."""
    label = recipe.settings.label
    return labels_of(part.read(recipe.columns[:1] if label is None else [label]), recipe)


def counted_labels(part: Part, recipe: Recipe) -> Counter[str]:
    """Return how many rows have each label."""
    return Counter(labels(part, recipe).tolist())


def take(part: Part, rows: NDArray[np.intp]) -> Any:
    """Return some of the rows, with all columns."""
    return part.read().frame.iloc[rows]
