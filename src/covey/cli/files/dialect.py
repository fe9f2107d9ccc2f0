"""The dialect of a file: delimiter, decimal separator, encoding and the like."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO, TextIOWrapper

DELIMITERS = {"comma": ",", "semicolon": ";", "tab": "\t", "\\t": "\t", "pipe": "|", "space": " "}
"""Words for delimiters that are hard to type."""
DECIMALS = {"comma": ",", "point": ".", ",": ",", ".": "."}
"""What may stand between the whole and the fraction of a number."""


@dataclass(frozen=True)
class Dialect:
    """How the values of a file are written. What is empty or None is inferred from the file.

    Attributes
    ----------
    columns : sequence of str
        Names for the columns of a file that does not name them.
    delimiter : str or None
        The character between columns.
    decimal : str or None
        The character between the whole and the fraction of a number, a comma or a point.
    encoding : str or None
        The encoding of a text file.
    sheet : str or None
        The sheet of a workbook.
    numbered : bool
        Whether a file has no header, and its columns are called by their numbers from 1.
    """

    columns: Sequence[str] = ()
    delimiter: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    sheet: str | None = None
    numbered: bool = False


def delimiter_in(text: str) -> str:
    """Return the character that a delimiter, or a word for it, stands for."""
    delimiter = DELIMITERS.get(text.lower(), text)
    if len(delimiter) != 1 or delimiter in '"\r\n' or delimiter.isalnum():
        known = ", ".join(name for name in DELIMITERS if name.isalpha())
        raise ValueError(f"must be one character, or one of {known}, got {delimiter!r}.")
    return delimiter


def decimal_in(text: str) -> str:
    """Return the character that stands before the fraction of a number."""
    if text not in DECIMALS:
        raise ValueError(f"must be a comma or a point, got {text!r}.")
    return DECIMALS[text]


def encoding_in(text: str) -> str:
    """Return the name of an encoding of text files."""
    try:
        TextIOWrapper(BytesIO(), encoding=text)  # refuses codecs that make bytes of bytes
    except (LookupError, ValueError) as error:
        raise ValueError(
            f"must be the name of an encoding, such as utf-8, utf-16, cp1250 or latin-1, got {text!r}."
        ) from error
    return text


def listed(values: str | None) -> list[str]:
    """Return the values that the user has separated by commas. A value that holds a comma stands in double quotes.

    Examples
    --------
    >>> listed('a, "b,c"')
    ['a', 'b,c']
    """
    rows = csv.reader([values or ""], skipinitialspace=True)
    return [value.strip() for row in rows for value in row if value.strip()]
