"""The dataclasses that files may hold, and what is checked when one of them is read."""

from typing import Any

import numpy as np

from covey.graph.graph import NeighborGraph
from covey.graph.recall import Recall
from covey.persistence.values import Record
from covey.prototype import Prototype
from covey.selectors.state import (
    COUNT,
    LABEL,
    NUMBER,
    RATE,
    ROWS,
    ROWS_OR_NONE,
    SHARE,
    TABLE,
    TEXT,
    WEIGHTS,
    Rule,
    or_none,
)


def _picks_members(found: Prototype) -> Any:
    once = 0 < found.indices.size == np.unique(found.indices).size
    return once and np.isin(found.indices, found.members).all()


RECORDS = {
    NeighborGraph: Record(
        {
            "indices": TABLE,
            "similarities": TABLE,
            "n_evaluations": COUNT,
            "method": TEXT,
            "mean_similarity": or_none(NUMBER),
            "estimated_recall": or_none(Rule("a Recall", lambda value: type(value) is Recall)),
        }
    ),
    Prototype: Record(
        {
            "label": LABEL,
            "members": ROWS,
            "indices": ROWS,
            "gains": WEIGHTS,
            "coverage": SHARE,
            "covered_by": ROWS_OR_NONE,
            "homogeneity": NUMBER,
            "threshold": NUMBER,
            "n_evaluations": COUNT,
            "scan_rate": RATE,
            "n_orphans": COUNT,
        },
        {
            "members must ascend": lambda found: found.members.size > 0 and (np.diff(found.members) > 0).all(),
            "indices must be some of the members, each once": _picks_members,
            "gains must have one entry for each of the indices": lambda found: found.gains.size == found.indices.size,
            "covered_by must have one entry for each of the members": lambda found: (
                found.covered_by.size == found.members.size
            ),
            "covered_by must be -1 or one of the indices": lambda found: np.isin(
                found.covered_by, np.append(found.indices, -1)
            ).all(),
            "n_orphans must not exceed the number of members": lambda found: found.n_orphans <= found.members.size,
        },
    ),
    Recall: Record({"value": SHARE, "low": SHARE, "high": SHARE}),
}
