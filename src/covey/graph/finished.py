"""A finished graph in a checkpoint."""

from typing import Any

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


def read_graph(checkpoint: Checkpoint) -> NeighborGraph:
    """Read the graph that the checkpoint holds. It has saved all evaluations."""
    try:
        record, arrays = unpack_arrays(checkpoint.results[FINISHED])
        recall = record["estimated_recall"]
        n_evaluations = checkpoint.n_saved = int(record["n_evaluations"])
        return NeighborGraph(
            arrays["indices"],
            arrays["similarities"],
            n_evaluations,
            method=str(record["method"]),
            mean_similarity=None if record["mean_similarity"] is None else float(record["mean_similarity"]),
            estimated_recall=None if recall is None else Recall(*map(float, recall)),
            checkpoint=checkpoint.report(),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise checkpoint.damaged("its neighbor graph cannot be true") from error
