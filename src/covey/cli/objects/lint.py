"""What most likely is not meant, said before the work: numbers that are names, and columns that decide alone."""

import logging
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

logger = logging.getLogger("covey")

UNEVEN = 20
"""A column this many times larger than the median column gets a warning.

Such a column contributes 400 times as much to a product of two rows as the median one.
"""
FEWEST_NUMBERED = 20
"""From this many rows on, whole numbers without gaps are taken for a running number; fewer may be so by chance."""
MOST_ALIKE = 3
"""How many groups of labels that look alike are named, and how many labels of each."""
IDENTIFIER = re.compile(r"(?i:id|.*[\W_]id)|.*[a-z](Id|ID)")
"""Names like id, host_id, Order-ID and userId."""


def warn_of_columns(
    values: NDArray[np.float64], names: Sequence[str], similarity: str, *, asked_for: Sequence[str], scaled: bool
) -> None:
    """Log what most likely is not meant about columns of numbers that are not scaled yet.

    Columns that the user has asked for by name are not taken for identifiers. If the columns will be `scaled`, none of
    them can be too large.
    """
    if values.shape[1] == 1 and similarity == "cosine":
        logger.warning("cosine tells nothing about a single column; try --similarity euclidean, or --text.")
    features = []
    for at, name in enumerate(names):
        if name not in asked_for and is_identifier(name, values[:, at]):
            logger.warning(
                "column %r looks like an identifier, but is compared as a number; pass it as --id, or leave it out "
                "by naming the others as --features.",
                name,
            )
        else:
            features.append(at)
    if features and not scaled:
        _warn_of_large(values[:, features], [names[at] for at in features])


def warn_of_names(name: str, values: Any, *, is_number: bool) -> None:
    """Log if the values of a column, which may have gaps, tell rows apart and nothing else."""
    there = values.dropna()
    if is_number and len(there):
        found = is_identifier(name, there.to_numpy(dtype=np.float64))
    else:
        found = len(there) >= FEWEST_NUMBERED and there.nunique() == len(there)
    if found:
        logger.warning(
            "column %r looks like an identifier, which tells nothing about similarity; pass it as --id, or leave it "
            "out by naming the others as --features.",
            name,
        )


def is_identifier(name: str, values: NDArray[np.float64]) -> bool:
    """Return whether whole numbers, all different, are called an identifier or follow each other without gaps."""
    if not (values == np.rint(values)).all() or np.unique(values).size < values.size:
        return False
    running = values.size >= FEWEST_NUMBERED and np.ptp(values) == values.size - 1
    return bool(running) or IDENTIFIER.fullmatch(name) is not None


def warn_of_labels(labels: NDArray[Any]) -> None:
    """Log labels that differ only by blanks or by small and capital letters, which makes them different clusters."""
    alike: dict[str, list[str]] = {}
    for label in sorted(set(labels.tolist())):
        alike.setdefault(" ".join(label.split()).casefold(), []).append(label)
    groups = [" and ".join(map(repr, group[:MOST_ALIKE])) for group in alike.values() if len(group) > 1]
    if groups:
        more = f" and {len(groups) - MOST_ALIKE} more" if len(groups) > MOST_ALIKE else ""
        logger.warning(
            "labels differ only by blanks or by small and capital letters, and are different clusters: %s%s.",
            "; ".join(groups[:MOST_ALIKE]),
            more,
        )


def _warn_of_large(values: NDArray[np.float64], names: Sequence[str]) -> None:
    sizes = np.abs(values).mean(axis=0)
    if sizes.max() > UNEVEN * max(np.median(sizes), 1e-300):  # the median may be 0
        largest = names[int(np.argmax(sizes))]
        logger.warning("column %r is far larger than the others and decides nearly alone; try --scale.", largest)
