"""What a similarity is: how a pair of objects is scored, and whether the order of the two matters.

A `Similarity` holds no data; a collection joins it with objects. A larger score is closer, always. Distances come in
only through `from_distance`, which converts them. The similarities that have names are listed in `named.py`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from covey.arrays import Floats

Kind = Literal["rows", "strings", "objects", "batches", "matrix"]
"""What a similarity is asked about: it decides which class of collections holds X."""

LARGEST = 1e150
"""Similarities and distances are smaller in magnitude, so that sums of them and of their squares stay finite."""

CONVERSIONS: dict[str, Callable[[Floats], Floats]] = {
    "inverse": lambda distance: 1.0 / (1.0 + distance),
    "negative": np.negative,
    "exponential": lambda distance: np.exp(-distance),
}


@dataclass(frozen=True)
class Rounding:
    """A computed product of rows x and y lies within relative * |x| |y| + absolute of the true one."""

    relative: float
    absolute: float


@dataclass(frozen=True)
class Measure:
    """A similarity, or a distance, of rows of numbers that is made of one sum over their coordinates.

    Such a similarity runs compiled on dense and sparse rows, on sets and on dicts of numbers, with threads. Pass one to
    `covey.register_similarity` to give a similarity of your own a name.

    Parameters
    ----------
    statistic : {"dot", "minimum", "squared", "absolute", "mismatches"}
        What is summed over the coordinates of two rows x and y: x y, min(x, y), (x - y)^2, abs(x - y), or 1 where x
        and y differ. `kernels.py` has a compiled loop for each.
    finish : callable
        ``finish(sums, a, b, width)`` makes the similarities of many pairs from their sums, from the own terms a and b
        of the two rows of each pair, and from the number of columns.
    term : {"dot", "minimum"}, optional
        Which statistic of each row with itself is its own term. Without it, the own terms are 0.
    domain : {"real", "nonnegative", "binary"}, default="real"
        Which numbers rows may hold.
    with_itself : callable, optional
        The similarities of rows to themselves, from their own terms; by default 1.
    estimate, slack : callable, optional
        If the similarity follows from matrix products, ``estimate(products, a, b)`` turns a block of them into numbers
        that order pairs as the similarity does. ``slack(rounding, a, b)`` says, for each row, how far an estimate may
        lie from the place of the similarity itself, given the `Rounding` of products. Blocks are then screened by
        products, and only pairs that may matter are scored.
    is_product : bool, default=False
        Whether the similarity is the dot product of the two rows. The mean over all pairs then needs no pair.
    ignores_length : bool, default=False
        Whether rows are first scaled to length 1, so that a positive multiple of a row is equal to it.

    Examples
    --------
    Dice's coefficient of two sets is twice the number of shared elements, by the number of elements of both:

    >>> import covey
    >>> dice = covey.Measure("dot", lambda shared, a, b, width: 2 * shared / (a + b), term="dot", domain="binary")
    >>> covey.register_similarity("dice", dice)
    >>> covey.homogeneity([{"a", "b"}, {"b", "c"}], similarity="dice").value
    0.5
    """

    statistic: Literal["dot", "squared", "absolute", "minimum", "mismatches"]
    finish: Callable[[Floats, Floats, Floats, int], Floats]
    term: Literal["dot", "minimum"] | None = None
    domain: Literal["real", "nonnegative", "binary"] = "real"
    with_itself: Callable[[Floats], Floats] = np.ones_like
    estimate: Callable[[NDArray[Any], Floats, Floats], NDArray[Any]] | None = None
    slack: Callable[[Rounding, Floats, Floats], Floats] | None = None
    is_product: bool = False
    ignores_length: bool = False


@dataclass(frozen=True)
class Similarity:
    """A similarity s(a, b) between two objects, larger is closer.

    Parameters
    ----------
    function : callable
        ``function(a, b)`` returns one finite real number. If it is compiled by numba and the objects are the rows of
        a numeric array, it runs compiled; on CSR rows it is called as ``function(columns_a, values_a, columns_b,
        values_b)``.
    symmetric : bool, default=True
        Whether s(a, b) = s(b, a) for all objects. If not, say so: both directions are then scored, s(x, .) ranks the
        neighbors of x, and a pair costs two evaluations.

    Attributes
    ----------
    kind : {"rows", "strings", "objects", "batches", "matrix"}
        What the similarity is asked about: rows of numbers, strings, any two objects, many pairs of objects at once,
        or entries of a matrix. `covey.batched` and the named similarities set it.
    conversion : {"inverse", "negative", "exponential"} or None
        How a distance becomes the similarity; `covey.from_distance` sets it.
    batch_size : int
        The most pairs that are handed over in one call; `covey.batched` sets it.
    """

    function: Any
    symmetric: bool = True
    kind: Kind = field(default="objects", kw_only=True)
    conversion: str | None = field(default=None, kw_only=True)
    batch_size: int = field(default=4096, kw_only=True)

    def __post_init__(self) -> None:
        if self.kind in ("objects", "batches") and not callable(self.function):
            raise TypeError(f"function must be callable, got {self.function!r}; named similarities need no wrapping.")

    def __repr__(self) -> str:
        made_of = self.function if isinstance(self.function, str) else getattr(self.function, "__name__", self.function)
        named = self.kind in ("rows", "strings")
        shown = f"batched({made_of})" if self.kind == "batches" else f"{made_of!r}" if named else f"{made_of}"
        direction = "" if self.symmetric else ", symmetric=False"
        if self.conversion is not None:
            return f"from_distance({shown}, {self.conversion!r}{direction})"
        return f"Similarity({shown}{direction})"

    def convert(self, values: Floats) -> Floats:
        """A distance becomes a similarity; a similarity stays."""
        return values if self.conversion is None else CONVERSIONS[self.conversion](values)


SimilarityLike = str | Callable[[Any, Any], Any] | Similarity
"""What a user may pass as ``similarity``: a name, a function of two objects, or a `Similarity`."""
