"""Kinds of objects: one file for each, from its checks to its space.

X may be an array, a CSR matrix, a frame or a list of anything. `collect` decides of which kind its objects are, and
makes the collection of this kind.
"""

from typing import Any

import numpy as np

from covey.arrays import Positions
from covey.similarity.collection import Collection, Representatives
from covey.similarity.inputs import are_profiles, check_input
from covey.similarity.kinds.bits import BitCollection
from covey.similarity.kinds.functions import SequenceCollection
from covey.similarity.kinds.matrix import MatrixCollection, MatrixColumns
from covey.similarity.kinds.mixed import MixedCollection
from covey.similarity.kinds.profiles import ProfileCollection
from covey.similarity.kinds.rows import RowCollection
from covey.similarity.kinds.strings import StringCollection
from covey.similarity.measures import measure_of
from covey.similarity.packed_bits import are_packed
from covey.similarity.similarity import Similarity


def collect(X: Any, similarity: Similarity, estimator: Any = None) -> Collection:
    """Check X and join it with a similarity. An X that is a collection already stays as it is.

    If an estimator is given, the number and the names of the columns of X are recorded on it.
    """
    collection = X if isinstance(X, Collection) else _collection(X, similarity, estimator)
    if estimator is not None:
        collection.record_columns(estimator)
    return collection


def collect_representatives(
    objects: Any, similarity: Similarity, rows: Positions, n_columns: int | None, n: int
) -> Representatives:
    """Make representatives again from the `objects` that a file has stored for them.

    They are the given rows of an X that had n objects. Raise ValueError if this cannot be: the objects must pass the
    checks of a fit, must not be changed by them, and must have as many columns as that X.
    """
    if similarity.kind == "matrix":
        if not (np.array_equal(objects, rows) and n_columns == n):
            raise ValueError("representatives_ and n_features_in_ must fit a matrix of similarities")
        return MatrixColumns(similarity, objects, n_columns)
    collection = _collection(objects, similarity, None)
    if len(collection) != rows.size:
        raise ValueError("representatives_ must be one object for each of the rows")
    if collection.n_columns != n_columns:
        raise ValueError("representatives_ must have n_features_in_ columns")
    checked = collection.objects
    if (type(checked), getattr(checked, "dtype", None)) != (type(objects), getattr(objects, "dtype", None)):
        raise ValueError("representatives_ must be an array of numbers, a CSR array or a list of objects")
    return collection.numbered(rows)


def _collection(X: Any, similarity: Similarity, estimator: Any) -> Collection:
    """Choose the class of collections by the similarity, and by whether X holds sets, dicts or packed bits."""
    X = check_input(X)
    if similarity.kind == "matrix":
        return MatrixCollection.of(X, similarity, estimator)
    if similarity.kind == "strings":
        return StringCollection.of(X, similarity)
    if similarity.kind == "mixed":
        return MixedCollection.of(X, similarity)
    if similarity.kind in ("objects", "batches"):
        return SequenceCollection.of(X, similarity, estimator)
    if are_profiles(X):
        return ProfileCollection.of(X, similarity)
    if are_packed(X, measure_of(similarity).domain):
        return BitCollection.of(X, similarity, estimator)
    return RowCollection.of(X, similarity, estimator)
