"""Labels of every type that Python and NumPy have, and of classes whose order is broken.

They make the clusters that equality makes, in ascending order, or are refused in a sentence that names y.
"""

import datetime
import uuid
from decimal import Decimal
from fractions import Fraction
from functools import total_ordering

import numpy as np

import covey
from tests.attack._outcomes import FaultError, sentence, tally
from tests.attack.inputs import is_clear

X = np.random.default_rng(0).normal(size=(60, 3))


def attack(rng, n_cases):
    return tally(one_case, rng, n_cases)


@total_ordering
class Ordered:
    """A label of a user's own that can be sorted."""

    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return isinstance(other, Ordered) and self.value == other.value

    def __lt__(self, other):
        return self.value < other.value

    def __hash__(self):
        return hash(self.value)

    def __repr__(self):
        return f"{type(self).__name__}({self.value!r})"


class Never(Ordered):
    """No label comes before another."""

    def __lt__(self, other):
        return False


class Always(Ordered):
    """Every label comes before every other, and before itself."""

    def __lt__(self, other):
        return True


class ByParity(Ordered):
    """Only labels of different parity have an order."""

    def __lt__(self, other):
        return self.value % 2 < other.value % 2


class Cyclic(Ordered):
    """0 comes before 1, 1 before 2, and 2 before 0."""

    def __lt__(self, other):
        return (other.value - self.value) % 3 == 1


class Unhashable(Ordered):
    """A label that cannot be a key."""

    __hash__ = None


def date(number):
    return datetime.date(2024, 1, 1) + datetime.timedelta(days=number)


KINDS = {
    "ints": int,
    "large ints": lambda number: 2**70 + number,
    "negative zero": lambda number: [-0.0, 0.0, 0, 1.5][number % 4],
    "truth values": lambda number: bool(number % 2),
    "truth values and ints": lambda number: [True, 1, 0, False, 2][number % 5],
    "floats": lambda number: number / 3,
    "texts": lambda number: "abc"[: number % 4],
    "texts with NUL": lambda number: "a" + "\0" * (number % 3),
    "bytes": lambda number: bytes([number % 5]),
    "fractions": lambda number: Fraction(number, 3),
    "decimals": lambda number: Decimal(number) / 8,
    "decimals, fractions and ints": lambda number: [Decimal(1), Fraction(1), 1, Fraction(1, 2)][number % 4],
    "dates": date,
    "UUIDs": lambda number: uuid.UUID(int=number),
    "1-tuples": lambda number: (number,),
    "2-tuples": lambda number: (number % 2, "ab"[number % 2]),
    "tuples of any length": lambda number: tuple(range(number % 4)),
    "tuples with NaN": lambda number: (float("nan"), number) if number % 2 else (0.5, number),
    "tuples of ints and texts": lambda number: (number,) if number % 2 else ("a",),
    "tuples of lists": lambda number: ([number],),
    "frozensets": lambda number: frozenset([number]),
    "nested frozensets": lambda number: frozenset(range(number)),
    "lists": lambda number: [number] * (1 + number % 2),
    "ints and texts": lambda number: number if number % 2 else str(number),
    "complex numbers": lambda number: number * 1j,
    "ints and complex numbers": lambda number: number if number % 2 else number * 1j,
    "None": lambda number: None if number == 0 else number,
    "NaN": lambda number: float("nan") if number == 0 else number,
    "Decimal NaN": lambda number: Decimal("nan") if number == 0 else Decimal(number),
    "infinity": lambda number: float("inf") if number == 0 else number,
    "types": lambda number: [int, str, float, bool][number % 4],
    "ranges": range,
    "ordered": Ordered,
    **{kind.__name__: kind for kind in (Never, Always, ByParity, Cyclic, Unhashable)},
}
TAKEN = ("ints", "texts", "floats", "1-tuples", "2-tuples", "tuples of any length", "dates", "ordered")
"""Kinds that must not be refused, except by scikit-learn where a classifier gets numbers that are not whole."""
FORMS = {
    "a list": list,
    "a tuple": tuple,
    "an object array": lambda labels: np.fromiter(labels, dtype=object, count=len(labels)),
    "an array": np.array,
    "StringDType": lambda labels: np.array([str(label) for label in labels], dtype=np.dtypes.StringDType()),
}
FITS = {
    "CRS": covey.CRS(3, random_state=0),
    "KeepAll": covey.KeepAll(),
    "DeltaMedoids": covey.DeltaMedoids(),
    "Sharpened": covey.Sharpened(covey.CRS(3), random_state=0),
    "classifier": covey.NearestPrototypeClassifier(covey.KeepAll(similarity="euclidean")),
}


def one_case(rng):
    kind, form, use = (sorted(things)[rng.integers(len(things))] for things in (KINDS, FORMS, FITS))
    n, n_labels = int(rng.integers(2, 60)), int(rng.integers(1, 9))
    labels = [KINDS[kind](int(number)) for number in rng.integers(0, n_labels, n)]
    try:
        y = FORMS[form](labels)
    except (ValueError, OverflowError):
        return "NumPy takes no such labels"
    if isinstance(y, np.ndarray):
        if y.ndim > 1:
            return "a table of labels"
        labels = list(y) if y.dtype.kind in "mM" else y.tolist()
    if kind == "lists" and not isinstance(y, np.ndarray) and len({len(label) for label in labels}) == 1:
        labels = [label[0] for label in labels]  # they are the rows of a table with one column
    example = use, form, repr(y)
    try:
        fitted = FITS[use].fit(X[:n], y)
    except (TypeError, ValueError) as error:
        if not is_clear(str(error), "y"):
            raise FaultError(f"{kind}: the error does not speak of y", *example, sentence(error)) from error
        if kind in TAKEN and "Unknown label type" not in str(error):
            raise FaultError(f"{kind}: refused", *example, sentence(error)) from error
        return f"refused: {' '.join(str(error).split()[:7])}"
    prototypes = (fitted.selector_ if use == "classifier" else fitted).prototypes_
    rows = {}
    for row, label in enumerate(labels):
        rows.setdefault(label, []).append(row)
    if {label: prototype.members.tolist() for label, prototype in prototypes.items()} != rows:
        raise FaultError(f"{kind}: other clusters", *example, prototypes)
    if any(not a < b for a, b in zip(list(prototypes)[:-1], list(prototypes)[1:], strict=True)):
        raise FaultError(f"{kind}: labels that do not ascend", *example, list(prototypes))
    if use == "classifier" and list(fitted.predict(X[:n])) != labels:
        raise FaultError(f"{kind}: other answers", *example, fitted.predict(X[:n]))
    return "took y"
