"""How a figure that depends on chance is written."""

from collections.abc import Sequence

import numpy as np


def mean_and_spread(values: Sequence[float]) -> str:
    """The mean, and the standard deviation if there are several values."""
    return f"{np.mean(values):.3f}" + (f" ± {np.std(values, ddof=1):.3f}" if len(values) > 1 else "")
