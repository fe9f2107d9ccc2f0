"""One way from scikit-learn's `random_state` to NumPy's generators."""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state


def generator(random_state: Any) -> np.random.Generator:
    """A generator seeded by `random_state`; a RandomState instance moves on, so the next call differs."""
    return np.random.default_rng(check_random_state(random_state).randint(np.iinfo(np.int32).max))
