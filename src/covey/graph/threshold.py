"""All pairs of objects that are at least as similar as a threshold, tile by tile.

1. Cut the pairs into square tiles, as for the exact nearest neighbors (`exact.py`).
2. In a space that can be screened, estimate all similarities of a tile by one matrix product. Only pairs whose estimate
   reaches that of the threshold, less the slack of its row, need to be scored.
3. In any other space, score the whole tile, except for pairs that are known already.
4. Keep the pairs whose score reaches the threshold.
5. When all tiles of a block of rows are searched, write their edges into the final CSR array (`growing.py`).

All pairs are looked at, so the edges are complete: an object that is not linked to another one is less similar to it
than the threshold. Memory grows with the number of edges, which a low threshold makes large. So this number is
estimated from random pairs before the search begins, and a graph that cannot fit into the memory of the machine is
refused.
"""

import math
from dataclasses import fields

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils._param_validation import validate_parameter_constraints

from covey.arrays import Floats, Indices, Integers
from covey.graph.exact import TILE, n_pairs_of_tile, pairs_of_tile
from covey.graph.growing import GrowingEdges, TilePairs, part_of, straight, turned
from covey.runtime.executor import give_back_freed_blocks, share_out
from covey.runtime.memory import check_fits
from covey.runtime.parameters import RUNNING, is_number
from covey.runtime.progress import progress
from covey.similarity.inputs import Objects
from covey.similarity.kinds import collect
from covey.similarity.mean import as_threshold, mean_similarity
from covey.similarity.measures import resolve
from covey.similarity.similarity import SimilarityLike
from covey.similarity.space import ScoredPairs, Space, draw_pairs

ROUNDING = 1e-12
"""By which share the estimate of a threshold may be rounded. It is computed in a few steps of float64, each of which is
off by a share of 1e-16."""


AT_ONCE = 32
"""At least how many tiles are searched before the edges of their rows are written. Threads wait for each other then,
for half the time of a tile on average."""

FEW_PAIRS = 1 << 24
"""Up to this number of pairs, which is that of 5 800 objects, a graph is made without an estimate of its edges. If all
pairs were edges, it would take .7 GB."""

SAMPLED = 1 << 18
"""From how many random pairs the number of edges is estimated. Edges that take 24 GiB are 1 of 780 pairs of a million
objects. So of these pairs 336 would be edges, which gives a standard error of 6 %; fewer objects have a smaller one."""

BYTES_AN_EDGE = 20
"""How many bytes a stored edge takes at most until a cover of the graph is found (`benchmarks/coverage.py`). The graph
itself takes 12 of them."""


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
    It takes n (n - 1) / 2 evaluations, twice as many if the similarity is not symmetric. Each entry takes 12 bytes, and
    up to 20 until `covey.cover` has found a cover. For more than 5 800 objects, the number of entries is estimated from
    262 144 random pairs before the work begins. These count once, as all others do.

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

    The pairs of `scored` are not scored again. Raise MemoryError if so many edges do not fit into the memory of this
    machine.
    """
    space.expect(space.n_pairs)
    hurdle = space.estimate_of(threshold) if space.screened else None
    if space.n_pairs > FEW_PAIRS:
        scored = _sample(space, scored, counted=hurdle is None)
        _check_memory(space.n_left, scored, threshold)
    # Where tiles are screened, all pairs are looked at, and none is left out.
    edges = _EdgeSearch(space, threshold, hurdle, scored if hurdle is None else None).edges()
    give_back_freed_blocks()
    return edges


def _sample(space: Space, scored: ScoredPairs | None, *, counted: bool) -> ScoredPairs:
    """Return scored pairs with random ones added to them, which have no draws in common with anything else."""
    i, j = draw_pairs(space.n_left, SAMPLED, np.random.default_rng(0))
    if scored is None:
        return space.score_pairs(i, j, counted=counted)
    new = np.isin(_codes(space.n_left, i, j), _codes(space.n_left, scored.i, scored.j), invert=True)
    added = space.score_pairs(i[new], j[new], counted=counted)
    return ScoredPairs(*(np.append(getattr(scored, f.name), getattr(added, f.name)) for f in fields(ScoredPairs)))


def _check_memory(n: int, sample: ScoredPairs, threshold: float) -> None:
    """Raise MemoryError if the edges of n objects are too many, going by the share of the sampled pairs that are edges.

    Edges from both sides of a pair count, because both are stored.
    """
    share = (np.mean(sample.forward >= threshold) + np.mean(sample.backward >= threshold)) / 2
    n_edges = int(share * n * (n - 1))
    what = f"A graph of about {n_edges:,} edges between {n:,} objects (estimated from {sample.i.size:,} random pairs)"
    check_fits(BYTES_AN_EDGE * n_edges, what, "raise the threshold, or ask for a number of neighbors (n_neighbors)")


class _EdgeSearch:
    """A search for all pairs that reach the threshold, block of rows by block of rows.

    A tile is known by the places of its blocks of rows and columns. `hurdle` is the estimate of the threshold if tiles
    are screened, and pairs that are `scored` already are left out of the tiles otherwise.
    """

    def __init__(self, space: Space, threshold: float, hurdle: float | None, scored: ScoredPairs | None) -> None:
        self.space, self.threshold, self.hurdle, self.scored = space, threshold, hurdle, scored
        step = share_out(space.n_left, TILE)
        self.blocks = [slice(start, min(start + step, space.n_left)) for start in range(0, space.n_left, step)]
        self._found: dict[tuple[int, int], TilePairs] = {}
        if scored is not None:
            codes = scored.i // step * len(self.blocks) + scored.j // step  # of the tiles that they lie in
            order = np.argsort(codes, kind="stable")
            self._codes, self._low, self._high = codes[order], scored.i[order], scored.j[order]

    def edges(self) -> sp.csr_array:
        """Search all tiles, and return the edges."""
        edges, n = GrowingEdges(self.space.n_left), len(self.blocks)
        known = self._known_edges()
        at = 0
        while at < n:
            first, tiles = at, list[tuple[int, int]]()
            while at < n and len(tiles) < AT_ONCE:
                tiles += [(at, column) for column in range(at if self.space.symmetric else 0, n)]
                at += 1
            found = self.space.executor.run(self._search, tiles, products=True)
            self._found.update(zip(tiles, found, strict=True))
            del found
            for row in range(first, at):
                self._add_rows(edges, row, known)
        return edges.finished()

    def _add_rows(self, edges: GrowingEdges, row: int, known: tuple[Indices, Indices, Floats] | None) -> None:
        """Add the edges from a block of rows, of which all tiles have been searched."""
        columns = range(len(self.blocks))
        parts = []
        if self.space.symmetric:
            parts = [turned(self._found.pop((above, row)), self.blocks[above].start) for above in range(row)]
            parts.append(turned(self._found[row, row], self.blocks[row].start))
            columns = range(row, len(self.blocks))
        parts += [straight(self._found[row, column], self.blocks[column].start) for column in columns]
        for column in columns:
            if column == row or not self.space.symmetric:
                del self._found[row, column]  # no later block of rows needs it
        block = self.blocks[row]
        if known is not None:
            parts.append(part_of(*known, block))
        edges.add(block.stop - block.start, parts, in_order=known is None or not parts[-1].rows.size)

    def _known_edges(self) -> tuple[Indices, Indices, Floats] | None:
        """Return the edges among the pairs that are scored already, in both directions, ordered by their rows."""
        if self.scored is None:
            return None
        i, j, forward, backward = self.scored.i, self.scored.j, self.scored.forward, self.scored.backward
        i, j, similarities = np.append(i, j), np.append(j, i), np.append(forward, backward)
        reaching = np.flatnonzero(similarities >= self.threshold)
        order = reaching[np.argsort(i[reaching], kind="stable")]
        return i[order], j[order], similarities[order]

    def _search(self, tile: tuple[int, int]) -> TilePairs:
        """Return the pairs of a tile that reach the threshold, without those that are known."""
        rows, columns = (self.blocks[place] for place in tile)
        if self.hurdle is None:
            i, j = pairs_of_tile(self.space, rows, columns, others=True)
            if self.scored is not None:
                new = self._new(tile, rows, columns)[i - rows.start, j - columns.start]
                i, j = i[new], j[new]
            similarities = self.space.score(i, j)
        else:
            i, j = self._screened(rows, columns, self.hurdle)
            similarities = self.space.score(i, j, counted=False)
        reaching = similarities >= self.threshold
        row_places, column_places = i[reaching] - rows.start, j[reaching] - columns.start
        return TilePairs(row_places.astype(np.uint16), column_places.astype(np.uint16), similarities[reaching])

    def _new(self, tile: tuple[int, int], rows: slice, columns: slice) -> NDArray[np.bool_]:
        """Return which places of a tile hold pairs that are not scored yet."""
        new = np.ones((rows.stop - rows.start, columns.stop - columns.start), dtype=bool)
        code = min(tile) * len(self.blocks) + max(tile)
        here = slice(*np.searchsorted(self._codes, [code, code + 1]))
        low, high = self._low[here], self._high[here]
        if tile[0] <= tile[1]:
            new[low - rows.start, high - columns.start] = False
        if tile[0] >= tile[1]:
            new[high - rows.start, low - columns.start] = False
        return new

    def _screened(self, rows: slice, columns: slice, hurdle: float) -> tuple[Indices, Indices]:
        """Return the pairs of a tile whose estimates are so near to that of the threshold that they may reach it."""
        space = self.space
        estimates = space.estimates(rows, columns)
        rounding = ROUNDING * abs(hurdle) if math.isfinite(hurdle) else 0.0
        lowest = np.nextafter((hurdle - space.slack(rows) - rounding).astype(estimates.dtype), -np.inf)
        close = estimates >= lowest[:, None]
        if rows == columns:
            close &= _off_diagonal(len(estimates), upper=space.symmetric)
        space.count(n_pairs_of_tile(space, estimates, diagonal=rows == columns))
        i, j = (side.astype(np.int32) for side in np.nonzero(close))
        return i + np.int32(rows.start), j + np.int32(columns.start)


def _off_diagonal(n: int, *, upper: bool) -> NDArray[np.bool_]:
    """Return which entries of a square tile on the diagonal are pairs of different objects, each once if `upper`."""
    return np.triu(np.ones((n, n), dtype=bool), k=1) if upper else ~np.eye(n, dtype=bool)


def _codes(n: int, i: Indices, j: Indices) -> Integers:
    """Return one number for each unordered pair."""
    return np.minimum(i, j).astype(np.int64) * n + np.maximum(i, j)
