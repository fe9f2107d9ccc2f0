"""What the pages of a Parquet file unpack to, found out before Arrow unpacks any of them.

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
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np

from covey.cli.files.checks import BYTES_OF_CELL
from covey.cli.files.standard import name_of
from covey.runtime.extras import require
from covey.storage.errors import FileFormatError
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
