"""The memory of this machine, and how much of it values take.

Work that cannot fit is refused before it begins (`check_fits`). Dask asks for the size of a value (`Sized`) when it
decides on which worker a task runs, how much to fetch at once, and what to write to disk. For a class of ours, Python
would always answer 56 bytes.
"""

import os
import sys
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp


def check_fits(n_bytes: int, what: str, remedy: str) -> None:
    """Raise MemoryError if `what` takes more memory than this machine has. Do nothing if the size of the memory is not
    known.
    """
    available = size_of_memory()
    if available is not None and n_bytes > available:
        raise MemoryError(
            f"{what} needs {n_bytes / 2**30:.3g} GiB of memory, but this machine has {available / 2**30:.3g} GiB; "
            f"{remedy}."
        )


def size_of_memory() -> int | None:
    """Return how many bytes of memory this machine has, or None if the system does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


SAMPLED = 100
"""About how many elements of a list are measured. The others are taken to be as large on average."""


class Sized:
    """A value whose size is that of all its attributes together."""

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + sum(map(n_bytes, vars(self).values()))


def n_bytes(value: Any) -> int:
    """Return how many bytes a value takes, about."""
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        return value.nbytes
    if sp.issparse(value):
        return sum(array.nbytes for array in (value.data, value.indices, value.indptr))
    if isinstance(value, list | np.ndarray) and len(value):
        sample = value[:: len(value) // SAMPLED + 1]
        return sys.getsizeof(value) + len(value) * sum(map(n_bytes, sample)) // len(sample)
    if is_dataclass(value):
        return sum(n_bytes(getattr(value, field.name)) for field in fields(value))
    return sys.getsizeof(value)
