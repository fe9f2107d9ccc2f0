"""The sign that separates the columns of a text table: one rule for tables and for logs."""

SIGNS = ",;\t"
"""What programs write between columns, the most usual sign first."""


def delimiter_of(header: str) -> str:
    """Return the sign that occurs most often in the header line.

    Names of columns hold such signs now and then, but less often than there are columns. Among signs that occur
    equally often the more usual one wins, so a header of a single column is read as CSV.

    Examples
    --------
    >>> delimiter_of("time,source"), delimiter_of("time;source, or sender;size"), delimiter_of("time")
    (',', ';', ',')
    """
    return max(SIGNS, key=header.count)
