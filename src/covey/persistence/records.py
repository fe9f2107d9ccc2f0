"""The dataclasses that files may hold, and what is checked when one of them is read."""

from typing import Any

import numpy as np

from covey.graph.descent import NNDescent
from covey.graph.graph import NeighborGraph
from covey.graph.recall import Recall
from covey.persistence.values import Record
from covey.prototype import Prototype
from covey.selectors.saved_state import (
    COUNT,
    NUMBER,
    PROTOTYPE_FACTS,
    PROTOTYPE_FIELDS,
    SHARE,
    TABLE,
    TEXT,
    Constraint,
    or_none,
)
from covey.similarity.inputs import is_missing
from covey.similarity.kinds.mixed import MISSING, MixedRows
from covey.similarity.similarity import LARGEST


def _array(dtype: Any, n_dimensions: int) -> Constraint:
    """Return the constraint of an array of one type of numbers."""
    return Constraint(
        f"an array of {np.dtype(dtype)} of {n_dimensions} dimensions",
        lambda value: isinstance(value, np.ndarray) and value.ndim == n_dimensions and value.dtype == dtype,
        np.ascontiguousarray,
    )


def _has_shapes(rows: MixedRows) -> bool:
    n_numbers = int(rows.is_number.sum())
    return (
        rows.numbers.shape[1] == rows.lowest.size == rows.highest.size == n_numbers
        and rows.codes.shape == (len(rows), rows.is_number.size - n_numbers)
        and len(rows.categories) == rows.codes.shape[1]
    )


def _lies_in_range(rows: MixedRows) -> Any:
    """Return whether the ranges are such as `fit` finds, and all numbers that are not missing lie within them."""
    ranges = (rows.lowest > -LARGEST) & (rows.lowest <= rows.highest) & (rows.highest < LARGEST)
    outside = (rows.numbers < rows.lowest) | (rows.numbers > rows.highest)
    return ranges.all() and not outside.any()


def _are_categories(values: Any) -> bool:
    return type(values) is list and len(set(values)) == len(values) and not any(map(is_missing, values))


def _has_codes_of_categories(rows: MixedRows) -> bool:
    most = [len(categories) for categories in rows.categories]
    return bool((rows.codes >= MISSING).all() and (rows.codes < np.array(most, dtype=np.int64)).all())


RECORDS = {
    MixedRows: Record(
        {
            "numbers": _array(np.float64, 2),
            "codes": _array(np.int32, 2),
            "lowest": _array(np.float64, 1),
            "highest": _array(np.float64, 1),
            "categories": Constraint(
                "a list of lists of different categories",
                lambda value: type(value) is list and all(map(_are_categories, value)),
            ),
            "is_number": _array(np.bool_, 1),
            "keys": or_none(
                Constraint(
                    "a list of different keys", lambda value: type(value) is list and len(set(value)) == len(value)
                )
            ),
        },
        {
            "rows must have columns": lambda rows: rows.is_number.size > 0,
            "numbers, codes, ranges and categories must fit the columns": _has_shapes,
            "numbers must lie in the ranges of their columns": _lies_in_range,
            "codes must be -1 or those of categories": _has_codes_of_categories,
            "keys must be as many as columns": lambda rows: rows.keys is None or len(rows.keys) == rows.is_number.size,
        },
    ),
    NNDescent: Record({"sample_rate": SHARE, "tol": SHARE}),
    NeighborGraph: Record(
        {
            "indices": TABLE,
            "similarities": TABLE,
            "n_evaluations": COUNT,
            "method": TEXT,
            "mean_similarity": or_none(NUMBER),
            "estimated_recall": or_none(Constraint("a Recall", lambda value: type(value) is Recall)),
        }
    ),
    Prototype: Record(PROTOTYPE_FIELDS, PROTOTYPE_FACTS),
    Recall: Record({"value": SHARE, "low": SHARE, "high": SHARE}),
}
