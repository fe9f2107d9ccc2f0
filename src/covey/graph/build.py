"""Making a neighbor graph: exactly, or by NN-Descent."""

from numbers import Integral, Real
from typing import Any

import numpy as np

from covey.arrays import Integers
from covey.graph.descent import SAMPLE_RATE, SMALLEST_LIST, TOL, descend
from covey.graph.exact import nearest_others
from covey.graph.graph import NeighborGraph, check_n_neighbors
from covey.graph.lists import NeighborLists
from covey.runtime.progress import progress
from covey.runtime.random import generator
from covey.similarity.collect import collect
from covey.similarity.mean import FEW_PAIRS, mean_of_all
from covey.similarity.named import resolve
from covey.similarity.similarity import SimilarityLike
from covey.similarity.space import ScoredPairs, Space

EXACT_UP_TO = 30
"""`auto` is exact up to this many objects a neighbor: NN-Descent would score half of all pairs or more."""
METHODS = ("auto", "exact", "nn-descent")


def neighbor_graph(
    X: Any,
    n_neighbors: int = 10,
    similarity: SimilarityLike = "cosine",
    method: str = "auto",
    *,
    sample_rate: float = SAMPLE_RATE,
    tol: float = TOL,
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> NeighborGraph:
    """The n_neighbors most similar others of each object.

    Parameters
    ----------
    X : array, CSR matrix, frame or sequence of objects
    n_neighbors : int, default=10
        At most n - 1 are there.
    similarity : str, callable or Similarity, default="cosine"
    method : {"auto", "exact", "nn-descent"}, default="auto"
        "exact" evaluates all pairs. "nn-descent" evaluates few and finds most neighbors. "auto" is exact up to 30
        objects a neighbor or 20 000 pairs; for cosine, dot, euclidean and jaccard, where matrix products do the work,
        up to 10 000 dense or 20 000 CSR rows; for similarities of strings up to 5 000; and for precomputed matrices.
    sample_rate, tol : float, default=0.7, 0.001
        NN-Descent's share of list entries joined in a round, and the share of changed entries that ends it.
    random_state : int, RandomState instance or None, default=None
        Decides NN-Descent's draws. The same seed gives the same graph for any `n_jobs`.
    n_jobs : int or None, default=None
        Threads for compiled similarities, processes for Python callables that take long enough; -1 for all cores.
    verbose : int, default=0
        1 shows a bar on a terminal.
    """
    check_n_neighbors(n_neighbors)
    if not (isinstance(sample_rate, Real) and 0 < sample_rate <= 1):
        raise ValueError(f"sample_rate must be in (0, 1], got {sample_rate!r}.")
    if not (isinstance(tol, Real) and 0 <= tol <= 1):
        raise ValueError(f"tol must be in [0, 1], got {tol!r}.")
    if not (n_jobs is None or isinstance(n_jobs, Integral)):
        raise TypeError(f"n_jobs must be an int or None, got {n_jobs!r}.")
    space = collect(X, resolve(similarity)).space(n_jobs)
    method = choose_method(method, space, n_neighbors)
    with progress("neighbor graph", None, "evaluations", shown=verbose > 0) as bar:
        bar.watch(lambda: (space.n_done(), space.n_expected))
        return build(space, n_neighbors, method, generator(random_state), sample_rate=sample_rate, tol=tol)


def choose_method(method: str, space: Space, k: int) -> str:
    """Settle "auto", and do not descend where lists would hold everyone anyway."""
    if method not in METHODS:
        raise ValueError(f"method must be one of {list(METHODS)}, got {method!r}.")
    n = space.n_left
    small = n <= EXACT_UP_TO * k or n * (n - 1) // 2 <= FEW_PAIRS
    if method == "auto" and (small or n <= space.exact_up_to):
        return "exact"
    return "exact" if method == "exact" or n - 1 <= max(k, SMALLEST_LIST) else "nn-descent"


def build(
    space: Space,
    k: int,
    method: str,
    rng: np.random.Generator,
    *,
    sample_rate: float = SAMPLE_RATE,
    tol: float = TOL,
    known: ScoredPairs | None = None,
    multiplicity: Integers | None = None,
) -> NeighborGraph:
    """The graph of a space by a settled method; `known` pairs are not scored again.

    The mean similarity is that of all pairs if the objects are there so many times (`multiplicity`).
    """
    before = space.n_evaluations
    k = min(k, space.n_left - 1)
    mean, recall = None, None
    if space.n_left == 1:
        lists = NeighborLists.empty(1, 0)
    elif method == "exact":
        multiplicity = np.ones(space.n_left, dtype=np.int64) if multiplicity is None else multiplicity
        lists, total = nearest_others(space, k, multiplicity)
        mean = None if total is None else mean_of_all(space, multiplicity, total)
    else:
        lists, recall = descend(space, k, rng, sample_rate=sample_rate, tol=tol, known=known)
    indices, similarities = np.ascontiguousarray(lists.indices[:, :k]), np.ascontiguousarray(lists.similarities[:, :k])
    return NeighborGraph(indices, similarities, space.n_evaluations - before, method, mean, recall)
