"""Parquet: tables whose columns have names and types, read and written block by block."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

from covey.cli.files.block import Block
from covey.cli.files.checks import check_names
from covey.cli.files.how import How
from covey.cli.files.opening import as_file
from covey.cli.files.pages import check_pages
from covey.cli.files.standard import name_of
from covey.runtime.extras import require
from covey.storage.errors import FileFormatError

WITH_GAPS = {"bool": "boolean"} | {
    f"{sign}int{bits}": f"{sign.upper()}Int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)
}
"""What pandas calls the types of columns that have gaps, by Arrow's names for them."""


def read_parquet(path: str, how: How) -> Iterator[Block]:
    """Yield the rows of a file in blocks, in the types of Arrow, which lose nothing."""
    parquet = require("pyarrow.parquet", "cli")
    with ExitStack() as stack:
        place = stack.enter_context(as_file(path))
        check_pages(path, place)
        file = stack.enter_context(parquet.ParquetFile(place))
        names = list(types_of(path, file))
        done = 0
        for batch in file.iter_batches(how.n_rows(len(names)), columns=names):
            done += batch.num_rows
            yield Block(path, frame=frame_of(batch), share=done / max(file.metadata.num_rows, done, 1))


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
    """Return a batch or a table of Arrow as a frame."""
    table.validate(full=True)  # otherwise bytes that are no text would be noticed only when they are printed
    schema = table.schema
    plain = require("pyarrow", "cli").schema([field.with_type(_without_views(field.type)) for field in schema])
    if plain != schema:
        table = table.cast(plain)
    # Without pandas' own metadata, what was an index in pandas is a column like the others.
    return table.to_pandas(types_mapper=require("pandas", "cli").ArrowDtype, ignore_metadata=True)


def _without_views(kind: Any) -> Any:
    """Return the type with texts and bytes in place of Arrow's views of them, since Arrow takes no rows of views.

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
