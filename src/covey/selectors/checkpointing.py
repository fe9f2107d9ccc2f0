"""The finished clusters of a run as bytes, which a checkpoint keeps.

What was found in a cluster is a prototype and some details, which are made of arrays, numbers and texts. The label and
the members are not written, because the run that reads them has them.
"""

from typing import Any

import numpy as np

from covey.prototype import Prototype
from covey.selectors.cluster import Cluster, Found, find
from covey.selectors.constraints import Wishes
from covey.selectors.saved_state import COUNT, PROTOTYPE_FACTS, PROTOTYPE_FIELDS, check_facts, check_fields
from covey.similarity.checkpoint import Checkpoint
from covey.storage.archive import pack_arrays, unpack_arrays

ARRAYS = ("indices", "gains", "covered_by")
"""The arrays of a prototype that are written."""
NUMBERS = ("coverage", "homogeneity", "threshold", "n_evaluations", "scan_rate", "n_orphans")
"""The numbers of a prototype that are written."""


class Finished:
    """Looks up which clusters are finished already, and keeps those that a selector finishes now.

    Without a checkpoint, nothing is kept.
    """

    def __init__(self, selector: Any, checkpoint: Checkpoint | None, wishes: Wishes) -> None:
        self._selector, self._checkpoint, self._wishes = selector, checkpoint, wishes

    def get(self, cluster: Cluster, number: int, rng: np.random.Generator) -> Found:
        """Return what was found in the cluster with this number, or let the selector find it now."""
        if self._checkpoint is None:
            return find(self._selector, cluster, rng, self._wishes)
        name = f"cluster {number}"
        if name not in self._checkpoint.results:
            found = find(self._selector, cluster, rng, self._wishes)
            self._checkpoint.finish(name, to_bytes(found))
            return found
        try:
            found = from_bytes(self._checkpoint.results[name], cluster)
            details = self._selector._restored_details(found.details, found.prototype, self._wishes)
            found = found._replace(details=details)
        except (KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
            raise self._checkpoint.damaged("a finished cluster cannot be true") from error
        self._checkpoint.n_saved += found.prototype.n_evaluations
        return found


def to_bytes(found: Found) -> bytes:
    """Write what was found in a cluster."""
    arrays = {name: getattr(found.prototype, name) for name in ARRAYS}
    numbers = {name: getattr(found.prototype, name) for name in NUMBERS}
    details = _take_arrays(found.details, arrays)
    return pack_arrays({"prototype": numbers, "details": details, "n_pairs": found.n_pairs}, arrays)


def from_bytes(content: bytes, cluster: Cluster) -> Found:
    """Read what was found in a cluster. Raise an error if this cannot be true of the cluster."""
    record, arrays = unpack_arrays(content)
    known = {"label": cluster.label, "members": cluster.members}
    numbers = {name: record["prototype"][name] for name in NUMBERS}
    fields = {**known, **{name: arrays[name] for name in ARRAYS}, **numbers}
    prototype = Prototype(**check_fields(fields, PROTOTYPE_FIELDS))
    check_facts(prototype, PROTOTYPE_FACTS)
    n_pairs = COUNT.check("n_pairs", record["n_pairs"])
    if n_pairs > cluster.members.size * (cluster.members.size - 1):
        raise ValueError("n_pairs must not exceed the number of ordered pairs of members")
    return Found(prototype, _put_arrays(record["details"], arrays), n_pairs)


def _take_arrays(value: Any, arrays: dict[str, Any]) -> Any:
    """Return a value with the names of arrays in the places of the arrays, and add these to the others."""
    if isinstance(value, np.ndarray):
        name = f"details-{len(arrays)}"
        arrays[name] = value
        return {"array": name}
    return [_take_arrays(part, arrays) for part in value] if isinstance(value, tuple) else value


def _put_arrays(value: Any, arrays: dict[str, Any]) -> Any:
    """Return a value with arrays in the places of their names."""
    if isinstance(value, dict):
        return arrays[value["array"]]
    return tuple(_put_arrays(part, arrays) for part in value) if isinstance(value, list) else value
