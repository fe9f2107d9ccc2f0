"""Random mixtures of normal distributions in the plane and in space, for tests of clusters."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse.csgraph import connected_components

APART = 10
"""Groups whose centers are this many standard deviations apart, or more, must never be mixed."""


@dataclass(frozen=True)
class Mixture:
    """Rows of numbers, the group of each, and which groups hang together through others that are less than 10 sigma
    away.
    """

    X: np.ndarray
    groups: np.ndarray
    together: np.ndarray

    def n_mixed(self, labels):
        """How many clusters mix what lies 10 sigma apart."""
        return sum(len(set(self.together[labels == label])) > 1 for label in set(labels[labels >= 0].tolist()))


def is_far(seed):
    """Whether all groups of a mixture lie 10 sigma apart."""
    return seed % 2 == 0


def mixture(seed):
    """Two to five groups of 3 to 200 rows in 2, 3, 5 or 8 dimensions, of equal or different spreads.

    All groups of an even mixture are at least 10 standard deviations apart, of the wider one of two. In an odd one each
    group is 3 to 9 away from an earlier one.
    """
    rng = np.random.default_rng(seed)
    d, n_groups = int(rng.choice([2, 3, 5, 8])), int(rng.integers(2, 6))
    sizes = np.round(np.exp(rng.uniform(np.log(3), np.log(200), n_groups))).astype(int)
    uneven = rng.random() < 0.5
    sigma = np.exp(rng.uniform(np.log(0.5), np.log(2), n_groups)) if uneven else np.ones(n_groups)
    centers = [np.zeros(d)]
    while len(centers) < n_groups:
        i, j = len(centers), int(rng.integers(len(centers)))
        direction = rng.normal(size=d)
        distance = rng.uniform(APART, 2 * APART) if is_far(seed) else rng.uniform(3, 9)
        center = centers[j] + direction / np.linalg.norm(direction) * distance * max(sigma[i], sigma[j])
        gaps = [np.linalg.norm(center - other) / max(sigma[i], s) for other, s in zip(centers, sigma, strict=False)]
        if min(gaps) >= (APART if is_far(seed) else 3):
            centers.append(center)
    X = np.vstack(
        [c + s * rng.normal(size=(size, d)) for c, s, size in zip(centers, sigma, sizes, strict=True)],
    )
    gaps = np.linalg.norm(np.array(centers)[:, None] - np.array(centers), axis=2)
    close = gaps < APART * np.maximum(sigma[:, None], sigma)
    groups = np.repeat(np.arange(n_groups), sizes)
    return Mixture(X, groups, connected_components(close, directed=False)[1][groups])
