"""The command line: parse and call, no logic.

Exit codes: 0 done, 1 the input is at fault (one clear line; --debug shows where), 2 wrong usage, 130 stopped by Ctrl-C.
"""

import json
import logging
import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

from covey._extras import require

try:
    typer = require("typer", "cli")
except ModuleNotFoundError as error:
    raise SystemExit(f"covey: {error}") from None

app: Any = typer.Typer(
    name="covey",
    help="covey picks the few objects that stand for the many, from clusters of anything with a pairwise similarity.",
    epilog="Start with: covey select data.csv --label kind -o few.csv",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


class Format(StrEnum):
    csv = "csv"
    tsv = "tsv"
    jsonl = "jsonl"
    parquet = "parquet"
    npz = "npz"
    svmlight = "svmlight"


class Graph(StrEnum):
    auto = "auto"
    exact = "exact"
    nn_descent = "nn-descent"


def option(*names: str, what: str, panel: str | None = None, **more: Any) -> Any:
    return typer.Option(*names, help=what, rich_help_panel=panel, **more)


OBJECTS, RUN = "What the objects are", "How it runs"
Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="CSV, TSV or JSON Lines (also packed: .gz .xz .bz2 .zst), Parquet, .npz (X, y) or svmlight; - for CSV on "
        "standard input; with --hosts a Zeek conn.log or a CSV of flows.",
    ),
]
Label = Annotated[
    str | None, option("--label", "-l", what="Column of the label; without one, all rows are one cluster.")
]
Features = Annotated[
    str | None,
    option("--features", what="Columns to compare, by commas; all columns of numbers if not given.", panel=OBJECTS),
]
Text = Annotated[
    str | None,
    option("--text", what="Column of text: as TF-IDF, or as strings under a similarity of strings.", panel=OBJECTS),
]
Profile = Annotated[
    str | None, option("--profile", what="Column with a profile {key: number} in each row.", panel=OBJECTS)
]
Matrix = Annotated[
    bool, option("--matrix", what="The numbers are similarities of all objects to all objects.", panel=OBJECTS)
]
Distances = Annotated[
    bool, option("--distances", what="The numbers are distances of all objects to all objects.", panel=OBJECTS)
]
Scale = Annotated[
    bool,
    option("--scale", what="Scale each column to 0 .. 1, so that large numbers do not decide alone.", panel=OBJECTS),
]
Columns = Annotated[
    str | None, option("--columns", what="Names of the columns of a CSV that has no header, by commas.", panel=OBJECTS)
]
Hosts = Annotated[
    bool, option("--hosts", what="DATA is a log of connections; the objects are its hosts.", panel=OBJECTS)
]
Labels = Annotated[
    str | None, option("--labels", what="With --hosts: a table with the columns host and label.", panel=OBJECTS)
]
Id = Annotated[str | None, option("--id", what="Column that names a row, to be found in answers.", panel=OBJECTS)]
Similarity = Annotated[
    str,
    option(
        "--similarity",
        "-s",
        what="cosine, dot, euclidean, hamming, jaccard, ruzicka; for --text also levenshtein, indel, osa, "
        "jaro-winkler; or module:function for one of your own, larger is closer. It is called with two rows as dicts "
        "(two texts with --text, two profiles with --profile, two arrays if columns have no names).",
        panel=OBJECTS,
    ),
]
InForm = Annotated[Format | None, option("--format", what="Of DATA, if its name does not say it.", panel=RUN)]
OutForm = Annotated[Format | None, option("--out-format", what="Of OUT, if its name does not say it.", panel=RUN)]
Force = Annotated[bool, option("--force", "-f", what="Replace files that are there.", panel=RUN)]
Quiet = Annotated[bool, option("--quiet", "-q", what="Show no progress and say nothing but errors.", panel=RUN)]


def some_jobs(jobs: int) -> int:
    if jobs == 0:
        raise typer.BadParameter("must not be 0; -1 is for all cores.")
    return jobs


Jobs = Annotated[
    int,
    option(
        "--jobs",
        "-j",
        what="Threads or processes; -1 for all cores. The result is the same.",
        panel=RUN,
        callback=some_jobs,
    ),
]


class Debug:
    """Whether an error shows where it happened."""

    on = False


def version(asked: bool) -> None:
    if asked:
        from covey import __version__

        print(f"covey {__version__}")
        raise typer.Exit


@app.callback()
def settings(
    debug: Annotated[bool, typer.Option("--debug", help="On an error, show where it happened.")] = False,
    show_version: Annotated[
        bool, typer.Option("--version", callback=version, is_eager=True, help="Show the version and leave.")
    ] = False,
) -> None:
    Debug.on = Debug.on or debug


@app.command()
def select(
    data: Data,
    out: Annotated[str, option("--out", "-o", what="Where the selected rows go; - for standard output.")] = "-",
    label: Label = None,
    k: Annotated[
        str,
        option(
            "-k", what="Neighbors of each object: more of them, fewer representatives; auto grows with the cluster."
        ),
    ] = "10",
    coverage: Annotated[
        float,
        option(
            "--coverage", what="The share of each cluster to cover; less than 1 leaves out outliers.", min=0.0, max=1.0
        ),
    ] = 0.95,
    threshold: Annotated[
        str,
        option(
            "--threshold",
            what="Who is less similar covers nobody: homogeneity (the cluster's mean), a number, or none.",
        ),
    ] = "homogeneity",
    refine: Annotated[bool, option("--refine", what="Look for a smaller selection with the same coverage.")] = False,
    graph: Annotated[Graph, option("--graph", what="All pairs, or the few that NN-Descent needs.")] = Graph.auto,
    model: Annotated[str | None, option("--model", "-m", what="Write a model for covey classify.")] = None,
    picture: Annotated[
        str | None,
        option("--picture", what="Draw: .html a map of a cluster to point at; .png, .svg, .pdf the coverage of all."),
    ] = None,
    cluster: Annotated[str | None, option("--cluster", what="Of the .html picture; the largest if not given.")] = None,
    features: Features = None,
    text: Text = None,
    profile: Profile = None,
    matrix: Matrix = False,
    distances: Distances = False,
    scale: Scale = False,
    hosts: Hosts = False,
    labels: Labels = None,
    name: Id = None,
    columns: Columns = None,
    similarity: Similarity = "cosine",
    form: InForm = None,
    out_form: OutForm = None,
    seed: Annotated[int, option("--seed", what="The same seed gives the same answer.", panel=RUN)] = 0,
    jobs: Jobs = -1,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Select the few rows that stand for the many, cluster by cluster.

    OUT gets the selected rows with all their columns, and covey_row (number of the row in DATA, from 0), covey_cluster,
    covey_rank (when it was picked, the best first) and covey_covers (how many rows it stands for).

    Example: `covey select flowers.csv --label species -k 5 -o few.csv --model flowers.covey --picture map.html`
    """
    from covey.commands._recipe import described
    from covey.commands._select import select as run
    from covey.commands._source import Source

    speak(quiet)
    source = Source(
        data,
        form,
        label,
        similarity,
        listed(features),
        text,
        profile,
        matrix=matrix,
        distances=distances,
        scale=scale,
        hosts=hosts,
        labels=labels,
        id=name,
        columns=listed(columns),
    )
    with unfinished("nothing was written; run the same command again."):
        fitted, loaded = run(
            source,
            out,
            model=model,
            picture=picture,
            cluster=cluster,
            force=force,
            form=out_form,
            n_neighbors=k if k == "auto" else at_least_one(k),
            coverage=coverage,
            threshold=bar(threshold),
            refine=refine,
            graph=str(graph),
            random_state=seed,
            n_jobs=jobs,
            verbose=not quiet,
        )
    if not quiet:
        rows, found = fitted.selector_.sample_indices_.size, fitted.selector_.prototypes_.values()
        say(f"compared: {described(loaded.recipe)}, by {similarity if not (matrix or distances) else 'the matrix'}")
        say(f"{rows} of {sum(p.members.size for p in found)} rows selected from {len(found)} cluster(s); "
            f"{fitted.selector_.n_evaluations_:,} similarities evaluated.")  # fmt: skip


@app.command()
def classify(
    data: Data,
    model: Annotated[str, option("--model", "-m", what="A model that covey select has written.")],
    out: Annotated[str, option("--out", "-o", what="Where the answers go; - for standard output.")] = "-",
    reject: Annotated[
        str | None,
        option("--reject", what="Answer unknown below this similarity: a number, or threshold for each cluster's own."),
    ] = None,
    unknown: Annotated[str, option("--unknown", what="The word for it.")] = "unknown",
    keep: Annotated[bool, option("--keep", what="Keep the columns of DATA beside the answers.")] = False,
    hosts: Hosts = False,
    columns: Columns = None,
    similarity: Annotated[
        str | None,
        option("--similarity", "-s", what="module:function again, if the model was made with one of your own."),
    ] = None,
    form: InForm = None,
    out_form: OutForm = None,
    jobs: Jobs = -1,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Label each row by the most similar representative, and say which one decided.

    Answers: covey_row (from 0), covey_label, covey_similarity, covey_representative (row of the data that the model was
    made of), covey_representative_id, covey_runner_up (the next class) and covey_margin (by how much it lost). Tables
    of any length are read and written block by block; .npz and svmlight at once.

    Example: `covey classify new.csv --model flowers.covey --reject threshold -o answers.csv`
    """
    from covey.commands._classify import classify as run

    speak(quiet)
    with unfinished("nothing was written; run the same command again."):
        n, n_unknown = run(
            data,
            model,
            out,
            form=form,
            out_form=out_form,
            hosts=hosts,
            columns=listed(columns),
            similarity=similarity,
            reject=reject if reject in (None, "threshold") else finite(reject, "--reject", "threshold"),
            unknown=unknown,
            keep=keep,
            force=force,
            n_jobs=jobs,
            verbose=not quiet,
        )
    if not quiet:
        say(f"{n:,} rows classified" + (f", {n_unknown:,} of them {unknown}." if reject else "."))


@app.command()
def compare(
    data: Data,
    label: Label = None,
    methods: Annotated[
        str, option("--methods", what="Some of crs, delta-medoids, ds3, random, all, by commas.")
    ] = "crs,delta-medoids,ds3,random,all",
    html: Annotated[str, option("--html", what="Where the report goes.")] = "covey-report.html",
    k: Annotated[str, option("-k", what="Which numbers of neighbors to try, by commas.")] = "2,3,5,7,10,15,20,30",
    folds: Annotated[int, option("--folds", what="Of the cross-validation.", min=2)] = 5,
    features: Features = None,
    text: Text = None,
    profile: Profile = None,
    matrix: Matrix = False,
    distances: Distances = False,
    scale: Scale = False,
    hosts: Hosts = False,
    labels: Labels = None,
    name: Id = None,
    columns: Columns = None,
    similarity: Similarity = "cosine",
    form: InForm = None,
    jobs: Jobs = -1,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Compare methods on your own data, cross-validated, and get a k recommended.

    The report, one page that opens offline, shows precision and recall against how many objects each method selects and
    how many similarities it evaluates. Ctrl-C stops; the same command goes on.

    Example: `covey compare flowers.csv --label species --methods crs,random,all --html report.html`
    """
    from covey.commands._compare import compare as run
    from covey.commands._source import Source

    speak(quiet)
    source = Source(
        data,
        form,
        label,
        similarity,
        listed(features),
        text,
        profile,
        matrix=matrix,
        distances=distances,
        scale=scale,
        hosts=hosts,
        labels=labels,
        id=name,
        columns=listed(columns),
    )
    ks = [at_least_one(value) for value in listed(k)]
    with unfinished("what was finished is kept; run the same command again to go on."):
        rows, advice = run(
            source, html, methods=listed(methods), ks=ks, folds=folds, force=force, n_jobs=jobs, verbose=not quiet
        )
    table = (
        ["method", "precision", "recall", "F1", "selected, %", "scan rate"],
        [
            (
                r.method,
                *(f"{value:.3f}" for value in (r.precision, r.recall, r.f1)),
                f"{r.percentage:.2f}",
                f"{r.scan_rate:.3f}",
            )
            for r in rows
        ],
    )
    show(*table)
    if advice is not None:
        print(f"Recommended: {advice.reason}")
    print(html)


@app.command()
def inspect(
    model: Annotated[str, typer.Argument(help="A model that covey select has written.")],
    as_json: Annotated[bool, option("--json", what="As JSON.")] = False,
) -> None:
    """Show what a model holds, cluster by cluster.

    Of each cluster: how many members it has and how many represent it (few), k (neighbors of each), the coverage
    reached, the homogeneity (mean similarity of two members), the threshold below which nobody covers another, and how
    many members nobody else can cover (alone). Scan rate: the share of all pairs whose similarity was evaluated.

    Example: `covey inspect flowers.covey`
    """
    from covey.commands._inspect import inspect as run

    found = run(model)
    if as_json:
        print(json.dumps(found, indent=2))
        return
    print(f"{found['method']} on {found['objects']}, by {found['similarity']}")
    print(f"made from {found['made_from']}; {found['evaluations']:,} evaluations, scan rate {found['scan_rate']:.3f}")
    titles = {
        "label": "label",
        "members": "members",
        "representatives": "few",
        "neighbors": "k",
        "coverage": "coverage",
        "homogeneity": "homogeneity",
        "threshold": "threshold",
        "orphans": "alone",
    }
    show(list(titles.values()), [[shown(cluster[key]) for key in titles] for cluster in found["clusters"]])


@app.command()
def demo() -> None:
    """See covey at work on handwritten digits and on town names, in a few seconds."""
    from covey.demo import main

    main()


@app.command()
def reproduce(
    folder: Annotated[Path, typer.Argument(help="Where results go; a stopped run goes on from there.")] = Path(
        "covey-reproduction"
    ),
    quick: Annotated[bool, option("--quick", what="100 objects of each cluster: minutes.")] = False,
    seeds: Annotated[
        int | None,
        option(
            "--seeds",
            what="How often what is random is repeated; 5, or 2 with --quick (against a random choice 20, or 5).",
            min=1,
        ),
    ] = None,
    data_home: Annotated[
        Path | None, option("--data-home", what="Where the data sets are; then COVEY_DATA and the system's folders.")
    ] = None,
    jobs: Jobs = -1,
    quiet: Quiet = False,
) -> None:
    """Run the experiments of the paper again, and look at the report.

    The folder gets one page that opens offline (report.html), the tables as CSV, the figures as SVG and PNG, and a
    record of every fit. Ctrl-C stops; the same command goes on.

    Example: `covey reproduce --quick results`
    """
    from covey.experiments import reproduce as run

    speak(quiet)
    with unfinished("what was finished is kept; run the same command again to go on."):
        page = run(folder, quick=quick, seeds=seeds, data_home=data_home, n_jobs=jobs, verbose=not quiet)
    print(page)


def listed(values: str | None) -> list[str]:
    return [value.strip() for value in (values or "").split(",") if value.strip()]


def at_least_one(value: str) -> int:
    if not value.isdecimal() or int(value) < 1:
        raise typer.BadParameter(f"-k must be a whole number of at least 1, got {value!r}.")
    return int(value)


def finite(value: str | None, name: str, words: str) -> float:
    try:
        number = float(value or "")
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise typer.BadParameter(f"{name} must be {words} or a finite number, got {value!r}.")
    return number


def bar(threshold: str) -> Any:
    if threshold == "homogeneity":
        return threshold
    return None if threshold == "none" else finite(threshold, "--threshold", "homogeneity, none")


def shown(value: Any) -> str:
    return "" if value is None else f"{value:.3f}" if isinstance(value, float) else str(value)


def show(columns: list[str], rows: Any) -> None:
    """A table on standard output; the first column is text, the others are numbers."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, header_style="bold", pad_edge=False)
    for at, column in enumerate(columns):
        table.add_column(column, justify="left" if at == 0 else "right", no_wrap=at > 0, overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    console = Console()
    console.print(table, width=None if console.is_terminal else 1000)  # a pipe has no edge to cut at


def say(text: str) -> None:
    """To standard error: standard output may hold the result."""
    print(text, file=sys.stderr)


@contextmanager
def unfinished(what_then: str) -> Iterator[None]:
    """Tell what has become of the work when Ctrl-C stops it."""
    try:
        yield
    except KeyboardInterrupt:
        say(f"\ncovey: stopped; {what_then}")
        raise


def speak(quiet: bool) -> None:
    """Warnings go to standard error; progress is a bar's business."""
    logging.basicConfig(format="covey: %(message)s", level=logging.ERROR if quiet else logging.WARNING)


def main() -> None:
    """Run the command; errors are one line."""
    from covey.commands import MisuseError

    if "--debug" in sys.argv:  # anywhere, as one adds it when something went wrong
        sys.argv.remove("--debug")
        Debug.on = True
    try:
        app()
    except Exception as error:
        if Debug.on:
            raise
        say(f"covey: {' '.join(str(error).split()) or type(error).__name__}")
        raise SystemExit(2 if isinstance(error, MisuseError) else 1) from None


if __name__ == "__main__":
    main()
