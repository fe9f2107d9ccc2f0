"""Running experiments: `run` does the fits that are asked for, `report` makes tables and figures of them.

Each fit is recorded when it is done (see `covey.experiments.records`). A run that was stopped, or killed, goes on where
it stopped if it is started again with the same folder, because a recorded fit is not done again.

`run_within` does fits within a limit of time. They come in groups, which are only of use as a whole: a method with all
its seeds. The groups are worked off in the order given:

1. Before a group begins, and before each of its fits, there must be time left. From the second fit on, the time that
   the fits of the group have taken tells whether the others fit in.
2. If they do not, the group is left out, and the next group is tried: it may be faster.
3. A fit that takes longer than it may is stopped, and its group with it. The fits of a group share what the group may
   take, so that a method which is far too slow is given up early. Other groups of the same kind, such as the same
   method with another k, would take as long and are not begun.
"""

import logging
import math
import signal
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from enum import Enum
from functools import lru_cache
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from covey.classifier import NearestPrototypeClassifier
from covey.displays.report import Report, Section
from covey.experiments.records import EXAMPLES, Trial, TrialRecord, append, mend, read_records, record_file
from covey.experiments.specs import Problem, Results, SelectorFactory, Spec, Split
from covey.prototype import Prototype
from covey.runtime.progress import progress

logger = logging.getLogger("covey")

MOST_FOR_A_GROUP = 0.5
"""The share of the time left that one group may take, unless it is the last one. Without this bound a single slow
method, stopped at the end, would take the time of all that come after it."""
LISTED = 200
"""How many representatives of a cluster a record lists: more than any gallery shows, and a record stays small."""


class Completion(Enum):
    """What became of a group of fits: all are done, some were begun, or none was."""

    DONE, BEGUN, NOT_BEGUN = range(3)


def run(
    folder: Any,
    trials: Iterable[Trial],
    *,
    problems: Mapping[str, Problem],
    methods: Mapping[str, SelectorFactory],
    quick: bool = False,
    data_home: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> list[TrialRecord]:
    """Try methods on problems, and record what each of them did.

    In each fit, a method selects representatives of the clusters, and the nearest one of them classifies the queries.
    A fit is recorded on disk as soon as it is done. A fit that the folder has already is not done again, so that a run
    which was stopped goes on where it was. Methods and problems are known by their names alone: if you change what a
    name means, choose another folder.

    The records come in the order of problems, seeds and methods. They are in `folder`, in records.jsonl or, for `quick`
    runs, in quick.jsonl. A quick run keeps 100 objects of each cluster: it takes minutes at most and shows that
    everything works. Loaders of data sets look in `data_home` first. `n_jobs` is passed to `SelectorFactory.make`.

    Raises KeyError if a trial names a problem or a method that is not among those given, and ValueError if the file of
    records is damaged.

    Examples
    --------
    The second run reads what the first one has recorded, the seconds that it took included:

    >>> import tempfile
    >>> from covey.datasets import make_spirals
    >>> from covey.experiments.methods import crs
    >>> from covey.experiments.records import Trial
    >>> from covey.experiments.runner import run
    >>> from covey.experiments.specs import Problem, Split
    >>> def spirals(seed, data_home):
    ...     return Split(*make_spirals(200, random_state=seed), *make_spirals(100, random_state=seed + 100))
    >>> problems = {"spirals": Problem(spirals, similarity="euclidean")}
    >>> methods = {"CRS-k5": crs(5), "CRS-k10": crs(10)}
    >>> folder, trials = tempfile.mkdtemp(), [Trial("spirals", "CRS-k5", 0), Trial("spirals", "CRS-k10", 0)]
    >>> records = run(folder, trials, problems=problems, methods=methods)
    >>> [(record.method, record.cluster, record.selected) for record in records]
    [('CRS-k5', '0', 13), ('CRS-k5', '1', 13), ('CRS-k10', '0', 8), ('CRS-k10', '1', 9)]
    >>> run(folder, trials, problems=problems, methods=methods) == records
    True
    """
    Path(folder).mkdir(parents=True, exist_ok=True)
    file = record_file(folder, quick=quick)
    mend(file)
    asked = set(trials)
    left = _in_order(asked - {record.trial for record in read_records(folder, quick=quick)}, problems, methods)
    split_of = lru_cache(1)(lambda name, seed: problems[name].split(seed, data_home, quick=quick))
    with progress("experiments", len(left), "fits", shown=verbose > 0) as bar:
        for number, trial in enumerate(left, start=1):
            bar.note(f"{trial.problem}, {trial.method}, seed {trial.seed}")
            problem, method = problems[trial.problem], methods[trial.method]
            split = split_of(trial.problem, trial.seed if problem.drawn else 0)
            records = _measure(trial, method, method.make(problem.similarity, trial.seed, n_jobs), split)
            append(file, records)
            bar.advance()
            logger.info("%d of %d: %s, %s, seed %d, fitted in %.1f s", number, len(left), *trial, records[0].seconds)
    found = [with_k(record, methods) for record in read_records(folder, quick=quick) if record.trial in asked]
    place = {trial: at for at, trial in enumerate(_in_order(asked, problems, methods))}
    return sorted(found, key=lambda record: place[record.trial])


def run_within(
    folder: Any,
    groups: Sequence[Sequence[Trial]],
    until: float,
    *,
    kinds: Sequence[str] | None = None,
    verbose: int,
    **options: Any,
) -> list[Completion]:
    """Do groups of fits until a time of `time.monotonic`; return what became of each group.

    Groups of the same kind are expected to take equally long. By default, every group is a kind of its own. `options`
    are those of `covey.experiments.runner.run`.
    """
    kinds = [str(at) for at in range(len(groups))] if kinds is None else kinds
    completions: list[Completion] = []
    given_up: set[str] = set()
    with progress("experiments", sum(map(len, groups)), "fits", shown=verbose > 0) as bar:
        for at, group in enumerate(groups):
            bar.note(f"{group[0].problem}, {group[0].method}")
            is_last = not set(kinds[at + 1 :]) - given_up
            # What is recorded counts even if there is no time.
            end = -math.inf if kinds[at] in given_up else until
            found = _run_group(folder, group, end, 1.0 if is_last else MOST_FOR_A_GROUP, options)
            if found is not Completion.DONE:
                given_up.add(kinds[at])
            completions.append(found)
            bar.advance(len(group))
    return completions


def _run_group(folder: Any, group: Sequence[Trial], until: float, share: float, options: dict[str, Any]) -> Completion:
    """Do the fits of a group, if there is time."""
    recorded = {record.trial for record in read_records(folder)}
    left = [fit for fit in group if fit not in recorded]
    taken: list[float] = []
    begun = len(left) < len(group)
    for at, fit in enumerate(left):
        start = time.monotonic()
        seconds = until - start
        if seconds <= 0 or (taken and fmean(taken) * (len(left) - at) > seconds):
            return Completion.BEGUN if begun else Completion.NOT_BEGUN
        begun = True
        try:
            with at_most(seconds * share / (len(left) - at)):
                run(folder, [fit], **options)
        except TimeUpError:
            logger.info("%s on %s with seed %d was stopped: it took too long.", fit.method, fit.problem, fit.seed)
            return Completion.BEGUN
        taken.append(time.monotonic() - start)
    return Completion.DONE


def report(
    folder: Any,
    specs: Sequence[Spec],
    *,
    title: str,
    summary: Sequence[str],
    problems: Mapping[str, Problem],
    methods: Mapping[str, SelectorFactory],
    seeds: int,
    quick: bool = False,
    data_home: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Report:
    """Run the experiments that a report needs, and make the report.

    Fits that the folder has already are not done again, and a fit that several sections need is done once.

    A section that has nothing to show is left out, and so are problems that are not among `problems`. `seeds` says how
    often what is drawn at random is repeated, unless a spec says otherwise; a `quick` run uses at most five seeds. The
    other options are those of `run`.

    Examples
    --------
    >>> import tempfile
    >>> from covey.datasets import make_spirals
    >>> from covey.displays.table import TableColumn, Table
    >>> from covey.experiments.methods import crs
    >>> from covey.experiments.runner import report
    >>> from covey.experiments.specs import Problem, Spec, Split
    >>> from covey.experiments.tables import summarise
    >>> def spirals(seed, data_home):
    ...     return Split(*make_spirals(200, random_state=seed), *make_spirals(100, random_state=seed + 100))
    >>> problems = {"spirals": Problem(spirals, similarity="euclidean")}
    >>> def shares(results):
    ...     rows = [(row.method, row.percentage) for row in summarise(results.records, results.problems)]
    ...     yield Table("shares", [TableColumn("method"), TableColumn("selected, %", ".1f")], rows)
    >>> specs = [Spec("Shares", "Means of two seeds.", shares, ("spirals",), ("CRS-k5", "CRS-k10"))]
    >>> methods = {"CRS-k5": crs(5), "CRS-k10": crs(10)}
    >>> options = {"problems": problems, "methods": methods, "seeds": 2}
    >>> made = report(tempfile.mkdtemp(), specs, title="Spirals", summary=["A small experiment."], **options)
    >>> made.sections[0].parts[0].cells()
    [['CRS-k5', '12.8'], ['CRS-k10', '8.2']]
    """
    trials = [list(spec.trials(problems, methods, seeds, quick=quick)) for spec in specs]
    records = run(
        folder,
        (trial for wanted in trials for trial in wanted),
        problems=problems,
        methods=methods,
        quick=quick,
        data_home=data_home,
        n_jobs=n_jobs,
        verbose=verbose,
    )
    split_of = lru_cache(1)(lambda name, seed: problems[name].split(seed, data_home, quick=quick))
    sections: list[Section] = []
    with progress("tables and figures", len(specs), "sections", shown=verbose > 0) as bar:
        for spec, wanted in zip(specs, map(set, trials), strict=True):
            bar.note(spec.title)
            own = {name: problems[name] for name in spec.problems if name in problems}
            results = Results([record for record in records if record.trial in wanted], own, split_of)
            parts = tuple(spec.show(results))
            sections += [Section(spec.title, spec.note, parts, spec.folded)] if parts else []
            bar.advance()
    return Report(title, summary, sections)


def _in_order(
    trials: set[Trial], problems: Mapping[str, Problem], methods: Mapping[str, SelectorFactory]
) -> list[Trial]:
    """Return trials in the order of problems, seeds and methods, so that trials in a row share a split."""
    problem_at, method_at = ({name: at for at, name in enumerate(names)} for names in (problems, methods))
    return sorted(trials, key=lambda trial: (problem_at[trial.problem], trial.seed, method_at[trial.method]))


def _measure(trial: Trial, method: SelectorFactory, selector: Any, split: Split) -> list[TrialRecord]:
    """Select representatives, classify the queries by them, and record both for each cluster."""
    from sklearn.metrics import precision_recall_fscore_support

    start = time.perf_counter()
    model = NearestPrototypeClassifier(selector).fit(split.X, split.y)
    seconds = time.perf_counter() - start
    labels = model.classes_
    nearest, similarities = (found[:, 0] for found in model.nearest_prototypes(split.queries, n=1))
    answers = np.asarray(split.y)[nearest]
    codes, truth = np.searchsorted(labels, answers), np.searchsorted(labels, split.truth)
    truth = np.where(np.isin(split.truth, labels), truth, labels.size)  # no answer is right for a label that is new
    precision, recall, _, _ = precision_recall_fscore_support(
        truth, codes, labels=np.arange(labels.size), zero_division=0
    )
    prototypes = model.selector_.prototypes_
    shared = int(model.selector_.n_evaluations_) - sum(int(own.n_evaluations) for own in prototypes.values())
    records = []
    for code, label in enumerate(labels):
        prototype, queries = prototypes[label], np.flatnonzero(truth == code)
        predicted = np.bincount(codes[queries], minlength=labels.size)
        most_similar = queries[np.argsort(-similarities[queries], kind="stable")]
        homogeneity = float(prototype.homogeneity)
        records.append(
            TrialRecord(
                *(trial.problem, trial.method, str(label), trial.seed),
                size=int(prototype.members.size),
                selected=int(prototype.indices.size),
                precision=float(precision[code]),
                recall=float(recall[code]),
                homogeneity=homogeneity if np.isfinite(homogeneity) else None,
                n_evaluations=int(prototype.n_evaluations),
                scan_rate=float(prototype.scan_rate),
                seconds=seconds,
                predicted={str(other): int(n) for other, n in zip(labels, predicted, strict=True) if n},
                representatives=_listed(prototype),
                k=method.k,
                curve=method.curve,
                shared_evaluations=shared,
                mistaken=_mistaken(label, answers, most_similar, nearest),
            )
        )
    return records


def _mistaken(label: Any, answered: Any, queries: Any, nearest: Any) -> dict[str, list[list[int]]]:
    """Return the first of these queries with a label that got each wrong answer, and its nearest representative."""
    found: dict[str, list[list[int]]] = {}
    for query in queries[answered[queries] != label].tolist():
        examples = found.setdefault(str(answered[query]), [])
        if len(examples) < EXAMPLES:
            examples.append([query, int(nearest[query])])
    return found


def _listed(prototype: Prototype) -> list[list[int]]:
    """Return the rows of the representatives that stand for most objects, and how many each stands for."""
    counts = prototype.stands_for
    order = np.argsort(-counts, kind="stable")[:LISTED]
    return np.column_stack([prototype.indices, counts])[order].tolist()


def with_k(record: TrialRecord, methods: Mapping[str, SelectorFactory]) -> TrialRecord:
    """Return the record; if it was written before records held k and its curve, with those of its method."""
    if record.curve is not None or record.method not in methods:
        return record
    return replace(record, k=methods[record.method].k, curve=methods[record.method].curve)


class TimeUpError(KeyboardInterrupt):
    """The time is up. What is running must stop as if the user had pressed Ctrl-C."""


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raise TimeUpError in what follows once this many seconds have passed.

    Only the main thread of a process can be stopped so, and not on Windows; elsewhere this does nothing.
    """
    can_stop = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    if not can_stop or math.isinf(seconds):
        yield
        return

    def stop(*_: Any) -> None:
        raise TimeUpError

    before = signal.signal(signal.SIGALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        yield
    finally:
        try:
            signal.setitimer(signal.ITIMER_REAL, 0)
        finally:  # the time may be up just before the line above
            signal.signal(signal.SIGALRM, before)
