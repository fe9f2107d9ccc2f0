"""What X may be: arrays, CSR matrices, frames, and lists of anything. It becomes a collection."""

from typing import Any

from covey.arrays import Positions
from covey.similarity.collection import Collection, Representatives
from covey.similarity.collections.matrix import MatrixCollection, MatrixColumns
from covey.similarity.collections.profiles import ProfileCollection
from covey.similarity.collections.rows import RowCollection
from covey.similarity.collections.sequence import SequenceCollection
from covey.similarity.collections.strings import StringCollection
from covey.similarity.inputs import are_profiles, check_input
from covey.similarity.similarity import Similarity


def collect(X: Any, similarity: Similarity, estimator: Any = None) -> Collection:
    """X under a similarity, checked; a collection stays as it is.

    The number and the names of the columns, if X has any, are recorded on the estimator.
    """
    collection = X if isinstance(X, Collection) else _collection(X, similarity, estimator)
    if estimator is not None:
        collection.record_columns(estimator)
    return collection


def collect_representatives(
    objects: Any, similarity: Similarity, rows: Positions, n_columns: int | None
) -> Representatives:
    """The representatives that were stored as these `objects`: the given rows of an X, of `n_columns` if it had any."""
    if similarity.kind == "matrix":
        return MatrixColumns(similarity, objects, n_columns=0 if n_columns is None else n_columns)
    collection = _collection(objects, similarity, None)
    collection.rows = rows
    return collection


def _collection(X: Any, similarity: Similarity, estimator: Any) -> Collection:
    X = check_input(X)
    if similarity.kind == "matrix":
        return MatrixCollection.of(X, similarity, estimator)
    if similarity.kind == "strings":
        return StringCollection.of(X, similarity)
    if similarity.kind in ("objects", "batches"):
        return SequenceCollection.of(X, similarity, estimator)
    if are_profiles(X):
        return ProfileCollection.of(X, similarity)
    return RowCollection.of(X, similarity, estimator)
