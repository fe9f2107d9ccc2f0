"""Odd things that people pass as X and as y: the name of each, and what must become of it.

"refuse" must raise an error that names the parameter, "work" must work, and with "either" both will do.
"""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import scipy.sparse as sp

N = 7
"""How many objects X and y have, unless their number is what is odd."""


def whole(rng):
    return rng.integers(0, 2, (N, 3))


def with_entry(rng, value, dtype=object):
    """Rows of 0 and 1 with one entry replaced."""
    rows = whole(rng).astype(dtype)
    rows[rng.integers(N), rng.integers(3)] = value
    return rows


def frame(rng, **columns):
    return pd.DataFrame({"a": rng.integers(0, 2, N), "b": rng.integers(0, 2, N), **columns})


def column(rng, value, dtype=None):
    """A pandas column of 0 and 1 with one entry replaced."""
    entries = rng.integers(0, 2, N).tolist()
    entries[rng.integers(N)] = value
    return pd.Series(entries, dtype=dtype)


def dates(rng, missing):
    days = np.datetime64("2024-01-01") + rng.integers(0, 100, (N, 3))
    if missing:
        days[rng.integers(N), 0] = np.datetime64("NaT")
    return days


def damaged(rng, attribute, value):
    """A CSR matrix with one number of its index arrays replaced behind SciPy's back."""
    matrix = sp.csr_array(np.ones((N, 3)))
    getattr(matrix, attribute)[rng.integers(1, N)] = value
    return matrix


def profiles(rng, value):
    rows = [{"a": 1, "b": int(b)} for b in rng.integers(0, 2, N)]
    rows[rng.integers(N)] = value
    return rows


MISSING = {"None": None, "pd.NA": pd.NA, "NaN": np.nan, "pd.NaT": pd.NaT, "infinity": np.inf}

ODD_X = {
    **{
        f"{name} in a float array": ("refuse", lambda rng, v=v: with_entry(rng, v, float))
        for name, v in {"NaN": np.nan, "infinity": np.inf, "minus infinity": -np.inf}.items()
    },
    **{f"{name} in an object array": ("refuse", lambda rng, v=v: with_entry(rng, v)) for name, v in MISSING.items()},
    **{
        f"{name} in an object column": ("refuse", lambda rng, v=v: frame(rng, c=column(rng, v, object)))
        for name, v in MISSING.items()
    },
    "NaN in CSR": ("refuse", lambda rng: sp.csr_array(with_entry(rng, np.nan, float))),
    "NaN in float32": ("refuse", lambda rng: with_entry(rng, np.nan, np.float32)),
    "a masked array": ("refuse", lambda rng: np.ma.masked_equal(with_entry(rng, 9, float), 9)),
    "an array of dates": ("either", lambda rng: dates(rng, missing=False)),
    "an array of dates with NaT": ("refuse", lambda rng: dates(rng, missing=True)),
    "an array of spans with NaT": ("refuse", lambda rng: dates(rng, missing=True) - np.datetime64("2024-01-01")),
    "a column of dates with NaT": ("refuse", lambda rng: frame(rng, c=pd.Series(dates(rng, missing=True)[:, 0]))),
    "complex numbers": ("refuse", lambda rng: whole(rng) * 1j),
    "an int that no float holds": ("refuse", lambda rng: with_entry(rng, 10**400).tolist()),
    "complex CSR": ("refuse", lambda rng: sp.csr_array(whole(rng) * 1j)),
    "strings": ("refuse", lambda rng: ["cat", "dog", "cart", "bird", "fish", "dish", "wish"]),
    "an array of strings": ("refuse", lambda rng: np.array([["cat"], ["dog"], ["cart"], *[["x"]] * 4])),
    "an object array of strings": ("refuse", lambda rng: with_entry(rng, "cat")),
    "an object array of lists": ("refuse", lambda rng: nested(rng)),
    "a column of text": ("refuse", lambda rng: frame(rng, c=list("abcdefg"))),
    "bytes": ("refuse", lambda rng: b"abcdefg"),
    "one string": ("refuse", lambda rng: "abcdefg"),
    "None": ("refuse", lambda rng: None),
    "a number": ("refuse", lambda rng: 5),
    "an object": ("refuse", lambda rng: object()),
    "a generator": ("refuse", lambda rng: (row for row in whole(rng))),
    "a set": ("refuse", lambda rng: {(0, 1), (1, 1), (1, 0)}),
    "a dict": ("refuse", lambda rng: {"a": [0, 1], "b": [1, 1]}),
    "an array without dimensions": ("refuse", lambda rng: np.array(5.0)),
    "one dimension": ("refuse", lambda rng: rng.random(N)),
    "three dimensions": ("refuse", lambda rng: rng.random((N, 2, 2))),
    "no rows": ("refuse", lambda rng: np.empty((0, 3))),
    "no rows in CSR": ("refuse", lambda rng: sp.csr_array((0, 3))),
    "no rows in a frame": ("refuse", lambda rng: frame(rng)[:0]),
    "an empty list": ("refuse", lambda rng: []),
    "no columns": ("refuse", lambda rng: np.empty((N, 0))),
    "no columns in CSR": ("refuse", lambda rng: sp.csr_array((N, 0))),
    "no columns in a frame": ("refuse", lambda rng: frame(rng)[[]]),
    "rows of different lengths": ("refuse", lambda rng: [[1, 0], [1], *[[0, 1]] * 5]),
    "a structured array": ("refuse", lambda rng: np.zeros(N, dtype=[("a", float), ("b", int)])),
    "dicts of text": ("refuse", lambda rng: profiles(rng, {"a": "text"})),
    "dicts with None": ("refuse", lambda rng: profiles(rng, {"a": None})),
    "dicts with NaN": ("refuse", lambda rng: profiles(rng, {"a": np.nan})),
    "dicts with pd.NA": ("refuse", lambda rng: profiles(rng, {"a": pd.NA})),
    "dicts and a list": ("refuse", lambda rng: [*profiles(rng, {})[1:], [1, 2]]),
    "dicts and None": ("refuse", lambda rng: [*profiles(rng, {})[1:], None]),
    "Int64 with NA": ("refuse", lambda rng: frame(rng, c=column(rng, pd.NA, "Int64"))),
    "boolean with NA": (
        "refuse",
        lambda rng: frame(rng, c=pd.Series(labels(rng, True, False, pd.NA), dtype="boolean")),
    ),
    "Arrow numbers with NA": ("refuse", lambda rng: frame(rng, c=column(rng, pd.NA, "int64[pyarrow]"))),
    "polars with null": ("refuse", lambda rng: pl.DataFrame({"a": [0, 1, None, 1, 0, 1, 1], "b": [1.0] * N})),
    "polars with NaN": ("refuse", lambda rng: pl.DataFrame({"a": [0.0, 1, np.nan, 1, 0, 1, 1], "b": [1.0] * N})),
    "polars with text": ("refuse", lambda rng: pl.DataFrame({"a": list("abcdefg"), "b": [1.0] * N})),
    "polars of lists": ("refuse", lambda rng: pl.DataFrame({"a": [[1], [2, 3]] * 3 + [[1]]})),
    "CSR with a column too large": ("refuse", lambda rng: damaged(rng, "indices", 3)),
    "CSR with a column far too large": ("refuse", lambda rng: damaged(rng, "indices", 2**31 - 1)),
    "CSR with a negative column": ("refuse", lambda rng: damaged(rng, "indices", -1)),
    "CSR whose rows end too late": ("refuse", lambda rng: damaged(rng, "indptr", 10**6)),
    "CSR whose rows end before they start": ("refuse", lambda rng: damaged(rng, "indptr", -5)),
    "numbers of 1e300": ("either", lambda rng: with_entry(rng, 1e300, float)),
    "numbers of 1e-300": ("either", lambda rng: with_entry(rng, 1e-300, float)),
    "numeric strings": ("either", lambda rng: whole(rng).astype(str)),
    "decimals": ("either", lambda rng: [[Decimal(int(v)) for v in row] for row in whole(rng)]),
    "a category column": ("either", lambda rng: frame(rng, c=column(rng, 1).astype("category"))),
    "columns of the same name": ("either", lambda rng: pd.concat([frame(rng), frame(rng)], axis=1)),
    "one object": ("either", lambda rng: whole(rng)[:1]),
    "booleans": ("work", lambda rng: whole(rng).astype(bool)),
    "an object array of numbers": ("work", lambda rng: whole(rng).astype(object)),
    "float16": ("work", lambda rng: whole(rng).astype(np.float16)),
    "long doubles": ("work", lambda rng: whole(rng).astype(np.longdouble)),
    "unsigned bytes": ("work", lambda rng: whole(rng).astype(np.uint8)),
    "big-endian numbers": ("work", lambda rng: whole(rng).astype(">f8")),
    "Fortran order": ("work", lambda rng: np.asfortranarray(whole(rng).astype(float))),
    "a view with strides": ("work", lambda rng: np.repeat(whole(rng), 2, axis=0)[::-2]),
    "a read-only array": ("work", lambda rng: np.broadcast_to(np.array([0.0, 1.0, 1.0]), (N, 3))),
    "a list of lists": ("work", lambda rng: whole(rng).tolist()),
    "a list of arrays": ("work", lambda rng: list(whole(rng))),
    "tuples": ("work", lambda rng: tuple(map(tuple, whole(rng).tolist()))),
    "CSC": ("work", lambda rng: sp.csc_array(whole(rng))),
    "COO": ("work", lambda rng: sp.coo_array(whole(rng))),
    "CSR matrix of int64 indices": ("work", lambda rng: wide(rng)),
    "CSR that stores a column twice": ("work", lambda rng: sp.csr_array(([1, 0] * N, [0, 0] * N, range(0, 15, 2)))),
    "Int64": ("work", lambda rng: frame(rng, c=column(rng, 1, "Int64"))),
    "Float64": ("work", lambda rng: frame(rng, c=column(rng, 1.0, "Float64"))),
    "boolean": ("work", lambda rng: frame(rng, c=pd.Series(labels(rng, True, False), dtype="boolean"))),
    "Arrow numbers": ("work", lambda rng: frame(rng, c=column(rng, 1, "int64[pyarrow]"))),
    "a frame of numbers": ("work", lambda rng: frame(rng)),
    "a polars frame": ("work", lambda rng: pl.DataFrame(frame(rng).to_dict("list"))),
    "frozensets": ("work", lambda rng: [frozenset(row) for row in whole(rng).tolist()]),
}


def nested(rng):
    rows = whole(rng).astype(object)
    rows[0, 0] = [1, 2]
    return rows


def wide(rng):
    matrix = sp.csr_array(whole(rng))
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
    return matrix


def labels(rng, *values):
    """A list of N labels in which each of the values occurs."""
    picked = [*values, *(values[at] for at in rng.integers(0, len(values), N - len(values)))]
    return [picked[at] for at in rng.permutation(N)]


NO_LABEL = {name: value for name, value in MISSING.items() if name != "infinity"}
LARGE = 2**53
DAY = datetime.date(2024, 1, 1)

ODD_Y = {
    **{f"{name} among numbers": ("refuse", lambda rng, v=v: labels(rng, 0, 1, v)) for name, v in NO_LABEL.items()},
    **{f"{name} among strings": ("refuse", lambda rng, v=v: labels(rng, "a", "b", v)) for name, v in NO_LABEL.items()},
    **{
        f"{name} in an object array": ("refuse", lambda rng, v=v: np.array(labels(rng, 0, 1, v), dtype=object))
        for name, v in NO_LABEL.items()
    },
    "NaN in a float array": ("refuse", lambda rng: np.array(labels(rng, 0.0, 1.0, np.nan))),
    "NaT in an array": ("refuse", lambda rng: np.array(labels(rng, "2024-01-01", "NaT"), dtype="M8[D]")),
    "NaT in a span": ("refuse", lambda rng: np.array(labels(rng, 1, "NaT"), dtype="m8[D]")),
    "NaT in a series": ("refuse", lambda rng: pd.Series(labels(rng, pd.Timestamp(DAY), pd.NaT))),
    "NA in Int64": ("refuse", lambda rng: pd.Series(labels(rng, 0, 1, pd.NA), dtype="Int64")),
    "NA in string": ("refuse", lambda rng: pd.Series(labels(rng, "a", "b", pd.NA), dtype="string")),
    "NA in Arrow strings": ("refuse", lambda rng: pd.Series(labels(rng, "a", pd.NA), dtype="string[pyarrow]")),
    "NA in a category": ("refuse", lambda rng: pd.Series(labels(rng, "a", "b", None), dtype="category")),
    "a masked array": ("refuse", lambda rng: np.ma.masked_equal(labels(rng, 0, 1, 2), 2)),
    "polars with null": ("refuse", lambda rng: pl.Series(labels(rng, 0, 1, None))),
    "too few labels": ("refuse", lambda rng: [0] * (N - 1)),
    "too many labels": ("refuse", lambda rng: [0] * (N + 1)),
    "no labels": ("refuse", lambda rng: []),
    "two columns": ("refuse", lambda rng: rng.integers(0, 2, (N, 2))),
    "one label": ("refuse", lambda rng: 5),
    "a string": ("refuse", lambda rng: "abcdefg"),
    "an object": ("refuse", lambda rng: object()),
    "complex numbers": ("refuse", lambda rng: labels(rng, 1j, 2j)),
    "numbers and strings": ("refuse", lambda rng: np.array(labels(rng, 1, "a"), dtype=object)),
    "lists": ("refuse", lambda rng: np.array([[1], [1, 2], *[[1]] * 5], dtype=object)),
    "frozensets": ("refuse", lambda rng: labels(rng, frozenset([0]), frozenset([1]), frozenset([2]))),
    "tuples": ("work", lambda rng: tuples(rng)),
    "a list of tuples": ("work", lambda rng: tuples(rng).tolist()),
    "a list of 1-tuples": ("work", lambda rng: labels(rng, (0,), (1,))),
    "StringDType": ("work", lambda rng: np.array(labels(rng, "a", "bb"), dtype=np.dtypes.StringDType())),
    "dates": ("either", lambda rng: np.array(labels(rng, "2024-01-01", "2024-01-02"), dtype="M8[D]")),
    "date objects": ("either", lambda rng: labels(rng, DAY, DAY.replace(day=2))),
    "decimals": ("either", lambda rng: labels(rng, Decimal(1), Decimal("1.5"))),
    "bytes": ("either", lambda rng: labels(rng, b"a", b"b")),
    "fractional numbers": ("either", lambda rng: labels(rng, 0.25, 1.5)),
    "numbers beyond 2^64": ("either", lambda rng: labels(rng, 2**70, 2**70 + 1)),
    "a column": ("either", lambda rng: np.array(labels(rng, 0, 1))[:, None]),
    "numbers around 2^53": ("work", lambda rng: labels(rng, LARGE, LARGE + 1)),
    "Int64 around 2^53": ("work", lambda rng: pd.Series(labels(rng, LARGE, LARGE + 1), dtype="Int64")),
    "uint64 beyond 2^63": ("work", lambda rng: np.array(labels(rng, 2**63, 2**63 + 1), dtype=np.uint64)),
    "Arrow numbers": ("work", lambda rng: pd.Series(labels(rng, LARGE, LARGE + 1), dtype="int64[pyarrow]")),
    "booleans": ("work", lambda rng: labels(rng, True, False)),
    "numbers": ("work", lambda rng: labels(rng, -3, 0, 9)),
    "whole floats": ("work", lambda rng: labels(rng, -3.0, 0.0)),
    "small numbers": ("work", lambda rng: np.array(labels(rng, -3, 9), dtype=np.int8)),
    "strings": ("work", lambda rng: labels(rng, "", "b", "long one")),
    "an object array of strings": ("work", lambda rng: np.array(labels(rng, "a", "bb"), dtype=object)),
    "a tuple": ("work", lambda rng: tuple(labels(rng, "a", "b"))),
    "a category": ("work", lambda rng: pd.Series(labels(rng, "a", "b"), dtype="category")),
    "a string series": ("work", lambda rng: pd.Series(labels(rng, "a", "b"), dtype="string")),
    "Arrow strings": ("work", lambda rng: pd.Series(labels(rng, "a", "b"), dtype="string[pyarrow]")),
    "a series with an odd index": ("work", lambda rng: pd.Series(labels(rng, 0, 1), index=range(N, 0, -1))),
    "polars numbers": ("work", lambda rng: pl.Series(labels(rng, 0, 1))),
    "polars strings": ("work", lambda rng: pl.Series(labels(rng, "a", "b"))),
    "polars categories": ("work", lambda rng: pl.Series(labels(rng, "a", "b"), dtype=pl.Categorical)),
}


def tuples(rng):
    entries = np.empty(N, dtype=object)
    entries[:] = labels(rng, (0, 1), (1, 1))
    return entries
