"""Precautions of a run that may take long: what happens if the similarity fails or hangs, or if the process is stopped.

A run works on a collection. `careful` makes it one whose similarity goes on after failures and does not wait for ever,
and whose evaluations are kept in a checkpoint.

Short values that say whether two data sets, or two similarities, are the same.

A run that goes on with what an earlier run has stored compares both, so that it never mixes the results of different
data or of different similarities.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from numbers import Integral, Real
from typing import Any

from sklearn.utils._param_validation import StrOptions

from covey.arrays import Hashes, Positions
from covey.runtime.parameters import Interval
from covey.runtime.workers import end_idle_processes
from covey.similarity.calls.failures import OnError
from covey.similarity.checkpoint import Checkpoint
from covey.similarity.collection import Collection
from covey.similarity.fingerprint import code_fingerprint
from covey.similarity.hash_table import scrambled
from covey.similarity.measures import MEASURES, is_built_in
from covey.similarity.pair_cache import kept
from covey.similarity.similarity import Similarity


def data_fingerprint(rows: Positions, hashes: Hashes) -> int:
    """Return a number below 2^64 that changes when the objects of X, or their order, change.

    `rows` are the rows of X that the objects came from, and `hashes` are their content hashes. The number is a sum
    modulo 2^64 with one term for each object. So the fingerprint of X is the sum, modulo 2^64, of those of its parts,
    however X was divided.
    """
    terms = scrambled(scrambled(rows.astype(hashes.dtype)) + hashes)
    return int(terms.sum(dtype=hashes.dtype))


def similarity_fingerprint(similarity: Similarity) -> str:
    """Return 16 hexadecimal digits that change when the similarity does. They are the same in every process.

    A similarity that covey has counts by its name, one that was registered by its name and its measure, and a function
    by its byte code, its constants, its defaults and what it has closed over. Of what it reads from its module,
    functions of the same module count, and numbers, texts and tuples. An object that can be called counts by its
    methods and by what pickle would store of it. Byte code depends on the version of Python. If a function or an object
    has an attribute ``fingerprint``, it counts by this alone. That is for functions that are edited without another
    meaning, and for objects whose content changes although the similarity does not, such as a cache.
    """
    function = getattr(similarity.function, "fingerprint", similarity.function)
    if isinstance(function, str) and not is_built_in(similarity):
        function = (function, MEASURES.get(function))
    return code_fingerprint(similarity.kind, function, similarity.symmetric, similarity.conversion)


Path = str | os.PathLike[str] | None
"""Where a checkpoint lies, or None if there is none."""

CONSTRAINTS: Mapping[str, Any] = {
    "checkpoint": [str, os.PathLike, None],
    "on_error": [StrOptions({"raise", "lowest"})],
    "timeout": [Interval(Real, 0, None, closed="neither"), None],
}
"""Which values the parameters of precautions may have, in scikit-learn's words."""

WITHOUT_EFFECT = {"n_jobs", "verbose", "checkpoint", "similarity", "on_error", "timeout"}
"""Parameters that finished parts do not depend on, because covey's own similarities do not fail, or that a checkpoint
compares in another way."""


@contextmanager
def careful(
    collection: Collection, checkpoint: Path = None, on_error: OnError = "raise", timeout: float | None = None
) -> Iterator[Collection]:
    """Yield the collection with precautions. At the end, the checkpoint is closed, and failures are told to the user.

    A collection that has precautions already, because an outer selector has taken them, is yielded as it is.
    """
    if collection.remembers or collection.checkpoint is not None:
        yield collection
        return
    collection = collection.under(collection.similarity.under(on_error, timeout))
    try:
        if checkpoint is None:
            yield collection
        else:
            with _opened(checkpoint, collection) as kept_collection:
                yield kept_collection
    except KeyboardInterrupt:
        end_idle_processes()
        raise
    if collection.similarity.failures is not None:
        collection.similarity.failures.warn()


@contextmanager
def _opened(path: Path, collection: Collection) -> Iterator[Collection]:
    """Open a checkpoint, and yield a collection that uses it. The given collection stays as it is."""
    similarity = collection.similarity
    with Checkpoint(str(path), similarity_fingerprint(similarity), repr(similarity)) as checkpoint:
        guarded = kept(collection.under(similarity), checkpoint)
        guarded.checkpoint = checkpoint
        yield guarded


def seed_of(random_state: Any, checkpoint: Checkpoint | None) -> Any:
    """Return the random state of a run. With a checkpoint, a run that has no seed takes that of the checkpoint."""
    if checkpoint is None:
        return random_state
    if not (random_state is None or isinstance(random_state, Integral)):
        raise ValueError(
            "random_state must be an int or None if there is a checkpoint, because a run that goes on has to draw the "
            f"same numbers again, got {random_state!r}."
        )
    return checkpoint.seed if random_state is None else random_state


def finished_parts(collection: Collection, parameters: Mapping[str, Any], **others: Any) -> Checkpoint | None:
    """Return the checkpoint if it keeps finished parts of a run, which depend on all these parameters, or None.

    It does so for similarities that covey computes itself. For a function of the user's own it keeps pairs, which do
    not depend on parameters. A file that has parts of another run is refused.
    """
    checkpoint = collection.checkpoint
    if checkpoint is None or collection.remembers:
        return None
    plain = {name: value for name, value in parameters.items() if name.rsplit("__", 1)[-1] not in WITHOUT_EFFECT}
    depends_on = {**plain, "X": collection.fingerprint(), **others}
    checkpoint.begin_run({name: _in_short(value) for name, value in depends_on.items()})
    return checkpoint


def _in_short(value: Any) -> Any:
    """Return a value that JSON can hold and that changes when this one does."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, Integral):
        return int(value)
    return float(value) if isinstance(value, Real) else code_fingerprint(value)
