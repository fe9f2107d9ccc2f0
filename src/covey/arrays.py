"""Names for the types of arrays that the code hands on."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
"""Similarities and sums of them."""

Indices = NDArray[np.int32]
"""Numbers of objects within a space: 32 bits halve the memory of neighbor lists."""

Positions = NDArray[np.intp]
"""Rows of X, or places in another array."""

Integers = NDArray[np.int64]
"""Counts, and sums of them."""

Flags = NDArray[np.bool_]
"""Whether something holds, for each of several things."""
