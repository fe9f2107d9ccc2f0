"""Generators of points in the plane, whose selections a person can look at."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey.runtime.parameters import generator

Points = NDArray[np.float64]


def make_spirals(n: int = 600, *, noise: float = 0.02, random_state: Any = None) -> tuple[Points, NDArray[np.intp]]:
    """Make points on two spirals around each other, as in the paper's figure of k.

    Parameters
    ----------
    n : int, default=600
        How many points in all.
    noise : float, default=0.02
        The standard deviation of the noise that is added to each coordinate; the spirals' radius is 1.
    random_state : int, RandomState instance or None, default=None
        The seed. The same seed gives the same points.

    Returns
    -------
    X : array of shape (n, 2)
        The points.
    y : array of shape (n,)
        Which spiral each is on: 0 or 1.

    Raises
    ------
    ValueError
        If n is below 2.

    Examples
    --------
    >>> import numpy as np
    >>> from covey.datasets import make_spirals
    >>> X, y = make_spirals(200, random_state=0)
    >>> X.shape, np.bincount(y).tolist()
    ((200, 2), [100, 100])
    """
    if n < 2:
        raise ValueError(f"n must be at least 2, got {n!r}.")
    rng = generator(random_state)
    y = np.arange(n) % 2
    along = np.sqrt(rng.random(n)) * 0.95 + 0.05  # the root puts more points on the outer, longer turn
    angle = 3 * np.pi * along + np.pi * y
    X = np.column_stack([along * np.cos(angle), along * np.sin(angle)])
    return X + noise * rng.standard_normal(X.shape), y


def make_blob_structure(*, random_state: Any = None) -> tuple[Points, NDArray[np.intp]]:
    """Make 255 points in the plane: four blobs of different size and density, a bridge and a few outliers.

    Parameters
    ----------
    random_state : int, RandomState instance or None, default=None
        The seed. The same seed gives the same points.

    Returns
    -------
    X : array of shape (255, 2)
        The points.
    y : array of shape (255,)
        The part that each belongs to: 0 to 3 is a blob, 4 the bridge, 5 an outlier.

    Examples
    --------
    >>> import numpy as np
    >>> from covey.datasets import make_blob_structure
    >>> np.bincount(make_blob_structure(random_state=0)[1]).tolist()
    [90, 70, 40, 25, 20, 10]
    """
    rng = generator(random_state)
    blobs = (((0, 0), 0.5, 90), ((4, 0.5), 0.8, 70), ((1.5, 4), 0.35, 40), ((5, 4.5), 0.25, 25))
    parts = [np.array(center) + spread * rng.standard_normal((size, 2)) for center, spread, size in blobs]
    along = np.linspace(0.2, 0.8, 20)[:, None]
    parts.append(along * np.array([4, 0.5]) + 0.08 * rng.standard_normal((20, 2)))
    parts.append(rng.uniform((-2, -2), (7, 7), (10, 2)))
    return np.concatenate(parts), np.repeat(np.arange(6), [len(part) for part in parts])
