"""A collection is X under a similarity, checked and prepared once.

A collection can `take` some of its members, make the `Space` among its own members, and make the space of queries
against its members. `kinds/` has one class for each kind of objects. No later stage asks which class it has.

A kind must define `of`, which checks X, `against`, `space_of_queries`, `distinct`, `content_hashes` and `_take`. It
overrides the other methods where the defaults do not hold. A collection whose pairs are costly overrides `cached_in`
and `cached_in_memory`, too.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from itertools import chain
from typing import Any, Protocol, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import validate_data

from covey.arrays import Floats, Hashes, Indices, Positions
from covey.runtime.memory import Sized
from covey.similarity.calls.failures import OnError
from covey.similarity.checkpoint import Checkpoint
from covey.similarity.duplicates import Distinct
from covey.similarity.fingerprint import code_fingerprint
from covey.similarity.packed_bits import PackedBits
from covey.similarity.run import CheckpointPath, Run, identity, open_run
from covey.similarity.similarity import Similarity
from covey.similarity.space import Space


class Representatives(Protocol):
    """What queries are compared with. `objects` is all that has to be stored to make the representatives again."""

    objects: Any

    @property
    def nothing_in_common(self) -> float | None:
        """The similarity of objects that have nothing in common with these, or None if no value says so."""
        ...

    def prepared(self) -> Self:
        """Do the work that the first query would otherwise have to wait for."""
        ...

    def space_of_queries(self, X: Any, estimator: Any = None, n_jobs: int | None = None) -> Space:
        """Make the space with the objects of X on the left side and these on the right."""
        ...


class Collection(Sized, ABC):
    """Objects under a similarity.

    Attributes
    ----------
    similarity : Similarity
        The similarity that compares the objects.
    objects : array, CSR array, list or MixedRows
        The objects in one of four plain forms. In an array, dense or CSR, and in `MixedRows`, each row is an object.
        Packed bits are in an array of the class `PackedBits`.
    rows : int array
        For each object, the row of X that it came from.
    given : object
        The X that the user has passed. It is None if the collection holds only a part of X.
    cached : bool
        Whether the collection remembers what its spaces have evaluated. A copy in another process would not.
    run : Run
        The run that works on the collection. Its parts and their spaces have it, too.
    """

    cached = False

    def __init__(self, similarity: Similarity, objects: Any, rows: Positions | None = None, given: Any = None) -> None:
        self.similarity, self.objects, self.given = similarity, objects, given
        self.rows = np.arange(len(self)) if rows is None else rows
        self.run = Run()

    def __reduce__(self) -> Any:
        """Pickle the objects and the run alone; what was prepared is made again when it is needed."""
        return type(self), (self.similarity, self.objects, self.rows), {"run": self.run}

    def __copy__(self) -> Self:
        """Return a copy that keeps what was prepared, unlike one that was pickled."""
        twin = type(self).__new__(type(self))
        vars(twin).update(vars(self))
        return twin

    def __len__(self) -> int:
        return int(self.objects.shape[0]) if hasattr(self.objects, "shape") else len(self.objects)

    def take(self, positions: Positions) -> Self:
        """Return the members at these positions as a collection.

        If these are all members in order, return the collection itself.
        """
        if positions.size == len(self) and np.array_equal(positions, np.arange(positions.size)):
            return self
        part = self._take(positions)
        part.run = self.run
        return part

    def numbered(self, rows: Positions) -> Self:
        """Return the same members as these rows of X."""
        numbered = copy(self)
        numbered.rows = rows
        return numbered

    def without_given(self) -> Self:
        """Return the same members without the X that they came from, which need not travel with them."""
        lighter = copy(self)
        lighter.given = None
        return lighter

    def under(self, run: Run) -> Self:
        """Return the same members in a run."""
        running = copy(self)
        running.run = run
        return running

    @contextmanager
    def open_run(
        self, checkpoint: CheckpointPath = None, on_error: OnError = "raise", timeout: float | None = None
    ) -> Iterator["Collection"]:
        """Open a run, and yield the collection in it. At the end, the user is warned of failures.

        A collection that is cached or has a checkpoint already, because an outer selector has opened the run, is
        yielded as it is.

        Parameters
        ----------
        checkpoint : path or None
            The file in which the run keeps what it has paid for.
        on_error : {"raise", "lowest"}
            What happens if the similarity fails for a pair.
        timeout : float or None
            How many seconds one evaluation may take.
        """
        if self.cached or self.run.checkpoint is not None:
            yield self
            return
        with open_run(self.similarity, checkpoint, on_error, timeout, within=self.run) as run:
            running = self.under(run)
            yield running if run.checkpoint is None else running.cached_in(run.checkpoint)

    def cached_in(self, checkpoint: Checkpoint) -> "Collection":
        """Return the same members with their pairs cached in a file.

        Only collections of custom functions do; others return themselves.
        """
        return self

    def cached_in_memory(self) -> "Collection":
        """Return the same members with their pairs cached in memory.

        Only collections of custom functions do; others return themselves.
        """
        return self

    def finished_parts(self, parameters: Mapping[str, Any], **others: Any) -> Checkpoint | None:
        """Return the checkpoint if it keeps finished parts of the run, which depend on all these parameters, or None.

        If it is the cache of the collection, it keeps pairs instead, which do not depend on parameters. A file that has
        parts of another run is refused.
        """
        checkpoint = self.run.checkpoint
        if checkpoint is None or self.cached:
            return None
        checkpoint.begin_run(identity(parameters, X=self.fingerprint(), **others))
        return checkpoint

    def alone(self) -> "Collection":
        """Drop what is needed only to compare with members outside this collection (the whole matrix)."""
        return self

    def representatives(self, positions: Positions) -> Representatives:
        """Return the members at these positions in the form that queries are compared with."""
        return self._take(positions)  # a copy even of all members, because the user may change X after the fit

    def record_columns(self, estimator: Any) -> None:
        """Set the number and the names of the columns on an estimator.

        Remove those of an earlier fit if X has no columns.
        """
        for name in ("n_features_in_", "feature_names_in_"):
            vars(estimator).pop(name, None)
        if self.n_columns is not None:
            validate_data(estimator, self.given, reset=True, skip_check_array=True)

    @staticmethod
    def joined(parts: "Sequence[Collection]") -> "Collection":
        """Return all members of several collections, those of the first one first, as a collection.

        All must be of one kind and under one similarity. Arrays of different types of numbers get a type that holds
        both. Objects that were prepared are prepared again. One collection alone is returned as it is.
        """
        if len(parts) == 1:
            return parts[0]
        _check_parts(parts)
        return parts[0]._joined(parts)

    def _joined(self, parts: "Sequence[Any]") -> "Collection":
        """Join collections that were checked. This one is the first of them."""
        objects = _join([part.objects for part in parts])
        return type(self)(self.similarity, objects, np.concatenate([part.rows for part in parts]))

    @property
    def n_columns(self) -> int | None:
        """How many columns the objects have. Queries must have as many. It is None if the objects are not rows."""
        return None

    @property
    def nothing_in_common(self) -> float | None:
        """The similarity of objects that have nothing in common.

        It is None if no value says so: under a distance, a custom function, or a matrix, and for rows with
        negative numbers. Ask the collection of all objects, because a part may lack the negative numbers of the rest.
        """
        return None

    def prepared(self) -> Self:
        """Do the work that the first query would otherwise have to wait for, and return the collection."""
        return self

    def known_pairs(self) -> tuple[Indices, Indices, Floats]:
        """Return pairs of members whose similarities s(i[t], j[t]) are remembered; by default there are none."""
        none = np.empty(0, dtype=np.int32)
        return none, none, np.empty(0)

    def space(self, n_jobs: int | None = None) -> Space:
        """Make the space of the members among themselves.

        `n_jobs` threads or processes work on it, as joblib counts them.
        """
        return self.against(self, n_jobs)

    def spot_checked(self, space: Space) -> Space:
        """Let a space of these members among themselves check whether the similarity is what it promises to be.

        The space itself is returned. Similarities that covey computes need no check.
        """
        return space

    @abstractmethod
    def against(self, others: Self, n_jobs: int | None = None) -> Space:
        """Make the space with these members on the left side and the members of `others` on the right.

        Both must be taken from the same prepared collection. If `others` is this collection itself, the space is the
        one of its members among themselves.
        """

    @abstractmethod
    def space_of_queries(self, X: Any, estimator: Any = None, n_jobs: int | None = None) -> Space:
        """Make the space with the objects of X on the left side and the members of this collection on the right.

        If X has columns, they must be those that were recorded on the estimator.
        """

    @abstractmethod
    def distinct(self) -> Distinct:
        """Find out which members are equal under the similarity."""

    @abstractmethod
    def content_hashes(self) -> Hashes:
        """Return a hash of each member that depends on nothing but its content.

        Members that `distinct` would merge have equal hashes, also if they are in different collections of one kind
        under one similarity, in different processes, or on different machines. Members that differ have different
        hashes except by a chance of 1 in 2^64 for each pair. There are two exceptions. Objects that are equal only to
        themselves, such as NaN, have the hash of their content. Two objects of a custom class that are equal
        in Python's sense have different hashes if pickle would store different contents.
        """

    def identities(self) -> Hashes:
        """Return hashes that tell different members apart for sure. Refuse members whose content cannot be read."""
        return self.content_hashes()

    def fingerprint(self) -> str:
        """Return a short string that changes when the members, or their order, change."""
        return code_fingerprint(self.rows, self.content_hashes())

    @abstractmethod
    def _take(self, positions: Positions) -> Self:
        """Return a copy of the members at these positions."""


def _check_parts(parts: Sequence[Collection]) -> None:
    """Refuse collections that cannot be joined, and name the first that does not fit the one before it.

    Functions are not compared, because those that came from different processes are never equal.
    """
    if not parts:
        raise ValueError(
            "parts must be one collection or more, got none; pass the parts of the data that hold objects."
        )
    forms = [_form(part) for part in parts]
    for number, form in enumerate(forms):
        if form != forms[0]:
            raise ValueError(
                f"parts must hold objects of one form under one similarity to be joined, but part 0 holds {forms[0]} "
                f"and part {number} holds {form}; read all parts in the same way."
            )


def _form(part: Collection) -> str:
    """Return in words what must be the same in all parts of one data set."""
    objects, similarity = part.objects, part.similarity
    shape: tuple[int, ...] = getattr(objects, "shape", ())
    if isinstance(objects, list):
        form = "a list of objects"
    elif sp.issparse(objects):
        form = f"CSR rows of {shape[1]} columns"
    elif hasattr(objects, "in_words"):
        form = objects.in_words
    elif isinstance(objects, PackedBits):
        form = f"packed bits in {shape[1]} columns of {objects.dtype}"
    elif objects.dtype.kind in "biuf":
        form = f"{shape[1]} columns of numbers" if len(shape) == 2 else f"numbers of shape {shape[1:]}"
    else:
        form = f"an array of {objects.dtype if objects.dtype.names else objects.dtype.type.__name__}"
    if isinstance(similarity.function, str):
        return f"{form} under {similarity!r}"
    wrapped = f"kind={similarity.kind!r}, symmetric={similarity.symmetric}, conversion={similarity.conversion!r}"
    return f"{form} under a function ({wrapped})"


def _join(parts: list[Any]) -> Any:
    """Return the objects of all parts in the plain form that all of them have."""
    if isinstance(parts[0], list):
        return list(chain.from_iterable(parts))
    return sp.vstack(parts, format="csr") if sp.issparse(parts[0]) else np.concatenate(parts)
