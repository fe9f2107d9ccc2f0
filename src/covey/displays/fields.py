"""What a card says about an object: fields with names and values that a person can read."""

from collections.abc import Callable, Iterable, Mapping
from numbers import Real
from typing import Any

import numpy as np

from covey.arrays import Positions

MOST_FIELDS, LONGEST_VALUE = 12, 500
"""How many fields of an object are shown, and how many characters of each. These are judgements: so much fits beside
the map."""


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
    one = _reader(values)
    return [{str(name): _text(value) for name, value in one(row)} for row in rows.tolist()]


def _reader(values: Any) -> Callable[[int], Iterable[tuple[Any, Any]]]:
    """Return a function that says which fields a row has."""
    if isinstance(values, Mapping) or hasattr(values, "columns"):
        names = list(values if isinstance(values, Mapping) else values.columns)[:MOST_FIELDS]
        columns = [(name, list(values[name])) for name in names]
        return lambda row: ((name, column[row]) for name, column in columns)
    if isinstance(values, np.ndarray) and values.ndim == 2:
        few = values.shape[1] <= MOST_FIELDS
        return lambda row: ((f"column {at}", value) for at, value in enumerate(values[row].tolist() if few else ()))
    if values is None or not hasattr(values, "__getitem__") or hasattr(values, "toarray"):
        return lambda row: ()
    if hasattr(values, "tolist"):  # a pandas Series would look rows up in its index
        values = values.tolist()
    return lambda row: _of_object(values[row])


def _of_object(value: Any) -> Iterable[tuple[Any, Any]]:
    """Return the fields of one object: those of a dict with the largest numbers first, a text, or items of a set."""
    if isinstance(value, str):
        return [("text", value)]
    if isinstance(value, Mapping):
        entries = list(value.items())
        if all(isinstance(number, Real) for _, number in entries):
            entries.sort(key=lambda entry: (-entry[1], str(entry[0])))
        return entries[:MOST_FIELDS]
    if isinstance(value, set | frozenset):
        return [("items", ", ".join(sorted(map(str, value))))]
    return [("value", value)] if isinstance(value, Real) else []


def _text(value: Any) -> str:
    text = f"{value:.6g}" if isinstance(value, float | np.floating) else str(value)
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 1]}…"
