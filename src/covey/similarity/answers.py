"""Whether two answers to the same question are the same."""

import numpy as np

from covey.arrays import Floats, Positions

TOLERANCE = 1e-6
"""Which share of the largest value two answers may differ by. Sums of a thousand terms of single precision differ by
less than that if they are added in another order, on average."""


def differing(before: Floats, now: Floats) -> Positions:
    """Return where two arrays of answers differ by more than rounding. NaN is a failure; two failures are the same."""
    scale = max(np.nanmax(np.abs(before), initial=0.0), np.nanmax(np.abs(now), initial=0.0)) or 1.0
    same = (np.abs(before / scale - now / scale) <= TOLERANCE) | (np.isnan(before) & np.isnan(now))
    return np.flatnonzero(~same)
