"""The command line: parse and call, no logic.

Exit codes: 0 done, 1 the input is at fault (one clear line; --debug shows where), 2 wrong usage, 130 stopped by Ctrl-C.
"""

import json
import sys
from pathlib import Path
from typing import Annotated, Any

from covey.cli.terminal import say, show, show_where, shown, speak, unfinished, visible

try:
    from covey.cli.options import (
        RUN,
        Columns,
        Data,
        Distances,
        Features,
        Force,
        Graph,
        Hosts,
        Id,
        InForm,
        Jobs,
        Label,
        Labels,
        Matrix,
        OutForm,
        Profile,
        Quiet,
        Scale,
        Similarity,
        Text,
        at_least_one,
        bar,
        finite,
        listed,
        option,
        typer,
    )
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
    from covey.cli.recipe import described
    from covey.cli.select import select as run
    from covey.cli.source import Source

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
    from covey.cli.classify import classify as run

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
    from covey.cli.compare import compare as run
    from covey.cli.source import Source

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
        print(advice.sentence)
    print(visible(html))


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
    from covey.cli.inspect import inspect as run

    found = run(model)
    if as_json:
        print(json.dumps(found, indent=2))
        return
    print(visible(f"{found['method']} on {found['objects']}, by {found['similarity']}"))
    print(visible(f"made from {found['made_from']}; {found['evaluations']:,} evaluations"), end=", ")
    print(f"scan rate {found['scan_rate']:.3f}")
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
    from covey.experiments.paper.reproduce import reproduce as run
    from covey.storage.whole import check_folder

    speak(quiet)
    check_folder(folder)
    with unfinished("what was finished is kept; run the same command again to go on."):
        page = run(folder, quick=quick, seeds=seeds, data_home=data_home, n_jobs=jobs, verbose=not quiet)
    print(visible(str(page)))


def main() -> None:
    """Run the command; errors are one line."""
    from covey.cli.misuse import MisuseError

    if "--debug" in sys.argv:  # anywhere, as one adds it when something went wrong
        sys.argv.remove("--debug")
        Debug.on = True
    try:
        app()
    except Exception as error:
        if Debug.on:
            sys.excepthook = show_where
            raise
        say(f"covey: {' '.join(str(error).split()) or type(error).__name__}")
        raise SystemExit(2 if isinstance(error, MisuseError) else 1) from None
