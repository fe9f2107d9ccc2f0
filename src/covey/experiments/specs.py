"""A table or figure as a declaration: which fits it needs, and how their records become something to look at.

`report` runs the fits of several, once each, and puts what they show into one report.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from covey.evaluation import Report, Section
from covey.experiments.methods import Method
from covey.experiments.problems import Problem, Split
from covey.experiments.runner import Fit, Record, run
from covey.runtime.progress import progress

QUICK_SEEDS = 5
"""A quick run repeats nothing more often."""


@dataclass(frozen=True)
class Results:
    """What a spec's `show` gets: its records, its problems by name, and the objects of a problem (seed 0)."""

    records: list[Record]
    problems: Mapping[str, Problem]
    split: Callable[[str], Split]


@dataclass(frozen=True)
class Spec:
    """A section of the report.

    Attributes
    ----------
    title, note : str
        What it is, and how to read it.
    show : callable
        Makes its parts (`covey.evaluation.Table`, `Picture`, `Gallery`) from `Results`.
    problems, methods : tuples of str
        Every method is run on every problem.
    seeds : int or None
        How many; None for as many as the run has.
    """

    title: str
    note: str
    show: Callable[[Results], Iterable[Any]]
    problems: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    seeds: int | None = None

    def fits(
        self, problems: Mapping[str, Problem], methods: Mapping[str, Method], seeds: int, quick: bool = False
    ) -> Iterator[Fit]:
        """What has to be run, of the problems there are. What draws nothing at random is run once."""
        most = seeds if self.seeds is None else self.seeds
        n = min(most, QUICK_SEEDS) if quick else most
        for problem in (name for name in self.problems if name in problems):
            for method in self.methods:
                drawn = problems[problem].drawn or methods[method].drawn
                yield from (Fit(problem, method, seed) for seed in range(n if drawn else 1))


def report(
    folder: Any,
    specs: Sequence[Spec],
    *,
    title: str,
    summary: Sequence[str],
    problems: Mapping[str, Problem],
    methods: Mapping[str, Method],
    seeds: int,
    quick: bool = False,
    data_home: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Report:
    """Run what the specs need and is not recorded in the folder yet, and make the report."""
    fits = [list(spec.fits(problems, methods, seeds, quick)) for spec in specs]
    records = run(
        folder,
        (fit for wanted in fits for fit in wanted),
        problems=problems,
        methods=methods,
        quick=quick,
        data_home=data_home,
        n_jobs=n_jobs,
        verbose=verbose,
    )
    split = lru_cache(1)(lambda name: problems[name].split(0, data_home, quick))
    sections = []
    with progress("tables and figures", len(specs), "sections", shown=verbose > 0) as bar:
        for spec, wanted in zip(specs, fits, strict=True):
            bar.note(spec.title)
            asked = set(wanted)
            mine = [r for r in records if (r.problem, r.method, r.seed) in asked]
            known = {name: problems[name] for name in spec.problems if name in problems}
            sections.append(Section(spec.title, spec.note, tuple(spec.show(Results(mine, known, split)))))
            bar.advance()
    return Report(title, summary, sections)
