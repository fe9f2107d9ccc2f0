"""What a similarity is: how a pair of objects is scored, and whether the order of the two matters.

A `Similarity` holds no data; a collection joins it with objects. A larger score always means that two objects are
closer. Distances come in only through `from_distance`, which turns them into similarities. `measures.py` lists
the similarities that have names.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from covey.arrays import Floats

Kind = Literal["rows", "strings", "mixed", "objects", "batches", "matrix"]
"""What a similarity compares. This decides which class of collections holds X."""

LARGEST = np.float64(1e150)
"""All similarities and distances must be smaller than this in magnitude, and so must the own terms of rows and the
numbers in X that such terms are made of. Squares and products of two of them, and their sums, then have floats. It is a
number of NumPy's, because NumPy would make a float32 of one of Python's to compare it with such an array."""

CONVERSIONS: dict[str, Callable[[Floats], Floats]] = {
    "inverse": lambda distance: 1.0 / (1.0 + distance),
    "negative": np.negative,
    "exponential": lambda distance: np.exp(-distance),
}
"""How a distance becomes a similarity, for each value of ``how`` in `from_distance`."""

REVERSIONS: dict[str, Callable[[float], float]] = {
    "inverse": lambda similarity: 1.0 / similarity - 1.0 if similarity > 0 else math.inf,
    "negative": lambda similarity: -similarity,
    "exponential": lambda similarity: -math.log(similarity) if similarity > 0 else math.inf,
}
"""Which distance becomes a similarity; infinity if every distance gives a larger one."""


@dataclass(frozen=True)
class Rounding:
    """How exact matrix products are.

    A computed product of rows x and y lies within relative * |x| |y| + absolute of the true one.
    """

    relative: float
    absolute: float


@dataclass(frozen=True)
class Measure:
    """A similarity of rows of numbers, or a distance, that is made of one sum over their coordinates.

    Such a similarity is computed by compiled code, by several threads, and for dense rows, sparse rows, sets and dicts
    of numbers alike. Pass one to `covey.register_similarity` to give it a name.

    Parameters
    ----------
    statistic : {"dot", "minimum", "squared", "absolute", "mismatches"}
        What is summed over the coordinates of two rows x and y: x y, min(x, y), (x - y)^2, abs(x - y), or 1 where x and
        y differ. `kernels.py` has a compiled loop for each.
    finish : callable
        ``finish(sums, a, b, width)`` turns the sums of many pairs into their similarities. The arrays a and b hold the
        own terms of the two rows of each pair, and width is the number of columns.
    term : {"dot", "minimum"}, optional
        The own term of a row is this statistic of the row with itself. Without it, all own terms are 0.
    domain : {"real", "nonnegative", "binary"}, default="real"
        Which numbers rows may hold. Other numbers are refused.
    with_itself : callable, optional
        ``with_itself(a)`` returns the similarities of rows to themselves, given their own terms. By default these are
        1.
    estimate, slack : callable, optional
        Give both if the order of the similarities follows from matrix products. ``estimate(products, a, b)`` turns a
        block of products into numbers that order pairs as the similarity does. ``slack(rounding, a, b)`` says for each
        row how far its estimates may be wrong, given the `Rounding` of products. Whole blocks are then screened by
        products, and only the pairs that may matter are scored.
    estimate_of : callable, optional
        ``estimate_of(value)`` returns the estimate of a pair whose similarity, or distance, is this number. Without it,
        all pairs are scored to find those that reach a threshold.
    nothing_in_common : float, optional
        The similarity of rows that have nothing in common, if it has one such value. A classifier with `reject` then
        rejects each object that is no more similar than this to any representative. If products or minima are summed,
        the value holds only where X has no negative numbers, and is left out of account otherwise.
    is_product : bool, default=False
        Whether the similarity is the dot product of the two rows. The mean over all pairs is then computed without
        scoring any pair.
    ignores_length : bool, default=False
        Whether rows are first scaled to length 1, so that a positive multiple of a row is equal to the row.

    See Also
    --------
    covey.register_similarity : Give a measure a name.

    Examples
    --------
    Dice's coefficient of two sets is twice the number of elements that they share, divided by the sum of their sizes:

    >>> import covey
    >>> def share(shared, a, b, width):
    ...     return 2 * shared / (a + b)
    >>> dice = covey.Measure("dot", share, term="dot", domain="binary", nothing_in_common=0.0)
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
    estimate_of: Callable[[float], float] | None = None
    is_product: bool = field(default=False, kw_only=True)
    ignores_length: bool = field(default=False, kw_only=True)
    nothing_in_common: float | None = None


@dataclass(frozen=True)
class Similarity:
    """A similarity s(a, b) of two objects, for which a larger value means that they are closer.

    A plain function needs no wrapping. Wrap it to say that the order of the two objects matters. s need not be a
    metric: neither the triangle inequality nor s(a, a) = 1 is assumed.

    Parameters
    ----------
    function : callable
        ``function(a, b)`` returns one finite real number. If numba has compiled it and the objects are rows of a
        numeric array, compiled code calls it. On CSR rows it is then called as ``function(columns_a, values_a,
        columns_b, values_b)``.
    symmetric : bool, default=True
        Whether s(a, b) = s(b, a) for all objects. If not, both directions are scored, so that a pair costs two
        evaluations, and s(x, .) ranks the neighbors of x.

    Attributes
    ----------
    kind : {"rows", "strings", "mixed", "objects", "batches", "matrix"}
        What the similarity compares: rows of numbers, strings, rows of numbers and categories, any two objects, many
        pairs of objects in one call, or entries of a matrix. `covey.batched` and the named similarities set it.
    conversion : {"inverse", "negative", "exponential"} or None
        How a distance becomes the similarity. `covey.from_distance` sets it.
    batch_size : int
        The most pairs that are passed in one call. `covey.batched` sets it.
    declared : bool
        Whether the user has said if the similarity is symmetric. It is False for a plain function without an attribute
        ``symmetric``.
    trusted : bool
        Whether a few pairs are *not* asked again to check what the function promises (see
        `covey.exceptions.AsymmetryWarning` and `covey.exceptions.NondeterminismWarning`). It is
        True for a function with an attribute ``trusted`` that is true.

    Raises
    ------
    TypeError
        If `function` is not callable. A fit raises it if the function returns no real number for a pair, a ValueError
        if the number is not finite, and a RuntimeError if the function raises an error; the message names the two
        objects.

    See Also
    --------
    covey.batched : A function that scores many pairs in one call.
    covey.from_distance : A similarity that is made of a distance.
    covey.register_similarity : Give a similarity a name.

    Examples
    --------
    The share of the letters of a that b has depends on the order of the two words:

    >>> import covey
    >>> def share(a, b):
    ...     return len(set(a) & set(b)) / len(set(a))
    >>> words = ["no", "note", "notebook", "dog"]
    >>> covey.CRS(2, similarity=covey.Similarity(share, symmetric=False)).fit(words).sample_indices_
    array([2, 3])
    """

    function: Any
    symmetric: bool = field(default=True, kw_only=True)
    kind: Kind = field(default="objects", kw_only=True)
    conversion: str | None = field(default=None, kw_only=True)
    batch_size: int = field(default=4096, kw_only=True)
    declared: bool = field(default=True, kw_only=True, compare=False)
    trusted: bool = field(default=False, kw_only=True, compare=False)

    def __post_init__(self) -> None:
        if self.kind in ("objects", "batches") and not callable(self.function):
            raise TypeError(f"function must be callable, got {self.function!r}; named similarities need no wrapping.")
        if getattr(self.function, "trusted", False):
            object.__setattr__(self, "trusted", True)

    def __repr__(self) -> str:
        made_of = self.function if isinstance(self.function, str) else getattr(self.function, "__name__", self.function)
        named = self.kind in ("rows", "strings", "mixed")
        shown = f"batched({made_of})" if self.kind == "batches" else f"{made_of!r}" if named else f"{made_of}"
        direction = "" if self.symmetric else ", symmetric=False"
        if self.conversion is not None:
            return f"from_distance({shown}, {self.conversion!r}{direction})"
        return f"Similarity({shown}{direction})"

    def convert(self, values: Floats) -> Floats:
        """Turn distances into similarities.

        Parameters
        ----------
        values : float array
            What the function has returned.

        Returns
        -------
        float array
            The similarities. Without a conversion, these are the values themselves.

        Examples
        --------
        >>> import covey
        >>> import numpy as np
        >>> covey.from_distance("euclidean").convert(np.array([0.0, 1.0, 3.0]))
        array([1.  , 0.5 , 0.25])
        """
        return values if self.conversion is None else CONVERSIONS[self.conversion](values)

    def revert(self, similarity: float) -> float:
        """Return the distance that becomes this similarity.

        Parameters
        ----------
        similarity : float
            A similarity.

        Returns
        -------
        float
            The distance; without a conversion, the similarity itself. It is infinite if every distance is converted to
            a larger similarity.

        Examples
        --------
        >>> import covey
        >>> covey.from_distance("euclidean").revert(0.25)
        3.0
        """
        return similarity if self.conversion is None else REVERSIONS[self.conversion](similarity)


SimilarityLike = str | Callable[[Any, Any], Any] | Similarity
"""What a user may pass as ``similarity``: a name, a function of two objects, or a `Similarity`."""
