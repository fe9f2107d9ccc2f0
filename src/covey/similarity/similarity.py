"""What "similar" means: named similarities, your own functions, batches of pairs, distances, a matrix.

A `Similarity` says how a pair is scored and whether s(a, b) = s(b, a); it holds no data. `space.py` joins it with
objects. A larger score is closer, always; distances come in only through `from_distance`.

Named similarities are rows of a table. Each is one sum over coordinates (`_kernels.py`), finished on whole arrays
with that sum of each row with itself, called a and b below:

    cosine     x.y / sqrt(a b)            0 where either vector is zero
    dot        x.y
    jaccard    x.y / (a + b - x.y)        sets, or rows of 0 and 1; two empty sets score 1
    ruzicka    min / (a + b - min)        non-negative weights; two empty rows score 1
    hamming    equal positions / width
    euclidean  1 / (1 + distance)

Named similarities of strings are rapidfuzz' normalized similarities, from 0 to 1 (the extra `text` installs it).
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Kind = Literal["rows", "strings", "objects", "batches", "matrix"]


@dataclass(frozen=True)
class Measure:
    """A named similarity or distance on rows of numbers."""

    name: str
    statistic: Literal["dot", "squared", "absolute", "minimum", "mismatches"]
    finish: Callable[[Floats, Floats, Floats, int], Floats]
    term: Literal["dot", "minimum"] | None = None
    """The statistic of each row with itself that `finish` and `estimate` need, or that tells rows that are too long."""
    domain: Literal["real", "nonnegative", "binary"] = "real"
    with_itself: Callable[[Floats], Floats] = np.ones_like
    estimate: Callable[[NDArray[Any], Floats, Floats], NDArray[Any]] | None = None
    """From matrix products to numbers that order pairs as the score does, up to `slack`; symmetric as the score is."""
    slack: Callable[["Rounding", Floats, Floats], Floats] | None = None
    """How far an estimate may lie from the score's own place, per row, given the products' rounding."""


@dataclass(frozen=True)
class Rounding:
    """A computed product of rows x and y lies within relative * |x| |y| + absolute of the true one."""

    relative: float
    absolute: float


def _cosine(dot: Floats, a: Floats, b: Floats, width: int) -> Floats:
    scale = np.sqrt(a * b)  # for equal rows exactly a, so that their cosine is exactly 1
    values = np.divide(dot, scale, out=np.zeros_like(scale), where=scale > 0)
    return np.clip(values, -1.0, 1.0, out=values)


def _share(common: Floats, a: Floats, b: Floats, width: int) -> Floats:
    union = a + b - common
    return np.divide(common, union, out=np.ones_like(union), where=union > 0)


def _estimate_cosine(products: NDArray[Any], a: Floats, b: Floats) -> NDArray[Any]:
    with np.errstate(divide="ignore"):
        inverse_a, inverse_b = (np.where(t > 0, 1 / np.sqrt(t), 0).astype(products.dtype) for t in (a, b))
    products *= inverse_a[:, None]
    products *= inverse_b
    return products


def _estimate_share(products: NDArray[Any], a: Floats, b: Floats) -> NDArray[Any]:
    common = products.astype(np.float64)
    return _share(common, a[:, None], b[None, :], 0)


def _estimate_nearness(products: NDArray[Any], a: Floats, b: Floats) -> NDArray[Any]:
    """Minus the squared distance."""
    products *= 2
    products -= a.astype(products.dtype)[:, None]
    products -= b.astype(products.dtype)
    return products


def _distance_slack(rounding: Rounding, a: Floats, b: Floats) -> Floats:
    """1 / (1 + d) has fewer values than d: what rounds to the same similarity is tied, too."""
    squares = a + b.max()
    return 4 * (rounding.relative * squares + rounding.absolute) + 16 * np.finfo(np.float64).eps * (1 + squares)


MEASURES = {
    measure.name: measure
    for measure in (
        Measure(
            "cosine",
            "dot",
            _cosine,
            term="dot",
            estimate=_estimate_cosine,
            slack=lambda rounding, a, b: np.full(a.size, 2 * rounding.relative),
        ),
        Measure(
            "dot",
            "dot",
            lambda dot, a, b, width: dot,
            term="dot",
            with_itself=lambda a: a,
            estimate=lambda products, a, b: products,
            slack=lambda rounding, a, b: 2 * (rounding.relative * np.sqrt(a * b.max()) + rounding.absolute),
        ),
        Measure(
            "jaccard",
            "dot",
            _share,
            term="dot",
            domain="binary",
            estimate=_estimate_share,
            slack=lambda rounding, a, b: np.zeros(a.size),  # products of 0 and 1 are exact
        ),
        Measure("ruzicka", "minimum", _share, term="minimum", domain="nonnegative"),
        Measure("hamming", "mismatches", lambda mismatches, a, b, width: (width - mismatches) / width),
    )
}

DISTANCES = {
    measure.name: measure
    for measure in (
        Measure(
            "euclidean",
            "squared",
            lambda squared, a, b, width: np.sqrt(squared),
            term="dot",
            with_itself=np.zeros_like,
            estimate=_estimate_nearness,
            slack=_distance_slack,
        ),
        Measure(
            "sqeuclidean",
            "squared",
            lambda squared, a, b, width: squared,
            term="dot",
            with_itself=np.zeros_like,
            estimate=_estimate_nearness,
            slack=_distance_slack,
        ),
        Measure("manhattan", "absolute", lambda absolute, a, b, width: absolute, term="dot", with_itself=np.zeros_like),
    )
}

STRINGS = {"indel": "Indel", "jaro-winkler": "JaroWinkler", "levenshtein": "Levenshtein", "osa": "OSA"}
"""Similarities of strings by our name for them, with the name of rapidfuzz' module."""

LARGEST = 1e150
"""Similarities and distances are smaller in magnitude, so that sums of them and of their squares stay finite."""

CONVERSIONS: dict[str, Callable[[Floats], Floats]] = {
    "inverse": lambda distance: 1.0 / (1.0 + distance),
    "negative": np.negative,
    "exponential": lambda distance: np.exp(-distance),
}


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
    """

    function: Any
    symmetric: bool = True
    kind: Kind = field(default="objects", kw_only=True)
    conversion: str | None = field(default=None, kw_only=True)
    batch_size: int = field(default=4096, kw_only=True)

    def __post_init__(self) -> None:
        if self.kind in ("objects", "batches") and not callable(self.function):
            raise TypeError(f"function must be callable, got {self.function!r}; named similarities need no wrapping.")

    @property
    def measure(self) -> Measure:
        """The row of the table that a named similarity or distance stands for."""
        return (MEASURES if self.conversion is None else DISTANCES)[self.function]

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


def batched(function: Callable[[Any, Any], Any], *, symmetric: bool = True, batch_size: int = 4096) -> Similarity:
    """A similarity that scores many pairs at once.

    Parameters
    ----------
    function : callable
        ``function(A, B)`` returns one number for each aligned pair (A[t], B[t]). A and B are arrays or CSR matrices
        if the objects are rows of one, else lists.
    symmetric : bool, default=True
        Whether s(a, b) = s(b, a) for all objects.
    batch_size : int, default=4096
        The most pairs handed over in one call.

    Examples
    --------
    >>> import covey
    >>> import numpy as np
    >>> gaussian = covey.batched(lambda A, B: np.exp(-((A - B) ** 2).sum(axis=1)))
    >>> covey.CRS(similarity=gaussian).fit(np.eye(4)).sample_indices_
    array([0])
    """
    if not (isinstance(batch_size, Integral) and batch_size >= 1):
        raise ValueError(f"batch_size must be an int of at least 1, got {batch_size!r}.")
    return Similarity(function, symmetric, kind="batches", batch_size=batch_size)


def from_distance(
    distance: str | Callable[[Any, Any], Any] | Similarity,
    how: str = "inverse",
    *,
    symmetric: bool | None = None,
) -> Similarity:
    """A similarity made from a distance.

    Parameters
    ----------
    distance : str or callable
        "euclidean", "sqeuclidean", "manhattan", a callable d(a, b) >= 0, ``covey.batched(d)``, or "precomputed" if X
        is a matrix of distances.
    how : {"inverse", "negative", "exponential"}, default="inverse"
        1 / (1 + d), -d or exp(-d). All keep the order of neighbors; they differ in homogeneity and in gains, and
        "negative" needs ``gain="count"``.
    symmetric : bool, optional
        Whether d(a, b) = d(b, a); by default what the callable says of itself, else True.
    """
    if not (isinstance(how, str) and how in CONVERSIONS):
        raise ValueError(f"how must be one of {sorted(CONVERSIONS)}, got {how!r}.")
    if isinstance(distance, str) and distance == "precomputed":
        return Similarity("precomputed", kind="matrix", conversion=how)
    if isinstance(distance, str) and distance in DISTANCES:
        return Similarity(distance, kind="rows", conversion=how)
    if not callable(distance) and not isinstance(distance, Similarity):
        known = sorted([*DISTANCES, "precomputed"])
        raise ValueError(f"distance must be a callable or one of {known}, got {distance!r}.")
    base = distance if isinstance(distance, Similarity) else resolve(distance)
    if base.conversion is not None or base.kind not in ("objects", "batches"):
        raise ValueError(f"distance must be a name, a callable d(a, b) or covey.batched(d), got {distance!r}.")
    symmetric = base.symmetric if symmetric is None else symmetric
    return Similarity(base.function, symmetric, kind=base.kind, conversion=how, batch_size=base.batch_size)


def names() -> list[str]:
    """The similarities that can be asked for by name."""
    return sorted([*MEASURES, *STRINGS, "euclidean", "precomputed"])


def is_precomputed(similarity: Any) -> bool:
    """Whether X is a matrix of similarities or distances under what a user has passed as ``similarity``."""
    named = isinstance(similarity, str) and similarity == "precomputed"
    return named or (isinstance(similarity, Similarity) and similarity.kind == "matrix")


def resolve(similarity: Any) -> Similarity:
    """What a user may pass as ``similarity`` as a `Similarity`."""
    if isinstance(similarity, Similarity):
        return similarity
    if isinstance(similarity, str):
        if similarity == "precomputed":
            return Similarity("precomputed", kind="matrix")
        if similarity == "euclidean":
            return from_distance("euclidean")
        if similarity in MEASURES:
            return Similarity(similarity, kind="rows")
        if similarity in STRINGS:
            return Similarity(similarity, kind="strings")
    elif callable(similarity):
        return Similarity(similarity, symmetric=bool(getattr(similarity, "symmetric", True)))
    is_distance = isinstance(similarity, str) and similarity in DISTANCES
    raise ValueError(
        f"similarity must be a callable s(a, b), covey.batched(f), covey.from_distance(d) or one of {names()}, "
        f"got {similarity!r}" + (f"; pass covey.from_distance({similarity!r})." if is_distance else ".")
    )
