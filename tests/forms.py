"""One similarity in every form a user may give it, and callables that keep count of their calls."""

import numba
import numpy as np
import scipy.sparse as sp

import covey
from tests import reference


def space_of(X, similarity, n_jobs=None):
    """The space of objects among themselves."""
    from covey.similarity.kinds import collect
    from covey.similarity.measures import resolve  # here, as the rest of this module is used beside older versions, too

    return collect(X, resolve(similarity)).space(n_jobs)


@numba.njit
def compiled_cosine(x, y):
    dot, a, b = 0.0, 0.0, 0.0
    for c in range(x.size):
        dot += x[c] * y[c]
        a += x[c] * x[c]
        b += y[c] * y[c]
    scale = np.sqrt(a * b)
    return min(dot / scale, 1.0) if scale > 0 else 0.0


@numba.njit
def compiled_sparse_cosine(columns_x, values_x, columns_y, values_y):
    dot, at = 0.0, 0
    for t in range(columns_x.size):
        while at < columns_y.size and columns_y[at] < columns_x[t]:
            at += 1
        if at < columns_y.size and columns_y[at] == columns_x[t]:
            dot += values_x[t] * values_y[at]
    scale = np.sqrt((values_x * values_x).sum() * (values_y * values_y).sum())
    return min(dot / scale, 1.0) if scale > 0 else 0.0


def plain_cosine(x, y):
    return reference.cosine(np.asarray(x).tolist(), np.asarray(y).tolist())


def batched_cosine(A, B):
    return np.array([plain_cosine(a, b) for a, b in zip(A, B, strict=True)])


batched_cosine.trusted = True


def cosine_matrix(X):
    return np.array([[plain_cosine(x, y) for y in X] for x in X])


COSINES = {
    "named, dense": lambda X: (X, "cosine"),
    "named, csr": lambda X: (sp.csr_array(X), "cosine"),
    "named, profiles": lambda X: ([{c: v for c, v in enumerate(row) if v} for row in X.tolist()], "cosine"),
    "compiled, dense": lambda X: (X, covey.Similarity(compiled_cosine, trusted=True)),
    "compiled, csr": lambda X: (sp.csr_array(X), covey.Similarity(compiled_sparse_cosine, trusted=True)),
    "callable, array": lambda X: (X, covey.Similarity(plain_cosine, trusted=True)),
    "callable, list": lambda X: (X.tolist(), covey.Similarity(plain_cosine, trusted=True)),
    "batched": lambda X: (X, covey.batched(batched_cosine, batch_size=37)),
    "matrix": lambda X: (cosine_matrix(X), "precomputed"),
    "sparse matrix": lambda X: (sp.csr_array(cosine_matrix(X)), "precomputed"),
}
"""Whole numbers in, the same bits out: (objects, similarity) by the way the cosine is given. All are trusted, so that
they take the same evaluations."""


class Counted:
    """A similarity of row numbers that remembers each call. It is trusted, so that no call is only a check."""

    trusted = True

    def __init__(self, values, symmetric=True):
        self.values, self.symmetric, self.calls = np.asarray(values), symmetric, []

    def __call__(self, a, b):
        self.calls.append((a, b))
        return float(self.values[a, b])

    @property
    def pairs(self):
        """What must not be evaluated twice: unordered pairs if symmetric, else ordered ones."""
        return [tuple(sorted(pair)) if self.symmetric else pair for pair in self.calls]


def similarity_matrix(n, rng, symmetric=True, levels=None):
    """Random similarities in [0, 1] with diagonal 1; few `levels` make many ties."""
    values = rng.random((n, n)) if levels is None else rng.integers(0, levels, (n, n)) / levels
    if symmetric:
        values = np.triu(values, 1) + np.triu(values, 1).T
    np.fill_diagonal(values, 1)
    return values


def letters(a, b):
    return len(set(a) & set(b)) / len(set(a) | set(b))


WORDS = ["cat", "cart", "care", "dog", "dodge", "lodge", "bird", "brd", "bride", "fish", "dish", "shift"]
