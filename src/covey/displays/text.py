"""Text that came from data, as a page or a drawing can show it."""

import re
from typing import Any

UNSHOWN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")
"""Signs that are no text. Neither HTML nor SVG can hold control characters, halves of surrogate pairs and U+FFFE or
U+FFFF, and signs that turn the direction of writing can make words read as others. Tab and line feed are text."""


def legible(text: str) -> str:
    """Return a text with all signs that cannot be shown in Python's notation for them.

    Examples
    --------
    >>> print(legible("one\\0 two"))
    one\\x00 two
    """
    return UNSHOWN.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


def legible_parts(value: Any) -> Any:
    """Return lists and dicts with all texts in them legible."""
    if isinstance(value, str):
        return legible(value)
    if isinstance(value, dict):
        return {legible_parts(key): legible_parts(part) for key, part in value.items()}
    return [legible_parts(part) for part in value] if isinstance(value, list | tuple) else value
