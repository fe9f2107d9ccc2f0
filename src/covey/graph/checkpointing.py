"""A finished graph in a checkpoint, so that a call that was stopped later does not make it again."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey.graph.graph import NeighborGraph
from covey.graph.recall import Recall
from covey.similarity.checkpoint import Checkpoint
from covey.storage.serialization import build, deserialize, serialize

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
        checkpoint.finish(FINISHED, serialize({name: getattr(graph, name) for name in WRITTEN}))
        return graph
    try:
        graph = _from_bytes(checkpoint.results[FINISHED])
        if graph.method != method or graph.indices.shape != shape:
            raise ValueError("it was made in another way, or of other objects")
        _check_order(graph)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise checkpoint.damaged("its neighbor graph cannot be true") from error
    checkpoint.count(saved=graph.n_evaluations)
    return graph


def _from_bytes(content: bytes) -> NeighborGraph:
    record = deserialize(content)
    mean, method = record["mean_similarity"], record["method"]
    if type(method) is not str:
        raise TypeError("the method must be a string")
    return NeighborGraph(
        build(NDArray[Any], record["indices"]),
        build(NDArray[Any], record["similarities"]),
        _checked_count(record["n_evaluations"]),
        method=method,
        mean_similarity=None if mean is None else float(mean),
        estimated_recall=build(Recall | None, record["estimated_recall"]),
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
