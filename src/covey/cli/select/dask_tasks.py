"""What workers of a Dask cluster do with a part of a table for `dask_fit.py`, which decides what is asked for."""

import signal
from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey.cli.files.columns import Evidence, column_sums, evidence_of
from covey.cli.files.parquet import RowGroupPart
from covey.cli.objects.load import labels_of
from covey.cli.objects.recipe import Recipe


def ignore_interrupts() -> None:
    """Leave Ctrl-C, which reaches all processes of a terminal, to the process that has started the workers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def evidence(part: RowGroupPart, names: list[str]) -> dict[str, Evidence]:
    """Return what a part tells about some of its columns."""
    return evidence_of(part.read(names).frame, names)


def sums(part: RowGroupPart, recipe: Recipe) -> NDArray[np.float64]:
    """Return the sums of the columns of numbers, and of how many values."""
    numbers = recipe.settings.numbers
    return column_sums(part.read(numbers), numbers)


def facts(part: RowGroupPart, recipe: Recipe) -> Any:
    """Return what a recipe learns from a part."""
    return recipe.facts(objects(part, recipe))


def objects(part: RowGroupPart, recipe: Recipe) -> Any:
    """Return the objects of a part."""
    return recipe.objects(part.read(recipe.columns))


def labels(part: RowGroupPart, recipe: Recipe) -> NDArray[Any]:
    """Return the labels of a part."""
    label = recipe.settings.label
    return labels_of(part.read(recipe.columns[:1] if label is None else [label]), recipe)


def counted_labels(part: RowGroupPart, recipe: Recipe) -> Counter[str]:
    """Return how many rows of a part have each label."""
    return Counter(labels(part, recipe).tolist())


def take(part: RowGroupPart, rows: NDArray[np.intp]) -> Any:
    """Return some rows of a part."""
    return part.read().frame.iloc[rows]
