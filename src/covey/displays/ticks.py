"""Round numbers for the axes of a drawing."""

import math
from collections.abc import Sequence

FEW = 3
"""With fewer numbers than this, an axis does not show its scale."""
DIGITS = (1, 2, 5)
"""The first digits of round numbers."""
FINER_DIGITS = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8)
"""The first digits of numbers that are a little less round, for axes on which there are too few of the others."""


def decades(low: float, high: float, most: int) -> list[float]:
    """Round numbers on a logarithmic axis, at most this many: 1, 2, 5, 10 ... if they fit.

    A short axis has numbers between them, and a long one powers of ten.

    Examples
    --------
    >>> decades(0.8, 30, 8), decades(0.8, 3000, 4)
    ([1.0, 2.0, 5.0, 10.0, 20.0], [1.0, 10.0, 100.0, 1000.0])
    """
    few = len(_round_numbers(low, high, DIGITS)) < FEW
    found: list[float] = []
    for digits in (FINER_DIGITS, DIGITS) if few else (DIGITS, (1, 3), (1,)):
        found = _round_numbers(low, high, digits)
        if len(found) <= most:
            return found
    return found[:: -(-len(found) // most)]


def _round_numbers(low: float, high: float, digits: Sequence[float]) -> list[float]:
    """The numbers in a range that begin with these digits, ascending."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [value for power in powers for digit in digits if low <= (value := digit * 10.0**power) <= high]


def steps(low: float, high: float, most: int) -> list[tuple[float, str]]:
    """Round numbers at equal distances, about this many at most, written with as many digits as tell them apart.

    Examples
    --------
    >>> [text for _, text in steps(0.47, 0.81, 4)]
    ['0.5', '0.6', '0.7', '0.8']
    """
    smallest = (high - low) / most
    power = 10.0 ** math.floor(math.log10(smallest))
    step = next((digit * power for digit in DIGITS if digit * power >= smallest), 10 * power)
    digits = max(0, -math.floor(math.log10(step)))
    return [
        (number * step, f"{number * step:.{digits}f}")
        for number in range(math.ceil(low / step), math.floor(high / step) + 1)
    ]
