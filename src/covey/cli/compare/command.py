"""`covey compare`: cross-validate every method on the user's own data, and recommend one and its k.

Which methods `covey compare` runs, and what it recommends by their results.
"""

import hashlib
import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import file_digest
from inspect import getsourcefile, isfunction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from covey.cli.compare.advice import Advice, Candidate, Chosen, judge, recommend, sentences
from covey.cli.errors import MisuseError, about
from covey.cli.files.block import STANDARD
from covey.cli.files.paths import may_write
from covey.cli.interrupts import WITH_FORCE, unfinished
from covey.cli.options import Replacing, Running, Source, at_least_one
from covey.cli.terminal import listed, log_to_terminal, show, visible
from covey.cli.typer_dataclasses import option, words
from covey.experiments.methods import BASELINES, crs
from covey.experiments.names import (
    ALL,
    CRS_CURVE,
    DELTA_MEDOIDS,
    RANDOM,
    SHARPENED_CURVE,
    SPARSE,
    crs_name,
    sharpened_name,
)
from covey.experiments.records import TrialRecord
from covey.experiments.sharpening import sharpened


@dataclass(frozen=True)
class Curve:
    """Methods that differ only in k.

    Attributes
    ----------
    words : str
        What a sentence calls them.
    name : callable
        What reports call the method with a k.
    options : tuple of str
        The options of `covey select` that use them, beside -k.
    """

    words: str
    name: Callable[[int], str]
    options: tuple[str, ...] = ()

    def candidate(self, k: int) -> Candidate:
        """Return the method with a k as one that can be recommended."""
        return Candidate(f"{self.words} with k = {k}", ("-k", str(k), *self.options), k)


CURVES: dict[str, Curve] = {
    "crs": Curve(CRS_CURVE, crs_name),
    "sharpened": Curve(SHARPENED_CURVE, sharpened_name, ("--sharpen",)),
}
"""The methods that are run with every k, by the user's name for them."""
CHOICES = {"delta-medoids": DELTA_MEDOIDS, "ds3": SPARSE, "random": RANDOM, "all": ALL}
"""What reports call the other methods, by the user's name for them."""


def choose_methods(names: Sequence[str], ks: Sequence[int]) -> Chosen:
    """Return the methods that the user has named; CRS and sharpened CRS are one method for each k."""
    made = {"crs": crs, "sharpened": sharpened}
    tried = [(name, k) for name in CURVES if name in names for k in sorted(ks)]
    methods = {CURVES[name].name(k): made[name](k) for name, k in tried}
    candidates = {CURVES[name].name(k): CURVES[name].candidate(k) for name, k in tried}
    return Chosen(methods | {CHOICES[name]: BASELINES[CHOICES[name]] for name in names if name in CHOICES}, candidates)


def advise(records: Sequence[TrialRecord], chosen: Chosen, source: Source, n_similarities: int) -> Advice:
    """Return the method that is recommended, if one is, why, how sure that is, what it costs, and how to select by it.

    The records are under the best of `n_similarities` that were tried, which the options name.
    """
    found = recommend(records, chosen.candidates, n_similarities)
    if found is None:
        return Advice()
    if found.method is None:
        return Advice(None, judge(records, found, None), [found.sentence])
    command = how_to_select(source, chosen.candidates[found.method])
    verdict = judge(records, found, command)
    recommended = found.method if found.is_choice else None
    return Advice(recommended, verdict, [found.sentence, *sentences(verdict), f"To select like this: {command}"])


def how_to_select(source: Source, candidate: Candidate) -> str:
    """Return the command that selects from all of the data by a candidate."""
    return shlex.join(["covey", "select", *words(source), *candidate.options])


def fingerprint(source: Source, function: Any, *settings: Any) -> str:
    """Return a text that differs if the data, the user's code or any setting differs.

    Records of a run that was stopped are only used again for exactly the same comparison.
    """
    content = hashlib.sha256(repr((source, settings)).encode())
    code = getsourcefile(function) if isfunction(function) else None
    for path in (source.path, source.labels, code):
        if path is not None:
            with open(path, "rb") as file:
                content.update(file_digest(file, "sha256").digest())
    return content.hexdigest()[:12]


if TYPE_CHECKING:
    from covey.cli.compare.report import Compared
    from covey.experiments.tables import Row

TIME = re.compile(r"(\d+(?:\.\d+)?)\s*([smh]?)")
"""A duration: a number and its unit."""
UNITS = {"": 1, "s": 1, "m": 60, "h": 3600}
"""How many seconds a unit has."""
FOR_TRIALS = 0.5
"""The share of the time that may be spent on the choice of a similarity. The number is a judgement: another similarity
may change more than another method or k."""


METHODS = ("crs", "sharpened", "delta-medoids", "ds3", "random", "all")
"""The names of the methods. `comparison.py` says what each of them is."""


@dataclass(frozen=True)
class Comparing:
    """What is compared, how long, and where the results go."""

    methods: Annotated[
        str,
        option(
            "--methods",
            what="The methods to compare, separated by commas: crs, sharpened, delta-medoids, ds3, random, all. "
            "Sharpened is CRS with --sharpen; it takes most of the time.",
        ),
    ] = "crs,sharpened,delta-medoids,ds3,random,all"
    html: Annotated[str, option("--html", what="The file to write the report to.")] = "covey-report.html"
    csv: Annotated[str | None, option("--csv", what="Write the results to this CSV file, too, not rounded.")] = None
    json: Annotated[str | None, option("--json", what="Write the results to this JSON file, too, not rounded.")] = None
    k: Annotated[str, option("-k", what="The numbers of neighbors to try, separated by commas.")] = (
        "2,3,5,7,10,15,20,30,50"
    )
    folds: Annotated[int, option("--folds", what="The number of folds of the cross-validation.", min=2)] = 5
    time_limit: Annotated[
        str | None,
        option(
            "--time-limit",
            what="How long the methods may take, such as 90s, 10m or 1h; the report comes after that. Every method is "
            "tried with one k before any is tried with another, those first that are expected to cost least. What "
            "takes longer is left out, and it is said what that is.",
        ),
    ] = None

    @property
    def seconds(self) -> float | None:
        """The time limit in seconds."""
        if self.time_limit is None:
            return None
        found = TIME.fullmatch(self.time_limit.strip())
        if found is None or float(found[1]) == 0:
            raise MisuseError(
                f"--time-limit must be a number of seconds, minutes or hours such as 90s, 10m or 1h, got "
                f"{self.time_limit!r}."
            )
        return float(found[1]) * UNITS[found[2]]

    @property
    def files(self) -> list[str]:
        """The files that are written."""
        named = [path for path in (self.html, self.csv, self.json) if path is not None]
        if STANDARD in named or len({Path(path).resolve() for path in named}) < len(named):
            raise MisuseError("--html, --csv and --json must be different files.")
        return named

    def check(self) -> None:
        """Refuse values that cannot be meant."""
        names = listed(self.methods)
        unknown = [name for name in names if name not in METHODS]
        if unknown or not names:
            known = ", ".join(METHODS)
            raise MisuseError(f"--methods must be some of {known}, got {', '.join(unknown) or 'none'}.")
        if not [at_least_one(value) for value in listed(self.k)]:
            raise MisuseError("-k must be numbers of at least 1, by commas.")


def compare(source: Source, comparing: Comparing, replacing: Replacing, running: Running) -> None:
    """Compare methods on your own data, cross-validated, and get a k recommended, and whether to sharpen.

    Unless --similarity or --scale says how to compare objects, the similarities that suit them are tried first, on a
    sample, and the best one is used. The report is one page that opens offline. It begins with what to use, how sure
    that is and what it costs, and shows the quality of the answers against how many objects each method selects, and
    which clusters are confused, with examples. Ctrl-C stops the comparison, and the same command continues it.

    Example: `covey compare flowers.csv --label species --methods crs,random,all --time-limit 10m --csv results.csv`
    """
    log_to_terminal(running.quiet)
    if source.path == STANDARD:
        raise MisuseError("comparing reads the data more than once; pass a file.")
    source.check_labels()
    with unfinished("what was finished is kept; run the same command again to go on", WITH_FORCE):
        found = _compare(source, comparing, replacing.force, running)
    if found.tried is not None:
        _show_rows("similarity", [(str(way), row) for way, row in found.tried.ways])
    _show_rows("method", [(row.method, row) for row in found.methods])
    for sentence in found.sentences:
        print(visible(sentence))
    for path in comparing.files:
        print(visible(path))


def _show_rows(what: str, rows: "list[tuple[str, Row]]") -> None:
    """Print a table of results."""
    show(
        [what, "precision", "recall", "F1", "selected, %", "scan rate"],
        [
            [name, *(f"{value:.3f}" for value in (row.precision, row.recall, row.f1)), f"{row.percentage:.2f}",
             f"{row.scan_rate:.3f}"]
            for name, row in rows
        ],
    )  # fmt: skip


def _compare(source: Source, comparing: Comparing, force: bool, running: Running) -> "Compared":
    """Choose a similarity, cross-validate the methods under it, write the results, and return them.

    Until all is done, what is finished is recorded in a hidden folder beside the page.
    """
    for path in comparing.files:
        may_write(path, force=force)
    import shutil
    import time

    from covey.cli.compare.report import Compared
    from covey.cli.compare.run import choose_similarity, enter, run_methods
    from covey.experiments.curves import chance
    from covey.experiments.tables import summarise

    start, seconds, page, n_folds = time.monotonic(), comparing.seconds, Path(comparing.html), comparing.folds
    methods, ks = listed(comparing.methods), [at_least_one(value) for value in listed(comparing.k)]
    chosen = choose_methods(methods, ks)
    with running.threads(), about(source.path):
        contest = enter(source, n_folds, running.verbose)
    folder = page.with_name(f".{page.stem}-{fingerprint(source, contest.loaded.similarity, methods, ks, n_folds)}")
    how: Any = {"n_jobs": running.jobs, "verbose": running.verbose}
    with about(source.path):
        contest = choose_similarity(contest, folder, None if seconds is None else start + FOR_TRIALS * seconds, **how)
        own = folder / contest.way.slug
        records, late = run_methods(contest, chosen, own, None if seconds is None else start + seconds, **how)
    tried = contest.tried
    advice = advise(records, chosen, contest.source, 1 if tried is None else len(tried.ways))
    remarks, results = late.said(chosen, comparing.time_limit), summarise(records, {})
    found = Compared(
        source.path, contest.rows.size, n_folds, contest.way, tried, results, late.names, chance(records), advice,
        remarks,
    )  # fmt: skip
    done = chosen.only({record.method for record in records})
    found.write_page(page, contest.name, contest.problem, done, own, contest.opening, **how)
    if comparing.csv is not None:
        found.write_csv(comparing.csv)
    if comparing.json is not None:
        found.write_json(comparing.json)
    if not late.names:
        shutil.rmtree(folder)
    return found
