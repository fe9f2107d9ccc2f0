"""Which sign separates the columns of a text table."""

SIGNS = ",;\t"
"""What programs write between columns, most usual first."""


def delimiter_of(header: str) -> str:
    """The sign between the columns: a comma if the header line has one, else a semicolon, else a tab.

    A header without any of them has one column, for which the sign does not matter; it is a comma then.

    Examples
    --------
    >>> delimiter_of("time,source;destination"), delimiter_of("time;source"), delimiter_of("time")
    (',', ';', ',')
    """
    return next((sign for sign in SIGNS if sign in header), ",")
