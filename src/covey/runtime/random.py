"""The one way from scikit-learn's `random_state` to NumPy's generators."""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state


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
