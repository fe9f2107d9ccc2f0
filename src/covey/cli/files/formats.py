"""Which formats of files there are, and which one a file has: its name says it, or the user does."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from covey.cli.files.block import STANDARD
from covey.storage.compression import PACKED


@dataclass(frozen=True)
class FormatTraits:
    """What the rest of covey has to know about a format.

    Attributes
    ----------
    suffixes : tuple of str
        The suffixes of its files.
    is_table : bool
        Whether columns have names. Such files are read and written block by block, others as a whole.
    is_typed : bool
        Whether numbers differ from strings. In CSV and TSV every value is a string.
    is_text : bool
        Whether files consist of lines of text, so that they can be packed by gzip and the like.
    is_written : bool
        Whether covey writes such files, too.
    options : tuple of str
        What of a `Dialect` a user may say about such files.
    verdict : str
        What is said about a file that cannot be read.
    """

    suffixes: tuple[str, ...]
    is_table: bool = True
    is_typed: bool = False
    is_text: bool = True
    is_written: bool = True
    options: tuple[str, ...] = ()
    verdict: str = "cannot be read"


class Format(StrEnum):
    """A format of files; its `traits` say what is special about it."""

    traits: FormatTraits

    csv = "csv", FormatTraits((".csv",), options=("columns", "delimiter", "decimal", "encoding"))
    tsv = "tsv", FormatTraits((".tsv", ".m8"), options=("columns", "delimiter", "decimal", "encoding"))
    jsonl = "jsonl", FormatTraits((".jsonl", ".ndjson"), is_typed=True, options=("encoding",))
    json = "json", FormatTraits((".json",), is_typed=True, is_written=False, options=("columns", "encoding"))
    xlsx = (
        "xlsx",
        FormatTraits(
            (".xlsx", ".xlsm"),
            is_typed=True,
            is_text=False,
            is_written=False,
            options=("sheet",),
            verdict="is not a workbook of Excel, or damaged",
        ),
    )
    parquet = (
        "parquet",
        FormatTraits((".parquet", ".pq"), is_typed=True, is_text=False, verdict="is not a Parquet file, or damaged"),
    )
    npy = (
        "npy",
        FormatTraits(
            (".npy",), is_table=False, is_text=False, is_written=False, verdict="is not an .npy file, or damaged"
        ),
    )
    npz = "npz", FormatTraits((".npz",), is_table=False, is_text=False, verdict="is not an .npz file, or damaged")
    svmlight = "svmlight", FormatTraits((".svmlight", ".svm", ".libsvm"), is_table=False, options=("encoding",))

    def __new__(cls, name: str, traits: FormatTraits) -> "Format":
        member = str.__new__(cls, name)
        member._value_ = name
        member.traits = traits
        return member


SUFFIXES = {suffix: kind for kind in Format for suffix in kind.traits.suffixes}
"""The format of files with a suffix."""
NAMES = {str(kind): kind for kind in Format}
"""The formats by their names."""


def format_of(path: str, named: str | None = None, option: str = "--format") -> Format:
    """Return the format that the user has named, or else the one that the path's suffix names.

    Standard input and output are CSV unless another format is named.
    `option` is the option that the user can pass if the path says nothing.
    """
    if named is not None:
        if named not in NAMES:
            raise ValueError(f"format must be one of {', '.join(sorted(NAMES))}, got {named!r}.")
        return NAMES[named]
    if path == STANDARD:
        return Format.csv
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    packed = bool(suffixes) and suffixes[-1] in PACKED
    if packed:
        suffixes.pop()
    if suffixes and suffixes[-1] in SUFFIXES:
        kind = SUFFIXES[suffixes[-1]]
        if packed and not kind.traits.is_text:
            raise ValueError(f"{path!r}: {kind} files are packed inside; leave out the last suffix.")
        return kind
    if suffixes and suffixes[-1] == ".xls":
        raise ValueError(f"{path!r}: old workbooks of Excel are not read; save it as .xlsx.")
    raise ValueError(
        f"the name of {path!r} does not say its format: give it one of the suffixes {', '.join(SUFFIXES)} "
        f"(also packed: {', '.join(PACKED)}), or pass {option}."
    )


def has_names(path: str, named: str | None = None) -> bool:
    """Return whether the columns of a file have names, going by its format."""
    return format_of(path, named).traits.is_table
