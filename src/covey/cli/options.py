"""Options that several commands share. Each is declared here once, as a field of a dataclass."""

import math
import re
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Annotated, Any

from covey.cli.files.dialect import Dialect, decimal_in, delimiter_in, encoding_in, listed
from covey.cli.files.formats import Format, format_of
from covey.cli.files.paths import check_there, expanded
from covey.cli.similarity_option import OWN, check_function_file, help_text, similarity_in
from covey.cli.typer_dataclasses import argument, option
from covey.storage.limits import FREE, MOST_RATIO, OPTION, unpacking_at_most

OBJECTS, READING, RUN = "What the objects are", "How the file is read", "How it runs"
"""The panels of the help beside the first one."""
SIMILARITIES = help_text()
"""The names of all similarities, as the help lists them."""
OUT_FORMATS = (
    f"The format of OUT, if its name does not say it: {', '.join(kind for kind in Format if kind.traits.is_written)}."
)
"""The help of options that name a format of rows that are written."""
SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?", re.IGNORECASE | re.ASCII)
"""A number of bytes: a number and its unit, such as 20GB (billions) or 64MiB (1024 times 1024)."""
UNITS = ("", "k", "m", "g", "t")
"""The units of bytes; each has 1000 of the one before, or 1024 if an i follows."""


def size_in(text: str) -> int:
    """Return a number of bytes.

    Examples
    --------
    >>> size_in("20GB"), size_in("64 MiB"), size_in("1.5k")
    (20000000000, 67108864, 1500)
    """
    match = SIZE.fullmatch(text.strip())
    size = 0 if match is None else int(float(match[1]) * (1024 if match[3] else 1000) ** UNITS.index(match[2].lower()))
    if not size:
        raise ValueError(f"must be a size such as 500MB, 20GB or 64MiB, got {text!r}.")
    return size


def image_in(text: str) -> str:
    """Return the height and width of images, and their 1 or 3 colors, with an x between them."""
    sizes = [int(size) if size.isdecimal() else 0 for size in text.lower().split("x")]
    if min(sizes) < 1 or len(sizes) not in (2, 3) or sizes[2:] not in ([], [1], [3]):
        raise ValueError(f"must be like 28x28, or 32x32x3 for images in color, got {text!r}.")
    return "x".join(map(str, sizes))


def n_jobs_in(number: int) -> int:
    """Return how many threads or processes work; 0 is neither such a number nor a number of cores to leave free."""
    if number == 0:
        raise ValueError("must not be 0; -1 is for all cores.")
    return number


def at_least_one(text: str) -> int:
    """Return a number of neighbors."""
    if not text.isdecimal() or int(text) < 1:
        raise ValueError(f"must be a whole number of at least 1, got {text!r}.")
    return int(text)


def finite(text: str, *words: str) -> float | str:
    """Return a number, or one of the words that may take its place."""
    if text in words:
        return text
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"must be {', '.join(words)} or a finite number, got {text!r}.")
    return number


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
            read=delimiter_in,
            what="The character between the columns of a CSV or TSV, or comma, semicolon, tab, pipe or space. By "
            "default covey finds it.",
            panel=READING,
        ),
    ] = None
    decimal: Annotated[
        str | None,
        option(
            "--decimal",
            read=decimal_in,
            what="The character before the fraction of a number in a CSV or TSV: a comma or a point.",
            panel=READING,
        ),
    ] = None
    encoding: Annotated[
        str | None,
        option(
            "--encoding",
            read=encoding_in,
            what="The encoding of a text file, such as cp1250, latin-1 or utf-16. By default covey finds it, and says "
            "so if it is not Unicode.",
            panel=READING,
        ),
    ] = None
    sheet: Annotated[
        str | None, option("--sheet", what="The sheet of an Excel file, by default the first.", panel=READING)
    ] = None
    max_unpacked: Annotated[
        int | None,
        option(
            OPTION,
            read=size_in,
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
        """How the values of the file are written, where the user says it."""
        return Dialect(listed(self.columns), self.delimiter, self.decimal, self.encoding, self.sheet)

    @cached_property
    def files(self) -> list[str]:
        """The files of the table; one that is not there is refused."""
        check_there(self.path)
        return [self.path]

    @property
    def format(self) -> Format | None:
        """The format of the files; None for a log of hosts."""
        return None if self.hosts else format_of(self.files[0], self.form)

    @property
    def formats(self) -> dict[Format, str]:
        """The formats of the files, each with the first file that has it; none for a log of hosts."""
        found: dict[Format, str] = {}
        for path in () if self.hosts else self.files:
            found.setdefault(format_of(path, self.form), path)
        return found

    @property
    def differing(self) -> str:
        """Two files of different formats, in words."""
        return " and ".join(f"{path} ({kind})" for kind, path in [*self.formats.items()][:2])

    def check_files(self) -> None:
        """Refuse files that are not there, and files of no known format."""
        for path in self.files:
            if not self.hosts:
                format_of(path, self.form)

    def unpacking(self) -> AbstractContextManager[None]:
        """Let files unpack to as much as the user allows."""
        return unpacking_at_most(self.max_unpacked)


@dataclass(frozen=True)
class ManyFiles(Input):
    """Where the rows come from, if several files may be one table."""

    more: Annotated[
        list[str] | None,
        argument(
            "MORE",
            "More files of the same table. Rows are counted through all files, in the order given. A folder stands for "
            "the tables in it, in the order of their names.",
        ),
    ] = None

    @cached_property
    def files(self) -> list[str]:
        """The files of the table. A folder stands for the tables in it, and a pattern for what it matches."""
        if self.hosts:
            check_there(self.path)
            return [self.path]
        return expanded([self.path, *(self.more or ())])


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
            read=image_in,
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
            read=similarity_in,
            what=f"How two objects are compared: {SIMILARITIES}; by default cosine; or {OWN} for a custom "
            "function, which returns a larger number for closer objects. It is called with two rows as dicts (two "
            "texts with --text, two profiles with --profile, two arrays if columns have no names).",
            panel=OBJECTS,
        ),
    ] = None

    @property
    def is_square(self) -> bool:
        """Whether rows hold the similarities or distances of all objects to all objects."""
        return self.matrix or self.distances

    @property
    def feature_names(self) -> Sequence[str]:
        return listed(self.features)

    @property
    def image_shape(self) -> list[int] | None:
        """Height and width of the images that the rows are, and 3 if they are in color."""
        return None if self.image is None else [int(size) for size in self.image.split("x")]

    def check_files(self) -> None:
        """Refuse files that are not there, those of a custom similarity and of labels among them."""
        check_function_file(self.similarity)
        super().check_files()
        if self.labels is not None:
            check_there(self.labels)


@dataclass(frozen=True)
class Output:
    """Where rows are written to."""

    out: Annotated[str, option("--out", "-o", what="The file to write rows to; - is standard output.")] = "-"
    out_form: Annotated[Format | None, option("--out-format", what=OUT_FORMATS, panel=RUN, metavar="<name>")] = None


@dataclass(frozen=True)
class Replacing:
    """Whether files may be replaced."""

    force: Annotated[bool, option("--force", "-f", what="Replace files that exist.", panel=RUN)] = False


@dataclass(frozen=True)
class Running:
    """How much of the machine is used, and how much is said."""

    n_jobs: Annotated[
        int,
        option(
            "--jobs",
            "-j",
            read=n_jobs_in,
            what="How many threads or processes work; -1 uses all cores. The result is the same.",
            panel=RUN,
        ),
    ] = -1
    quiet: Annotated[bool, option("--quiet", "-q", what="Show no progress and say nothing but errors.", panel=RUN)] = (
        False
    )

    @property
    def verbose(self) -> bool:
        return not self.quiet

    def threads(self) -> AbstractContextManager[Any]:
        """Let joblib use as many threads inside ``with`` as the user allows."""
        from joblib import parallel_config

        return parallel_config(n_jobs=self.n_jobs)
