"""The table behind `Selector.members`: the representative of each row."""

from typing import Any

import numpy as np

from covey.arrays import Floats, Positions
from covey.graph.exact import nearest
from covey.prototype import Prototype
from covey.runtime.libraries import require
from covey.selectors.saved_state import n_objects
from covey.similarity.collection import Collection


def members_table(selector: Any, collection: Collection) -> Any:
    """Return a frame with a line for each object of a collection, which must be that of the fit."""
    pandas = require("pandas", "cli")
    n = n_objects(selector)
    if len(collection) != n:
        raise ValueError(f"X must be what was passed to fit, which had {n} objects, got {len(collection)}.")
    collection = collection.prepared()  # parts of it are compared with each other
    labels = np.empty(n, dtype=object)
    representatives, ranks, covered = np.empty(n, dtype=np.intp), np.empty(n, dtype=np.intp), np.empty(n, dtype=bool)
    similarities: Floats = np.empty(n)
    n_jobs = getattr(selector, "n_jobs", None)
    for prototype in selector.prototypes_.values():
        rows = prototype.members
        labels[rows] = [prototype.label] * rows.size
        covered[rows] = prototype.covered_by >= 0
        representatives[rows], similarities[rows] = _representatives(collection, prototype, n_jobs)
        order = np.argsort(prototype.indices)
        ranks[rows] = 1 + order[np.searchsorted(prototype.indices, representatives[rows], sorter=order)]
    columns = {
        "row": np.arange(n),
        "label": pandas.Series(labels).infer_objects(),
        "representative": representatives,
        "similarity": similarities,
        "rank": ranks,
        "covered": covered,
    }
    return pandas.DataFrame(columns)


def _representatives(collection: Collection, prototype: Prototype, n_jobs: int | None) -> tuple[Positions, Floats]:
    """Return for each member the representative that stands for it, and how similar the two are."""
    chosen = np.sort(prototype.indices)
    space = collection.take(prototype.members).against(collection.take(chosen), n_jobs)
    others = prototype.covered_by < 0
    standing = np.where(others, 0, np.searchsorted(chosen, prototype.covered_by))
    if others.any():
        queries = collection.take(prototype.members[others]).against(collection.take(chosen), n_jobs)
        standing[others] = nearest(queries, 1).indices[:, 0]
    every = np.arange(prototype.members.size, dtype=np.int32)
    return chosen[standing], space.score(every, standing.astype(np.int32))
