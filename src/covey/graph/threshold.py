"""All pairs of objects that are at least as similar as a threshold, tile by tile.

1. Cut the pairs into square tiles, as for the exact nearest neighbors (`exact.py`).
2. In a space that can be screened, estimate all similarities of a tile by one matrix product. Only pairs whose estimate
   reaches that of the threshold, less the slack of its row, need to be scored.
3. In any other space, score the whole tile, except for pairs that are known already.
4. Keep the pairs whose score reaches the threshold.

All pairs are looked at, so the edges are complete: an object that is not linked to another one is less similar to it
than the threshold. Memory grows with the number of edges, which a low threshold makes large.
"""

import math
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils._param_validation import validate_parameter_constraints

from covey.arrays import Floats, Indices, Integers
from covey.graph.exact import TILE, n_pairs_of_tile, pairs_of_tile
from covey.runtime.executor import share_out
from covey.runtime.parameters import RUNNING, is_number
from covey.runtime.progress import progress
from covey.similarity.inputs import Objects
from covey.similarity.kinds import collect
from covey.similarity.mean import as_threshold, mean_similarity
from covey.similarity.measures import resolve
from covey.similarity.similarity import SimilarityLike
from covey.similarity.space import ScoredPairs, Space

ROUNDING = 1e-12
"""By which share the estimate of a threshold may be rounded. It is computed in a few steps of float64, each of which is
off by a share of 1e-16."""


class Pairs(NamedTuple):
    """Pairs and their similarities s(i, j)."""

    i: Indices
    j: Indices
    similarities: Floats


def threshold_graph(
    X: Objects,
    threshold: float,
    similarity: SimilarityLike = "cosine",
    *,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> sp.csr_array:
    """Find all pairs of objects that are at least as similar as a threshold.

    Every pair is compared, so that the graph is complete. `covey.cover` picks representatives from it such that every
    object has one that is at least this similar, and `covey.cover_lower_bound` says how few any choice would need.

    Parameters
    ----------
    X : array, CSR matrix, frame or sequence of objects
        The objects, one per row or entry.
    threshold : float
        The least similarity of a pair, tau in the paper. Begin with a high one, so that the graph fits into memory.
    similarity : str, callable or Similarity, default="cosine"
        How similar two objects are, as in `covey.CRS`; larger means closer.
    n_jobs : int or None, default=None
        The number of threads for compiled similarities, or of processes for slow Python functions. -1 uses all cores.
    verbose : int, default=0
        1 shows a progress bar on a terminal.

    Returns
    -------
    CSR array of shape (n, n)
        Row x holds the similarities s(x, y) of all other objects y that reach the threshold.

    Raises
    ------
    ValueError, TypeError
        If a parameter has a value that is not allowed, if X does not fit the similarity, or if a custom function
        returns something else than a finite real number for a pair.
    RuntimeError
        If a custom function raises an error for a pair. The message names the two objects.

    See Also
    --------
    covey.neighbor_graph : The k most similar others of each object.

    Notes
    -----
    It takes n (n - 1) / 2 evaluations, twice as many if the similarity is not symmetric, and 12 bytes for each entry.

    Examples
    --------
    >>> import covey
    >>> graph = covey.threshold_graph([[1, 0], [1, 0.1], [0.1, 1], [0, 1]], threshold=0.9)
    >>> covey.cover(graph, coverage=1).indices, covey.cover_lower_bound(graph, coverage=1)
    (array([0, 2]), 2)
    """
    if not is_number(threshold):
        raise ValueError(f"threshold must be a number, got {threshold!r}.")
    validate_parameter_constraints(RUNNING, {"n_jobs": n_jobs, "verbose": verbose}, "threshold_graph")
    space = collect(X, resolve(similarity)).space(n_jobs)
    with progress("threshold graph", None, "evaluations", shown=verbose > 0) as bar:
        bar.watch(lambda: (space.n_done(), space.n_expected))
        return edges_above(space, float(threshold))


def edges_and_mean(
    space: Space, multiplicity: Integers, threshold: float | None, rng: np.random.Generator
) -> tuple[sp.csr_array, float]:
    """Return all edges that reach a threshold, by default the mean similarity of all pairs, and that mean.

    A pair that was evaluated for the mean is not evaluated again. The object x stands for multiplicity[x] equal ones.
    """
    screened = space.screened and space.estimate_of(0.0) is not None  # then the edges count all pairs
    homogeneity, scored = mean_similarity(space, multiplicity, rng, counted=not screened)
    if space.n_left == 1:
        return sp.csr_array((1, 1)), homogeneity.value
    least = as_threshold(homogeneity.value) if threshold is None else threshold
    return edges_above(space, least, None if screened else scored), homogeneity.value


def edges_above(space: Space, threshold: float, scored: ScoredPairs | None = None) -> sp.csr_array:
    """Return the edges between all objects of a square space whose similarity reaches the threshold.

    The pairs of `scored` are not scored again.
    """
    space.expect(space.n_pairs)
    step = share_out(space.n_left, TILE)
    starts = range(0, space.n_left, step)
    tiles = [(row, column) for row in starts for column in starts if row <= column or not space.symmetric]
    hurdle = space.estimate_of(threshold) if space.screened else None
    known = None if scored is None else np.sort(_codes(space.n_left, scored.i, scored.j))

    def search(tile: tuple[int, int]) -> Pairs:
        rows, columns = (slice(start, min(start + step, space.n_left)) for start in tile)
        if hurdle is not None:
            return _screened(space, rows, columns, hurdle, threshold)
        i, j = pairs_of_tile(space, rows, columns, others=True)
        if known is not None and known.size:
            codes = _codes(space.n_left, i, j)
            new = known[np.minimum(np.searchsorted(known, codes), known.size - 1)] != codes
            i, j = i[new], j[new]
        return _reaching(i, j, space.score(i, j), threshold)

    parts = list(space.executor.run(search, tiles, products=True))
    if scored is not None:
        parts.append(_reaching(scored.i, scored.j, scored.forward, threshold))
        if not space.symmetric:
            parts.append(_reaching(scored.j, scored.i, scored.backward, threshold))
    return _edges(space.n_left, parts, symmetric=space.symmetric)


def _screened(space: Space, rows: slice, columns: slice, hurdle: float, threshold: float) -> Pairs:
    """Return the pairs of a tile that reach the threshold; only those whose estimates are near it are scored."""
    estimates = space.estimates(rows, columns)
    rounding = ROUNDING * abs(hurdle) if math.isfinite(hurdle) else 0.0
    lowest = np.nextafter((hurdle - space.slack(rows) - rounding).astype(estimates.dtype), -np.inf)
    close = estimates >= lowest[:, None]
    if rows == columns:
        close &= _off_diagonal(len(estimates), upper=space.symmetric)
    space.count(n_pairs_of_tile(space, estimates, diagonal=rows == columns))
    i, j = (side.astype(np.int32) for side in np.nonzero(close))
    i, j = i + np.int32(rows.start), j + np.int32(columns.start)
    return _reaching(i, j, space.score(i, j, counted=False), threshold)


def _off_diagonal(n: int, *, upper: bool) -> NDArray[np.bool_]:
    """Return which entries of a square tile on the diagonal are pairs of different objects, each once if `upper`."""
    return np.triu(np.ones((n, n), dtype=bool), k=1) if upper else ~np.eye(n, dtype=bool)


def _reaching(i: Indices, j: Indices, similarities: Floats, threshold: float) -> Pairs:
    """Return the pairs whose similarities reach the threshold."""
    reaching = similarities >= threshold
    return Pairs(i[reaching], j[reaching], similarities[reaching])


def _codes(n: int, i: Indices, j: Indices) -> Integers:
    """Return one number for each unordered pair."""
    return np.minimum(i, j).astype(np.int64) * n + np.maximum(i, j)


def _edges(n: int, parts: list[Pairs], *, symmetric: bool) -> sp.csr_array:
    """Return a CSR array of the pairs, in both directions if the space is symmetric, with sorted columns."""
    i, j, similarities = (np.concatenate(part) for part in zip(*parts, strict=True))
    parts.clear()  # their memory is needed for what follows
    if symmetric:
        i, j, similarities = np.append(i, j), np.append(j, i), np.append(similarities, similarities)
    edges: Any = sp.coo_array((similarities, (i, j)), shape=(n, n)).tocsr()
    edges.sort_indices()
    return edges
