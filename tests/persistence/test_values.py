"""Values in model files: each comes back equal and of the same type, or is refused in one sentence."""

import enum
import io
import json
import zipfile
from collections import Counter, OrderedDict, namedtuple
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction

import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings

import covey
from covey.persistence.loading import ModelFile
from covey.persistence.records import RECORDS
from covey.persistence.values import DEEPEST, SPARSE, Reader, Writer

TYPES = ["?", "i1", "<i2", ">i4", "i8", "u1", ">u8", "<f2", ">f4", "f8", "g", "<c8", ">c16"]
TYPES += ["M8", "<M8[ns]", ">M8[D]", "M8[7us]", "m8", "<m8[ns]", ">m8[s]", "S3", "<U3", ">U3"]

texts = st.text(st.characters(exclude_categories=()), max_size=5)
types = st.sampled_from(TYPES).map(np.dtype)
arrays = hnp.arrays(types, hnp.array_shapes(min_dims=0, min_side=0, max_side=3))
scalars = hnp.arrays(types, 1).map(lambda array: array[0])
integers = st.integers() | st.integers(0, 5000).map(lambda digits: -(10**digits))
hashable = st.none() | st.booleans() | integers | st.floats() | st.complex_numbers() | texts | st.binary(max_size=5)
hashable |= scalars | texts.map(np.str_) | st.binary(max_size=5).map(np.bytes_)
hashable |= st.recursive(
    hashable, lambda values: st.tuples(values, values) | st.frozensets(values, max_size=3), max_leaves=4
)


def object_array(values):
    array = np.empty(len(values), dtype=object)
    for at, value in enumerate(values):
        array[at] = value
    return array


values = st.recursive(
    hashable | arrays,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.lists(inner, max_size=3).map(object_array)
        | st.dictionaries(hashable, inner, max_size=3)
        | st.sets(hashable, max_size=3)
    ),
    max_leaves=8,
)


def again(value, tmp_path):
    """What the value is once it was kept in a file."""
    path = tmp_path / "model"
    covey.save(covey.KeepAll().fit(np.eye(2)), path, value)
    return ModelFile(path).notes()


def same(a, b):
    """Whether two values are equal and of the same type all the way down; NaN is equal to NaN, and -0.0 not to 0.0."""
    if type(a) is not type(b):
        return False
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return same(list(a.items()), list(b.items()))
    if isinstance(a, set | frozenset):
        return len(a) == len(b) and all(any(same(x, y) for y in b) for x in a)
    if isinstance(a, np.ndarray):
        alike = a.dtype == b.dtype and a.dtype.byteorder == b.dtype.byteorder and a.shape == b.shape
        return alike and (all(map(same, a.flat, b.flat)) if a.dtype == object else a.tobytes() == b.tobytes())
    if isinstance(a, str | bytes):
        return list(a) == list(b)  # NumPy's own texts are equal to others without zeros at their end
    if isinstance(a, int):
        return a == b
    if isinstance(a, np.generic):
        return a.dtype == b.dtype and a.tobytes() == b.tobytes()
    return repr(a) == repr(b)  # repr tells apart -0.0 and 0.0, and not two NaN


@settings(max_examples=300, deadline=None)
@given(values)
def test_every_value_comes_back_equal_and_of_the_same_type(value):
    writer = Writer(RECORDS)
    encoded = json.loads(json.dumps(writer.encode(value, "notes")))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for number, array in enumerate(writer.arrays):
            with archive.open(f"{number}.npy", "w") as file:
                np.lib.format.write_array(file, array, allow_pickle=False)
    found = Reader(zipfile.ZipFile(buffer), RECORDS).decode(encoded)
    assert same(found, value)


@pytest.mark.parametrize("name", SPARSE)
def test_a_sparse_matrix_comes_back_in_its_format(name, tmp_path):
    matrix = SPARSE[name](np.array([[0, 1.5, 0], [2, 0, 0]]))
    found = again([matrix], tmp_path)[0]
    assert type(found) is type(matrix)
    assert found.dtype == matrix.dtype
    np.testing.assert_array_equal(found.toarray(), matrix.toarray())


def test_an_array_on_disk_is_an_array_in_memory_once_it_is_loaded(tmp_path):
    stored = np.memmap(tmp_path / "array", dtype=np.float64, mode="w+", shape=(3, 2))
    stored[:] = np.arange(6).reshape(3, 2)
    found = again(stored, tmp_path)
    assert type(found) is np.ndarray
    np.testing.assert_array_equal(found, stored)


class Text(str):
    __slots__ = ()


class Items(list):
    pass


class Color(enum.IntEnum):
    RED = 1


class Half(np.float64):
    pass


class CRS(covey.CRS):
    """A class of the user's own that is called like one of ours."""


REFUSED = [
    Text("a"),
    Items([1]),
    Color.RED,
    Half(0.5),
    namedtuple("Point", "x y")(1, 2),
    OrderedDict(a=1),
    Counter("ab"),
    Decimal("0.1"),
    Fraction(1, 3),
    date(2024, 1, 1),
    datetime(2024, 1, 1),
    timedelta(1),
    bytearray(b"a"),
    range(3),
    len,
    lambda a, b: 1.0,
    covey.Similarity(max),
    covey.from_distance("euclidean"),
    covey.CRS(),
    CRS,
    np.ma.masked_array([1, 2], [True, False]),
    np.ma.masked,
    np.rec.array([(1, 2.0)]),
    np.array([(1, 2.0)], dtype="i4,f8"),
    np.array([(1, 2.0)], dtype="i4,f8")[0],
    np.array([(1, "a")], dtype="i4,O"),
    np.array(["a"], dtype=np.dtypes.StringDType()),
    np.zeros(3, "V0"),
    sp.coo_array(np.arange(3.0)),
]


@pytest.mark.parametrize("value", REFUSED, ids=lambda value: type(value).__name__)
def test_what_a_file_cannot_keep_is_refused(value, tmp_path):
    for nested in (value, [value], {"a": (value,)}, object_array([value])):
        with pytest.raises(TypeError, match=r"Cannot save notes of type \w+"):
            again(nested, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_values_nested_too_deep_are_refused(tmp_path):
    value = []
    for _ in range(DEEPEST - 1):
        value = [value]
    assert again(value, tmp_path) == value
    itself = []
    itself.append(itself)
    for deeper in ([value], {1: value}, (value,), itself):
        with pytest.raises(ValueError, match=f"Cannot save notes nested more than {DEEPEST} levels"):
            again(deeper, tmp_path)
