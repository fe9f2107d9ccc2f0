"""`covey compare`: cross-validate every method on the user's own data, and recommend one and its k."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from covey.cli.declaration import option
from covey.cli.files.paths import may_write
from covey.cli.files.standard import STANDARD
from covey.cli.interrupts import WITH_FORCE, unfinished
from covey.cli.listing import listed
from covey.cli.misuse import MisuseError, about
from covey.cli.options import Replacing, Running, Source, at_least_one
from covey.cli.terminal import log_to_terminal, show, visible

if TYPE_CHECKING:
    from covey.cli.results import Compared
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
        may_write(path, force)
    import shutil
    import time

    from covey.cli.comparison import advise, choose_methods, fingerprint
    from covey.cli.contest import choose_similarity, enter, run_methods
    from covey.cli.results import Compared
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
