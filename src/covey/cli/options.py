"""Options that several commands share, and what their values may be."""

import math
from enum import StrEnum
from typing import Annotated, Any

from covey.runtime.extras import require

typer = require("typer", "cli")


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
