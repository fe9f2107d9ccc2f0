"""Parquet: tables whose columns have names and types, read and written block by block.

A Parquet file of a kilobyte can stand for gigabytes: by pages that are packed well, by a number that stands for a
million repetitions of itself, or by a long string that many rows refer to. What its footer says about sizes proves
nothing. Therefore

1. A file that declares more rows than its size justifies (`storage/limits.py`) is refused before any is read.
2. Strings are read as references to the page that holds them, which take 4 bytes a row however long the strings are.
   Strings within lists, maps and structs are copied, because Arrow has no references to them in several chunks, and so
   are strings in an encoding for which it has none; of these, few rows are read at a time.
3. The bytes of a batch, each string at its full length, are added to those of the batches before.
4. If that is more than the size of the file justifies, the file is refused. Otherwise the strings are copied in place
   of the references, and the batch becomes a frame.

What one page unpacks to is thus known only after Arrow has unpacked it, and so are strings within lists, of which a
batch holds at most 2 GiB.

Several files can be one table. A `RowGroupPart` is a run of row groups of one file, which a worker of a cluster can
read by itself. The parts of a table follow from the metadata of its files, so that only workers read rows.
"""

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from covey.cli.files.block import Block, name_of
from covey.cli.files.columns import top_of
from covey.cli.files.formats import Format
from covey.cli.files.input import BYTES_OF_CELL, ReadOptions, as_file, check_exists, check_names
from covey.exceptions import FileFormatError
from covey.runtime.file_errors import format_errors_of
from covey.runtime.libraries import require
from covey.storage.limits import OPTION, allowed, limit_in_words

WITH_GAPS = {"bool": "boolean"} | {
    f"{sign}int{bits}": f"{sign.upper()}Int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)
}
"""What pandas calls the types of columns that have gaps, by Arrow's names for them."""


ROWS_OF_BATCH = 20_000
"""The most rows of a batch."""

ROWS_OF_COPIES = 1_000
"""The most rows of a batch whose strings are copied while they are read, so that what repeats itself fills no memory
before it is counted."""


def read_parquet(path: str, options: ReadOptions) -> Iterator[Block]:
    """Yield the rows of a file in blocks, in the types of Arrow, which lose nothing."""
    with ExitStack() as stack:
        place = stack.enter_context(as_file(path))
        file = stack.enter_context(_opened(place))
        names, n_all, n_read = list(types_of(path, file)), file.metadata.num_rows, 0
        _check_size(path, BYTES_OF_CELL * n_all * len(names), os.path.getsize(place))
        for batch in _batches(path, place, names, options.n_rows(len(names))):
            n_read += batch.num_rows
            yield Block(path, frame=frame_of(batch), share=n_read / max(n_all, n_read, 1))


def _opened(place: str, **options: Any) -> Any:
    return require("pyarrow.parquet", "cli").ParquetFile(place, **options)


def _batches(
    path: str, place: str, columns: Sequence[str], n_rows: int, row_groups: Sequence[int] | None = None
) -> Iterator[Any]:
    """Yield rows as tables of Arrow, until they take more bytes than the size of the file justifies.

    `path` is what the user calls the file, and `place` is where it lies.
    """
    pyarrow, size, n_bytes = require("pyarrow", "cli"), os.path.getsize(place), 0
    with _opened(place) as file:
        types = types_of(path, file)
        leaves = [column for column in file.schema if column.physical_type == "BYTE_ARRAY"]
        strings = [column.path for column in leaves if column.path in types]
    schema = pyarrow.schema([(name, _without_views(types[name])) for name in columns])

    def read(at: int, n_at_a_time: int, references: Sequence[str]) -> Iterator[Any]:
        """Read rows from row `at` on."""
        with _opened(place, read_dictionary=references) as file:
            n_read = 0
            for batch in file.iter_batches(n_at_a_time, row_groups=row_groups, columns=list(columns)):
                n_read += batch.num_rows
                if n_read > at:
                    yield batch.slice(max(at + batch.num_rows - n_read, 0))

    n_done, batches = 0, read(0, n_rows, strings)
    while True:
        try:
            batch = next(batches, None)
        except OSError:  # which is what Arrow says of damage, too; this will show again
            if not strings:
                raise
            # Arrow has no references to strings that are written as what differs from the one before.
            batches, strings = read(n_done, min(n_rows, ROWS_OF_COPIES), []), []
            continue
        if batch is None:
            return
        n_done += batch.num_rows
        n_bytes += sum(_unpacked_size(column) for column in batch.columns)
        _check_size(path, n_bytes, size)
        yield pyarrow.Table.from_batches([batch]).select(schema.names).cast(schema)


def _check_size(path: str, n_bytes: int, size: int) -> None:
    """Refuse more bytes than a file of this size may unpack to."""
    if n_bytes > allowed(size):
        raise FileFormatError(
            f"{name_of(path)} unpacks to more than {limit_in_words(size)}, which may be an attack on memory; if you "
            f"trust it, pass a larger {OPTION}."
        )


def _unpacked_size(column: Any) -> int:
    """Return how many bytes a column takes once each row has its own string, and each value at least 8 bytes."""
    compute, types = require("pyarrow.compute", "cli"), require("pyarrow", "cli").types
    n_bytes = BYTES_OF_CELL * len(column)
    for values in _leaves(column):
        n_bytes_of_values = values.nbytes
        if types.is_dictionary(values.type) and len(values):
            lengths = compute.binary_length(values.dictionary)
            n_bytes_of_values = compute.sum(compute.take(lengths, values.indices).cast("int64")).as_py() or 0
        n_bytes = max(n_bytes, BYTES_OF_CELL * len(values), n_bytes_of_values)
    return n_bytes


def _leaves(values: Any) -> Iterator[Any]:
    """Yield the innermost values of a column of lists and structures."""
    types = require("pyarrow", "cli").types
    if types.is_struct(values.type):
        for at in range(values.type.num_fields):
            yield from _leaves(values.field(at))
    elif types.is_map(values.type):
        yield from _leaves(values.keys)
        yield from _leaves(values.items)
    elif types.is_list(values.type) or types.is_large_list(values.type) or types.is_fixed_size_list(values.type):
        yield from _leaves(values.flatten())
    else:
        yield values


def types_of(path: str, file: Any) -> dict[str, Any]:
    """Return the columns of an opened file and their types. An index of pandas that has no name is left out."""
    schema = file.schema_arrow
    names = [name for name in schema.names if not name.startswith("__index_level_")]
    check_names(name_of(path), names)
    types = {name: schema.field(name).type for name in names}
    for name, kind in types.items():
        if _without_views(kind) is None:
            raise FileFormatError(
                f"{name_of(path)}: column {name!r} is of the type {kind}, which covey does not read; write its lists "
                "as those of the type list."
            )
    return types


def frame_of(table: Any) -> Any:
    """Return a table of Arrow as a frame."""
    table.validate(full=True)  # otherwise bytes that are not text would be noticed only when they are printed
    # Without pandas' own metadata, what was an index in pandas is a column like the others.
    return table.to_pandas(types_mapper=require("pandas", "cli").ArrowDtype, ignore_metadata=True)


def _without_views(kind: Any) -> Any:
    """Return the type with strings and bytes in place of Arrow's views of them, since Arrow takes no rows of views.

    None for views of lists: what Arrow 26 makes of these by a cast fails its own validation.
    """
    pyarrow = require("pyarrow", "cli")
    types = pyarrow.types
    if types.is_string_view(kind) or types.is_binary_view(kind):
        return pyarrow.large_string() if types.is_string_view(kind) else pyarrow.large_binary()
    if types.is_map(kind):
        key, item = _without_views(kind.key_type), _without_views(kind.item_type)
        return None if key is None or item is None else pyarrow.map_(key, item, kind.keys_sorted)
    if types.is_struct(kind):
        inner = [(field, _without_views(field.type)) for field in kind]
        return None if any(own is None for _, own in inner) else pyarrow.struct([f.with_type(own) for f, own in inner])
    is_list = types.is_list(kind), types.is_large_list(kind), types.is_fixed_size_list(kind)
    if any(is_list):
        own = _without_views(kind.value_type)
        if own is None:
            return None
        field = kind.value_field.with_type(own)
        return pyarrow.large_list(field) if is_list[1] else pyarrow.list_(field, kind.list_size if is_list[2] else -1)
    return None if types.is_list_view(kind) or types.is_large_list_view(kind) else kind


class ParquetWriter:
    """Writes frames to a file; the first one decides the types of the columns.

    What pandas' own metadata say about the columns is rewritten, see `_readable_by_pandas`.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stack = ExitStack()
        self._opened: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: Any) -> None:
        self._stack.close()

    def __call__(self, frame: Any) -> None:
        pyarrow, parquet = require("pyarrow", "cli"), require("pyarrow.parquet", "cli")
        schema = None if self._opened is None else self._opened.schema
        try:
            table = pyarrow.Table.from_pandas(frame, preserve_index=False, schema=schema)
        except pyarrow.ArrowException as error:
            raise ValueError(f"the values of a column do not fit one type of Parquet: {error}; write CSV.") from error
        if self._opened is None:
            table = table.replace_schema_metadata(_readable_by_pandas(table.schema, frame))
            self._opened = self._stack.enter_context(parquet.ParquetWriter(self._path, table.schema))
        self._opened.write_table(table)


def _readable_by_pandas(schema: Any, frame: Any) -> dict[bytes, bytes]:
    """Return the metadata of a schema, without names of types that pandas writes but does not read.

    pandas calls the columns of Arrow's types by names such as `list<element: float>[pyarrow]`, and fails on most of
    them that have parameters. Under the name `object`, it takes what Arrow makes of the column. Whole numbers and truth
    values get the names of the types in which they can have gaps, because Arrow would make floats of them.
    """
    arrow = require("pandas", "cli").ArrowDtype
    described = schema.pandas_metadata
    for column in described["columns"]:
        dtype = frame.dtypes[column["name"]]
        if isinstance(dtype, arrow):
            column["numpy_type"] = WITH_GAPS.get(str(dtype.pyarrow_dtype), "object")
    return schema.metadata | {b"pandas": json.dumps(described).encode()}


ROWS_OF_PART = 100_000
"""Row groups are joined until a part has at least this many rows, so that there are not too many tasks; a larger row
group is a part by itself."""


@dataclass(frozen=True)
class RowGroupPart:
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
        if not Path(self.place).is_file():
            raise FileNotFoundError(
                f"{self.place}: no such file where a worker runs; all workers must find it under this name."
            )
        with format_errors_of(self.path, Format.parquet.traits.verdict):
            wanted = self.columns if columns is None else columns
            names = list(dict.fromkeys(top_of(name, self.columns) for name in wanted))
            batches = list(_batches(self.path, self.place, names, ROWS_OF_BATCH, self.row_groups))
            frame = frame_of(require("pyarrow", "cli").concat_tables(batches))
            if len(frame) != self.n_rows:
                raise FileFormatError(
                    f"{self.path} must hold {self.n_rows} rows from row {self.first} on, as its "
                    f"metadata said, got {len(frame)}; it is damaged, or has been replaced meanwhile."
                )
        return Block(self.path, self.first, frame=frame[names])


def parts_of(paths: Sequence[str]) -> list[RowGroupPart]:
    """Return the parts of a table that consists of these Parquet files, in this order. No row is read."""
    first: tuple[str, dict[str, Any]] | None = None
    parts: list[RowGroupPart] = []
    for path in paths:
        check_exists(path)
        with format_errors_of(path, Format.parquet.traits.verdict), _opened(path) as file:
            types = types_of(path, file)
            sizes = [file.metadata.row_group(at).num_rows for at in range(file.metadata.num_row_groups)]
            _check_size(path, BYTES_OF_CELL * sum(sizes) * len(types), os.path.getsize(path))
        first = first or (path, types)
        _check_same_columns(first, (path, types))
        parts += _parts(path, sizes, tuple(first[1]))
    if not parts:
        raise FileFormatError(f"{' and '.join(paths[:2])}{' and others' if len(paths) > 2 else ''} hold no rows.")
    return parts


def _parts(path: str, sizes: Sequence[int], columns: tuple[str, ...]) -> Iterator[RowGroupPart]:
    """Yield the parts of a file whose row groups have these sizes."""
    place, first, groups, n_rows = str(Path(path).resolve()), 0, [], 0
    for at, size in enumerate(sizes):
        groups.append(at)
        n_rows += size
        if n_rows >= ROWS_OF_PART or (at == len(sizes) - 1 and n_rows):
            yield RowGroupPart(path, place, first, n_rows, tuple(groups), columns)
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
