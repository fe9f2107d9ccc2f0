"""Random small problems in every form in which objects and a similarity may come, with all similarities known.

Rows hold whole numbers, scaled by powers of two, and similarities take few levels or are random. So the similarities
here have the very bits of the library's, and there are many ties, copies, zero rows and constants.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

import covey
from tests import reference
from tests.forms import COSINES, Counted, similarity_matrix


@dataclass
class Problem:
    """Objects under a similarity.

    `values[x][r]` is s(x, r). `same[x]` tells equal objects: they have the same key. `own[x]` is what the object weighs
    in its own gain. `counted` keeps the calls of a callable, if it is one that does.
    """

    form: str
    objects: Any
    similarity: Any
    values: list
    same: list
    own: list
    symmetric: bool = True
    counted: Counted | None = None

    @property
    def n(self):
        return len(self.values)

    @property
    def is_matrix(self):
        return "matrix" in self.form

    @property
    def has_copies(self):
        return len(set(self.same)) < self.n

    def s(self, x, r):
        return self.values[x][r]

    def copies(self, rows):
        """The rows of each distinct object, by the first of them; a matrix may tell fewer apart if it is smaller."""
        keys = [self.same[row] for row in rows]
        if self.is_matrix:
            part = self.take(rows)
            keys = matrix_keys(part.toarray() if sp.issparse(part) else part, "distances" in self.form)
        groups = {}
        for row, key in zip(rows, keys, strict=True):
            groups.setdefault(key, []).append(row)
        return list(groups.values())

    def take(self, rows, columns=None):
        """Some of the objects; of a matrix their similarities to `columns`, by default to each other."""
        if self.is_matrix:
            return self.objects[rows][:, rows if columns is None else columns]
        return [self.objects[row] for row in rows] if isinstance(self.objects, list) else self.objects[rows]

    def __str__(self):
        X = self.objects.toarray() if sp.issparse(self.objects) else self.objects
        return f"{self.form}, similarity={self.similarity!r}, X={X if isinstance(X, list) else X.tolist()}"


def draw(rng, forms=None):
    """A problem in one of the forms, by default any."""
    form = str(rng.choice(sorted(FORMS if forms is None else forms)))
    return FORMS[form](rng, form)


def draw_size(rng):
    return int(rng.choice([1, 2, 3, rng.integers(4, 12), rng.integers(12, 41)]))


def whole_rows(rng, binary=False, signed=False):
    """Rows of small whole numbers: copies, multiples of each other, zero rows, or all the same."""
    n, width = draw_size(rng), int(rng.integers(1, 7))
    high = 2 if binary else int(rng.choice([2, 3, 5, 10]))
    rows = rng.integers(-high + 1 if signed else 0, high, (n, width))
    if rng.random() < 0.6:
        rows = rows[rng.integers(0, max(1, int(n * rng.choice([0.1, 0.5, 1.0]))), n)]
    if rng.random() < 0.3:
        rows[rng.random(n) < 0.3] = 0
    if not binary and rng.random() < 0.3:
        rows = rows * rng.integers(1, 4, (n, 1))
    return rows


def named_rows(rng, form):
    """A named similarity or distance on dense rows, CSR rows, dicts or sets."""
    name = str(rng.choice(["cosine", "dot", "euclidean", "hamming", "jaccard", "ruzicka", *DISTANCES]))
    profiles = form in ("dicts", "sets")
    if form == "sets" or (profiles and name == "hamming"):
        name = "jaccard"
    rows = whole_rows(rng, name == "jaccard", name in ("cosine", "dot", *DISTANCES) and rng.random() < 0.4)
    scale = 1.0 if name == "jaccard" or rng.random() < 0.7 else 2.0 ** int(rng.choice([-40, -3, 20]))
    scaled = (rows * scale).tolist()
    similarity, score = DISTANCES.get(name, (name, reference.SIMILARITIES.get(name)))
    values = [[score(x, y) for y in scaled] for x in scaled]
    same = [direction(row) for row in rows.tolist()] if name == "cosine" else list(map(tuple, rows.tolist()))
    own = [value if name == "dot" else 1.0 for value in np.diagonal(values).tolist()]
    if name in DISTANCES:
        own = np.diagonal(values).tolist()
    objects = as_form(rng, form, rows * scale, whole=scale == 1.0)
    return Problem(form, objects, similarity, values, same, [w if w > 0 else 1.0 for w in own])


def as_form(rng, form, rows, whole):
    if form == "dicts":
        return [{f"column {c}": v for c, v in enumerate(row) if v or rng.random() < 0.2} for row in rows.tolist()]
    if form == "sets":
        kind = frozenset if rng.random() < 0.5 else set
        return [kind(np.flatnonzero(row).tolist()) for row in rows]
    types = [np.float64, np.float32] + ([np.int64, np.int32, np.int16] if whole else [])
    rows = rows.astype(types[rng.integers(len(types))])
    return sp.csr_array(rows) if form == "csr" else rows


def direction(row):
    """What rows have in common that are positive multiples of each other."""
    divisor = math.gcd(*row)
    return tuple(value // divisor for value in row) if divisor else tuple(row)


def _distance(name, how):
    def score(x, y):
        return reference.CONVERSIONS[how](reference.DISTANCES[name](x, y))

    return covey.from_distance(name, how), score


DISTANCES = {f"{name}, {how}": _distance(name, how) for name in reference.DISTANCES for how in reference.CONVERSIONS}


def cosine(rng, form):
    """The cosine as a user's own function, in every form that the tests know."""
    rows = whole_rows(rng).astype(float)
    objects, similarity = COSINES[form](rows)
    values = [[reference.cosine(x, y) for y in rows.tolist()] for x in rows.tolist()]
    same = matrix_keys(values) if "matrix" in form else list(map(tuple, rows.tolist()))
    own = np.diagonal(values).tolist() if "matrix" in form else [1.0] * len(rows)
    return Problem(form, objects, similarity, values, same, [w if w > 0 else 1.0 for w in own])


def letters(a, b):
    return len(set(a) & set(b)) / len(set(a) | set(b)) if a or b else 1.0


def letters_of_each(A, B):
    return [letters(a, b) for a, b in zip(A, B, strict=True)]


def strings(rng, form):
    """Short strings, many of them equal, under a callable."""
    words = ["".join(rng.choice(list("abcdefg"), rng.integers(0, 5))) for _ in range(draw_size(rng))]
    words = [words[at] for at in rng.integers(0, len(words), len(words))] if rng.random() < 0.5 else words
    similarity = covey.batched(letters_of_each, batch_size=7) if form == "strings, batched" else letters
    values = [[letters(a, b) for b in words] for a in words]
    return Problem(form, words, similarity, values, words, [1.0] * len(words))


def table(rng, n=None):
    """(values, symmetric) of n objects: few levels, a constant or random; at several scales."""
    n = draw_size(rng) if n is None else n
    symmetric = bool(rng.random() < 0.6)
    levels = rng.choice([1, 2, 3, 4, 7, 10, 0])
    values = similarity_matrix(n, rng, symmetric, int(levels) or None)
    if rng.random() < 0.1:
        values = np.full((n, n), float(rng.choice([0.0, 1 / 3, 1.0])))
        np.fill_diagonal(values, 1.0)
    scale = 1.0 if rng.random() < 0.7 else 2.0 ** int(rng.choice([-60, -8, 8, 60]))
    return values * scale, symmetric or n == 1 or bool((values == values.T).all())


def matrix_keys(values, distances=False):
    """What objects of a matrix have in common that it cannot tell apart, if they are similar to themselves."""
    values = np.asarray(values)
    keys = []
    for x, (row, column) in enumerate(zip(values.tolist(), values.T.tolist(), strict=True)):
        alike = row[x] == 0 if distances else row[x] > 0 or row[x] > min(row)
        keys.append((tuple(row), tuple(column)) if alike else x)
    return keys


def matrix(rng, form):
    """Precomputed similarities."""
    values, symmetric = table(rng)
    objects = sp.csr_array(values) if form == "sparse matrix of levels" else values
    own = [value if value > 0 else 1.0 for value in np.diagonal(values).tolist()]
    return Problem(form, objects, "precomputed", values.tolist(), matrix_keys(values), own, symmetric)


def distance_matrix(rng, form):
    """Precomputed distances with a diagonal of 0."""
    values, symmetric = table(rng)
    distances = np.abs(values.max() - values)
    np.fill_diagonal(distances, 0)
    how = str(rng.choice(["inverse", "negative", "exponential"]))
    converted = [[reference.CONVERSIONS[how](d) for d in row] for row in distances.tolist()]
    own = [1.0] * len(values)
    similarity = covey.from_distance("precomputed", how)
    return Problem(form, distances, similarity, converted, matrix_keys(distances, True), own, symmetric)


def numbers(rng, form):
    """Row numbers of a table under a callable that keeps its calls; some numbers occur several times."""
    n = draw_size(rng)
    values, symmetric = table(rng, n)
    values = values / values.max()  # the diagonal is 1, as the library assumes of callables
    ids = rng.integers(0, n, n).tolist() if rng.random() < 0.4 else list(range(n))
    counted = Counted(values, symmetric)
    seen = values[ids][:, ids].tolist()
    return Problem(form, ids, counted, seen, ids, [1.0] * n, symmetric, counted)


FORMS = {
    **dict.fromkeys(["dense", "csr", "dicts", "sets"], named_rows),
    **dict.fromkeys([form for form in COSINES if not form.startswith("named")], cosine),
    **dict.fromkeys(["strings", "strings, batched"], strings),
    **dict.fromkeys(["matrix of levels", "sparse matrix of levels"], matrix),
    "matrix of distances": distance_matrix,
    "numbers": numbers,
}
