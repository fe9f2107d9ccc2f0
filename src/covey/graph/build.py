"""The entrance to this stage: it makes a neighbor graph, exactly, by NN-Descent, or by overlapping groups.

1. Make a space of X and its similarity.
2. Choose the method, if the caller leaves it open (`choose_method`).
3. Let the method fill neighbor lists, and turn them into a `NeighborGraph` (`build`).

A selector that also needs the mean similarity gets both at once (`graph_and_mean`). A finished graph is kept in a
checkpoint, if there is one, so that a call that was stopped later does not make it again (`made_once`).
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import validate_parameter_constraints

from covey.arrays import Integers
from covey.graph.descent import SMALLEST_LIST, NNDescent, descend
from covey.graph.exact import nearest_others
from covey.graph.graph import NeighborGraph, check_n_neighbors
from covey.graph.groups import NEEDED, group
from covey.graph.lists import NeighborLists
from covey.graph.recall import RECALL, TARGETS, Recall, warn_of_missed
from covey.runtime.parameters import RUNNING, generator
from covey.runtime.progress import progress
from covey.similarity.calls.failures import OnError
from covey.similarity.checkpoint import Checkpoint
from covey.similarity.inputs import Objects, SparseMatrix
from covey.similarity.kinds import collect
from covey.similarity.mean import FEW_PAIRS, mean_of_all, mean_similarity
from covey.similarity.measures import resolve
from covey.similarity.run import CONSTRAINTS, CheckpointPath
from covey.similarity.similarity import SimilarityLike
from covey.similarity.space import ScoredPairs, Space
from covey.storage import serialization

EXACT_UP_TO = 30
"""With method "auto", the graph is exact for up to this many objects per neighbor, that is for n <= 30 k. NN-Descent
would score about half of all pairs there: on Fashion-MNIST, a descent from random lists did so at n = 33 k."""

METHODS = ("auto", "exact", "nn-descent", "groups")
"""The names of methods. "nn-descent" stands for `NNDescent()`."""

Method = str | NNDescent
"""A method: its name, or NN-Descent with its parameters."""

GraphLike = Method | NeighborGraph | SparseMatrix
"""What a user may pass as ``graph``: a method, or a graph made elsewhere."""


def neighbor_graph(
    X: Objects,
    n_neighbors: int = 10,
    similarity: SimilarityLike = "cosine",
    method: Method = "auto",
    *,
    recall: float = RECALL,
    checkpoint: CheckpointPath = None,
    on_error: OnError = "raise",
    timeout: float | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> NeighborGraph:
    """Find the n_neighbors most similar others of each object, under any similarity.

    Parameters
    ----------
    X : array, CSR matrix, frame or sequence of objects
        The objects, one per row or entry.
    n_neighbors : int, default=10
        The length of each list, k in the paper, which is n - 1 if there are no more others.
    similarity : str, callable or Similarity, default="cosine"
        How similar two objects are, as in `covey.CRS`; larger means closer.
    method : {"auto", "exact", "nn-descent", "groups"} or NNDescent, default="auto"
        "exact" evaluates all pairs. "nn-descent" evaluates few pairs and finds most neighbors; `covey.NNDescent` is the
        same with parameters of its own. "groups" looks at all pairs within overlapping groups of similar rows by matrix
        products, or at all pairs if that takes less time; it takes rows of numbers under cosine, dot, euclidean and
        sqeuclidean, and packed bits under jaccard.

        "auto" is exact for up to 30 objects per neighbor and for up to 20 000 pairs. It is also exact where all pairs
        are evaluated about as fast as few: for up to 20 000 dense rows, 30 000 CSR rows or 40 000 rows of packed bits
        where "groups" is possible, for up to 5 000 strings under the named similarities, and for precomputed matrices.
        Otherwise it is "groups" where that is possible, for dense rows of 512 columns and more from 200 000 rows on,
        and else "nn-descent".
    recall : float, default=0.95
        The share of the true neighbors that an approximate graph should hold, in (0, 1). What was found is estimated;
        the search goes on while this is less, up to a bound, and warns where it stops short of it. A larger share takes
        more time. An exact graph holds all of them.
    checkpoint, on_error, timeout : path, str, float, default=None, "raise", None
        Precautions as in `covey.CRS`. For named similarities the checkpoint keeps the finished graph.
    random_state : int, RandomState instance or None, default=None
        The seed of the draws of NN-Descent and of groups. The same seed gives the same graph for any `n_jobs`.
    n_jobs, verbose : int, default=None, 0
        The number of threads, or of processes for slow functions; and whether a progress bar is shown.

    Returns
    -------
    NeighborGraph
        The neighbors of each object. Its description says what it costs.

    Raises
    ------
    ValueError, TypeError
        If a parameter has a value that is not allowed, if X does not fit the similarity, or if a custom function
        returns something else than a finite real number for a pair.
    RuntimeError
        If a custom function raises an error for a pair, or takes longer than `timeout`. The message names the
        two objects.
    CheckpointMismatchError
        If the checkpoint was made with other data, another similarity or other parameters.

    Warns
    -----
    sklearn.exceptions.ConvergenceWarning
        If an approximate graph stays short of `recall`. Ask for less, for more neighbors, or pass ``method="exact"``.

    Examples
    --------
    >>> import covey
    >>> words = ["cat", "cart", "care", "dog", "dodge", "lodge"]
    >>> graph = covey.neighbor_graph(words, 1, lambda a, b: len(set(a) & set(b)) / len(set(a) | set(b)))
    >>> {word: words[i] for word, i in zip(words, graph.indices[:, 0])}
    {'cat': 'cart', 'cart': 'cat', 'care': 'cart', 'dog': 'dodge', 'dodge': 'lodge', 'lodge': 'dodge'}
    """
    check_n_neighbors(n_neighbors)
    running = _checked(RUNNING, n_jobs=n_jobs, verbose=verbose)
    aims = _checked({"recall": [TARGETS]}, recall=recall)
    care = _checked(CONSTRAINTS, checkpoint=checkpoint, on_error=on_error, timeout=timeout)
    with collect(X, resolve(similarity)).open_run(**care) as collection:
        space, run = collection.space(n_jobs), collection.run
        chosen = choose_method(method, space, n_neighbors)
        rng = generator(run.seed(random_state))

        def make() -> NeighborGraph:
            with progress("neighbor graph", None, "evaluations", shown=verbose > 0) as bar:
                bar.watch(lambda: (space.n_done(), space.n_expected))
                return build(space, n_neighbors, chosen, rng, recall=recall)

        parameters = {
            "n_neighbors": n_neighbors,
            "random_state": random_state,
            **aims,
            **running,
            **_parameters(chosen),
        }
        shape = len(collection), min(n_neighbors, len(collection) - 1)
        graph = made_once(make, collection.finished_parts(parameters), shape, parameters["method"])
        warn_of_missed("neighbor graph", [graph.estimated_recall], recall)
        report = None if run.checkpoint is None else run.checkpoint.report()
        return replace(graph, checkpoint=report, n_failed=0 if run.failures is None else run.failures.n)


def _checked(constraints: Mapping[str, Any], **options: Any) -> dict[str, Any]:
    """Return options, or raise an error that names the first that must not have its value."""
    validate_parameter_constraints(constraints, options, "neighbor_graph")
    return options


def _parameters(method: Method) -> dict[str, Any]:
    """Return the name of a method that was chosen, and its parameters."""
    return {"method": "nn-descent", **asdict(method)} if isinstance(method, NNDescent) else {"method": method}


def choose_method(method: Method, space: Space, k: int) -> Method:
    """Return the method to use for the one asked for: "exact", "groups", or NN-Descent with its parameters.

    The graph is always exact where lists would hold all other objects: any other costs no less there.
    """
    if not (isinstance(method, NNDescent) or method in METHODS):
        raise ValueError(f"method must be one of {list(METHODS)} or a covey.NNDescent, got {method!r}.")
    if method == "groups" and space.groups_from is None:
        raise ValueError(f"{NEEDED}'nn-descent', or 'auto', which chooses.")
    n = space.n_left
    small = n <= EXACT_UP_TO * k or n * (n - 1) // 2 <= FEW_PAIRS
    if method == "auto" and (small or n <= space.exact_up_to):
        return "exact"
    if method == "exact" or n - 1 <= max(k, SMALLEST_LIST):
        return "exact"
    if method == "groups" or (method == "auto" and space.groups_from is not None and n >= space.groups_from):
        return "groups"
    return method if isinstance(method, NNDescent) else NNDescent()


def build(
    space: Space,
    k: int,
    method: Method,
    rng: np.random.Generator,
    *,
    recall: float = RECALL,
    scored: ScoredPairs | None = None,
    multiplicity: Integers | None = None,
) -> NeighborGraph:
    """Make the graph of a space, by the method that `choose_method` returned.

    Approximate graphs are searched until they hold about this `recall` of the true neighbors. NN-Descent does not score
    the pairs of `scored` again, and groups use them. An exact graph that scores every pair also gets the mean
    similarity; for it, object x stands for `multiplicity[x]` equal objects (1 by default).
    """
    before = space.n_evaluations
    k = min(k, space.n_left - 1)
    mean, estimated = None, None
    if space.n_left == 1:
        lists = NeighborLists.empty(1, 0)
    elif isinstance(method, NNDescent):
        lists, estimated = descend(space, k, rng, method, scored, recall)
    elif method == "groups":
        lists, estimated = group(space, k, rng, scored, recall=recall)
    else:
        multiplicity = np.ones(space.n_left, dtype=np.int64) if multiplicity is None else multiplicity
        lists, total = nearest_others(space, k, multiplicity)
        mean = None if total is None else mean_of_all(space, multiplicity, total)
    indices, similarities = np.ascontiguousarray(lists.indices[:, :k]), np.ascontiguousarray(lists.similarities[:, :k])
    name = "exact" if estimated is None else _parameters(method)["method"]
    return NeighborGraph(indices, similarities, space.n_evaluations - before, name, mean, estimated)


def graph_and_mean(
    space: Space, multiplicity: Integers, k: int, method: Method, rng: np.random.Generator, *, recall: float = RECALL
) -> tuple[NeighborGraph, float]:
    """Return the neighbor graph of a space and the mean similarity of its pairs, by the method that was asked for.

    A pair that one of them has evaluated is not evaluated again for the other. The object x stands for multiplicity[x]
    equal ones.
    """
    method = choose_method(method, space, k)
    if method != "exact":
        homogeneity, scored = mean_similarity(space, multiplicity, rng)
        return build(space, k, method, rng, recall=recall, scored=scored), homogeneity.value
    graph = build(space, k, method, rng, multiplicity=multiplicity)
    mean = graph.mean_similarity
    if mean is None:  # the exact graph has counted all pairs, but has no sum of their similarities
        mean = mean_similarity(space, multiplicity, rng, counted=False)[0].value
    return graph, mean


def auto_neighbors(n: int) -> int:
    """Return the largest k for which k^2 n log2(n), the joins of NN-Descent, do not exceed the n (n - 1) / 2 pairs.

    It is at least 5.
    """
    return max(5, int(np.sqrt((n - 1) / (2 * np.log2(n))))) if n > 1 else 5


FINISHED = "neighbor graph"
"""The name of the result."""
WRITTEN = ("indices", "similarities", "n_evaluations", "method", "mean_similarity", "estimated_recall")
"""The fields of a graph that are written."""


def made_once(
    make: Callable[[], NeighborGraph], checkpoint: Checkpoint | None, shape: tuple[int, int], method: str
) -> NeighborGraph:
    """Make a graph, or read it if the checkpoint has it already.

    Its lists have this shape, and it is made by this method. A graph that is read has saved all of its evaluations.
    """
    if checkpoint is None:
        return make()
    if FINISHED not in checkpoint.results:
        graph = make()
        checkpoint.finish(FINISHED, serialization.serialize({name: getattr(graph, name) for name in WRITTEN}))
        return graph
    try:
        graph = _from_bytes(checkpoint.results[FINISHED])
        if graph.method not in (method, "exact" if method == "groups" else method) or graph.indices.shape != shape:
            raise ValueError("it was made in another way, or of other objects")
        _check_order(graph)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise checkpoint.damaged("its neighbor graph cannot be true") from error
    checkpoint.count(saved=graph.n_evaluations)
    return graph


def _from_bytes(content: bytes) -> NeighborGraph:
    record = serialization.deserialize(content)
    mean, method = record["mean_similarity"], record["method"]
    if type(method) is not str:
        raise TypeError("the method must be a string")
    return NeighborGraph(
        serialization.build(NDArray[Any], record["indices"]),
        serialization.build(NDArray[Any], record["similarities"]),
        _checked_count(record["n_evaluations"]),
        method=method,
        mean_similarity=None if mean is None else float(mean),
        estimated_recall=serialization.build(Recall | None, record["estimated_recall"]),
    )


def _checked_count(value: Any) -> int:
    """Return a number of evaluations. Raise ValueError if it cannot be one."""
    if type(value) is not int or not 0 <= value < 2**63:
        raise ValueError("the number of evaluations must be an integer of at least 0")
    return value


def _check_order(graph: NeighborGraph) -> None:
    """Raise ValueError unless each list has distinct others, and the most similar ones first."""
    itself = np.arange(graph.n_objects, dtype=graph.indices.dtype)[:, None]
    listed = np.sort(np.hstack([graph.indices, itself]), axis=1)
    if listed.min() < 0 or (np.diff(listed, axis=1) == 0).any() or (np.diff(graph.similarities, axis=1) > 0).any():
        raise ValueError("a list of neighbors is not in order")
