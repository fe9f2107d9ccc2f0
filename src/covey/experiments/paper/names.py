"""The names of the paper's data sets and methods, and of those that stand beside them."""

from covey.experiments.names import ALL, DELTA_MEDOIDS, RANDOM, SPARSE, crs_name

FASHION, NEWS, NETWORK = "Fashion-MNIST", "20 Newsgroups", "Network (synthetic)"
"""The paper's data sets. Its network data are private; synthetic hosts, made like them, take their place."""
EMAIL, SITES = "email-Eu-core", "WhoTracks.me"
"""Real data of a similar kind: profiles of who contacts whom."""
BLOBS, SPIRALS = "Blobs", "Spirals"
"""Points in the plane, for the paper's two figures of them."""

PAPER_METHODS = (DELTA_MEDOIDS, SPARSE, RANDOM, ALL, *map(crs_name, (5, 10, 15)))
"""The methods of the paper's Table 1, in its order."""

EXACT_KS = (3, 5, 10, 12, 15)
"""CRS on exact graphs. The paper's table has k = 5, 10 and 15; 3 serves the figures of points, and 12 is one more
candidate for selections that are smaller than the paper's and as good."""
DESCENT_KS = (2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 25, 30, 40, 50)
"""CRS on graphs by NN-Descent, for the figure of the impact of k: dense where the curves are steep."""
SELECTIVE = "CRS-k1, all covered, threshold .955"
"""CRS that keeps most objects, to be as good as the paper's CRS-k5 on Fashion-MNIST, which keeps 88 % of them."""
SAME_SIZE = "random, as many as CRS-k10"
"""A random choice that takes from each cluster as many objects as CRS-k10 does."""


def by_descent(k: int) -> str:
    """Return the name of CRS on a graph by NN-Descent."""
    return f"{crs_name(k)}, NN-Descent"


CRS_METHODS = (*map(crs_name, EXACT_KS), SELECTIVE, *map(by_descent, DESCENT_KS))
"""Every variant of CRS that is run."""
