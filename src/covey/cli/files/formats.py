"""Which format a file has: its name says it, or the user."""

from pathlib import Path

from covey.storage.packed import PACKED

FORMATS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".npz": "npz",
    ".svmlight": "svmlight",
    ".svm": "svmlight",
    ".libsvm": "svmlight",
}
PACKS_ITSELF = ("npz", "parquet")
STANDARD = "-"
"""Standard input or output."""


def has_names(path: str, named: str | None = None) -> bool:
    """Whether the columns of a file of this format have names."""
    return format_of(path, named) not in ("npz", "svmlight")


def format_of(path: str, named: str | None = None, option: str = "--format") -> str:
    """The format that the user has named, or that the path's suffix names; standard input and output are CSV."""
    known = sorted(set(FORMATS.values()))
    if named is not None:
        if named not in known:
            raise ValueError(f"format must be one of {', '.join(known)}, got {named!r}.")
        return named
    if path == STANDARD:
        return "csv"
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    packed = bool(suffixes) and suffixes[-1] in PACKED
    if packed:
        suffixes.pop()
    if suffixes and suffixes[-1] in FORMATS:
        kind = FORMATS[suffixes[-1]]
        if packed and kind in PACKS_ITSELF:
            raise ValueError(f"{path!r}: {kind} files are packed inside; leave out the last suffix.")
        return kind
    raise ValueError(
        f"the name of {path!r} does not say its format: give it one of the suffixes {', '.join(FORMATS)} "
        f"(also packed: {', '.join(PACKED)}), or pass {option}."
    )
