"""`covey compare`: cross-validate every method on the user's own data, and recommend one and its k."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from covey.cli.declaration import option
from covey.cli.files.standard import STANDARD
from covey.cli.misuse import MisuseError
from covey.cli.options import Replacing, Running, Source, at_least_one, listed
from covey.cli.terminal import log_to_terminal, show, unfinished, visible

if TYPE_CHECKING:
    from covey.experiments.tables import Row


@dataclass(frozen=True)
class Comparing:
    """What is compared, and where the report goes."""

    methods: Annotated[
        str,
        option(
            "--methods",
            what="The methods to compare, separated by commas: crs, sharpened, delta-medoids, ds3, random, all. "
            "Sharpened is CRS with --sharpen; it takes most of the time.",
        ),
    ] = "crs,sharpened,delta-medoids,ds3,random,all"
    html: Annotated[str, option("--html", what="The file to write the report to.")] = "covey-report.html"
    k: Annotated[str, option("-k", what="The numbers of neighbors to try, separated by commas.")] = (
        "2,3,5,7,10,15,20,30,50"
    )
    folds: Annotated[int, option("--folds", what="The number of folds of the cross-validation.", min=2)] = 5


def compare(source: Source, comparing: Comparing, replacing: Replacing, running: Running) -> None:
    """Compare methods on your own data, cross-validated, and get a k recommended, and whether to sharpen.

    The report is one page that opens offline. It shows the quality of the answers against how many objects each method
    selects and how many similarities it evaluates. Ctrl-C stops the comparison, and the same command continues it.

    Example: `covey compare flowers.csv --label species --methods crs,random,all --html report.html`
    """
    log_to_terminal(running.quiet)
    if source.path == STANDARD:
        raise MisuseError("comparing reads the data more than once; pass a file.")
    with unfinished("what was finished is kept; run the same command again to go on."):
        rows, advice = _compare(source, comparing, replacing.force, running)
    show(["method", "precision", "recall", "F1", "selected, %", "scan rate"], map(_cells, rows))
    for sentence in advice:
        print(visible(sentence))
    print(visible(comparing.html))


def _compare(source: Source, comparing: Comparing, force: bool, running: Running) -> tuple[list["Row"], list[str]]:
    """Cross-validate the methods, write the report, and return its table and what is recommended, in sentences.

    Until all is done, what is finished is recorded in a hidden folder beside the page.
    """
    import shutil

    from covey.cli.comparison import choose_methods, cross_validation, fingerprint, how_to_select, sections, summary
    from covey.cli.files.writing import may_write
    from covey.cli.recommend import recommend
    from covey.cli.source import load
    from covey.evaluation import Report
    from covey.experiments.records import Fit
    from covey.experiments.runner import report, run
    from covey.experiments.tables import summarise
    from covey.storage.whole import whole

    page, n_folds = Path(comparing.html), comparing.folds
    methods, ks = listed(comparing.methods), [at_least_one(value) for value in listed(comparing.k)]
    may_write(comparing.html, force)
    chosen = choose_methods(methods, ks)
    loaded = load(source, running.verbose)
    name = Path(source.path).name
    problem = cross_validation(loaded, n_folds)
    folder = page.with_name(f".{page.stem}-{fingerprint(source, loaded.similarity, methods, ks, n_folds)}")
    options: Any = {"problems": {name: problem}, "methods": chosen.methods}
    options |= {"n_jobs": running.jobs, "verbose": running.verbose}
    records = run(folder, [Fit(name, method, fold) for method in chosen.methods for fold in range(n_folds)], **options)
    found = recommend(records, chosen.candidates)
    advice = [] if found is None else [found.sentence]
    looked_at = next(iter(chosen.methods))
    if found is not None and found.method is not None:
        looked_at = found.method
        advice.append(f"To select so: {how_to_select(source, chosen.candidates[looked_at])}")
    specs = sections(name, chosen, looked_at)
    opening = summary(loaded, n_folds, advice)
    made = report(folder, specs, title=f"{name}: representatives compared", summary=opening, seeds=n_folds, **options)
    filled = [section for section in made.sections if section.parts]
    with whole(page) as path:
        path.write_text(Report(made.title, opening, filled).html(), encoding="utf-8")
    shutil.rmtree(folder)
    return summarise(records, {}), advice


def _cells(row: "Row") -> tuple[str, ...]:
    """Return a row of the table as it is printed."""
    scores = (f"{value:.3f}" for value in (row.precision, row.recall, row.f1))
    return (row.method, *scores, f"{row.percentage:.2f}", f"{row.scan_rate:.3f}")
