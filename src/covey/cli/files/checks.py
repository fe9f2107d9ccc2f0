"""What readers of several formats refuse: names that repeat, and files that would fill the memory with gaps."""

from collections import Counter
from collections.abc import Sequence

from covey.cli.files.standard import name_of
from covey.storage.errors import FileFormatError
from covey.storage.limits import FREE, MOST_RATIO, OPTION, allowed

BYTES_OF_CELL = 8
"""What a value of a table takes in memory at least: a float64, or a pointer to an object."""


def check_names(where: str, names: Sequence[str]) -> None:
    """Refuse two columns of the same name; `where` says which names these are."""
    name, times = Counter(names).most_common(1)[0] if names else ("", 1)
    if times > 1:
        raise FileFormatError(f"{where}: two columns are called {name!r}; give each a name of its own.")


def check_full_enough(path: str, n_rows: int, n_columns: int, n_values: int) -> None:
    """Refuse rows that share so few columns that a table of them would be large and nearly empty."""
    if n_rows * n_columns > max(FREE // BYTES_OF_CELL, MOST_RATIO * n_values):
        raise FileFormatError(
            f"{name_of(path)}: {n_rows} rows have {n_columns} different keys, but only {n_values} values; put what "
            "differs from row to row into one column of profiles {key: number} and pass --profile."
        )


def check_width(path: str, width: int, size: int) -> None:
    """Refuse more columns than a file of this size may have, since covey keeps a number or two for each of them."""
    most = allowed(size) // BYTES_OF_CELL
    if width > most:
        raise FileFormatError(
            f"{name_of(path)} numbers its columns or rows up to {width}, but a file of {size} bytes may have {most} "
            f"at most; number them without large gaps, or pass a larger {OPTION} ({BYTES_OF_CELL} bytes for each)."
        )
