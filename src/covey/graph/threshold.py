"""All pairs of objects that are at least as similar as a threshold, tile by tile; for very many objects, most of them.

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

Very many objects are divided into overlapping groups (`groups.py`), and all pairs within each group are screened. The
true edges of a sample of objects tell how many have a common group. As long as these are too few, the objects are
divided once more. A pair that shares several groups is found in the first of them.
"""

import math
from dataclasses import fields
from typing import Any, Literal, overload

import numpy as np
import scipy.sparse as sp
from numba import njit
from numpy.typing import NDArray
from sklearn.utils._param_validation import StrOptions, validate_parameter_constraints

from covey.arrays import Flags, Floats, Indices, Integers
from covey.graph.exact import TILE, n_pairs_of_tile, pairs_of_tile
from covey.graph.groups import MOST_ROUNDS, NEEDED, STRIP, Grouping, rounds_needed, together
from covey.graph.growing import GrowingEdges, TilePairs, narrow, part_of, place_edges, straight, turned
from covey.graph.recall import RECALL, SAMPLE, TARGETS, Recall, warn_of_missed
from covey.runtime.executor import give_back_freed_blocks, share_out
from covey.runtime.memory import check_fits
from covey.runtime.parameters import RUNNING, generator, is_number
from covey.runtime.progress import progress
from covey.similarity.inputs import Objects
from covey.similarity.kinds import collect
from covey.similarity.mean import as_threshold, mean_similarity
from covey.similarity.measures import resolve
from covey.similarity.similarity import SimilarityLike
from covey.similarity.space import ScoredPairs, Space, draw_pairs, unordered_codes

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

EXACT_UP_TO = 100_000
"""With method "auto", all pairs of up to this number of objects are compared, where groups are possible. It takes 7 s
for rows of 32 columns, and groups of ten times as many rows take 11 s (`benchmarks/coverage.py`)."""

METHODS = ("auto", "exact", "groups")

BYTES_AN_EDGE = 20
"""How many bytes a stored edge takes at most until a cover of the graph is found (`benchmarks/coverage.py`). The graph
itself takes 12 of them."""


@overload
def threshold_graph(
    X: Objects,
    threshold: float,
    similarity: SimilarityLike = ...,
    method: str = ...,
    *,
    recall: float = ...,
    return_recall: Literal[False] = ...,
    random_state: Any = ...,
    n_jobs: int | None = ...,
    verbose: int = ...,
) -> sp.csr_array: ...
@overload
def threshold_graph(
    X: Objects,
    threshold: float,
    similarity: SimilarityLike = ...,
    method: str = ...,
    *,
    recall: float = ...,
    return_recall: Literal[True],
    random_state: Any = ...,
    n_jobs: int | None = ...,
    verbose: int = ...,
) -> tuple[sp.csr_array, Recall | None]: ...
def threshold_graph(
    X: Objects,
    threshold: float,
    similarity: SimilarityLike = "cosine",
    method: str = "auto",
    *,
    recall: float = RECALL,
    return_recall: bool = False,
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> sp.csr_array | tuple[sp.csr_array, Recall | None]:
    """Find all pairs of objects that are at least as similar as a threshold.

    Up to 100 000 objects, every pair is compared, so that the graph is complete. `covey.cover` picks representatives
    from it such that every object has one that is at least this similar, and `covey.cover_lower_bound` says how few any
    choice would need.

    Parameters
    ----------
    X : array, CSR matrix, frame or sequence of objects
        The objects, one per row or entry.
    threshold : float
        The least similarity of a pair, tau in the paper. Begin with a high one, so that the graph fits into memory.
    similarity : str, callable or Similarity, default="cosine"
        How similar two objects are, as in `covey.CRS`; larger means closer.
    method : {"auto", "exact", "groups"}, default="auto"
        "exact" compares all pairs. "groups" compares all pairs within overlapping groups of similar rows, as in
        `covey.neighbor_graph`, or all pairs if that takes less time. "auto" is "groups" for more than 100 000 objects
        where that is possible, and "exact" elsewhere.
    recall : float, default=0.95
        The share of all pairs that reach the threshold which groups should find, in (0, 1). The true pairs of a sample
        of objects tell how many are found. Further groups follow while these are too few, up to a bound.
    return_recall : bool, default=False
        Whether the share that was found is returned, too.
    random_state : int, RandomState instance or None, default=None
        The seed of the draws of groups. The same seed gives the same graph for any `n_jobs`.
    n_jobs : int or None, default=None
        The number of threads for compiled similarities, or of processes for slow Python functions. -1 uses all cores.
    verbose : int, default=0
        1 shows a progress bar on a terminal.

    Returns
    -------
    CSR array of shape (n, n)
        Row x holds the similarities s(x, y) of all other objects y that reach the threshold.
    estimated_recall : Recall or None
        The share of all such pairs that groups have found, by the true pairs of a sample of objects, or None if all
        pairs were compared. It is returned only if `return_recall` is true.

    Raises
    ------
    ValueError, TypeError
        If a parameter has a value that is not allowed, if X does not fit the similarity, or if a custom function
        returns something else than a finite real number for a pair.
    MemoryError
        If the graph is estimated not to fit into the memory of the machine. The message names the number of edges.
    RuntimeError
        If a custom function raises an error for a pair. The message names the two objects.

    Warns
    -----
    sklearn.exceptions.ConvergenceWarning
        If groups stay short of `recall`.

    See Also
    --------
    covey.neighbor_graph : The k most similar others of each object.

    Notes
    -----
    All pairs are n (n - 1) / 2 evaluations, twice as many if the similarity is not symmetric. Groups take some thousand
    for each object. Each entry takes 12 bytes, and
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
    constraints = {
        "method": [StrOptions(set(METHODS))],
        "recall": [TARGETS],
        "return_recall": ["boolean"],
        "random_state": ["random_state"],
        **RUNNING,
    }
    options = {"method": method, "recall": recall, "return_recall": return_recall, "random_state": random_state}
    validate_parameter_constraints(constraints, {**options, "n_jobs": n_jobs, "verbose": verbose}, "threshold_graph")
    space = collect(X, resolve(similarity)).space(n_jobs)
    by_groups = uses_groups(space, method)
    with progress("threshold graph", None, "evaluations", shown=verbose > 0) as bar:
        bar.watch(lambda: (space.n_done(), space.n_expected))
        if by_groups:
            graph, estimate = edges_in_groups(space, float(threshold), generator(random_state), recall)
        else:
            graph, estimate = edges_above(space, float(threshold)), None
    warn_of_missed("threshold graph", [estimate], recall)
    return (graph, estimate) if return_recall else graph


def edges_and_mean(
    space: Space,
    multiplicity: Integers,
    threshold: float | None,
    rng: np.random.Generator,
    method: Any = "auto",
    *,
    recall: float = RECALL,
) -> tuple[sp.csr_array, float, Recall | None]:
    """Return all edges that reach a threshold, by default the mean similarity of all pairs, that mean, and the
    estimated recall if only most edges were looked for.

    A pair that was evaluated for the mean is not evaluated again. The object x stands for multiplicity[x] equal ones.
    """
    screened = _may_be_screened(space)  # then the edges count all pairs
    by_groups = uses_groups(space, method)
    homogeneity, scored = mean_similarity(space, multiplicity, rng, counted=by_groups or not screened)
    if space.n_left == 1:
        return sp.csr_array((1, 1)), homogeneity.value, None
    least = as_threshold(homogeneity.value) if threshold is None else threshold
    if by_groups:
        edges, estimate = edges_in_groups(space, least, rng, recall)
        return edges, homogeneity.value, estimate
    return edges_above(space, least, None if screened else scored), homogeneity.value, None


def uses_groups(space: Space, method: Any) -> bool:
    """Return whether edges are looked for in groups. NN-Descent, which looks for neighbors, stands for "auto"."""
    possible = space.groups_from is not None and _may_be_screened(space)
    if method == "groups" and not possible:
        raise ValueError(f"{NEEDED}'exact'.")
    return possible and (method == "groups" or (method != "exact" and space.n_left > EXACT_UP_TO))


def _may_be_screened(space: Space) -> bool:
    return space.screened and space.estimate_of(0.0) is not None


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


def edges_in_groups(
    space: Space, threshold: float, rng: np.random.Generator, wanted: float
) -> tuple[sp.csr_array, Recall | None]:
    """Return most edges between the objects of a screened space that reach the threshold, and the share of all.

    That is None if all edges were looked for, because groups would take as long.
    """
    grouping = Grouping(space)
    space.expect(int(space.n_left * grouping.in_round))
    if space.n_pairs > FEW_PAIRS:
        _check_memory(space.n_left, _sample(space, None, counted=True), threshold)
    sample = _SampledEdges(space, threshold, rng)
    n_rounds = rounds_needed(grouping.share_together(sample.i, sample.j, rng), wanted) if sample.i.size else 1
    if grouping.costs_more_than_all_pairs(n_rounds):
        return edges_above(space, threshold), None
    search = _GroupedEdges(space, threshold, grouping)
    while True:
        space.expect(int(space.n_evaluations + max(n_rounds - search.n_rounds, 1) * space.n_left * grouping.in_round))
        search.add_round(rng)
        estimate = sample.recall(search.joined)
        if estimate.value >= wanted or search.n_rounds == MOST_ROUNDS:
            return search.edges(), estimate


class _SampledEdges:
    """All edges of a sample of objects: those from i[t] to j[t]."""

    def __init__(self, space: Space, threshold: float, rng: np.random.Generator) -> None:
        n = space.n_left
        self._sample = np.sort(rng.choice(n, min(SAMPLE, n), replace=False)).astype(np.int32)
        some = space.between(self._sample, None)
        rows = slice(0, self._sample.size)

        def search(start: int) -> tuple[Indices, Indices]:
            columns = slice(start, min(start + TILE, n))
            i, j = reaching(some, some.estimates(rows, columns), rows, columns.start, threshold)[:2]
            return self._sample[i], j

        found = space.executor.run(search, range(0, n, TILE), products=True)
        space.count(self._sample.size * n)
        i, j = (np.concatenate(side) for side in zip(*found, strict=True))
        self.i, self.j = i[i != j], j[i != j]

    def recall(self, joined: Indices) -> Recall:
        """Return the share of these edges that join objects with a common group."""
        if not self.i.size:
            return Recall(1.0, 1.0, 1.0)
        places = np.searchsorted(self._sample, self.i)
        n_true = np.bincount(places, minlength=self._sample.size)
        n_found = np.bincount(places[together(joined, self.i, self.j)], minlength=self._sample.size)
        value = n_found.sum() / n_true.sum()
        error = 1.96 * np.sqrt(((n_found - value * n_true) ** 2).sum()) / n_true.sum()
        return Recall(float(value), float(max(value - error, 0.0)), float(min(value + error, 1.0)))


class _GroupedEdges:
    """The edges between objects that share a group, in one round after the other.

    Attributes
    ----------
    joined : int array
        The groups of each object in all rounds. Groups of a later round have larger numbers.
    n_rounds : int
        How many rounds there were.
    """

    def __init__(self, space: Space, threshold: float, grouping: Grouping) -> None:
        self.space, self._threshold, self._grouping = space, threshold, grouping
        self.joined, self.n_rounds, self._n_groups = np.empty((space.n_left, 0), dtype=np.int32), 0, 0
        self._found: list[tuple[Indices, Indices, Floats]] = []

    def add_round(self, rng: np.random.Generator) -> None:
        """Divide the objects into groups once more, and find the edges within these."""
        groups = self._grouping.draw(rng)
        numbered = list(enumerate(groups.members, self._n_groups))
        self.joined = np.hstack([self.joined, groups.joined + np.int32(self._n_groups)])
        self._n_groups += len(numbered)
        numbered.sort(key=lambda group: -len(group[1]))  # threads then end at about one time
        self._found += self.space.executor.run(self._search, numbered, products=True)
        self.n_rounds += 1

    def _search(self, group: tuple[int, Indices]) -> tuple[Indices, Indices, Floats]:
        """Return the edges within a group between objects that share no earlier group."""
        number, members = group
        n, parts = members.size, []
        space = self.space.among(members)
        for start in range(0, n, STRIP):
            rows = slice(start, min(start + STRIP, n))
            estimates = space.estimates(rows, slice(start, n))
            estimates[np.tri(*estimates.shape) > 0] = -np.inf  # pairs with earlier objects, and with itself
            parts.append(reaching(space, estimates, rows, start, self._threshold, (number, members, self.joined)))
        space.count(n * (n - 1) // 2)
        i, j, similarities = (np.concatenate(side) for side in zip(*parts, strict=True))
        return members[i], members[j], similarities

    def edges(self) -> sp.csr_array:
        """Return the edges in both directions. What was found is given up on the way."""
        n = self.space.n_left
        starts = np.zeros(n + 1, dtype=np.int64)
        for i, j, _ in self._found:
            count_ends(i, j, starts[1:])
        np.cumsum(starts, out=starts)
        objects, similarities, cursors = np.empty(starts[-1], dtype=np.int32), np.empty(starts[-1]), starts[:-1].copy()
        while self._found:
            i, j, found = self._found.pop()
            place_edges(i, j, found, 0, cursors, objects, similarities)
            place_edges(j, i, found, 0, cursors, objects, similarities)
        edges = sp.csr_array((similarities, objects, narrow(starts)), shape=(n, n))
        edges.sort_indices()
        edges.has_canonical_format = True
        return edges


def reaching(
    space: Space,
    estimates: NDArray[Any],
    rows: slice,
    first: int,
    threshold: float,
    group: tuple[int, Indices, Indices] | None = None,
) -> tuple[Indices, Indices, Floats]:
    """Return the pairs that reach the threshold, given estimates of all pairs of some rows and of the columns from
    the first on, and their similarities.

    An estimate of -inf rules a pair out. The pairs of a group, which is its number, its members and the groups of all
    objects, are left out if they share an earlier group.
    """
    i, j = (side.astype(np.int32) for side in np.nonzero(close_to(space, estimates, rows, threshold)))
    i, j = i + np.int32(rows.start), j + np.int32(first)
    if group is not None:
        number, members, joined = group
        n = drop_met(number, members, joined, i, j)
        i, j = i[:n], j[:n]
    similarities = space.score(i, j, counted=False)
    good = similarities >= threshold
    return i[good], j[good], similarities[good]


def close_to(space: Space, estimates: NDArray[Any], rows: slice, threshold: float) -> Flags:
    """Return which pairs of some rows have an estimate so near to that of the threshold that they may reach it."""
    hurdle = space.estimate_of(threshold)
    assert hurdle is not None
    rounding = ROUNDING * abs(hurdle) if math.isfinite(hurdle) else 0.0
    lowest = np.nextafter((hurdle - space.slack(rows) - rounding).astype(estimates.dtype), -np.inf)
    return np.asarray((estimates >= lowest[:, None]) & (estimates > -np.inf))


@njit(cache=True, nogil=True)
def drop_met(number, members, joined, i, j):  # type: ignore[no-untyped-def]
    """Move the pairs to the front that share no group before the one of this number; return how many these are."""
    n, width = 0, joined.shape[1]
    for t in range(i.size):
        own, others, met = joined[members[i[t]]], joined[members[j[t]]], False
        for a in range(width):
            if own[a] < number:
                for b in range(width):
                    met |= own[a] == others[b]
        if not met:
            i[n], j[n] = i[t], j[t]
            n += 1
    return n


def _sample(space: Space, scored: ScoredPairs | None, *, counted: bool) -> ScoredPairs:
    """Return scored pairs with random ones added to them, which have no draws in common with anything else."""
    i, j = draw_pairs(space.n_left, SAMPLED, np.random.default_rng(0))
    if scored is None:
        return space.score_pairs(i, j, counted=counted)
    new = np.isin(unordered_codes(i, j, space.n_left), unordered_codes(scored.i, scored.j, space.n_left), invert=True)
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
            i, j = self._screened(rows, columns)
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

    def _screened(self, rows: slice, columns: slice) -> tuple[Indices, Indices]:
        """Return the pairs of a tile that may reach the threshold, going by their estimates."""
        estimates = self.space.estimates(rows, columns)
        close = close_to(self.space, estimates, rows, self.threshold)
        if rows == columns:
            close &= _off_diagonal(len(estimates), upper=self.space.symmetric)
        self.space.count(n_pairs_of_tile(self.space, estimates, diagonal=rows == columns))
        i, j = (side.astype(np.int32) for side in np.nonzero(close))
        return i + np.int32(rows.start), j + np.int32(columns.start)


def _off_diagonal(n: int, *, upper: bool) -> NDArray[np.bool_]:
    """Return which entries of a square tile on the diagonal are pairs of different objects, each once if `upper`."""
    return np.triu(np.ones((n, n), dtype=bool), k=1) if upper else ~np.eye(n, dtype=bool)


@njit(cache=True, nogil=True)
def count_ends(i, j, counts):  # type: ignore[no-untyped-def]
    """Add to the count of each object how many of the edges i[t], j[t] it is an end of."""
    for t in range(i.size):
        counts[i[t]] += 1
        counts[j[t]] += 1
