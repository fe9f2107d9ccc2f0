"""The sign that separates the columns of a text table."""

DELIMITERS = ",;\t"
"""What programs write between columns, the most usual sign first."""


def delimiter_of(header: str) -> str:
    """Return the delimiter that occurs most often in the header line.

    Names of columns hold such signs now and then, but less often than there are columns. Among signs that occur
    equally often the more usual one wins, so a header of a single column is read as CSV.
    """
    return max(DELIMITERS, key=header.count)
