"""Numbers that a user passes as parameters. Truth values are none, although Python counts with them.

``size=True`` is nearly always a mistake for another parameter, and it would mean 1 in silence.
"""

from numbers import Integral, Real
from typing import Any

from sklearn.utils import _param_validation as scikit_learn


class Interval(scikit_learn.Interval):
    """scikit-learn's constraint that a parameter is a number in an interval, but without truth values."""

    def is_satisfied_by(self, val: Any) -> bool:
        return not isinstance(val, bool) and bool(super().is_satisfied_by(val))


WHOLE = Interval(Integral, None, None, closed="neither")
"""The constraint that a parameter is a whole number."""


def is_number(value: Any) -> bool:
    """Say whether a value is a real number, which NaN is not. It may be infinite."""
    return isinstance(value, Real) and not isinstance(value, bool) and bool(value == value)


def is_whole(value: Any, least: int) -> bool:
    """Say whether a value is a whole number that is at least this large."""
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= least
