"""The inputs and the selectors whose results are compared. All of them are made from fixed seeds."""

import numpy as np
import scipy.sparse as sp

import covey
from tests.forms import compiled_cosine


def shared_letters(a, b):
    """A similarity of two words that nobody has compiled."""
    mine, yours = set(a), set(b)
    return len(mine & yours) / len(mine | yours)


def overlap(a, b):
    """The cosine of two rows, added up term by term, so that nothing but the two rows decides about its bits."""
    return float(sum(x * y for x, y in zip(a.tolist(), b.tolist(), strict=True)))


def overlaps(A, B):
    """The cosines of many pairs of rows by one matrix product for each, which is BLAS in NumPy."""
    return np.einsum("ij,ij->i", A, B) / np.sqrt(np.einsum("ij,ij->i", A, A) * np.einsum("ij,ij->i", B, B))


def rows(n, width=12, n_clusters=6, seed=0):
    """Points around a few centers, some of them twice."""
    rng = np.random.default_rng(seed)
    centers = rng.normal(size=(n_clusters, width))
    X = centers[np.arange(n) % n_clusters] + 0.7 * rng.normal(size=(n, width))
    X[n - 5 :] = X[:5]
    return X


def words(n, seed=0):
    rng = np.random.default_rng(seed)
    stems = ["".join(rng.choice(list("abcdefgh"), size=6)) for _ in range(8)]
    return [stems[t % 8] + "".join(rng.choice(list("stuvwxyz"), size=rng.integers(1, 5))) for t in range(n)]


def sets(n, seed=0):
    """Sets of words, whose order of iteration depends on PYTHONHASHSEED."""
    rng = np.random.default_rng(seed)
    return [{f"word {x}" for x in rng.zipf(1.4, size=rng.integers(3, 15)) % 200} for _ in range(n)]


def dicts(n, seed=0):
    rng = np.random.default_rng(seed)
    return [{f"word {x}": rng.random() for x in sorted(set(rng.zipf(1.4, size=12).tolist()))} for _ in range(n)]


def table(n, seed=0):
    """A frame of numbers, categories and missing values."""
    import pandas as pd

    rng = np.random.default_rng(seed)
    height = rng.normal(170, 10, size=n)
    height[rng.random(n) < 0.1] = np.nan
    color = rng.choice(np.array(["red", "green", "blue", None], dtype=object), size=n)
    return pd.DataFrame({"height": height, "age": rng.integers(1, 90, size=n), "color": color, "old": height > 175})


def bits(n, seed=0):
    return covey.PackedBits(np.packbits(rows(n, 128, seed=seed) > 0.6, axis=1))


def cosines(X):
    unit = X / np.sqrt((X * X).sum(axis=1, keepdims=True))
    return np.array([[overlap(a, b) for b in unit] for a in unit])


def few_cosines(n, seed=0):
    """Only the larger half of all similarities, and an empty place for each other one."""
    similarities = cosines(rows(n, seed=seed))
    return sp.csr_array(np.where(similarities >= 0.1, similarities, 0))


INPUTS = {
    "float64": lambda n, seed=0: (rows(n, seed=seed), "cosine"),
    "float32": lambda n, seed=0: (rows(n, seed=seed).astype(np.float32), "euclidean"),
    "exponential": lambda n, seed=0: (rows(n, seed=seed), covey.from_distance("euclidean", how="exponential")),
    "csr": lambda n, seed=0: (
        sp.csr_array(np.where(rows(n, 40, seed=seed) > 0.8, rows(n, 40, seed=seed), 0)),
        "cosine",
    ),
    "ruzicka": lambda n, seed=0: (
        sp.csr_array(np.where(rows(n, 40, seed=seed) > 0.8, rows(n, 40, seed=seed), 0)),
        "ruzicka",
    ),
    "bits": lambda n, seed=0: (bits(n, seed), "jaccard"),
    "strings": lambda n, seed=0: (words(n, seed), "levenshtein"),
    "sets": lambda n, seed=0: (sets(n, seed), "cosine"),
    "sets, jaccard": lambda n, seed=0: (sets(n, seed), "jaccard"),
    "dicts": lambda n, seed=0: (dicts(n, seed), "cosine"),
    "mixed": lambda n, seed=0: (table(n, seed), "gower"),
    "matrix": lambda n, seed=0: (cosines(rows(n, seed=seed)), "precomputed"),
    "sparse matrix": lambda n, seed=0: (few_cosines(n, seed), "precomputed"),
    "callable": lambda n, seed=0: (words(n, seed), shared_letters),
    "batched": lambda n, seed=0: (rows(n, seed=seed), covey.batched(overlaps, symmetric=True, batch_size=50)),
    "compiled": lambda n, seed=0: (rows(n, seed=seed), covey.Similarity(compiled_cosine)),
}
"""For each kind of input a function of the number of objects and a seed, which returns the objects and a similarity."""

SELECTORS = {
    "CRS": lambda s: covey.CRS(5, similarity=s, random_state=0),
    "CRS, NN-Descent": lambda s: covey.CRS(3, graph="nn-descent", refine=True, similarity=s, random_state=0),
    "CRS, threshold": lambda s: covey.CRS(None, similarity=s, coverage=1.0, gain="count", random_state=0),
    "DeltaMedoids": lambda s: covey.DeltaMedoids(similarity=s, random_state=0),
    "DS3": lambda s: covey.DS3(3, similarity=s),
    "DS3, norm 2": lambda s: covey.DS3(alpha=0.1, p=2, tol=0.01, similarity=s),
    "RandomSelector": lambda s: covey.RandomSelector(0.1, similarity=s, random_state=0),
    "KeepAll": lambda s: covey.KeepAll(similarity=s),
    "Sharpened": lambda s: covey.Sharpened(covey.CRS(5, similarity=s, random_state=0), random_state=0),
}
"""For each selector a function of the similarity, which returns it."""


def labels(n):
    return np.array(["one", "two", "three"])[np.arange(n) % 3]


def first(X, n):
    """The first n objects of X. Of a matrix of similarities, these are the rows of n queries."""
    return X.iloc[:n] if hasattr(X, "iloc") else X[:n]
