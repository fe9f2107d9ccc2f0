"""A finished graph in a checkpoint."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey.graph.graph import NeighborGraph
from covey.graph.recall import Recall
from covey.similarity.checkpoint import Checkpoint
from covey.storage.arrays import pack_arrays, unpack_arrays

FINISHED = "neighbor graph"
"""The name of the result."""


def write_graph(checkpoint: Checkpoint, graph: NeighborGraph) -> None:
    """Write a graph to the checkpoint."""
    recall = graph.estimated_recall
    record = {
        "n_evaluations": graph.n_evaluations,
        "method": graph.method,
        "mean_similarity": graph.mean_similarity,
        "estimated_recall": None if recall is None else [recall.value, recall.low, recall.high],
    }
    lists: dict[str, NDArray[Any]] = {"indices": graph.indices, "similarities": graph.similarities}
    checkpoint.finish(FINISHED, pack_arrays(record, lists))


def read_graph(checkpoint: Checkpoint, n: int, k: int, method: str) -> NeighborGraph:
    """Read the graph of n objects with k neighbors each that this method has made. It has saved all evaluations."""
    try:
        record, arrays = unpack_arrays(checkpoint.results[FINISHED])
        mean, recall = record["mean_similarity"], record["estimated_recall"]
        n_evaluations = checkpoint.n_saved = _checked_count(record["n_evaluations"])
        graph = NeighborGraph(
            arrays["indices"],
            arrays["similarities"],
            n_evaluations,
            method=method,
            mean_similarity=None if mean is None else float(mean),
            estimated_recall=None if recall is None else Recall(*map(float, recall)),
            checkpoint=checkpoint.report(),
        )
        if record["method"] != method or graph.indices.shape != (n, min(k, n - 1)):
            raise ValueError("it was made in another way, or of other objects")
        _check_order(graph)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise checkpoint.damaged("its neighbor graph cannot be true") from error
    return graph


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
