"""Cards: what a person can look at of an object, without anything of the page that shows it.

`Card` is a title with a few lines or an image, for reports. `fields_of` gives the names and values of an object, for
maps.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from covey.arrays import Positions
from covey.displays.images import png_address
from covey.runtime.wording import several, shortened
from covey.similarity.inputs import column_names, columns_of, is_frame

LONGEST_LINE, MOST_LINES, MOST_ENTRIES = 90, 3, 5
"""What a card shows of a text or a profile: enough to tell what it is about, in a gallery of many cards."""
DIGITS = 5
"""How many digits of a number a card shows: enough to compare two objects by eye."""
LONG_NUMBER = re.compile(r"-?\d*\.\d{6,}(e[+-]?\d+)?", re.ASCII)
"""A number with more digits than a card shows, as text."""


@dataclass(frozen=True, eq=False)
class Card:
    """One object to look at: an image, or a title and a few lines.

    Attributes
    ----------
    title : str
        What the object is called.
    lines : tuple of str
        What there is to say about it.
    pixels : uint8 array or None
        Its image, of shape (height, width), or (height, width, 3) in color.
    stands_for : int or None
        How many objects it represents, itself included.

    See Also
    --------
    covey.displays.report.Gallery : Cards of the representatives of clusters.

    Examples
    --------
    A profile with hundreds of entries becomes a card with the five largest:

    >>> from covey.displays.cards import Card
    >>> Card.of_profile("host 17", {f"service {i}": 2.0**-i for i in range(300)}).lines
    ('service 0: 1', 'service 1: 0.5', 'service 2: 0.25', 'service 3: 0.125', 'service 4: 0.0625')
    """

    title: str = ""
    lines: tuple[str, ...] = ()
    pixels: NDArray[np.uint8] | None = None
    stands_for: int | None = None

    @classmethod
    def of_text(cls, title: str, lines: Sequence[str]) -> Self:
        """Return a card of a text: its title and its first lines."""
        return cls(title, tuple(shortened(line, LONGEST_LINE) for line in lines[:MOST_LINES]))

    @classmethod
    def of_fields(cls, title: str, fields: Mapping[Any, Any]) -> Self:
        """Return a card of a row of a table: its title and its values by their names, in few digits."""
        lines = (shortened(f"{name}: {_readable(value)}", LONGEST_LINE) for name, value in fields.items())
        return cls(title, tuple(lines))

    @classmethod
    def of_profile(cls, title: str, profile: Mapping[Any, float]) -> Self:
        """Return a card of a profile: its title and its largest entries."""
        top = sorted(profile.items(), key=lambda item: (-item[1], str(item[0])))[:MOST_ENTRIES]
        return cls(title, tuple(f"{name}: {weight:.3g}" for name, weight in top))

    def address(self) -> str:
        """Return the image as a data address, which a page can hold. The card must have pixels."""
        assert self.pixels is not None
        return png_address(self.pixels)


def _readable(value: Any) -> str:
    """Return a value as a person reads it. Tables hold numbers as strings, too."""
    is_long = isinstance(value, float | np.floating) or LONG_NUMBER.fullmatch(str(value))
    return f"{float(value):.{DIGITS}g}" if is_long else str(value)


MOST_FIELDS, LONGEST_VALUE = 12, 500
"""How many fields of an object are shown, and how many characters of each. This much fits beside
the map."""

FieldPairs = Iterable[tuple[Any, Any]]
"""The names of fields, and their values."""


def fields_of(values: Any, rows: Positions) -> list[dict[str, str]]:
    """Return the fields of some rows of a frame, of a dict of columns, of an array, or of a sequence of objects.

    Examples
    --------
    >>> import numpy as np
    >>> fields_of({"town": ["Brno", "Oulu"], "share": [0.25, 1 / 3]}, np.array([1]))
    [{'town': 'Oulu', 'share': '0.333333'}]
    >>> fields_of(["two words", {"web": 3, "dns": 12}], np.arange(2))
    [{'text': 'two words'}, {'dns': '12', 'web': '3'}]
    """
    one = _reader(values, rows.tolist())
    return [{str(name): _text(value) for name, value in one(row)} for row in rows.tolist()]


def _reader(values: Any, rows: Sequence[int]) -> Callable[[int], FieldPairs]:
    """Return a function that says which fields a row has."""
    if isinstance(values, Mapping):
        return _of_columns(list(values), list(values.values()))
    if is_frame(values):
        return _of_columns(column_names(values), columns_of(values))
    if isinstance(values, np.ndarray) and values.ndim == 2:
        few = values.shape[1] <= MOST_FIELDS  # a card of many columns without names does not help
        return lambda row: ((f"column {at}", value) for at, value in enumerate(values[row].tolist() if few else ()))
    if values is None or not hasattr(values, "__getitem__") or hasattr(values, "toarray"):
        return lambda row: ()
    if hasattr(values, "tolist"):  # a pandas Series would look rows up in its index
        values = values.tolist()
    objects = {row: values[row] for row in rows}
    are_records = _are_records(list(objects.values()))
    return lambda row: _of_object(objects[row], is_record=are_records)


def _of_columns(names: Sequence[Any], columns: Sequence[Any]) -> Callable[[int], FieldPairs]:
    """Return a function that says which values the first columns have in a row, and how many columns are left out."""
    shown = [(name, list(column)) for name, column in zip(names[:MOST_FIELDS], columns, strict=False)]
    left = len(names) - len(shown)
    rest = [("…", several(left, "more column"))] if left else []
    return lambda row: [*((name, column[row]) for name, column in shown), *rest]


def _are_records(objects: Sequence[Any]) -> bool:
    """Return whether objects are rows of one table: dicts with the same keys in the same order."""
    if not all(isinstance(value, Mapping) for value in objects):
        return False
    return len({tuple(value) for value in objects}) == 1


def _of_object(value: Any, *, is_record: bool) -> FieldPairs:
    """Return the fields of one object: a text, the items of a set, or the entries of a dict.

    A record keeps the order of its columns. Of a profile, the largest numbers say most, so that they come first.
    """
    if isinstance(value, str):
        return [("text", value)]
    if isinstance(value, Mapping):
        return list((value if is_record else largest_first(value)).items())[:MOST_FIELDS]
    if isinstance(value, set | frozenset):
        return [("items", ", ".join(sorted(map(str, value))))]
    return [("value", value)] if isinstance(value, Real) else []


def largest_first(profile: Mapping[Any, Any]) -> Mapping[Any, Any]:
    """Return a profile with its largest numbers first; what holds something else than numbers stays as it is."""
    if not all(isinstance(number, Real) for number in profile.values()):
        return profile
    return dict(sorted(profile.items(), key=lambda entry: (-entry[1], str(entry[0]))))


def _text(value: Any) -> str:
    text = f"{value:.6g}" if isinstance(value, float | np.floating) else str(value)
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 1]}…"
