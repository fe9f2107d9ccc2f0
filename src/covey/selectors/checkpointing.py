"""Finished clusters in a checkpoint, so that a fit that was stopped goes on with the next cluster.

The checkpoint stands around the loop over clusters: `checkpointed` wraps the function that selects in a cluster. A
selection is written without its label and members, because the run that reads it has them.
"""

from collections.abc import Callable
from itertools import count
from typing import Any

import numpy as np

from covey.prototype import Prototype
from covey.selectors.cluster import Cluster, ClusterResult
from covey.selectors.labels import LabelledClusters
from covey.selectors.request import Request
from covey.selectors.saved_state import COUNT, PROTOTYPE_FACTS, PROTOTYPE_FIELDS, check_facts, check_fields
from covey.similarity.checkpoint import Checkpoint
from covey.similarity.collection import Collection
from covey.storage.serialization import build, deserialize, serialize

WRITTEN = tuple(name for name in PROTOTYPE_FIELDS if name not in ("label", "members"))
"""The fields of a prototype that are written."""

Select = Callable[[Cluster, np.random.Generator, Request], ClusterResult]
"""A function that selects the representatives of a cluster."""


def checkpoint_of_clusters(
    selector: Any, collection: Collection, groups: LabelledClusters, request: Request
) -> Checkpoint | None:
    """Return the checkpoint of a run if it keeps finished clusters. Refuse one that has those of another run."""
    given = [{name: value for name, value in request.about(*group).items() if value is not None} for group in groups]
    parameters = {"selector": type(selector).__name__, **selector.get_params()}
    rows = {"sample_weight or include": [*filter(None, given)]}
    return collection.finished_parts(parameters, y=groups, **rows)


def checkpointed(select: Select, checkpoint: Checkpoint, details: Any) -> Select:
    """Wrap a function that is called for one cluster after the other: finished clusters are read, others written.

    `details` is the class of a selection's details, or None.
    """
    numbers = count(1)

    def select_once(cluster: Cluster, rng: np.random.Generator, request: Request) -> ClusterResult:
        name = f"cluster {next(numbers)}"
        if name not in checkpoint.results:
            selected = select(cluster, rng, request)
            checkpoint.finish(name, to_bytes(selected))
            return selected
        try:
            selected = from_bytes(checkpoint.results[name], cluster, details)
        except (KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
            raise checkpoint.damaged("a finished cluster cannot be true") from error
        checkpoint.count(saved=selected.prototype.n_evaluations)
        return selected

    return select_once


def to_bytes(selected: ClusterResult) -> bytes:
    """Write what was selected in a cluster."""
    written = {name: getattr(selected.prototype, name) for name in WRITTEN}
    return serialize({"prototype": written, "n_pairs": selected.n_pairs, "details": selected.details})


def from_bytes(content: bytes, cluster: Cluster, details: Any) -> ClusterResult:
    """Read what was selected in a cluster. Raise an error if this cannot be true of the cluster."""
    record = deserialize(content)
    written = {name: record["prototype"][name] for name in WRITTEN}
    fields = {"label": cluster.label, "members": cluster.members, **written}
    prototype = Prototype(**check_fields(fields, PROTOTYPE_FIELDS))
    check_facts(prototype, PROTOTYPE_FACTS)
    n_pairs = COUNT.check("n_pairs", record["n_pairs"])
    if n_pairs > cluster.members.size * (cluster.members.size - 1):
        raise ValueError("n_pairs must not exceed the number of ordered pairs of members")
    if details is not None:
        return ClusterResult(prototype, n_pairs, build(details, record["details"]).checked(prototype))
    if record["details"] is not None:
        raise ValueError(f"details must be None, got {record['details']!r}")
    return ClusterResult(prototype, n_pairs)
