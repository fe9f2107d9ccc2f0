"""A comparison on the rows of a file: which of them take part, how they are compared, and the fits that are done.

1. `set_up` reads the rows and leaves out clusters that are too small for a cross-validation.
2. `choose_similarity` tries the ways to compare them, unless the user has said how.
3. `run_methods` cross-validates the methods, within a limit of time if there is one.
"""

import logging
import math
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey.cli.compare.methods import USUAL_K, Methods
from covey.cli.compare.similarities import TRIAL_SEED, Trials, Way, is_said, sample, ways_for
from covey.cli.objects.load import ONE_CLUSTER, LabelledObjects, prepare, read_rows
from covey.cli.options import Source
from covey.cli.terminal import say
from covey.experiments.methods import crs, crs_name
from covey.experiments.records import Trial, TrialRecord, read_records
from covey.experiments.runner import Completion, run, run_within
from covey.experiments.specs import Problem, Split
from covey.experiments.tables import summarise
from covey.runtime.wording import shortened, some_of

logger = logging.getLogger("covey")

LONGEST_LABEL = 30
"""How many characters of a label are shown with the size of its cluster, so that both fit into a list of many."""
LONG = 60.0
"""From how many seconds on it is said in advance how long a comparison takes."""


@dataclass(frozen=True, eq=False)
class Setup:
    """The rows that a comparison is made on, and how they are compared.

    Attributes
    ----------
    source : Source
        The options that ask for these rows, compared so.
    row_source : Source
        The same, with the columns that a log of hosts gets on the way.
    loaded : LabelledObjects
    rows : int array
        The rows that take part.
    n_folds : int
    remarks : sequence of str
        Which rows do not take part, and which ways to compare could not be tried.
    trials : Trials or None
        The ways to compare that were tried, if the user has named none.
    """

    source: Source
    row_source: Source
    loaded: LabelledObjects
    rows: NDArray[np.intp]
    n_folds: int
    remarks: Sequence[str] = ()
    trials: Trials | None = None

    @property
    def name(self) -> str:
        """What the report calls the data."""
        return Path(self.source.path).name

    @property
    def way(self) -> Way:
        """How objects are compared."""
        return Way(self.loaded.recipe.similarity_name, self.source.scale)

    @property
    def sizes(self) -> list[int]:
        """How many of the rows that take part each cluster has."""
        return list(Counter(self.loaded.labels[self.rows].tolist()).values())

    @property
    def opening(self) -> list[str]:
        """The first sentences of the report."""
        recipe, labels = self.loaded.recipe, self.loaded.labels[self.rows]
        n_clusters = np.unique(labels).size
        remark = recipe.remark()
        return [
            f"{labels.size} objects in {n_clusters} clusters; {self.n_folds}-fold cross-validation.",
            f"Compared: {recipe.summary()}.",
            *([] if remark is None else [remark]),
            *self.remarks,
        ]

    @cached_property
    def problem(self) -> Problem:
        """The problem of cross-validation."""
        return cross_validation(self.loaded, self.rows, self.n_folds)


def set_up(source: Source, n_folds: int, *, verbose: bool) -> Setup:
    """Read the rows. Clusters that are too small for a cross-validation are left out with a warning."""
    block, row_source = read_rows(source, verbose=verbose)
    loaded = prepare(block, row_source, verbose=verbose, warn=is_said(source))
    rows, remark = large_enough(loaded.labels, n_folds)
    remarks = [] if remark is None else [remark]
    for sentence in remarks:
        logger.warning("%s", sentence)
    return Setup(source, row_source, loaded, rows, n_folds, remarks)


def choose_similarity(setup: Setup, folder: Path, until: float | None, **running: Any) -> Setup:
    """Return the setup under the similarity that suits it best, unless the user has said how to compare objects."""
    source, row_source, loaded = setup.source, setup.row_source, setup.loaded
    if is_said(source):
        return setup
    ways = ways_for(loaded)
    if ways and running["verbose"]:
        say(f"trying {len(ways)} similarities: {'; '.join(map(str, ways))}.")
    trials = _try(setup, ways, folder, until, **running) if ways else None
    objects = loaded.objects  # not scaled: --scale was not passed
    missed = [str(way) for way in ways if trials is None or way not in dict(trials.ways)]
    late = [f"Similarities that could not be tried in time: {'; '.join(missed)}."] if missed else []
    if trials is not None:
        source, row_source = trials.best.of(source), trials.best.of(row_source)
        loaded = prepare(loaded.block, row_source, verbose=running["verbose"], warn=False)
    remarks = [*setup.remarks, *late]
    setup = replace(setup, source=source, row_source=row_source, loaded=loaded, trials=trials, remarks=remarks)
    if ways and running["verbose"]:
        for remark in late:
            say(remark)
        best = ", which did best" if trials is not None and len(trials.ways) > 1 else ""
        say(f"methods are compared under {setup.way}{best}.")
    loaded.recipe.warn(objects, asked_for=source.feature_names, scaled=True)  # scaling has been tried
    return setup


def large_enough(labels: NDArray[Any], n_folds: int) -> tuple[NDArray[np.intp], str | None]:
    """Return the rows of all clusters with at least one row for each fold, and what to say about the others."""
    clusters, cluster_of, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    if clusters.size < 2:
        label = str(clusters[0])
        there = "there are no labels" if label == ONE_CLUSTER else f"all labels are {label!r}"
        raise ValueError(f"comparing needs at least two clusters, but {there}; --label names their column.")
    is_small = sizes < n_folds
    if not is_small.any():
        return np.arange(labels.size), None
    small = zip(clusters[is_small], sizes[is_small], strict=True)
    named = some_of([f"{shortened(str(label), LONGEST_LABEL)} ({size})" for label, size in small])
    if clusters.size - is_small.sum() < 2:
        raise ValueError(
            f"comparing needs at least two clusters with a row for each of the {n_folds} folds, but of "
            f"{clusters.size:,} clusters these are too small: {named}; is --label right? Fewer --folds need fewer rows."
        )
    few = f"fewer than {n_folds} rows, one for each fold, and"
    one = is_small.sum() == 1
    remark = f"1 cluster has {few} is" if one else f"{is_small.sum():,} clusters have {few} are"
    remark += f" left out: {named}."
    return np.flatnonzero(~is_small[cluster_of]), remark


def cross_validation(loaded: LabelledObjects, rows: NDArray[np.intp] | None, n_folds: int, seed: int = 0) -> Problem:
    """Return the problem to classify the objects of each fold by representatives of the others; a seed is a fold.

    Only these `rows` take part, or all. `seed` decides how they are cut into folds.
    """
    from sklearn.model_selection import StratifiedKFold

    used = np.arange(len(loaded.labels)) if rows is None else rows
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    cut = [(used[rows], used[others]) for rows, others in folds.split(np.zeros(used.size), loaded.labels[used])]

    def split(seed: int, data_home: Any) -> Split:
        represented, classified = cut[seed]
        X, queries = loaded.recipe.split(loaded.objects, represented, classified)
        labels = loaded.labels
        return Split(X, labels[represented], queries, labels[classified], represented, classified)

    return Problem(split, similarity=loaded.similarity, card=loaded.card)


def _try(setup: Setup, ways: Sequence[Way], folder: Path, until: float | None, **running: Any) -> Trials | None:
    """Cross-validate each way on a sample of the rows, at most until a time; None if none of them was done by then."""
    n_folds = setup.n_folds
    sampled = sample(setup.loaded.labels, setup.rows, n_folds)
    block = setup.loaded.block.take(sampled)
    prepared = {str(way): prepare(block, way.of(setup.row_source), verbose=False, warn=False) for way in ways}
    problems = {name: cross_validation(own, None, n_folds, TRIAL_SEED) for name, own in prepared.items()}
    method = crs_name(USUAL_K)
    groups = [[Trial(name, method, fold) for fold in range(n_folds)] for name in problems]
    options: Any = {"problems": problems, "methods": {method: crs(USUAL_K)}, **running}
    completions = run_within(folder, groups, math.inf if until is None else until, **options)
    done = [group for group, completion in zip(groups, completions, strict=True) if completion is Completion.DONE]
    records = run(folder, [fit for group in done for fit in group], **options)
    results = {row.problem: row for row in summarise(records, {})}
    tried = [(way, results[str(way)]) for way in ways if str(way) in results]
    return Trials(tried, sampled.size) if tried else None


@dataclass(frozen=True)
class UnfinishedMethods:
    """The methods for which there was no time, by name: those that were begun, and those that were not tried at all."""

    begun: Sequence[str] = ()
    not_tried: Sequence[str] = ()

    @property
    def names(self) -> list[str]:
        return [*self.begun, *self.not_tried]

    def remarks(self, methods: Methods, time_limit: str | None) -> list[str]:
        """Return which they are, every one of them; nothing if all methods are done."""
        sentences = [
            f"{words}: {methods.described(names)}."
            for words, names in (("Begun, but not finished", self.begun), ("Not tried", self.not_tried))
            if names
        ]
        if not sentences:
            return []
        kept = "What was finished is kept; the same command with --force goes on."
        return [" ".join([f"--time-limit {time_limit} was too short for all methods.", *sentences, kept])]


def run_methods(
    setup: Setup, methods: Methods, folder: Path, until: float | None, **running: Any
) -> tuple[list[TrialRecord], UnfinishedMethods]:
    """Cross-validate the methods; return the records of those that are done, and which others there was no time for.

    Without a time `until` which work may go on, all are done.
    """
    n_folds = setup.n_folds
    options: Any = {"problems": {setup.name: setup.problem}, "methods": methods.by_name, **running}
    folds = {method: [Trial(setup.name, method, fold) for fold in range(n_folds)] for method in methods.by_name}
    completions = dict.fromkeys(folds, Completion.DONE)
    if until is None:
        _run_first_fold(folder, folds, n_folds, options)
    else:
        order = methods.in_order(setup.sizes, n_folds)
        kinds = [methods.by_name[name].curve or name for name in order]
        reached = run_within(folder, [folds[method] for method in order], until, kinds=kinds, **options)
        completions |= dict(zip(order, reached, strict=True))
        if Completion.DONE not in completions.values():
            raise ValueError(
                "--time-limit was too short for a single method; what was finished is kept: run the same command with "
                "a longer one to go on."
            )
    done, begun, not_tried = ([name for name in folds if completions[name] is which] for which in Completion)
    records = run(folder, [fit for method in done for fit in folds[method]], **options)
    return records, UnfinishedMethods(begun, not_tried)


def _run_first_fold(folder: Path, folds: Mapping[str, Sequence[Trial]], n_folds: int, options: Any) -> None:
    """Do the first fold of all methods, and say how long all folds will take, if that is long."""
    n_before = len(read_records(folder))
    start = time.monotonic()
    run(folder, [fits[0] for fits in folds.values()], **options)
    seconds = (time.monotonic() - start) * n_folds
    if options["verbose"] and not n_before and seconds > LONG:
        say(
            f"the first of {n_folds} folds took {in_time(seconds / n_folds)}, so that all take about "
            f"{in_time(seconds)}. With --time-limit, what takes longer is left out."
        )


def in_time(seconds: float) -> str:
    """Return a duration in words."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 100 * 60 else f"{seconds / 3600:.1f} h"
