"""Refusing what cannot fit before it is begun."""

import os


def check_fits(n_bytes: int, what: str, remedy: str) -> None:
    """Raise if `what` takes more memory than this machine has; where that is unknown, let the allocation tell."""
    try:
        there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not on this system
        return
    if n_bytes > there:
        raise MemoryError(
            f"{what} needs {n_bytes / 2**30:.3g} GiB of memory, but this machine has {there / 2**30:.3g} GiB; {remedy}."
        )
