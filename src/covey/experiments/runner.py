"""One runner for all: the fits that tables and figures need, a record a cluster, appended to a file as it goes.

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
from typing import Any, NamedTuple

import numpy as np

from covey.classifier import NearestPrototypeClassifier
from covey.experiments.methods import METHODS, Method
from covey.experiments.problems import PROBLEMS, Problem, Split
from covey.prototype import Prototype
from covey.runtime.progress import progress

logger = logging.getLogger("covey")

FILE, QUICK_FILE = "records.jsonl", "quick.jsonl"
"""A quick run has its own: its records must not stand for those of a full one."""
LISTED = 200
"""How many representatives of a cluster a record lists."""


class Fit(NamedTuple):
    """A method on a problem with a seed, by their names."""

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
    scan_rate : float
    seconds : float
        Of the whole fit, all clusters.
    predicted : dict
        How many of the cluster's queries got which label.
    representatives : list of [int, int]
        Their rows in the split's X and how many objects each stands for, the largest of these first; 200 at most.
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


def run(
    folder: Any,
    fits: Iterable[Fit],
    *,
    problems: Mapping[str, Problem] = PROBLEMS,
    methods: Mapping[str, Method] = METHODS,
    quick: bool = False,
    data_home: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> list[Record]:
    """Run the fits that are not recorded yet in the folder, and return the records of all that are asked for.

    Parameters
    ----------
    folder : path
        Where records.jsonl is, or will be; quick.jsonl for quick runs.
    fits : iterable of Fit
    problems, methods : mappings
        By name; the paper's by default.
    quick : bool, default=False
        Keep 100 objects of each cluster: minutes, to see that everything works.
    data_home : path, optional
        Where the loaders look first.
    n_jobs : int or None, default=None
    verbose : int, default=0
        Show a bar on a terminal, and log every fit.
    """
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    file = place / (QUICK_FILE if quick else FILE)
    _mend(file)
    asked = set(fits)
    done = {(r.problem, r.method, r.seed) for r in read_records(place, quick)}
    order = {name: at for at, name in enumerate(methods)}
    left = sorted(asked - done, key=lambda fit: (list(problems).index(fit.problem), fit.seed, order[fit.method]))
    split: Split | None = None
    loaded = None
    with progress("experiments", len(left), "fits", shown=verbose > 0) as bar:
        for at, (problem, method, seed) in enumerate(left, start=1):
            bar.note(f"{problem}, {method}, seed {seed}")
            drawn_by = seed if problems[problem].drawn else 0
            if loaded != (problem, drawn_by):
                split, loaded = problems[problem].split(drawn_by, data_home, quick), (problem, drawn_by)
            assert split is not None
            selector = methods[method].make(problems[problem].similarity, seed, n_jobs)
            records = _measure(problem, method, seed, selector, split)
            _append(file, records)
            bar.advance()
            seconds = records[0].seconds
            logger.info("%d of %d: %s, %s, seed %d, fitted in %.1f s", at, len(left), problem, method, seed, seconds)
    return [r for r in read_records(place, quick) if (r.problem, r.method, r.seed) in asked]


def read_records(folder: Any, quick: bool = False) -> list[Record]:
    """All records of full or of quick runs in a folder, in the order written."""
    path = Path(folder) / (QUICK_FILE if quick else FILE)
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").splitlines()
    return [Record(**record) for line in lines for record in json.loads(line)]


def _measure(problem: str, method: str, seed: int, selector: Any, split: Split) -> list[Record]:
    start = time.perf_counter()
    model = NearestPrototypeClassifier(selector).fit(split.X, split.y)
    seconds = time.perf_counter() - start
    labels = model.classes_
    guess = np.searchsorted(labels, model.predict(split.queries))
    given = np.bincount(guess, minlength=labels.size)
    records = []
    for at, label in enumerate(labels):
        prototype = model.selector_.prototypes_[label]
        answers = np.bincount(guess[split.truth == label], minlength=labels.size)
        hits = int(answers[at])
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
                recall=hits / max(int(answers.sum()), 1),
                homogeneity=homogeneity if np.isfinite(homogeneity) else None,
                n_evaluations=int(prototype.n_evaluations),
                scan_rate=float(prototype.scan_rate),
                seconds=seconds,
                predicted={str(other): int(n) for other, n in zip(labels, answers, strict=True) if n},
                representatives=_listed(prototype),
            )
        )
    return records


def _listed(prototype: Prototype) -> list[list[int]]:
    counts = prototype.stands_for
    order = np.argsort(-counts, kind="stable")[:LISTED]
    return np.column_stack([prototype.indices, counts])[order].tolist()


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
