"""Parquet: tables whose columns have names and types, read and written block by block.

What the pages of a Parquet file unpack to, found out before Arrow unpacks any of them.

A Parquet file of a kilobyte may stand for gigabytes in three ways: a page that is packed well, a number that stands for
a million repetitions of itself, and a long text that many rows refer to. What the footer of the file says about its
sizes proves nothing, because Arrow goes by the headers of pages. Therefore

1. the headers of all pages are read, as Arrow is going to read them. The footer says where they are, and each says how
   many bytes its page unpacks to, and how many values it holds;
2. a value takes at least 8 bytes, and one of a fixed length takes that length;
3. where texts are written once and rows refer to them, each row takes as much as the longest of these texts;
4. if that is too much, the texts are read in that form, which takes little memory, and the lengths of those that rows
   refer to are added up;
5. where texts repeat the beginning of the text before, each could be as long as its page. If that is too much, they are
   read a few at a time, and their lengths are added up.

The files of one table, and the parts of Parquet files that can be read each on its own.

A *part* is a run of row groups of one file. Which parts there are follows from the metadata of the files, so that rows
are read only by whoever needs them.
"""

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Self

import numpy as np

from covey.cli.errors import MisuseError
from covey.cli.files.block import STANDARD, Block, name_of
from covey.cli.files.columns import top_of
from covey.cli.files.formats import Format, format_of
from covey.cli.files.opening import BYTES_OF_CELL, How, as_file, check_exists, check_names
from covey.exceptions import FileFormatError
from covey.runtime.libraries import require
from covey.storage.errors import naming
from covey.storage.limits import OPTION, allowed, limit_in_words

MOST_HEADER = 16 * 2**20
"""The most bytes that the header of a page may take. Arrow has the same limit."""
FIRST_READ = 2**12
"""How many bytes are read to find a header in them. Headers take some 30 bytes, and more if they hold long texts as the
smallest and largest value."""
MOST_ROWS = 2**20
"""How many rows are looked at at once. Each takes 4 bytes, and the texts that a batch refers to are looked at once."""
DEEPEST = 16
"""How deep the parts of a header or footer may be nested; 9 levels are in use."""
TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, _, STRUCT = range(1, 13)
"""The types of values in a header, which is written in the compact protocol of Apache Thrift."""
UNPACKED_SIZE, PACKED_SIZE, OF_DATA, OF_DICTIONARY, OF_DATA_V2 = 2, 3, 5, 7, 8
"""The numbers of the parts of a header that count here; the last three say what kind of page it is."""
ENCODINGS = {OF_DATA: 2, OF_DATA_V2: 4}
"""The number of the part that says how the values of a page are written, by the kind of page."""
REFERRING = (2, 8)
"""The ways to write values that refer to those of another page."""
REPEATING = 7
"""The way to write texts that repeat the beginning of the text before."""
ROW_GROUPS, COLUMNS, OF_COLUMN = 4, 1, 3
"""The numbers of the parts of the footer that lead to what it says about a column of a row group."""
PACKING, N_VALUES_OF_CHUNK, CHUNK_SIZE, FIRST_PAGE, DICTIONARY_PAGE = 4, 5, 7, 9, 11
"""The numbers of the parts of the latter: how pages are packed, how many values and bytes there are, and where."""
UNPACKED, PACKINGS = 0, {1: "snappy", 2: "gzip", 4: "brotli", 6: "zstd"}
"""The ways to pack a page that Arrow can unpack alone. There are several that are called LZ4."""
N_VALUES = 1
"""The number of the part of a page's kind that says how many values it holds."""


@dataclass
class Claim:
    """What a column claims to hold.

    Attributes
    ----------
    n_bytes, n_values : int
        The bytes and values of all its pages.
    n_referred_to : int
        The bytes of the texts that rows refer to, if all of them were as long as the longest.
    n_repeated : int
        The bytes of texts that repeat the beginning of others, if all of them were as long as their page.
    longest : int
        The most bytes that one of these texts can take.
    """

    n_bytes: int = 0
    n_values: int = 0
    n_referred_to: int = 0
    n_repeated: int = 0
    longest: int = 0

    def add(self, header: dict[int, Any], longest: int) -> None:
        """Add a page of values, some of which may refer to texts of at most the length `longest`."""
        kind = next((kind for kind in ENCODINGS if kind in header), None)
        if kind is None:
            return
        n_values, encoding = header[kind].get(N_VALUES, 0), header[kind].get(ENCODINGS[kind])
        self.n_values += n_values
        if encoding in REFERRING:
            self.longest = max(self.longest, longest)
            self.n_referred_to += n_values * longest
        if encoding == REPEATING:
            self.longest = max(self.longest, header[UNPACKED_SIZE])
            self.n_repeated += n_values * header[UNPACKED_SIZE]


def check_pages(path: str, place: str) -> None:
    """Refuse a file that unpacks to more than is allowed.

    `path` is what the user calls the file, and `place` is where it lies.
    """
    size = os.path.getsize(place)
    most, total, texts = allowed(size), 0, []
    with require("pyarrow.parquet", "cli").ParquetFile(place) as file, open(place, "rb") as content:
        chunks = _chunks(content)
        if any(len(group) != len(file.schema) for group in chunks):
            raise ValueError("its row groups have other columns than its schema")
        for at, column in enumerate(file.schema):
            is_text = column.physical_type == "BYTE_ARRAY"
            claim = _claim([group[at] for group in chunks], content, is_text, most)
            width = max(BYTES_OF_CELL, column.length or 0)
            total += max(claim.n_bytes, width * claim.n_values)
            _check(path, total, size)
            if max(claim.n_referred_to, claim.n_repeated) > most - total:
                n_rows = int(np.clip(most // claim.longest, 1, MOST_ROWS))
                texts.append(
                    _repeated(place, column.path, n_rows) if claim.n_repeated else _referred_to(place, column.path)
                )
    for lengths in texts:
        for n_bytes in lengths:
            total += n_bytes
            _check(path, total, size)


def _check(path: str, total: int, size: int) -> None:
    if total > allowed(size):
        raise FileFormatError(
            f"{name_of(path)} unpacks to more than {limit_in_words(size)}, which may be an attack on memory; if you "
            f"trust it, pass a larger {OPTION}."
        )


def _chunks(content: BinaryIO) -> list[list[dict[int, Any]]]:
    """Return what the footer says about each column of each row group.

    Arrow is not asked for it, because some of its versions end the process if this part of the footer is damaged.
    """
    content.seek(-8, os.SEEK_END)
    length = int.from_bytes(content.read(4), "little")
    content.seek(-8 - length, os.SEEK_END)
    try:
        groups = _Thrift(content.read(length)).struct()[ROW_GROUPS]
        chunks = [[column[OF_COLUMN] for column in group[COLUMNS]] for group in groups]
        for chunk in (chunk for group in chunks for chunk in group):
            places = [chunk[N_VALUES_OF_CHUNK], chunk[CHUNK_SIZE], chunk[FIRST_PAGE], chunk.get(DICTIONARY_PAGE, 0)]
            if not all(type(number) is int and number >= 0 for number in places):
                raise ValueError
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise ValueError("its footer is damaged") from error
    return chunks


def _claim(chunks: Sequence[dict[int, Any]], content: BinaryIO, is_text: bool, most: int) -> Claim:
    """Return what a column, of which these are the parts, claims; reading stops where that is more than `most`."""
    claim = Claim()
    for chunk in chunks:
        start, before, longest = chunk[FIRST_PAGE], claim.n_values, 0
        if 0 < chunk.get(DICTIONARY_PAGE, 0) < start:
            start = chunk[DICTIONARY_PAGE]
        n_values = chunk[N_VALUES_OF_CHUNK]
        end = start + chunk[CHUNK_SIZE] if n_values else start  # Arrow reads no page of nothing
        for header, at in _headers(content, start, end):
            claim.n_bytes += header[UNPACKED_SIZE]
            if OF_DICTIONARY in header and is_text and claim.n_bytes <= most:
                longest = _longest(content, at, header, chunk.get(PACKING))
            claim.add(header, longest)
            if claim.n_values - before >= n_values or max(claim.n_bytes, claim.n_values) > most:
                break
    return claim


def _longest(content: BinaryIO, start: int, header: dict[int, Any], packing: Any) -> int:
    """Return the length of the longest text in a page of texts that rows refer to."""
    content.seek(start)
    page, size = content.read(header[PACKED_SIZE]), header[UNPACKED_SIZE]
    if packing != UNPACKED:
        if packing not in PACKINGS:
            return int(size)
        page = require("pyarrow", "cli").Codec(PACKINGS[packing]).decompress(page, size, asbytes=True)
    at = longest = 0
    while at < len(page):
        length = int.from_bytes(page[at : at + 4], "little")
        at, longest = at + 4 + length, max(longest, length)
    return longest


def _headers(content: BinaryIO, start: int, end: int) -> Iterator[tuple[dict[int, Any], int]]:
    """Yield the headers of the pages from one place in a file to another, and where the content of each begins."""
    while start < end:
        header, length = _header(content, start)
        sizes = header.get(UNPACKED_SIZE), header.get(PACKED_SIZE)
        kinds = [header.get(kind, {}) for kind in (OF_DATA, OF_DATA_V2)]
        counts = [kind.get(N_VALUES, 0) if isinstance(kind, dict) else None for kind in kinds]
        if not all(type(number) is int and number >= 0 for number in (*sizes, *counts)):
            raise ValueError(f"the page at byte {start} has no size, or one below 0")
        yield header, start + length
        start += length + header[PACKED_SIZE]


def _header(content: BinaryIO, start: int) -> tuple[dict[int, Any], int]:
    """Return the header at a place in the file, and how many bytes it takes."""
    n_bytes = FIRST_READ
    while True:
        content.seek(start)
        reader = _Thrift(content.read(n_bytes))
        try:
            return reader.struct(), reader.at
        except (IndexError, ValueError) as error:
            n_bytes *= 16
            if len(reader.text) < n_bytes // 16 or n_bytes > MOST_HEADER or isinstance(error, ValueError):
                raise ValueError(f"the header of the page at byte {start} is damaged") from error


class _Thrift:
    """Reads values in the compact protocol of Apache Thrift. It raises IndexError where the text ends too early."""

    def __init__(self, text: bytes) -> None:
        self.text, self.at = text, 0

    def struct(self, depth: int = 0) -> dict[int, Any]:
        """Return the numbered parts of a structure; texts and numbers with a point are skipped."""
        if depth > DEEPEST:
            raise ValueError("it is nested too deep")
        parts: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._whole()
            parts[number] = self._value(head & 15, depth)
        return parts

    def _value(self, kind: int, depth: int) -> Any:
        if kind in (TRUE, FALSE):
            return kind == TRUE
        if kind in (I16, I32, I64):
            return self._whole()
        if kind == STRUCT:
            return self.struct(depth + 1)
        if kind in (LIST, SET):
            head = self._byte()
            n = head >> 4 if head >> 4 < 15 else self._varint()
            if n > len(self.text):
                raise ValueError("a list is too long")
            return [self._value(BYTE if head & 15 in (TRUE, FALSE) else head & 15, depth + 1) for _ in range(n)]
        if kind not in (BYTE, DOUBLE, BINARY):
            raise ValueError(f"type {kind} has no place in it")
        length = {BYTE: 1, DOUBLE: 8}.get(kind) or self._varint()
        self.at += length
        if self.at > len(self.text):
            raise IndexError
        return None

    def _byte(self) -> int:
        self.at += 1
        return self.text[self.at - 1]

    def _varint(self) -> int:
        found = shift = 0
        while True:
            byte = self._byte()
            found |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return found
            if shift > 63:
                raise ValueError("a number is too long")

    def _whole(self) -> int:
        """Return a whole number; its sign is its last bit."""
        found = self._varint()
        return found >> 1 ^ -(found & 1)


def _repeated(place: str, column: str, n_rows: int) -> Iterator[int]:
    """Yield, batch by batch, how many bytes the texts of a column take."""
    with require("pyarrow.parquet", "cli").ParquetFile(place) as file:
        for batch in file.iter_batches(n_rows, columns=[column]):
            yield batch.nbytes


def _referred_to(place: str, column: str) -> Iterator[int]:
    """Yield, batch by batch, how many bytes the texts of a column take once each row has its own."""
    compute = require("pyarrow.compute", "cli")
    with require("pyarrow.parquet", "cli").ParquetFile(place, read_dictionary=[column]) as file:
        for batch in file.iter_batches(MOST_ROWS, columns=[column]):
            for values in _leaves(batch.column(0)):
                if require("pyarrow", "cli").types.is_dictionary(values.type):
                    lengths = compute.binary_length(values.dictionary)
                    yield compute.sum(compute.take(lengths, values.indices).cast("int64")).as_py() or 0


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
