"""Wording: values in a message, numbers that agree with their words, and text that a screen or a page can show."""

import math
import re
from collections.abc import Collection
from itertools import islice
from typing import Any

MOST_LISTED = 10
"""How many values a message lists. Ten of `LONGEST` characters fill five lines of a terminal, so that a message fits on
its screen."""
LONGEST = 40
"""How many characters of a value a message shows. A label is a word as a rule, but may be an article by mistake."""
LONGEST_ERROR = 500
"""How many characters of another library's message are repeated, because it may quote a whole file."""


def some_of(values: Collection[Any], most: int = MOST_LISTED) -> str:
    """Return the first values, separated by commas, and how many more there are.

    Examples
    --------
    >>> some_of(["a", "b", "c"])
    'a, b, c'
    >>> some_of(range(100), most=3)
    '0, 1, 2 and 97 more'
    """
    shown = ", ".join(shortened(str(value)) for value in islice(values, most))
    more = len(values) - most
    return f"{shown} and {more:,} more" if more > 0 else shown


def several(number: int, thing: str) -> str:
    """Return how many things there are, in words that agree.

    Examples
    --------
    >>> several(1, "cluster"), several(2000, "cluster")
    ('1 cluster', '2,000 clusters')
    """
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def agreeing(number: int, one: str, more: str) -> str:
    """Return the word that agrees with a number of things.

    Examples
    --------
    >>> agreeing(1, "is", "are"), agreeing(2, "is", "are")
    ('is', 'are')
    """
    return one if number == 1 else more


def percent(share: float) -> str:
    """Return a share in percent, with one decimal, or more of them if it would have fewer than two digits otherwise.

    Examples
    --------
    >>> [percent(share) for share in (1, 2 / 30, 0.00312, 0)]
    ['100.0 %', '6.7 %', '0.31 %', '0.0 %']
    """
    decimals = 1 - math.floor(math.log10(100 * share)) if share > 0 else 1
    return f"{100 * share:.{max(decimals, 1)}f} %"


def shortened(text: str, longest: int = LONGEST) -> str:
    """Return a string with its end left out if it is longer than this.

    Examples
    --------
    >>> shortened("a long sentence", 7)
    'a long…'
    """
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def one_line(
    error: BaseException, *, first: bool = False, named: bool = False, longest: int | None = LONGEST_ERROR
) -> str:
    """Return what an error says in one line, or its type if it says nothing.

    `first` leaves out all but its first line, and the full stop, for use within a sentence. With `named`, the type
    stands before it.

    Examples
    --------
    >>> error = ValueError("This is wrong.\\nAnd this as well.")
    >>> one_line(error), one_line(error, first=True, named=True)
    ('This is wrong. And this as well.', 'ValueError: This is wrong')
    """
    lines = [line for line in str(error).splitlines() if line.strip()]
    said = " ".join(" ".join(lines[:1] if first else lines).split())
    said = said.rstrip(".") if first else said
    line = ": ".join([type(error).__name__, *([said] if said else [])]) if named or not said else said
    return line if longest is None or len(line) <= longest else f"{line[:longest]} …"


def visible(text: str) -> str:
    """Return a string with all characters that are not printable in Python's notation for them.

    Examples
    --------
    >>> print(visible("one\\ttwo"))
    one\\ttwo
    """
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)


UNSHOWN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")
"""Characters that are not text: neither HTML nor SVG can hold control characters, halves of surrogate pairs and U+FFFE
or U+FFFF, and those that turn the direction of writing can make words read as others. Tab and line feed are text."""


def legible(text: str) -> str:
    """Return a string with all characters that HTML cannot hold in Python's notation for them.

    Examples
    --------
    >>> print(legible("one\\0 two"))
    one\\x00 two
    """
    return UNSHOWN.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


def legible_parts(value: Any) -> Any:
    """Return lists and dicts with all strings in them legible."""
    if isinstance(value, str):
        return legible(value)
    if isinstance(value, dict):
        return {legible_parts(key): legible_parts(part) for key, part in value.items()}
    return [legible_parts(part) for part in value] if isinstance(value, list | tuple) else value
