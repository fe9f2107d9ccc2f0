"""One runner for all: problems x methods x seeds, a record a cluster, appended to a file as it goes.

A run that is stopped, or killed, is resumed by running it again with the same folder: what is recorded is not done
again. A line of the file holds the records of one fit, one a cluster; a line that a kill has cut short is dropped.
"""

import json
import logging
import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from covey.classifier import NearestPrototypeClassifier
from covey.experiments._methods import METHODS, Make
from covey.experiments._problems import PROBLEMS, Problem, Split

logger = logging.getLogger("covey")

FILE, QUICK_FILE = "records.jsonl", "quick.jsonl"
"""A quick run has its own: its records must not stand for those of a full one."""


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
    scan_rate : float
    seconds : float
        Of the whole fit, all clusters.
    predicted : dict
        How many of the cluster's queries got which label.
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


def run(
    folder: Any,
    problems: Mapping[str, Problem] = PROBLEMS,
    methods: Mapping[str, Make] = METHODS,
    *,
    seeds: Iterable[int] = (0,),
    quick: bool = False,
    data_home: Any = None,
    n_jobs: int | None = None,
) -> list[Record]:
    """Run what is not recorded yet in the folder, and return all records asked for.

    Parameters
    ----------
    folder : path
        Where records.jsonl is, or will be; quick.jsonl for quick runs.
    problems, methods : mappings
        By name; the paper's by default.
    seeds : iterable of int, default=(0,)
    quick : bool, default=False
        Keep 100 objects of each cluster: minutes, to see that everything works.
    data_home : path, optional
        Where the loaders look first.
    n_jobs : int or None, default=None
    """
    path = Path(folder)
    path.mkdir(parents=True, exist_ok=True)
    file = path / (QUICK_FILE if quick else FILE)
    _mend(file)
    done = {(r.problem, r.method, r.seed) for r in read_records(path, quick)}
    seeds = list(seeds)
    wanted = [(problem, method, seed) for problem in problems for seed in seeds for method in methods]
    split: Split | None = None
    loaded = None
    for at, (problem, method, seed) in enumerate(wanted):
        if (problem, method, seed) in done:
            continue
        if loaded != (problem, seed):
            split, loaded = problems[problem].split(seed, data_home, quick), (problem, seed)
        assert split is not None
        selector = methods[method](problems[problem].similarity, seed, n_jobs)
        records = _measure(problem, method, seed, selector, split)
        _append(file, records)
        step = f"{at + 1} of {len(wanted)}"
        logger.info("%s: %s, %s, seed %d, fitted in %.1f s", step, problem, method, seed, records[0].seconds)
    asked = set(wanted)
    return [record for record in read_records(path, quick) if (record.problem, record.method, record.seed) in asked]


def read_records(folder: Any, quick: bool = False) -> list[Record]:
    """All records of full or of quick runs in a folder, in the order written."""
    path = Path(folder) / (QUICK_FILE if quick else FILE)
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").splitlines()
    return [Record(**record) for line in lines for record in json.loads(line)]


def _measure(problem: str, method: str, seed: int, selector: Any, split: Split) -> list[Record]:
    from sklearn.metrics import confusion_matrix

    start = time.perf_counter()
    model = NearestPrototypeClassifier(selector).fit(split.X, split.y)
    seconds = time.perf_counter() - start
    labels = model.classes_
    table = confusion_matrix(split.truth, model.predict(split.queries), labels=labels)
    given, there = table.sum(axis=0), table.sum(axis=1)
    records = []
    for at, label in enumerate(labels):
        prototype = model.selector_.prototypes_[label]
        hits = int(table[at, at])
        homogeneity = float(prototype.homogeneity)
        records.append(
            Record(
                problem,
                method,
                str(label),
                seed,
                size=int(prototype.members.size),
                selected=int(prototype.indices.size),
                precision=hits / max(int(given[at]), 1),
                recall=hits / max(int(there[at]), 1),
                homogeneity=homogeneity if np.isfinite(homogeneity) else None,
                n_evaluations=int(prototype.n_evaluations),
                scan_rate=float(prototype.scan_rate),
                seconds=seconds,
                predicted={str(other): int(n) for other, n in zip(labels, table[at], strict=True) if n},
            )
        )
    return records


def _append(path: Path, records: list[Record]) -> None:
    """A line for the fit, on disk before this returns."""
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps([asdict(record) for record in records]) + "\n")
        file.flush()
        os.fsync(file.fileno())


def _mend(path: Path) -> None:
    """Drop a last line that a kill has cut short."""
    if path.exists():
        content = path.read_bytes()
        whole = content.rfind(b"\n") + 1
        if whole < len(content):
            os.truncate(path, whole)
