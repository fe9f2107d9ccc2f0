"""The sign that separates the columns of a text table: one rule for tables and for logs."""

import re
from collections.abc import Sequence

SIGNS = ",;\t|"
"""What programs write between columns, the most usual sign first."""
QUOTED = re.compile(r'"[^"]*"')
"""A value in quotes. Signs in it separate nothing."""


def delimiter_of(header: str, rows: Sequence[str] = (), without: str = "") -> str:
    """Return the sign that occurs most often in the header line, outside of quotes.

    Names of columns hold such signs now and then, but less often than there are columns. Signs that occur equally often
    in the header and in each of some `rows` below it go before others, and among these a rarer sign goes before a
    comma, because commas also stand in texts and numbers. A header without any sign is a single column of a CSV.
    The signs in `without` are known to separate nothing.

    Examples
    --------
    >>> delimiter_of("time,source"), delimiter_of("time;source, or sender;size"), delimiter_of("time")
    (',', ';', ',')
    >>> delimiter_of("name, first|age", ["Smith, John|3", "Plato|80"])
    '|'
    """
    counts = {sign: [QUOTED.sub("", line).count(sign) for line in (header, *rows)] for sign in SIGNS}
    there = [sign for sign in SIGNS if counts[sign][0] and sign not in without]
    steady = [sign for sign in there if rows and len(set(counts[sign])) == 1]
    if steady:
        return max(reversed(steady), key=lambda sign: counts[sign][0])
    return max(there, key=lambda sign: counts[sign][0], default=SIGNS[0] if SIGNS[0] not in without else SIGNS[1])
