"""`covey compare`: cross-validate methods on the user's data, and recommend one and its k.

1. Read the rows, and leave out clusters that are too small for a cross-validation.
2. Unless the options say how to compare objects, try the similarities that suit them on a sample.
3. Cross-validate the methods under the best one.
4. Recommend one of them, and write the report.
"""

import hashlib
from hashlib import file_digest
from inspect import getsourcefile, isfunction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from covey.cli.compare.options import CompareOptions
from covey.cli.errors import object_errors_of
from covey.cli.files.paths import may_write
from covey.cli.interrupts import WITH_FORCE, unfinished
from covey.cli.options import Source
from covey.cli.terminal import log_to_terminal, show
from covey.cli.typer_dataclasses import part
from covey.runtime.wording import visible

if TYPE_CHECKING:
    from covey.cli.compare.report import CompareResult
    from covey.experiments.tables import Row

FOR_TRIALS = 0.5
"""The share of the time that may be spent on the choice of a similarity. Another similarity may change more than
another method or k."""


def compare(options: CompareOptions) -> None:
    """Compare methods on your own data, cross-validated, and get a k recommended, and whether to sharpen.

    Unless --similarity or --scale says how to compare objects, the similarities that suit them are tried first, on a
    sample, and the best one is used. The report is one page that opens offline. It begins with what to use, how sure
    that is and what it costs, and shows the quality of the answers against how many objects each method selects, and
    which clusters are confused, with examples. Ctrl-C stops the comparison, and the same command continues it.

    Example: `covey compare flowers.csv --label species --methods crs,random,all --time-limit 10m --csv results.csv`
    """
    log_to_terminal(quiet=options.quiet)
    options.check_files()
    for path in options.outputs:
        may_write(path, force=options.force)
    with (
        unfinished("what was finished is kept; run the same command again to go on", WITH_FORCE),
        options.unpacking(),
    ):
        result = _compare(options)
    if result.trials is not None:
        _show_rows("similarity", [(str(way), row) for way, row in result.trials.ways])
    _show_rows("method", [(row.method, row) for row in result.methods])
    for sentence in result.sentences:
        print(visible(sentence))
    for path in options.outputs:
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


def _compare(options: CompareOptions) -> "CompareResult":
    """Choose a similarity, cross-validate the methods under it, write the results, and return them.

    Until all is done, what is finished is recorded in a hidden folder beside the page.
    """
    import shutil
    import time

    from covey.cli.compare.advice import advise
    from covey.cli.compare.methods import choose_methods
    from covey.cli.compare.report import CompareResult
    from covey.cli.compare.run import choose_similarity, run_methods, set_up
    from covey.experiments.figures import chance
    from covey.experiments.tables import summarise

    start, limit, page, n_folds = time.monotonic(), options.seconds, Path(options.html), options.folds
    source, names, ks = part(options, Source), options.method_names, options.ks
    methods = choose_methods(names, ks)
    with options.threads(), object_errors_of(source.path):
        setup = set_up(source, n_folds, verbose=options.verbose)
    folder = page.with_name(f".{page.stem}-{fingerprint(source, setup.loaded.similarity, names, ks, n_folds)}")
    running: Any = {"n_jobs": options.n_jobs, "verbose": options.verbose}
    with object_errors_of(source.path):
        setup = choose_similarity(setup, folder, None if limit is None else start + FOR_TRIALS * limit, **running)
        own = folder / setup.way.slug
        records, late = run_methods(setup, methods, own, None if limit is None else start + limit, **running)
    n_similarities = 1 if setup.trials is None else len(setup.trials.ways)
    result = CompareResult(
        data=source.path,
        n_rows=setup.rows.size,
        n_folds=n_folds,
        way=setup.way,
        trials=setup.trials,
        methods=summarise(records, {}),
        left_out=late.names,
        chance=chance(records),
        advice=advise(records, methods, setup.source, n_similarities),
        remarks=late.remarks(methods, options.time_limit),
    )
    done = methods.only({record.method for record in records})
    result.write_page(page, setup.name, setup.problem, done, own, setup.opening, **running)
    if options.csv is not None:
        result.write_csv(options.csv)
    if options.json is not None:
        result.write_json(options.json)
    if not late.names:
        shutil.rmtree(folder)
    return result


def fingerprint(source: Source, function: Any, *settings: Any) -> str:
    """Return a string that differs if the data, the user's code or any setting differs.

    Records of a run that was stopped are only used again for exactly the same comparison.
    """
    content = hashlib.sha256(repr((source, settings)).encode())
    code = getsourcefile(function) if isfunction(function) else None
    for path in (source.path, source.labels, code):
        if path is not None:
            with open(path, "rb") as file:
                content.update(file_digest(file, "sha256").digest())
    return content.hexdigest()[:12]
