"""Text of unknown origin: its encoding, and the delimiter of its columns.

The first bytes tell the encoding:

1. A byte order mark names UTF-8, UTF-16 or UTF-32.
2. A text in which every second byte is 0 is UTF-16 without such a mark.
3. A text that is valid UTF-8 is UTF-8: text in another encoding hardly ever is by chance.
4. Anything else is for the library charset-normalizer to judge, and may be wrong.

The header tells the delimiter, by one rule for tables and for logs (`delimiter_of`).
"""

import codecs
import re
from collections.abc import Sequence
from io import StringIO

from covey.exceptions import FileFormatError
from covey.runtime.libraries import require

MOST_JUDGED = 2**16
"""How many bytes the library gets to judge. It judges 64 KiB within tens of milliseconds."""
MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
"""The encodings by their byte order marks. The mark of UTF-32 begins like that of UTF-16, so it comes first."""
USUAL = (
    *("cp1252", "cp1250", "cp1251", "shift_jis", "gb18030", "euc_kr", "big5", "euc_jp", "iso8859_2", "cp1254"),
    *("cp1253", "cp1255", "cp1256", "cp1257", "koi8_r"),
)
"""The encodings that are considered beside Unicode. Of those that the library finds equally likely, the first one here
is taken. cp1252 also stands for Latin-1, of which it is an extension."""
CENTRAL_FIRST = ("cp1250", *USUAL)
"""The order for strings that hold one of the letters below."""
CENTRAL = tuple("ŠŽšž".encode("cp1250")[at : at + 1] for at in range(4))
"""Letters of Czech, Slovak, Slovene and Croatian, which cp1250 and cp1252 have at the same places. Hardly any language
that is written in cp1252 has them."""
LAST_RESORT = "latin-1"
"""The encoding in which every byte is some character."""


def encoding_of(prefix: bytes) -> tuple[str, bool]:
    """Return the encoding of a text that begins with these bytes, and whether that is only a judgement."""
    for mark, name in MARKS.items():
        if prefix.startswith(mark):
            return name, False
    by_zeros = _by_zeros(prefix)
    if by_zeros is not None:
        return by_zeros, False
    try:
        codecs.getincrementaldecoder("utf-8")().decode(prefix)  # the last character may be cut off
    except UnicodeDecodeError:
        return _judged(prefix), True
    return "utf-8", False


def with_marks(encoding: str, prefix: bytes) -> str:
    """Return an encoding that the user has named, in the form that leaves out a byte order mark if there is one."""
    name = codecs.lookup(encoding).name
    marked = [of_mark for mark, of_mark in MARKS.items() if prefix.startswith(mark)]
    return marked[0] if marked and name.startswith(marked[0].removesuffix("-sig")) else name


def undecodable(name: str, error: UnicodeError, n_lines: int) -> FileFormatError:
    """Return an error about a byte that is not text, after this many lines; `name` is what messages call the file.

    The decoder works on pieces of many lines. The lines of the piece before the byte are counted, too.
    """
    where, what = "", str(error)
    if isinstance(error, UnicodeDecodeError):
        before = error.object[: error.start].decode(error.encoding, "replace")
        where = f", line {n_lines + sum(1 for _ in StringIO(before + '.', newline=''))}"
        what = f"the byte 0x{error.object[error.start]:02x} is not text in the encoding {error.encoding}"
    return FileFormatError(f"{name}{where}: {what}; pass the encoding of the file as --encoding, or save it as UTF-8.")


def _by_zeros(prefix: bytes) -> str | None:
    """Return the form of UTF-16 in which every second byte of plain letters is 0."""
    half = len(prefix) // 2
    even, odd = prefix[: 2 * half : 2].count(0), prefix[1::2].count(0)
    if odd > half / 2 and 10 * even < odd:
        return "utf-16-le"
    if even > half / 2 and 10 * odd < even:
        return "utf-16-be"
    return None


def _judged(prefix: bytes) -> str:
    """Return what the library makes of the lines that are not plain English."""
    library = require("charset_normalizer", "cli")
    lines = dict.fromkeys(line for line in prefix.splitlines() if not line.isascii())
    found = list(library.from_bytes(b"\n".join(lines)[:MOST_JUDGED], cp_isolation=list(USUAL)))
    best = [match for match in found if (match.chaos, -match.coherence) <= (found[0].chaos, -found[0].coherence)]
    likely = {name for match in best for name in match.could_be_from_charset} or set(USUAL)
    order = CENTRAL_FIRST if any(letter in prefix for letter in CENTRAL) else USUAL
    return next((name for name in order if name in likely and _decodes(prefix, name)), LAST_RESORT)


def _decodes(prefix: bytes, encoding: str) -> bool:
    try:
        codecs.getincrementaldecoder(encoding)().decode(prefix)
    except UnicodeDecodeError:
        return False
    return True


DELIMITERS = ",;\t|"
"""What programs write between columns, the most usual first."""
QUOTED = re.compile(r'"[^"]*"')
"""A value in quotes. Delimiters in it separate nothing."""


def delimiter_of(header: str, rows: Sequence[str] = (), without: str = "") -> str:
    """Return the delimiter: the character that occurs most often in the header line, outside of quotes.

    Names of columns hold such characters now and then, but less often than there are columns. Characters that occur
    equally often in the header and in each of some `rows` below it go before others, and among these a rarer one goes
    before a comma, because commas also stand in strings and numbers. A header without any of them is a single column
    of a CSV.
    The characters in `without` are known to separate nothing.

    Examples
    --------
    >>> delimiter_of("time,source"), delimiter_of("time;source, or sender;size"), delimiter_of("time")
    (',', ';', ',')
    >>> delimiter_of("name, first|age", ["Smith, John|3", "Plato|80"])
    '|'
    """
    counts = {char: [QUOTED.sub("", line).count(char) for line in (header, *rows)] for char in DELIMITERS}
    there = [char for char in DELIMITERS if counts[char][0] and char not in without]
    steady = [char for char in there if rows and len(set(counts[char])) == 1]
    if steady:
        return max(reversed(steady), key=lambda char: counts[char][0])
    return max(
        there,
        key=lambda char: counts[char][0],
        default=DELIMITERS[0] if DELIMITERS[0] not in without else DELIMITERS[1],
    )
