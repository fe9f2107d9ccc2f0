"""A spot check of similarities that nobody has declared symmetric.

A function s(a, b) of the user's own is taken for symmetric unless something says otherwise, so that each pair is
evaluated in one direction only. If it is not symmetric, the answers are wrong in silence. So before the first pairs of
a space are scored, a few pairs are asked in both directions. A warning names the first pair whose values differ.

The pairs are drawn by a generator of their own, so that no other random choice changes, and they are the same for any
number of threads or processes. Their evaluations are counted like any others.
"""

import threading
import warnings
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from covey.arrays import Positions
from covey.similarity.pairs import draw_pairs
from covey.similarity.similarity import Similarity
from covey.similarity.space import Space

CHECKED_PAIRS = 10
"""How many pairs of a space are checked at most. If the order matters for three of ten pairs, it is noticed in 97 of
100 spaces; if it matters for every other pair, in 999 of 1000."""
FEWEST_PAIRS = 1_000
"""A space of fewer pairs, which is one of fewer than 46 objects, is not checked."""
MOST_SHARE = 0.01
"""Which share of the evaluations of all pairs the check may take. The value is a matter of taste."""
TOLERANCE = 1e-6
"""Which share of the largest value two directions may differ by. Sums of a thousand terms of single precision differ by
less than that if they are added in another order, on average."""

_warned_about: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()
"""The similarities that a warning was given for, by identity. All clusters of a fit share one similarity, so that it is
given only once."""
_hearing = threading.local()
"""Who hears of warnings in this thread instead of the user."""


class AsymmetryWarning(UserWarning):
    """A similarity depends on the order of the two objects, but is used as if it did not.

    The warning is given once for each fit. Say that the order matters, by ``covey.Similarity(f, symmetric=False)`` or
    by an attribute ``symmetric`` of the function. If the difference does not matter, ``symmetric=True`` ends the
    warning.

    Examples
    --------
    >>> import warnings
    >>> import covey
    >>> def share(a, b):
    ...     return len(set(a) & set(b)) / len(set(a))
    >>> words = [f"{number:b}{number:o}" for number in range(50)]
    >>> with warnings.catch_warnings(record=True) as told:
    ...     warnings.simplefilter("always")
    ...     selector = covey.CRS(5, similarity=share).fit(words)
    >>> told[0].category.__name__
    'AsymmetryWarning'
    """


def watch_symmetry(space: Space, similarity: Similarity, rows: Positions) -> Space:
    """Let a space of objects among themselves check some pairs before it scores the first, if nobody vouches for them.

    `rows` are the rows of X that the objects came from, by which the warning names them. The space itself is returned.
    """
    n_checked = min(CHECKED_PAIRS, int(MOST_SHARE * space.n_pairs / 2))
    if space.symmetric and not similarity.declared and space.n_pairs >= FEWEST_PAIRS:
        space.before_first = partial(_check, space, similarity, rows, n_checked)
    return space


@contextmanager
def heard_by(tell: Callable[[str], None]) -> Iterator[None]:
    """Tell somebody else than the user about similarities that turn out not to be symmetric in this thread."""
    _hearing.tell = tell
    try:
        yield
    finally:
        del _hearing.tell


def _check(space: Space, similarity: Similarity, rows: Positions, n_checked: int) -> None:
    """Score some pairs in both directions, and warn if one of them has two different values."""
    space.n_checks = 2 * n_checked
    i, j = draw_pairs(space.n_left, n_checked, np.random.default_rng(0))
    forward, backward = space.score(i, j), space.score_again(j, i)
    scale = max(np.abs(forward).max(), np.abs(backward).max())
    differ = np.flatnonzero(np.abs(forward - backward) > TOLERANCE * scale)
    if differ.size and id(similarity) not in _warned_about:
        _warned_about[id(similarity)] = similarity
        first = differ[0]
        values = f"{forward[first]:.8g} in this order and {backward[first]:.8g} in the other"
        message = (
            f"The similarity of objects {rows[i[first]]} and {rows[j[first]]} is {values}, so that it depends on the "
            f"order ({differ.size} of {n_checked} pairs that were looked at do), but only one order is evaluated, "
            f"because nothing says that it matters; {_remedy(similarity)}."
        )
        tell = getattr(_hearing, "tell", None)
        if tell is None:
            warnings.warn(message, AsymmetryWarning, stacklevel=2)
        else:
            tell(message)


def _remedy(similarity: Similarity) -> str:
    """Say how to declare whether a similarity is symmetric."""
    name = getattr(similarity.function, "__name__", "f")
    name = name if name.isidentifier() else "f"
    attribute = "" if similarity.kind == "batches" else f", or set {name}.symmetric = False"
    wrapped = f"batched({name}" if similarity.kind == "batches" else f"Similarity({name}"
    if similarity.conversion is not None:
        wrapped = f"from_distance({f'covey.batched({name})' if similarity.kind == 'batches' else name}"
    return f"pass covey.{wrapped}, symmetric=False){attribute}; symmetric=True says that it does not matter"
