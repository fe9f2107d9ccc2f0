"""One way from scikit-learn's `random_state` to NumPy's generators."""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state


def generator(random_state: Any) -> np.random.Generator:
    """A generator seeded by `random_state`; a RandomState instance moves on, so the next call differs."""
    try:
        state = check_random_state(random_state)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"random_state must be a seed, a RandomState or None, got {random_state!r}: {error}."
        ) from error
    return np.random.default_rng(state.randint(np.iinfo(np.int32).max))
