"""Parquet: tables whose columns have names and types, read and written block by block."""

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
    return {name: schema.field(name).type for name in names}


def frame_of(table: Any) -> Any:
    """Return a batch or a table of Arrow as a frame."""
    table.validate(full=True)  # otherwise bytes that are no text would be noticed only when they are printed
    # Without pandas' own metadata, what was an index in pandas is a column like the others.
    return table.to_pandas(types_mapper=require("pandas", "cli").ArrowDtype, ignore_metadata=True)


class ParquetWriter:
    """Writes frames to a file; the first one decides the types of the columns."""

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
            self._opened = self._stack.enter_context(parquet.ParquetWriter(self._path, table.schema))
        self._opened.write_table(table)
