"""Names for the types of the arrays that modules hand to each other."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
"""Similarities, and everything that is computed from them."""

Indices = NDArray[np.int32]
"""Numbers of objects within one space. 32 bits are enough, and they halve the memory of neighbor lists."""

Positions = NDArray[np.intp]
"""Rows of X, or positions in another array. This is the type that NumPy indexes with."""

Integers = NDArray[np.int64]
"""Counts and sums of counts."""

Hashes = NDArray[np.uint64]
"""Hashes of objects, 64 bits each."""

Flags = NDArray[np.bool_]
"""One truth value for each of several things."""
