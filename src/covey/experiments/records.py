"""What one method did for one cluster, and the file in which such records are kept.

The file has a line for each fit, which holds a record for each cluster in JSON. A line is on disk before the next fit
starts. So a process that is killed loses at most the fit that it was working on. If it leaves half a line, `mend` drops
it.
"""

import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

FILE, QUICK_FILE = "records.jsonl", "quick.jsonl"
"""A quick run has a file of its own, because its records must not be taken for those of a full run."""


class Fit(NamedTuple):
    """One method on one problem with one seed; method and problem are given by their names."""

    problem: str
    method: str
    seed: int


@dataclass(frozen=True)
class Record:
    """What a method did for one cluster.

    Attributes
    ----------
    problem, method, cluster, seed : str, str, str, int
    size, selected : int
        How many objects the cluster has, and how many represent it.
    precision, recall : float
        Of the cluster's label on the queries.
    homogeneity : float or None
        Of the cluster, if the method has computed it.
    n_evaluations : int
        How often the similarity was computed to select the representatives, for this cluster alone.
    scan_rate : float
        The same, as a share of all pairs of the cluster.
    seconds : float
        How long the whole fit took, all clusters together.
    predicted : dict
        How many of the cluster's queries got which label.
    representatives : list of [int, int]
        Their rows in the split's X and how many objects each stands for. Those that stand for most come first, and
        at most 200 are listed.
    k : int or None
        The number of neighbors, if the method has one. Files written before version 0.2 do not hold it; `run` then
        takes it from the method.
    curve : str or None
        What methods that differ only in k are called together. It is None in files without k, as well.
    shared_evaluations : int
        How often the similarity was computed for all clusters together, beside the evaluations for each of them.
    mistaken : dict
        Examples of the cluster's queries that got another label, by this label: their rows in the split's queries, and
        the rows in its X of the representatives that decided. The most similar ones come first, and at most 3 are
        listed. Files of older versions do not hold it.
    """

    problem: str
    method: str
    cluster: str
    seed: int
    size: int
    selected: int
    precision: float
    recall: float
    homogeneity: float | None
    n_evaluations: int
    scan_rate: float
    seconds: float
    predicted: dict[str, int]
    representatives: list[list[int]]
    k: int | None = None
    curve: str | None = None
    shared_evaluations: int = 0
    mistaken: dict[str, list[list[int]]] = field(default_factory=dict)

    @property
    def fit(self) -> Fit:
        """The fit that this record is a part of."""
        return Fit(self.problem, self.method, self.seed)


def record_file(folder: Any, quick: bool) -> Path:
    """Where the records of full or of quick runs are kept in a folder."""
    return Path(folder) / (QUICK_FILE if quick else FILE)


def read_records(folder: Any, quick: bool = False) -> list[Record]:
    """All records of full or of quick runs in a folder, in the order in which they were written.

    Examples
    --------
    >>> import tempfile
    >>> read_records(tempfile.mkdtemp())
    []
    """
    path = record_file(folder, quick)
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").splitlines()
    return [Record(**record) for line in lines for record in json.loads(line)]


def append(path: Path, records: list[Record]) -> None:
    """Write a line with the records of one fit; it is on disk when this returns."""
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps([asdict(record) for record in records]) + "\n")
        file.flush()
        os.fsync(file.fileno())


def mend(path: Path) -> None:
    """Drop a last line that is not complete, which a killed process may have left."""
    if path.exists():
        content = path.read_bytes()
        whole = content.rfind(b"\n") + 1
        if whole < len(content):
            os.truncate(path, whole)
