"""Similarities that have names, and what a user may pass as ``similarity``.

Each similarity of rows of numbers is made of one sum over coordinates, for which `kernels.py` has a compiled loop. A
formula on whole arrays then turns sums into similarities. It also gets the own terms a and b of the two rows, which are
the same kind of sum of each row with itself:

    cosine     x.y / sqrt(a b)            It is 0 where either vector is zero.
    dot        x.y
    jaccard    x.y / (a + b - x.y)        For sets, or rows of 0 and 1, also packed. Two empty sets score 1.
    ruzicka    min / (a + b - min)        For non-negative weights. Two empty rows score 1.
    hamming    equal positions / width
    euclidean  1 / (1 + distance)

Gower's similarity compares rows of mixed columns. It is the mean of one term for each column that is filled in both
rows, and 0 if there is no such column. A column of numbers has the term 1 - |x - y| / range, where the range is that of
the column in all of X; a query outside of the range has the term 0 where this would be negative. Any other column holds
categories and has the term 1 if both are equal, and 0 otherwise. A column of equal numbers counts as equal. A row
without any value has the similarity 0 to all rows, itself included.

One less this similarity is the dissimilarity that J. C. Gower defined in 1971 ("A general coefficient of similarity and
some of its properties", Biometrics 27), and that `daisy(x, metric = "gower")` of the R package cluster computes, with
three differences: daisy replaces ordered factors by their ranks, while ordered categories count as categories here;
daisy has weights for columns; and it answers NA for two rows that have no column in common.

The named similarities of strings are the normalized similarities of rapidfuzz, from 0 to 1. The extra `text` installs
rapidfuzz.

A similarity may say which value it has for objects that have nothing in common. It is 0 for all of these but
"euclidean", since there is no largest distance. "cosine" and "dot" have it only where no number is negative.

To add a similarity, add a row to one of the tables below and its name to `names.py`, or call `register_similarity`.
"""

import pickle
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from joblib import wrap_non_picklable_objects
from numpy.typing import NDArray

from covey.arrays import Floats
from covey.runtime.parameters import is_whole
from covey.similarity.fingerprint import code_fingerprint
from covey.similarity.kernels import shares_of_unions
from covey.similarity.names import MIXED, STRINGS
from covey.similarity.similarity import CONVERSIONS, Measure, Rounding, Similarity


def _cosine(dot: Floats, a: Floats, b: Floats, width: int) -> Floats:
    scale = np.sqrt(a * b)  # this is exactly a for equal rows, so that their cosine is exactly 1
    values = np.divide(dot, scale, out=np.zeros_like(scale), where=scale > 0)
    return np.clip(values, -1.0, 1.0, out=values)


def _share(common: Floats, a: Floats, b: Floats, width: int) -> Floats:
    """Return the share of the union that is common to both. It is 1 where both are empty."""
    union = a + b - common
    return np.divide(common, union, out=np.ones_like(union), where=union > 0)


def _estimate_cosine(products: NDArray[Any], a: Floats, b: Floats) -> NDArray[Any]:
    """Turn products into cosines, in place."""
    with np.errstate(divide="ignore"):
        inverse_a, inverse_b = (np.where(t > 0, 1 / np.sqrt(t), 0).astype(products.dtype) for t in (a, b))
    products *= inverse_a[:, None]
    products *= inverse_b
    return products


def _estimate_share(products: NDArray[Any], a: Floats, b: Floats) -> NDArray[Any]:
    """Turn products, which count common elements here, into shares of the union."""
    shares = np.empty(products.shape)
    shares_of_unions(products, a, b, shares)
    return shares


def _estimate_nearness(products: NDArray[Any], a: Floats, b: Floats) -> NDArray[Any]:
    """Turn products into minus the squared distance, in place."""
    products *= 2
    products -= a.astype(products.dtype)[:, None]
    products -= b.astype(products.dtype)
    return products


def _distance_slack(rounding: Rounding, a: Floats, b: Floats) -> Floats:
    """Return the slack of estimates of minus the squared distance.

    The first part is the rounding of the products. The second part covers ties: different distances may round to the
    same similarity 1 / (1 + d), and these pairs must not be ruled out.
    """
    squares = a + b.max()
    return 4 * (rounding.relative * squares + rounding.absolute) + 16 * np.finfo(np.float64).eps * (1 + squares)


MEASURES = {
    "cosine": Measure(
        "dot",
        _cosine,
        term="dot",
        estimate=_estimate_cosine,
        slack=lambda rounding, a, b: np.full(a.size, 2 * rounding.relative),
        estimate_of=lambda similarity: similarity,
        is_product=True,
        ignores_length=True,
        nothing_in_common=0.0,
    ),
    "dot": Measure(
        "dot",
        lambda dot, a, b, width: dot,
        term="dot",
        with_itself=lambda a: a,
        estimate=lambda products, a, b: products,
        slack=lambda rounding, a, b: 2 * (rounding.relative * np.sqrt(a) * np.sqrt(b.max()) + rounding.absolute),
        estimate_of=lambda similarity: similarity,
        is_product=True,
        nothing_in_common=0.0,
    ),
    "jaccard": Measure(
        "dot",
        _share,
        term="dot",
        domain="binary",
        estimate=_estimate_share,
        slack=lambda rounding, a, b: np.zeros(a.size),  # products of 0 and 1 are exact
        estimate_of=lambda similarity: similarity,
        nothing_in_common=0.0,
    ),
    "ruzicka": Measure("minimum", _share, term="minimum", domain="nonnegative", nothing_in_common=0.0),
    "hamming": Measure(
        "mismatches", lambda mismatches, a, b, width: (width - mismatches) / width, nothing_in_common=0.0
    ),
}
"""Similarities of rows of numbers, by name."""

DISTANCES = {
    "euclidean": Measure(
        "squared",
        lambda squared, a, b, width: np.sqrt(squared),
        term="dot",
        with_itself=np.zeros_like,
        estimate=_estimate_nearness,
        slack=_distance_slack,
        estimate_of=lambda distance: -distance * distance,
    ),
    "sqeuclidean": Measure(
        "squared",
        lambda squared, a, b, width: squared,
        term="dot",
        with_itself=np.zeros_like,
        estimate=_estimate_nearness,
        slack=_distance_slack,
        estimate_of=lambda squared: -squared,
    ),
    "manhattan": Measure("absolute", lambda absolute, a, b, width: absolute, term="dot", with_itself=np.zeros_like),
}
"""Distances of rows of numbers, by name. They are passed to `from_distance`."""

BUILT_IN = frozenset(MEASURES)
"""The names of the similarities of rows that covey has itself. They are known in every process."""

NAMED: dict[str, Similarity] = {
    **{name: Similarity(name, kind="rows") for name in MEASURES},
    "euclidean": Similarity("euclidean", kind="rows", conversion="inverse"),
    **{name: Similarity(name, kind="strings") for name in STRINGS},
    **{name: Similarity(name, kind="mixed") for name in MIXED},
    "precomputed": Similarity("precomputed", kind="matrix"),
}
"""What each name means that a user may pass as ``similarity``."""


class RegisteredSimilarity(Similarity):
    """A similarity of rows of numbers that the user has registered with a `Measure`.

    A pickle of it holds the measure beside the name. The name is registered where the pickle is loaded, so that the
    similarity can be sent to another process.
    """

    def __getstate__(self) -> dict[str, Any]:
        if self.function not in MEASURES:  # the name is not registered any more
            return dict(vars(self))
        # Plain pickle cannot store the lambdas that a measure is often made of. The wrapper uses cloudpickle for them.
        wrapped = wrap_non_picklable_objects(MEASURES[self.function], keep_wrapper=False)
        return {**vars(self), "measure": pickle.dumps(wrapped)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        if "measure" in state:
            _receive(state["function"], pickle.loads(state["measure"]))
        vars(self).update({name: value for name, value in state.items() if name != "measure"})


def _receive(name: str, measure: Measure) -> None:
    """Register a measure that came from another process. If its name is known, it must mean the same measure."""
    if name not in NAMED:
        _register(name, measure)
    elif name not in MEASURES or not _are_same(measure, MEASURES[name]):
        raise ValueError(
            f"similarity {name!r} must be the same in all processes, but this process has registered another one under "
            "this name; use another name for one of the two."
        )


def register_similarity(name: str, similarity: "Measure | Similarity | Callable[[Any, Any], Any]") -> None:
    """Give a custom similarity a name.

    The name then means this similarity wherever covey takes a similarity, until the process ends. A saved model stores
    only the name, so register the similarity again before you load the model in another process.

    Parameters
    ----------
    name : str
        A name that is not taken yet. To register the same `covey.Measure` again changes nothing.
    similarity : Measure, Similarity or callable
        A `covey.Measure` makes a similarity of rows of numbers that is computed by compiled code. Anything else that
        may be passed as ``similarity`` is allowed, too: a callable s(a, b), or what `covey.batched` or
        `covey.from_distance` returns.

    Raises
    ------
    ValueError
        If the name is taken, by one of covey's own similarities or by another one of yours.
    TypeError
        If the name is not a string, or is empty.

    See Also
    --------
    covey.similarity_names : List all names.
    covey.Measure : A similarity that compiled code computes.

    Examples
    --------
    >>> import covey
    >>> covey.register_similarity("same length", lambda a, b: 1.0 / (1 + abs(len(a) - len(b))))
    >>> round(covey.homogeneity(["one", "two", "three"], similarity="same length").value, 3)
    0.556
    """
    if not isinstance(name, str) or not name:
        raise TypeError(f"name must be a string that is not empty, got {name!r}.")
    if name in MEASURES and isinstance(similarity, Measure) and _are_same(similarity, MEASURES[name]):
        return  # the program cannot know whether a similarity of another process has arrived before
    if name in NAMED or name in DISTANCES:
        raise ValueError(f"name must not be taken, but {name!r} is the name of a similarity or distance already.")
    if isinstance(similarity, Measure):
        _register(name, similarity)
    else:
        NAMED[name] = resolve(similarity)


def _register(name: str, measure: Measure) -> None:
    MEASURES[name] = measure
    NAMED[name] = RegisteredSimilarity(name, kind="rows")


def _are_same(measure: Measure, other: Measure) -> bool:
    """Return whether two measures do the same. Functions that came from another process are equal to no others, so they
    are compared by their code.
    """
    return measure == other or code_fingerprint(measure) == code_fingerprint(other)


def is_built_in(similarity: Similarity) -> bool:
    """Return whether covey itself has a similarity that is given by its name."""
    return similarity.kind != "rows" or similarity.conversion is not None or similarity.function in BUILT_IN


def similarity_fingerprint(similarity: Similarity) -> str:
    """Return 16 hexadecimal digits that change when the similarity does. They are the same in every process.

    A similarity that covey has counts by its name, one that was registered by its name and its measure, and a function
    by its byte code, its constants, its defaults and what it has closed over. Of what it reads from its module,
    functions of the same module count, and numbers, strings and tuples. An object that can be called counts by its
    methods and by what pickle would store of it. Byte code depends on the version of Python. If a function or an object
    has an attribute ``fingerprint``, it counts by this alone. That is for functions that are edited without another
    meaning, and for objects whose content changes although the similarity does not, such as a cache.
    """
    function = getattr(similarity.function, "fingerprint", similarity.function)
    if isinstance(function, str) and not is_built_in(similarity):
        function = (function, MEASURES.get(function))
    return code_fingerprint(similarity.kind, function, similarity.symmetric, similarity.conversion)


def measure_of(similarity: Similarity) -> Measure:
    """Return the table's row for a similarity, or for a distance, of rows of numbers."""
    measures = MEASURES if similarity.conversion is None else DISTANCES
    if similarity.function not in measures:
        raise ValueError(
            f"similarity {similarity.function!r} is not registered in this program; "
            "call covey.register_similarity first."
        )
    return measures[similarity.function]


def batched(
    function: Callable[[Any, Any], Any], *, symmetric: bool | None = None, batch_size: int = 4096
) -> Similarity:
    """Make a similarity of a function that scores many pairs in one call.

    Use it where a call for many pairs costs little more than a call for one, as with array operations, a neural network
    or a service. An evaluation is still one pair.

    Parameters
    ----------
    function : callable
        ``function(A, B)`` returns one number for each pair (A[t], B[t]). A and B are arrays or CSR arrays if the
        objects are rows of numbers, and lists otherwise.
    symmetric : bool, optional
        Whether s(a, b) = s(b, a) for all objects. By default this is taken to be so, and checked for a few pairs.
    batch_size : int, default=4096
        The most pairs that are passed in one call.

    Returns
    -------
    Similarity
        It can be passed as ``similarity`` to any selector. A fit raises TypeError if the function does not return one
        finite real number for each pair.

    See Also
    --------
    covey.Similarity : Wraps a function of a single pair.

    Examples
    --------
    >>> import covey
    >>> import numpy as np
    >>> gaussian = covey.batched(lambda A, B: np.exp(-((A - B) ** 2).sum(axis=1)))
    >>> covey.CRS(similarity=gaussian).fit(np.eye(4)).sample_indices_
    array([0])
    """
    if not is_whole(batch_size, 1):
        raise ValueError(f"batch_size must be an int of at least 1, got {batch_size!r}.")
    declared = symmetric is not None
    return Similarity(
        function, symmetric=symmetric is not False, kind="batches", batch_size=batch_size, declared=declared
    )


def from_distance(
    distance: str | Callable[[Any, Any], Any] | Similarity,
    how: str = "inverse",
    *,
    symmetric: bool | None = None,
) -> Similarity:
    """Make a similarity of a distance.

    covey knows only similarities, for which larger means closer. This is the one place where distances come in. The
    distance need not be a metric, but it must not be negative.

    Parameters
    ----------
    distance : str or callable
        "euclidean", "sqeuclidean", "manhattan", a callable d(a, b) >= 0, ``covey.batched(d)``, or "precomputed" if X is
        a matrix of distances.
    how : {"inverse", "negative", "exponential"}, default="inverse"
        Whether the similarity is 1 / (1 + d), -d or exp(-d). All three rank neighbors alike, but they differ in
        homogeneity and in gains. Under "negative" no similarity is above 0, and such a similarity adds nothing to a
        gain in CRS unless ``gain="count"``.
    symmetric : bool, optional
        Whether d(a, b) = d(b, a). By default the ``symmetric`` attribute of the callable decides. If it has none, this
        is taken to be so, and checked for a few pairs.

    Returns
    -------
    Similarity
        It can be passed as ``similarity`` to any selector. A fit raises ValueError if a distance is negative.

    Raises
    ------
    ValueError
        If `how` or the name of the distance is unknown, or if what is passed is a similarity already.

    Examples
    --------
    >>> import covey
    >>> def difference(a, b):
    ...     return abs(a - b)
    >>> covey.homogeneity([1, 2, 4], covey.from_distance(difference, how="negative")).value
    -2.0
    """
    if not (isinstance(how, str) and how in CONVERSIONS):
        raise ValueError(f"how must be one of {sorted(CONVERSIONS)}, got {how!r}.")
    if isinstance(distance, str) and distance == "precomputed":
        return Similarity("precomputed", kind="matrix", conversion=how)
    if isinstance(distance, str) and distance in DISTANCES:
        return Similarity(distance, kind="rows", conversion=how)
    made = _convert_function(distance, how)
    return made if symmetric is None else replace(made, symmetric=symmetric, declared=True)


def _convert_function(distance: Any, how: str) -> Similarity:
    """Return the similarity that is made of a function, or raise ValueError if this is none."""
    if not callable(distance) and not isinstance(distance, Similarity):
        taken = sorted([*DISTANCES, "precomputed"])
        raise ValueError(f"distance must be a callable or one of {taken}, got {distance!r}.")
    base = distance if isinstance(distance, Similarity) else resolve(distance)
    if base.conversion is not None or base.kind not in ("objects", "batches"):
        raise ValueError(f"distance must be a name, a callable d(a, b) or covey.batched(d), got {distance!r}.")
    return replace(base, conversion=how)


def similarity_names() -> list[str]:
    """List the names that may be passed as ``similarity``.

    Returns
    -------
    list of str
        The names, sorted. Those given by `covey.register_similarity` are among them.

    See Also
    --------
    covey.from_distance : Takes the names of distances.

    Notes
    -----
    Rows of numbers, sets and dicts of numbers are compared by "cosine", "dot", "euclidean", which is 1 / (1 + d),
    "hamming", the share of equal columns, "jaccard", the common share of the union of two sets or rows of 0 and 1, and
    "ruzicka", the same for numbers of at least 0. Strings are compared by "levenshtein", "osa", "indel" and
    "jaro-winkler", which need the extra ``text``. "gower" compares rows of numbers and categories, in which values may
    be missing. "precomputed" says that X is a matrix of similarities.

    Examples
    --------
    >>> import covey
    >>> "cosine" in covey.similarity_names(), "manhattan" in covey.similarity_names()
    (True, False)
    >>> near = covey.from_distance("manhattan")  # a distance has to be converted
    """
    return sorted(NAMED)


def is_precomputed(similarity: Any) -> bool:
    """Return whether the ``similarity`` that a user has passed makes X a matrix of similarities or distances."""
    named = NAMED.get(similarity) if isinstance(similarity, str) else similarity
    return isinstance(named, Similarity) and named.kind == "matrix"


def resolve(similarity: Any) -> Similarity:
    """Turn what a user may pass as ``similarity`` into a `Similarity`."""
    if isinstance(similarity, Similarity):
        return similarity
    if isinstance(similarity, str) and similarity in NAMED:
        return NAMED[similarity]
    if callable(similarity):
        symmetric = getattr(similarity, "symmetric", None)
        return Similarity(similarity, symmetric=symmetric is None or bool(symmetric), declared=symmetric is not None)
    is_distance = isinstance(similarity, str) and similarity in DISTANCES
    raise ValueError(
        "similarity must be a callable s(a, b), covey.batched(f), covey.from_distance(d) or one of "
        f"{similarity_names()}, got {similarity!r}"
        + (f"; pass covey.from_distance({similarity!r})." if is_distance else ".")
    )
