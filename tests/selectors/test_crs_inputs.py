"""CRS takes every kind of container, and gives back the same kind."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

import covey
from tests.forms import WORDS, letters


def container_cases():
    X = np.random.default_rng(0).integers(0, 9, (40, 5)).astype(float)
    names = [f"f{i}" for i in range(5)]
    return {
        "array": X,
        "float32": X.astype(np.float32),
        "integers": X.astype(np.int32),
        "list of lists": X.tolist(),
        "csr matrix": sp.csr_matrix(X),
        "csr array": sp.csr_array(X),
        "csc array": sp.csc_array(X),
        "tuple": tuple(X.tolist()),
        "pandas": pd.DataFrame(X, columns=names, index=[f"row {i}" for i in range(40)]),
        "polars": pl.DataFrame(X, schema=names),
        "Arrow": pa.table(list(X.T), names=names),
    }


@pytest.mark.parametrize("kind", container_cases())
def test_containers_keep_their_type(kind):
    X, y = container_cases()[kind], np.arange(40) % 3
    expected = covey.CRS(3).fit(container_cases()["array"], y)
    selector = covey.CRS(3)
    few, labels = selector.fit_resample(X, y)
    np.testing.assert_array_equal(selector.sample_indices_, expected.sample_indices_)
    np.testing.assert_array_equal(labels, y[expected.sample_indices_])
    assert type(few) is type(X)
    if kind == "pandas":
        assert few.index.tolist() == [f"row {i}" for i in expected.sample_indices_]
    assert hasattr(selector, "feature_names_in_") == (kind in ("pandas", "polars", "Arrow"))
    assert selector.n_features_in_ == 5
    assert not hasattr(selector.fit([{"a": 1}, {"b": 1}]), "n_features_in_")


@pytest.mark.parametrize("form", ["coo", "bsr", "dia", "dok"])
def test_other_sparse_formats_become_csr(form):
    X = container_cases()["csr array"]
    few, _ = covey.CRS(3).fit_resample(X.asformat(form))
    assert few.format == "csr"
    assert (few != X[covey.CRS(3).fit(X).sample_indices_]).nnz == 0


@pytest.mark.parametrize(
    "X",
    [
        WORDS,
        tuple(WORDS),
        np.array(WORDS),
        np.array(WORDS, dtype=object),
        pd.Series(WORDS),
        pl.Series(WORDS),
    ],
    ids=["list", "tuple", "array", "object array", "pandas", "polars"],
)
def test_any_sequence_of_objects(X):
    selector = covey.CRS(2, similarity=letters)
    few, _ = selector.fit_resample(X)
    assert sorted(few) == sorted(WORDS[i] for i in selector.sample_indices_)
    assert selector.sample_indices_.tolist() == covey.CRS(2, similarity=letters).fit(WORDS).sample_indices_.tolist()
    assert 1 < selector.sample_indices_.size < 6


def test_dicts_sets_and_arrays_of_any_shape():
    images = np.random.default_rng(0).random((12, 4, 4))
    selector = covey.CRS(3, similarity=lambda a, b: float((a * b).sum())).fit(images)
    assert selector.n_evaluations_ == 66
    hosts = [{"dns": 1, "web": i} for i in range(9)]
    assert covey.CRS(3).fit(hosts).sample_indices_.size >= 1
    assert covey.CRS(3, similarity="jaccard").fit([set(word) for word in WORDS]).prototypes_[0].coverage >= 0.95
    assert covey.CRS(3, similarity=lambda a, b: float(a == b)).fit([1, 2, 2, 1]).sample_indices_.tolist() == [0, 1]


def test_float32_is_not_doubled(monkeypatch):
    from covey.similarity.kinds import rows

    seen = []
    original = rows.DenseRows.__init__
    monkeypatch.setattr(
        rows.DenseRows, "__init__", lambda self, values: (seen.append(values), original(self, values))[1]
    )
    X = np.random.default_rng(0).random((50, 4), dtype=np.float32)
    covey.CRS(3).fit(X)
    assert [values.base is X or values is X for values in seen] == [True]
    covey.CRS(3).fit(X > 0.5)
    assert seen[-1].dtype == np.float32
