"""The dialect of a file: delimiter, decimal separator, encoding and the like."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from io import BytesIO, TextIOWrapper
from typing import Self

from covey.cli.errors import MisuseError

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
        The encoding of a text.
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

    def checked(self) -> Self:
        """Return this dialect with words replaced by what they stand for; refuse what makes no sense."""
        delimiter, decimal = self.delimiter, self.decimal
        if delimiter is not None:
            delimiter = DELIMITERS.get(delimiter.lower(), delimiter)
            if len(delimiter) != 1 or delimiter in '"\r\n' or delimiter.isalnum():
                known = ", ".join(name for name in DELIMITERS if name.isalpha())
                raise MisuseError(f"--delimiter must be one character, or one of {known}, got {delimiter!r}.")
        if decimal is not None:
            decimal = DECIMALS.get(decimal)
            if decimal is None:
                raise MisuseError(f"--decimal must be a comma or a point, got {self.decimal!r}.")
            if delimiter == decimal:
                raise MisuseError(f"--delimiter and --decimal must be different characters, got {decimal!r} as both.")
        if self.encoding is not None and not _is_encoding(self.encoding):
            raise MisuseError(
                f"--encoding must be the name of an encoding, such as utf-8, utf-16, cp1250 or latin-1, got "
                f"{self.encoding!r}."
            )
        return replace(self, delimiter=delimiter, decimal=decimal)

    def given(self) -> list[str]:
        """Return the names of what the user has said."""
        return [field.name for field in fields(self) if getattr(self, field.name)]


def _is_encoding(name: str) -> bool:
    """Return whether a name is that of an encoding of texts."""
    try:
        TextIOWrapper(BytesIO(), encoding=name)  # refuses codecs that make bytes of bytes
    except (LookupError, ValueError):
        return False
    return True
