"""Checks of parameters, and the one way from scikit-learn's `random_state` to NumPy's generators.

Truth values are not numbers here, although Python counts with them: ``size=True`` is nearly always a mistake for
another parameter, and it would silently mean 1. Neither is an int that no float can hold.
"""

from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils import _param_validation as scikit_learn
from sklearn.utils import check_random_state


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
    """Return whether a value is a real number that a float can hold, which NaN is not. It may be infinite."""
    if not isinstance(value, Real) or isinstance(value, bool):
        return False
    try:
        number = float(value)
    except OverflowError:
        return False
    return number == number


def is_whole(value: Any, least: int | None = None) -> bool:
    """Return whether a value is a whole number, and at least this large."""
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    return whole and (least is None or int(value) >= least)


def generator(random_state: Any) -> np.random.Generator:
    """Return a generator that is seeded by `random_state`. A RandomState instance is advanced, so that the next call
    returns a different generator.
    """
    try:
        state = check_random_state(random_state)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"random_state must be a seed, a RandomState or None, got {random_state!r}: {error}."
        ) from error
    return np.random.default_rng(state.randint(np.iinfo(np.int32).max))
