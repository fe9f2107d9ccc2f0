"""The seam: objects and a similarity, asked by index.

Everything to the right of this module (graphs, coverage, classification) knows indices, not data. It asks a `Space`
to `score` aligned arrays of indices, i on the left side and j on the right; both sides are the same objects for a
cluster, queries and representatives for a classifier. Evaluations are counted here, once, exactly.

A space that can be screened also gives `estimates` of whole blocks by matrix products. They only decide which pairs
are worth scoring: whatever the block size or the BLAS, the scores themselves come from `score`.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey.similarity.objects import Objects, count
from covey.similarity.rows import rows_of
from covey.similarity.similarity import Similarity
from covey.similarity.space import RenumberedSpace, Space
from covey.similarity.spaces.functions import BatchSpace, CompiledSpace, FunctionSpace, ObjectSpace
from covey.similarity.spaces.matrix import MatrixSpace
from covey.similarity.spaces.rows import RowSpace
from covey.similarity.spaces.strings import StringSpace

__all__ = ["MatrixSpace", "RenumberedSpace", "RowSpace", "Space", "space_of"]

Positions = NDArray[np.intp]


def space_of(
    objects: Objects,
    similarity: Similarity,
    rows: Positions | None = None,
    against: Objects | None = None,
    against_rows: Positions | None = None,
    n_jobs: int | None = None,
) -> Space:
    """Objects among themselves, or `objects` (queries) `against` others; `rows` tell where they came from.

    `n_jobs` processes call a plain Python function; compiled ones leave threads to their callers.
    """
    square = against is None
    right: Objects = objects if square else against
    if similarity.kind == "matrix":
        return MatrixSpace(similarity, objects, square)
    if similarity.kind == "rows":
        return RowSpace(similarity, *rows_of(objects, right, similarity.measure), square)
    if similarity.kind == "strings":
        return StringSpace(similarity, objects, right, square)
    rows = np.arange(count(objects)) if rows is None else rows
    against_rows = rows if square or against_rows is None else against_rows
    space: type[FunctionSpace] = BatchSpace
    if similarity.kind == "objects":
        compiled = _is_compiled(similarity.function) and not isinstance(objects, list)
        space = CompiledSpace if compiled else ObjectSpace
    return space(similarity, objects, right, rows, against_rows, square, n_jobs)


def _is_compiled(function: Any) -> bool:
    """Told without importing numba, which a plain callable does not need."""
    return type(function).__module__.startswith("numba.") and hasattr(function, "py_func")
