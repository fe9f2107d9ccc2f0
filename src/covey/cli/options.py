"""Options that several commands share. Each is declared here once, as a field of a dataclass."""

import math
import re
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

from covey.cli.errors import MisuseError
from covey.cli.files.block import STANDARD
from covey.cli.files.dialect import Dialect
from covey.cli.files.formats import Format, format_of
from covey.cli.files.paths import check_there
from covey.cli.similarity_option import OF_TEXTS, OWN, check_named, in_words
from covey.cli.terminal import listed
from covey.cli.typer_dataclasses import argument, option, typer
from covey.storage.limits import FREE, MOST_RATIO, OPTION, unpacking_at_most

OBJECTS, READING, RUN = "What the objects are", "How the file is read", "How it runs"
"""The panels of the help beside the first one."""
SIMILARITIES = in_words()
"""The names of all similarities, as the help lists them."""
OUT_FORMATS = (
    f"The format of OUT, if its name does not say it: {', '.join(kind for kind in Format if kind.traits.is_written)}."
)
"""The help of options that name a format of rows that are written."""
SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?", re.IGNORECASE | re.ASCII)
"""A number of bytes: a number and its unit, such as 20GB (billions) or 64MiB (1024 times 1024)."""
UNITS = ("", "k", "m", "g", "t")
"""The units of bytes; each has 1000 of the one before, or 1024 if an i follows."""


class Missing(StrEnum):
    """What is done about rows in which a value is missing."""

    error = "error"
    drop = "drop"
    mean = "mean"


@dataclass(frozen=True)
class Input:
    """Where the rows come from."""

    path: Annotated[
        str,
        argument(
            "DATA",
            "A file in CSV, TSV, JSON or JSON Lines (these may be packed: .gz, .xz, .bz2, .zst), Excel (.xlsx), "
            "Parquet, .npy, .npz (arrays X and y) or svmlight. - reads standard input, as CSV unless --format says "
            "otherwise. With --hosts, a Zeek conn.log or a CSV of flows.",
        ),
    ]
    columns: Annotated[
        str | None,
        option(
            "--columns",
            what="The names of the columns, separated by commas, for a CSV or TSV that has no header. A name that "
            "holds a comma stands in double quotes.",
            panel=OBJECTS,
        ),
    ] = None
    missing: Annotated[
        Missing | None,
        option(
            "--missing",
            what="What to do about rows in which a value is missing (empty, or NA, NaN, null, ? and the like in a "
            "column of numbers): error, drop (leave the row out) or mean (fill in the mean of the column; a model "
            "keeps it). By default error, but classify fills if its model was made so.",
            panel=OBJECTS,
        ),
    ] = None
    delimiter: Annotated[
        str | None,
        option(
            "--delimiter",
            what="The sign between the columns of a CSV or TSV, or comma, semicolon, tab, pipe or space. By default "
            "covey finds it.",
            panel=READING,
        ),
    ] = None
    decimal: Annotated[
        str | None,
        option(
            "--decimal", what="The sign before the fraction of a number in a CSV or TSV: a comma or a point.",
            panel=READING,
        ),
    ] = None  # fmt: skip
    encoding: Annotated[
        str | None,
        option(
            "--encoding",
            what="The encoding of a text file, such as cp1250, latin-1 or utf-16. By default covey finds it, and says "
            "so if it is not Unicode.",
            panel=READING,
        ),
    ] = None
    sheet: Annotated[
        str | None, option("--sheet", what="The sheet of an Excel file, by default the first.", panel=READING)
    ] = None
    max_unpacked: Annotated[
        str | None,
        option(
            OPTION,
            what="How much each packed file (.gz, .xz, .bz2, .zst, .npz, .xlsx, Parquet) may unpack to, such as 500MB "
            f"or 20GB. By default {FREE // 2**20}MiB or {MOST_RATIO} times its size, so that a small file cannot fill "
            "the memory.",
            panel=READING,
        ),
    ] = None
    hosts: Annotated[
        bool, option("--hosts", what="DATA is a log of connections, and the objects are its hosts.", panel=OBJECTS)
    ] = False
    form: Annotated[
        Format | None, option("--format", what="The format of DATA, if its name does not say it.", panel=READING)
    ] = None

    @property
    def dialect(self) -> Dialect:
        """How the values of the file are written, as far as the user says it."""
        return Dialect(listed(self.columns), self.delimiter, self.decimal, self.encoding, self.sheet).checked()

    def around(self) -> AbstractContextManager[None]:
        """Let files unpack to as much as the user allows."""
        return unpacking_at_most(None if self.max_unpacked is None else size_in(self.max_unpacked))

    def check(self) -> None:
        """Refuse a file that is not there, or whose format nobody knows."""
        if self.max_unpacked is not None:
            size_in(self.max_unpacked)
        _ = self.dialect  # refuses what it cannot be
        check_there(self.path)
        if not self.hosts and Path(self.path).is_file():
            format_of(self.path, self.form)


@dataclass(frozen=True)
class Source(Input):
    """Where the rows come from, what of a row is the object, and how two objects are compared."""

    label: Annotated[
        str | None,
        option(
            "--label",
            "-l",
            what="The column that holds the label. Without one, all rows are one cluster, which only select can use.",
        ),
    ] = None
    features: Annotated[
        str | None,
        option(
            "--features",
            what="The columns to compare, separated by commas; a name that holds a comma stands in double quotes. "
            "Within JSON, meta.size is the value size of the object meta. By default these are all columns of numbers.",
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
    smiles: Annotated[
        str | None,
        option(
            "--smiles",
            what="The column that holds molecules as SMILES. Their Morgan fingerprints are compared by jaccard, which "
            "chemists call Tanimoto.",
            panel=OBJECTS,
        ),
    ] = None
    matrix: Annotated[
        bool, option("--matrix", what="The numbers are similarities of all objects to all objects.", panel=OBJECTS)
    ] = False
    distances: Annotated[
        bool,
        option(
            "--distances",
            what="The numbers are distances of all objects to all objects. A distance d counts as the similarity "
            "1 / (1 + d), so that 'within 45' is --threshold 0.0217.",
            panel=OBJECTS,
        ),
    ] = False
    scale: Annotated[
        bool,
        option(
            "--scale", what="Scale each column to 0 .. 1, so that columns of large numbers do not decide alone.",
            panel=OBJECTS,
        ),
    ] = False  # fmt: skip
    image: Annotated[
        str | None,
        option(
            "--image",
            what="The numbers of a row are the pixels of an image of this height and width, such as 28x28, or 32x32x3 "
            "in color. Maps and reports show the images. An array of images in .npy or .npz needs no --image.",
            panel=OBJECTS,
        ),
    ] = None
    labels: Annotated[
        str | None,
        option(
            "--labels",
            what="With --hosts, a table with the columns host and label; with --pairs (of select), id and label.",
            panel=OBJECTS,
        ),
    ] = None
    id: Annotated[
        str | None,
        option("--id", what="The column that names a row. Answers show these names.", panel=OBJECTS),
    ] = None
    similarity: Annotated[
        str | None,
        option(
            "--similarity",
            "-s",
            what=f"How two objects are compared: {SIMILARITIES}; by default cosine; or {OWN} for a function "
            "of your own, which returns a larger number for closer objects. It is called with two rows as dicts (two "
            "texts with --text, two profiles with --profile, two arrays if columns have no names).",
            panel=OBJECTS,
        ),
    ] = None

    @property
    def feature_names(self) -> Sequence[str]:
        return listed(self.features)

    @property
    def image_shape(self) -> list[int] | None:
        """Height and width of the images that the rows are, and 3 if they are in color."""
        if self.image is None:
            return None
        sizes = self.image.lower().split("x")
        shape = [int(size) if size.isdecimal() else 0 for size in sizes]
        if min(shape) < 1 or len(shape) not in (2, 3) or shape[2:] not in ([], [1], [3]):
            raise typer.BadParameter(f"--image must be like 28x28, or 32x32x3 for images in color, got {self.image!r}.")
        return shape

    def check(self) -> None:
        """Refuse options that would be ignored, that exclude each other, and files that are not there."""
        about_columns = (
            self.label,
            self.feature_names,
            self.text,
            self.profile,
            self.smiles,
            self.matrix,
            self.distances,
            self.id,
            self.image_shape,
            self.dialect.given(),
            self.missing,
        )
        if self.hosts and (any(about_columns) or self.path == STANDARD):
            raise MisuseError(
                "--hosts takes a log file, and labels by --labels; leave out other options about columns."
            )
        if sum(map(bool, (self.feature_names, self.text, self.profile))) > 1:
            raise MisuseError("--features, --text and --profile exclude each other; pass one of them.")
        if self.similarity is not None:
            check_named(self.similarity)
        if self.similarity in OF_TEXTS and not self.text:
            raise MisuseError(f"--similarity {self.similarity} compares texts; say which column by --text.")
        super().check()
        if self.labels is not None and self.hosts:  # elsewhere it may not be wanted at all, which comes first
            check_there(self.labels)
        is_file = not self.hosts and Path(self.path).is_file()
        if is_file and self.label is not None and format_of(self.path, self.form) is Format.svmlight:
            raise MisuseError("the labels of an svmlight file are its first values; leave out --label.")

    def check_labels(self, *, used: bool = False) -> None:
        """Refuse a table of labels that would be ignored; it is for hosts, and `used` if the command says so."""
        if self.labels is not None and not (self.hosts or used):
            raise MisuseError("--labels is for --hosts and --pairs; say which column holds the label by --label.")


@dataclass(frozen=True)
class Output:
    """Where rows are written to."""

    out: Annotated[str, option("--out", "-o", what="The file to write rows to; - is standard output.")] = "-"
    out_form: Annotated[Format | None, option("--out-format", what=OUT_FORMATS, panel=RUN, metavar="<name>")] = None


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

    def threads(self) -> AbstractContextManager[Any]:
        """Let whatever asks joblib for the number of threads inside ``with`` have as many as the user allows."""
        from joblib import parallel_config

        return parallel_config(n_jobs=self.jobs)


def size_in(text: str) -> int:
    """Return a number of bytes.

    Examples
    --------
    >>> size_in("20GB"), size_in("64 MiB"), size_in("1.5k")
    (20000000000, 67108864, 1500)
    """
    found = SIZE.fullmatch(text.strip())
    size = 0 if found is None else int(float(found[1]) * (1024 if found[3] else 1000) ** UNITS.index(found[2].lower()))
    if not size:
        raise MisuseError(f"{OPTION} must be a size such as 500MB, 20GB or 64MiB, got {text!r}.")
    return size


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
