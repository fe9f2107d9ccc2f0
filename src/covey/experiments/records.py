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

from covey.runtime.file_errors import system_errors_of

FILE, QUICK_FILE = "records.jsonl", "quick.jsonl"
"""A quick run has a file of its own, because its records must not be taken for those of a full run."""
EXAMPLES = 3
"""How many of a cluster's queries that were taken for another cluster a record lists: what fits beside a sentence."""


class Trial(NamedTuple):
    """One thing to do in an experiment: one method on one problem with one seed.

    Parameters
    ----------
    problem : str
        The name of the problem.
    method : str
        The name of the method.
    seed : int
        The seed, which decides the split of the problem and the draws of the method, if they are random.
    """

    problem: str
    method: str
    seed: int


@dataclass(frozen=True)
class TrialRecord:
    """What a method did for one cluster: how many representatives it took, how well they classify, and the cost.

    `covey.experiments.runner.run` makes and stores it.

    Attributes
    ----------
    problem, method, cluster, seed : str, str, str, int
        What was done, by names.
    size, selected : int
        How many objects the cluster has, and how many represent it.
    precision, recall : float
        Those of the cluster's label on the queries.
    homogeneity : float or None
        The homogeneity of the cluster, h in the paper, if the method has computed it.
    n_evaluations : int
        How often the similarity was computed to select the representatives, for this cluster alone. It is S in the
        paper.
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
    def trial(self) -> Trial:
        """The trial that this record is a part of."""
        return Trial(self.problem, self.method, self.seed)


def record_file(folder: Any, *, quick: bool) -> Path:
    """Return where the records of full or of quick runs are kept in a folder."""
    return Path(folder) / (QUICK_FILE if quick else FILE)


def read_records(folder: Any, *, quick: bool = False) -> list[TrialRecord]:
    """Read what an experiment has recorded, without running anything.

    Raises
    ------
    ValueError
        If the file is damaged. A last line that a killed process has left incomplete is dropped by the next `run`.
    """
    path = record_file(folder, quick=quick)
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").splitlines()
    return [TrialRecord(**record) for line in lines for record in json.loads(line)]


def append(path: Path, records: list[TrialRecord]) -> None:
    """Write a line with the records of one fit; it is on disk when this returns."""
    with system_errors_of(path), path.open("a", encoding="utf-8") as file:
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
