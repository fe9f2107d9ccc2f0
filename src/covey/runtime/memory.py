"""A check that refuses work before it begins if it cannot fit into the memory of this machine."""

import os


def check_fits(n_bytes: int, what: str, remedy: str) -> None:
    """Raise MemoryError if `what` takes more memory than this machine has. Do nothing if the size of the memory is not
    known.
    """
    try:
        available = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # this system does not say
        return
    if n_bytes > available:
        raise MemoryError(
            f"{what} needs {n_bytes / 2**30:.3g} GiB of memory, but this machine has {available / 2**30:.3g} GiB; "
            f"{remedy}."
        )
