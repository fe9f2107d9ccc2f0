"""How the cases of an attack end."""

import traceback
import warnings
from collections import Counter


class FaultError(AssertionError):
    """A fault of the library: what is wrong, and lines that describe the example."""

    def __init__(self, fault, *lines):
        super().__init__("\n".join([fault, *map(str, lines)]))


def tally(case, rng, n_cases):
    """Run `case(rng)`, which returns the name of its outcome or raises, so many times and count the outcomes.

    A RuntimeWarning is a fault, since it means that NumPy met an overflow or a NaN that nobody expected.
    """
    outcomes = Counter()
    for _ in range(n_cases):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", RuntimeWarning)
            outcomes[outcome_of(case, rng)] += 1
    return outcomes


def outcome_of(case, rng):
    try:
        return case(rng)
    except FaultError as fault:
        return f"WRONG {fault}"
    except Exception as error:
        return f"WRONG {type(error).__name__} that nobody expects\n{traceback.format_exc()}"


def sentence(error):
    """An error and its message on one line of at most 300 characters."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:300]
