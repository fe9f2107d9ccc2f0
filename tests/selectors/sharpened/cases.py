"""Problems for `Sharpened`, and what must be true of every answer."""

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_digits

import covey
from tests.forms import similarity_matrix

DIGITS, TRUTH = load_digits(return_X_y=True)


X, Y = DIGITS[:400], TRUTH[:400]


INNER = {
    "CRS, exact": lambda **o: covey.CRS(5, graph="exact", **o),
    "CRS, nn-descent": lambda **o: covey.CRS(3, graph="nn-descent", **o),
    "DeltaMedoids": lambda **o: covey.DeltaMedoids(**o),
    "DS3": lambda **o: covey.DS3(2, **o),
    "RandomSelector": lambda **o: covey.RandomSelector(0.2, **o),
    "KeepAll": lambda **o: covey.KeepAll(**o),
}


def overlapping(n=120, n_classes=3, width=4, seed=0):
    """Rows of small whole numbers in classes that overlap, so that there is something to sharpen; some are equal."""
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n - n_classes)])
    return rng.poisson(1.0 + 2.5 * np.eye(n_classes, width)[y]).astype(float) + np.eye(width)[0], y


def table(n=90, symmetric=True, seed=0, levels=None):
    """Similarities of the objects 0 to n - 1 under which classes overlap, and the labels."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    s = similarity_matrix(n, rng, symmetric, levels) * 0.6 + 0.4 * (y[:, None] == y)
    np.fill_diagonal(s, 1.0)
    return s, y


def check_prototypes(selector, s, y, kinds=None):
    """Prototypes are true: s[x, r] decides who covers whom, and of equally similar representatives the lowest row does.

    `kinds` says which objects are equal; one of several equal members of a class stands for all of them.
    """
    y = np.asarray(y)
    assert list(selector.prototypes_) == sorted(set(y.tolist()))
    for label, prototype in selector.prototypes_.items():
        np.testing.assert_array_equal(prototype.members, np.flatnonzero(y == label))
        assert prototype.indices.size >= 1
        assert len(set(prototype.indices.tolist())) == prototype.indices.size
        assert (y[prototype.indices] == label).all()
        chosen = np.sort(prototype.indices)
        for x, by in zip(prototype.members, prototype.covered_by, strict=True):
            equal = [r for r in chosen if x == r or (kinds is not None and kinds[x] == kinds[r])]
            assert by == (equal[0] if equal else chosen[np.argmax(s[x, chosen])])
        assert prototype.coverage == 1
        assert prototype.gains.sum() == prototype.members.size
        np.testing.assert_array_equal(prototype.gains, prototype.stands_for)
        assert (np.diff(prototype.gains) <= 0).all()
    indices = np.concatenate([prototype.indices for prototype in selector.prototypes_.values()])
    np.testing.assert_array_equal(selector.sample_indices_, indices)


def state(selector):
    """All that a fit has found, in a form that can be compared."""
    return {
        "rows": selector.sample_indices_.tolist(),
        "losses": selector.losses_.tolist(),
        "temperature": repr(selector.temperature_),
        "sharpened": selector.sharpened_,
        "evaluations": selector.n_evaluations_,
        "covered by": [prototype.covered_by.tolist() for prototype in selector.prototypes_.values()],
        "inner": selector.selector_.sample_indices_.tolist(),
    }


ENGINES = {
    "dense": lambda: (*overlapping(200), covey.CRS(4, similarity="euclidean")),
    "csr, nn-descent": lambda: (
        sp.csr_array(overlapping(200)[0]),
        overlapping(200)[1],
        covey.CRS(4, graph="nn-descent"),
    ),
    "callable": lambda: (list(range(90)), table()[1], covey.CRS(4, similarity=_table_of_90)),
    "asymmetric": lambda: (
        list(range(90)),
        table(symmetric=False)[1],
        covey.CRS(4, similarity=covey.Similarity(_asymmetric_table_of_90, symmetric=False, trusted=True)),
    ),
    "matrix": lambda: (*table(), covey.CRS(4, similarity="precomputed")),
}


def _table_of_90(a, b):
    return float(TABLES[True][a, b])


def _asymmetric_table_of_90(a, b):
    return float(TABLES[False][a, b])


TABLES = {symmetric: table(symmetric=symmetric)[0] for symmetric in (True, False)}


def check_sizes(selector, y):
    """What holds in any space."""
    assert set(selector.prototypes_) == set(np.asarray(y).tolist())
    assert selector.sample_indices_.size <= np.size(y)
    assert all(prototype.coverage == 1 for prototype in selector.prototypes_.values()) or not selector.sharpened_
