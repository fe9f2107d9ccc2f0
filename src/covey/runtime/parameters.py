"""Which values that a user passes as parameters are numbers.

Truth values are none, although Python counts with them: ``size=True`` is nearly always a mistake for another
parameter, and it would mean 1 in silence. An int that no float holds is no real number either.
"""

from numbers import Integral, Real
from typing import Any

from sklearn.utils import _param_validation as scikit_learn


class Interval(scikit_learn.Interval):
    """scikit-learn's constraint that a parameter is a number in an interval, but without truth values."""

    def is_satisfied_by(self, val: Any) -> bool:
        fits = is_whole(val) if self.type is Integral else is_number(val)
        return fits and bool(super().is_satisfied_by(val))


WHOLE = Interval(Integral, None, None, closed="neither")
"""The constraint that a parameter is a whole number."""

RUNNING = {"n_jobs": [WHOLE, None], "verbose": ["verbose"]}
"""Which values the parameters may have that say how the work is carried out and shown, in scikit-learn's words."""


def is_number(value: Any) -> bool:
    """Say whether a value is a real number that a float can hold, which NaN is not. It may be infinite."""
    if not isinstance(value, Real) or isinstance(value, bool):
        return False
    try:
        number = float(value)
    except OverflowError:
        return False
    return number == number


def is_whole(value: Any, least: int | None = None) -> bool:
    """Say whether a value is a whole number, and at least this large."""
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    return whole and (least is None or int(value) >= least)
