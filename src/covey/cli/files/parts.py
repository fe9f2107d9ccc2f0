"""The files of one table, and the parts of Parquet files that can be read each on its own.

A *part* is a run of row groups of one file. Which parts there are follows from the metadata of the files, so that rows
are read only by whoever needs them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from covey.cli.files.block import Block
from covey.cli.files.formats import Format, format_of
from covey.cli.files.nested import top_of
from covey.cli.files.opening import check_exists
from covey.cli.files.pages import check_pages
from covey.cli.files.parquet import frame_of, types_of
from covey.cli.files.standard import STANDARD
from covey.cli.misuse import MisuseError
from covey.runtime.extras import require
from covey.storage.errors import FileFormatError, naming

ROWS_OF_PART = 100_000
"""Row groups are joined until a part has at least this many rows, so that there are not too many tasks; a larger row
group is a part by itself. No comparison with other values is on record."""


@dataclass(frozen=True)
class Part:
    """Rows of a file, one after another.

    Attributes
    ----------
    path : str
        The file, as the user has named it.
    place : str
        The file, as it is found from any folder.
    first, n_rows : int
        The number of the first row in the file, from 0, and how many rows there are.
    row_groups : tuple of int
    columns : tuple of str
        All columns of the table, in the order of its first file.
    """

    path: str
    place: str
    first: int
    n_rows: int
    row_groups: tuple[int, ...]
    columns: tuple[str, ...]

    def read(self, columns: Sequence[str] | None = None) -> Block:
        """Return the rows with these columns, or those that hold these values; by default with all."""
        parquet = require("pyarrow.parquet", "cli")
        if not Path(self.place).is_file():
            raise FileNotFoundError(
                f"{self.place}: no such file where a worker runs; all workers must find it under this name."
            )
        with naming(self.path, Format.parquet.facts.verdict), parquet.ParquetFile(self.place) as file:
            wanted = self.columns if columns is None else columns
            names = list(dict.fromkeys(top_of(name, self.columns) for name in wanted))
            frame = frame_of(file.read_row_groups(list(self.row_groups), columns=names))
            if len(frame) != self.n_rows:
                raise FileFormatError(
                    f"{self.path} must hold {self.n_rows} rows from row {self.first} on, as its "
                    f"metadata said, got {len(frame)}; it is damaged, or has been replaced meanwhile."
                )
        return Block(self.path, self.first, frame=frame[names])


def parts_of(paths: Sequence[str], form: str | None = None) -> list[Part]:
    """Return the parts of a table that consists of these Parquet files, in this order. No row is read."""
    first: tuple[str, dict[str, Any]] | None = None
    parts: list[Part] = []
    for path in paths:
        if path == STANDARD or format_of(path, form) is not Format.parquet:
            raise MisuseError(f"only Parquet files can be read by --dask, got {path}; leave out --dask.")
        check_exists(path)
        with naming(path, Format.parquet.facts.verdict):
            check_pages(path, path)
            with require("pyarrow.parquet", "cli").ParquetFile(path) as file:
                types = types_of(path, file)
                sizes = [file.metadata.row_group(at).num_rows for at in range(file.metadata.num_row_groups)]
        first = first or (path, types)
        _check_same_columns(first, (path, types))
        parts += _parts(path, sizes, tuple(first[1]))
    if not parts:
        raise FileFormatError(f"{' and '.join(paths[:2])}{' and others' if len(paths) > 2 else ''} hold no rows.")
    return parts


def _parts(path: str, sizes: Sequence[int], columns: tuple[str, ...]) -> Iterator[Part]:
    """Yield the parts of a file whose row groups have these sizes."""
    place, first, groups, n_rows = str(Path(path).resolve()), 0, [], 0
    for at, size in enumerate(sizes):
        groups.append(at)
        n_rows += size
        if n_rows >= ROWS_OF_PART or (at == len(sizes) - 1 and n_rows):
            yield Part(path, place, first, n_rows, tuple(groups), columns)
            first, groups, n_rows = first + n_rows, [], 0


def _check_same_columns(one: tuple[str, dict[str, Any]], other: tuple[str, dict[str, Any]]) -> None:
    """Refuse files that differ in the names or types of their columns. Each is a path and its columns."""
    (path_a, types_a), (path_b, types_b) = one, other
    for name in types_a | types_b:
        a, b = (f"of the type {types[name]}" if name in types else "missing" for types in (types_a, types_b))
        if a != b:
            raise ValueError(
                f"all parts must have the same columns, but {name!r} is {a} in {path_a} and {b} in {path_b}."
            )


def joined(frames: Sequence[Any]) -> Any:
    """Return the rows of several frames as one frame."""
    return frames[0] if len(frames) == 1 else require("pandas", "cli").concat(frames, ignore_index=True)
