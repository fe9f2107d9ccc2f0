"""Where objects lie on a map: similar ones near each other.

1. Build the neighbor graph of the *core*: all objects, or the most important ones if there are many. The distance of
   two neighbors is how much less similar they are than the most similar pair.
2. Lay the core out by t-SNE, and turn the result so that it is widest from left to right.
3. Put each other object beside its most similar objects of the core. This takes one comparison with each object of the
   core, and no t-SNE.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.spatial import KDTree
from sklearn.manifold import TSNE
from threadpoolctl import threadpool_limits

from covey.arrays import Floats, Indices, Positions
from covey.graph.build import build, choose_method
from covey.graph.exact import nearest
from covey.graph.graph import NeighborGraph
from covey.runtime.parameters import generator
from covey.similarity.collection import Collection

LARGEST_CORE = 2000
"""How many objects t-SNE lays out at most. With this many, a map of 2 000 images of Fashion-MNIST took 16 s on two busy
cores, and one of 50 000 took 18 s (`benchmarks/maps.py`)."""
N_SHOWN = 6
"""How many neighbors of an object are kept. The page lists this many without scrolling."""
N_BESIDE = 5
"""How many objects of the core decide where another object lies. Fewer make clumps around single
objects of the core, and more draw every object toward the middle."""
NEARBY = 8.0
"""How far from the most similar object of the core another one may lie to have a part in where an object is put, in
median distances of an object of the core to the nearest one. The middle between two that lie farther apart is a place
where no similar object lies."""


@dataclass(frozen=True, eq=False)
class Layout:
    """Where objects lie.

    Attributes
    ----------
    positions : float array of shape (n, 2)
    neighbors : int array of shape (n, at most N_SHOWN)
        The most similar others of each object, best first. Only objects of the core are looked at. -1 is none.
    similarities : float array of the same shape
        How similar they are; NaN where there is none.
    """

    positions: Floats
    neighbors: Positions
    similarities: Floats


def lay_out(
    collection: Collection, core: Positions, others: Positions, n_neighbors: int, n_jobs: int | None, rng: Any
) -> Layout:
    """Lay out the members of a collection at the positions `core` and `others`, in this order."""
    if others.size:
        collection = collection.prepared()  # parts of it can then be compared with each other
    central = collection.take(core)
    positions, neighbors, similarities = _lay_out_core(central, n_neighbors, n_jobs, rng)
    if not others.size:
        return Layout(positions, *_known(neighbors, similarities))
    space = collection.take(others).against(central, n_jobs)
    found = nearest(space, min(max(N_BESIDE, N_SHOWN), core.size))
    beside = _beside(positions, found.indices[:, :N_BESIDE], generator(rng))
    width = max(neighbors.shape[1], found.indices.shape[1])
    return Layout(
        np.concatenate([positions, beside]),
        *_known(
            np.concatenate([_widened(part, width, -1) for part in (neighbors, found.indices)]),
            np.concatenate([_widened(part, width, np.nan) for part in (similarities, found.similarities)]),
        ),
    )


def _known(neighbors: NDArray[Any], similarities: Floats) -> tuple[Positions, Floats]:
    """Return the neighbors that are kept, without those whose similarity is NaN."""
    there = (neighbors >= 0) & np.isfinite(similarities)
    kept = np.where(there, neighbors, -1).astype(np.intp), np.where(there, similarities, np.nan)
    return kept[0][:, :N_SHOWN], kept[1][:, :N_SHOWN]


def _widened(values: NDArray[Any], width: int, filling: float) -> NDArray[Any]:
    return np.pad(values, ((0, 0), (0, width - values.shape[1])), constant_values=filling)


def _lay_out_core(
    collection: Collection, n_neighbors: int, n_jobs: int | None, rng: np.random.RandomState
) -> tuple[Floats, Indices, Floats]:
    """Return where the members lie, their neighbors and how similar these are. Equal members lie side by side."""
    n = len(collection)
    if n == 1:
        return np.zeros((1, 2)), np.empty((1, 0), dtype=np.int32), np.empty((1, 0))
    space = collection.space(n_jobs)
    k = min(3 * n_neighbors + 1, n - 1)  # scikit-learn's t-SNE asks for this many neighbors
    graph = build(space, k, choose_method("auto", space, k), generator(rng))
    # With a perplexity near n - 1 all others would count as equally near. With one near 1 few objects would lie in a
    # line. Two thirds of n - 1 is between them.
    perplexity = max(1.0, min(float(n_neighbors), 2 * (n - 1) / 3))
    layout = TSNE(perplexity=perplexity, metric="precomputed", init="random", random_state=rng)
    with threadpool_limits(1, "openmp"):  # threads would add numbers in any order, and a last bit may move the map
        positions = layout.fit_transform(distances_of(graph))
    return _turned(positions.astype(np.float64)), graph.indices, graph.similarities


def distances_of(graph: NeighborGraph) -> sp.csr_array:
    """Return the distances of all pairs on the graph, as t-SNE takes them: in each row itself, then the nearest.

    A pair that has two similarities, one in each direction, counts with the larger one. Distances of zero are stored,
    because scikit-learn would otherwise miss the object itself and its duplicates among the neighbors.
    """
    n, k = graph.indices.shape
    every, i, j = np.arange(n), np.repeat(np.arange(n), k), graph.indices.ravel()
    distances = (graph.similarities.max() - graph.similarities).ravel()
    distances /= distances.max() or 1.0  # t-SNE squares them in single precision, so they must not be huge
    rows, columns = np.concatenate([every, i, j]), np.concatenate([every, j, i])
    values = np.concatenate([np.full(n, -1.0), distances, distances])  # -1 puts the object itself before its duplicates
    order = np.lexsort((values, columns, rows))
    rows, columns, values = rows[order], columns[order], values[order]
    first = (np.diff(rows, prepend=-1) != 0) | (np.diff(columns, prepend=-1) != 0)
    rows, columns, values = rows[first], columns[first], values[first]
    order = np.lexsort((columns, values, rows))
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n))])
    return sp.csr_array((np.maximum(values[order], 0.0), columns[order], starts), shape=(n, n))


def _turned(positions: Floats) -> Floats:
    """Return the positions moved to the origin and turned so that their variance is largest from left to right."""
    x, y = (positions - positions.mean(axis=0)).T
    angle = np.arctan2(2 * (x * y).sum(), (x * x).sum() - (y * y).sum()) / 2
    cosine, sine = np.cos(angle), np.sin(angle)
    return np.stack([cosine * x + sine * y, cosine * y - sine * x], axis=1)


def _beside(core: Floats, similar: Indices, rng: np.random.Generator) -> Floats:
    """Return where objects lie whose most similar objects of the core are given, best first."""
    gaps = KDTree(core).query(core, k=min(2, len(core)))[0].reshape(len(core), -1)[:, -1]
    gap = float(np.median(gaps))
    places = core[similar]
    far = np.linalg.norm(places - places[:, :1], axis=2)
    weights = np.where(far <= NEARBY * gap, 1 / np.arange(1, similar.shape[1] + 1), 0.0)
    means = (places * weights[:, :, None]).sum(axis=1) / weights.sum(axis=1)[:, None]
    # Objects with the same neighbors would lie on each other, so that each moves a little.
    angles, steps = 2 * np.pi * rng.random(len(means)), gap * np.sqrt(rng.random(len(means)))
    return means + steps[:, None] * np.stack([np.cos(angles), np.sin(angles)], axis=1)
