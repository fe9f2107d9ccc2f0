"""Options that several commands share. Each is declared here once, as a field of a dataclass."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from covey.cli.declaration import argument, option, typer
from covey.cli.files.formats import Format

OBJECTS, RUN = "What the objects are", "How it runs"
"""The panels of the help beside the first one."""
SIMILARITIES = "{similarities}"
"""Stands in a help text for the names of all similarities."""


class Command(typer.core.TyperCommand):
    """A command whose help lists the similarities, which are looked up only when the help is shown.

    Looking them up imports NumPy, and no other command should wait for that.
    """

    def format_help(self, ctx: Any, formatter: Any) -> None:
        from covey.cli.similarities import in_words

        for parameter in self.params:
            text = getattr(parameter, "help", None)
            if text and SIMILARITIES in text:
                parameter.help = text.replace(SIMILARITIES, in_words())
        super().format_help(ctx, formatter)


def listed(values: str | None) -> list[str]:
    """Return the values that the user has separated by commas."""
    return [value.strip() for value in (values or "").split(",") if value.strip()]


@dataclass(frozen=True)
class Input:
    """Where the rows come from."""

    path: Annotated[
        str,
        argument(
            "DATA",
            "A file in CSV, TSV or JSON Lines (these may be packed: .gz, .xz, .bz2, .zst), Parquet, .npz (arrays X and "
            "y) or svmlight. - reads CSV from standard input. With --hosts, a Zeek conn.log or a CSV of flows.",
        ),
    ]
    columns: Annotated[
        str | None,
        option(
            "--columns",
            what="The names of the columns, separated by commas, for a CSV or TSV that has no header.",
            panel=OBJECTS,
        ),
    ] = None
    hosts: Annotated[
        bool, option("--hosts", what="DATA is a log of connections, and the objects are its hosts.", panel=OBJECTS)
    ] = False
    form: Annotated[
        Format | None, option("--format", what="The format of DATA, if its name does not say it.", panel=RUN)
    ] = None

    @property
    def column_names(self) -> Sequence[str]:
        return listed(self.columns)


@dataclass(frozen=True)
class Source(Input):
    """Where the rows come from, what of a row is the object, and how two objects are compared."""

    label: Annotated[
        str | None,
        option("--label", "-l", what="The column that holds the label. Without one, all rows are one cluster."),
    ] = None
    features: Annotated[
        str | None,
        option(
            "--features",
            what="The columns to compare, separated by commas. By default these are all columns of numbers.",
            panel=OBJECTS,
        ),
    ] = None
    text: Annotated[
        str | None,
        option(
            "--text",
            what="The column of texts to compare: as TF-IDF vectors, or as strings under a similarity of strings.",
            panel=OBJECTS,
        ),
    ] = None
    profile: Annotated[
        str | None,
        option("--profile", what="The column that holds a profile {key: number} in each row.", panel=OBJECTS),
    ] = None
    matrix: Annotated[
        bool, option("--matrix", what="The numbers are similarities of all objects to all objects.", panel=OBJECTS)
    ] = False
    distances: Annotated[
        bool, option("--distances", what="The numbers are distances of all objects to all objects.", panel=OBJECTS)
    ] = False
    scale: Annotated[
        bool,
        option(
            "--scale", what="Scale each column to 0 .. 1, so that columns of large numbers do not decide alone.",
            panel=OBJECTS,
        ),
    ] = False  # fmt: skip
    labels: Annotated[
        str | None,
        option("--labels", what="With --hosts: a table with the columns host and label.", panel=OBJECTS),
    ] = None
    id: Annotated[
        str | None,
        option("--id", what="The column that names a row. Answers show these names.", panel=OBJECTS),
    ] = None
    similarity: Annotated[
        str,
        option(
            "--similarity",
            "-s",
            what=f"How two objects are compared: {SIMILARITIES}; or module:function for a function of your own, which "
            "returns a larger number for closer objects. It is called with two rows as dicts (two texts with --text, "
            "two profiles with --profile, two arrays if columns have no names).",
            panel=OBJECTS,
        ),
    ] = "cosine"

    @property
    def feature_names(self) -> Sequence[str]:
        return listed(self.features)


@dataclass(frozen=True)
class Output:
    """Where rows are written to."""

    out: Annotated[str, option("--out", "-o", what="The file to write rows to; - is standard output.")] = "-"
    out_form: Annotated[
        Format | None, option("--out-format", what="The format of OUT, if its name does not say it.", panel=RUN)
    ] = None


@dataclass(frozen=True)
class Replacing:
    """Whether files may be replaced."""

    force: Annotated[bool, option("--force", "-f", what="Replace files that exist.", panel=RUN)] = False


def some_jobs(jobs: int) -> int:
    """Refuse 0, which is neither a number of threads nor a number of cores to leave free."""
    if jobs == 0:
        raise typer.BadParameter("must not be 0; -1 is for all cores.")
    return jobs


@dataclass(frozen=True)
class Running:
    """How much of the machine is used, and how much is said."""

    jobs: Annotated[
        int,
        option(
            "--jobs",
            "-j",
            what="How many threads or processes work; -1 uses all cores. The result is the same.",
            panel=RUN,
            callback=some_jobs,
        ),
    ] = -1
    quiet: Annotated[bool, option("--quiet", "-q", what="Show no progress and say nothing but errors.", panel=RUN)] = (
        False
    )

    @property
    def verbose(self) -> bool:
        return not self.quiet


def at_least_one(value: str) -> int:
    """Return a number of neighbors."""
    if not value.isdecimal() or int(value) < 1:
        raise typer.BadParameter(f"-k must be a whole number of at least 1, got {value!r}.")
    return int(value)


def finite(value: str, name: str, words: str) -> float:
    """Return a number, or refuse the value of the option `name`, which may also be one of the `words`."""
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise typer.BadParameter(f"{name} must be {words} or a finite number, got {value!r}.")
    return number
