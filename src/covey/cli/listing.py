"""Lists in the value of one option."""

import csv


def listed(values: str | None) -> list[str]:
    """Return the values that the user has separated by commas. A value that holds a comma stands in double quotes.

    Examples
    --------
    >>> listed('a, "b,c"')
    ['a', 'b,c']
    """
    rows = csv.reader([values or ""], skipinitialspace=True)
    return [value.strip() for row in rows for value in row if value.strip()]
