"""Arrays and plain values as bytes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.exceptions import FileFormatError
from covey.storage.archive import pack_arrays, unpack_arrays

RECORD = {"text": "ä", "number": 1.5, "nothing": None, "list": [1, [2]]}
ARRAYS = {"a": np.arange(6).reshape(2, 3), "b": np.array([1.5, np.nan]), "c": np.empty((0, 4), np.int32)}


def test_what_was_packed_comes_back():
    record, arrays = unpack_arrays(pack_arrays(RECORD, ARRAYS))
    assert record == RECORD
    assert arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(arrays[name], array)
        assert arrays[name].dtype == array.dtype


def test_numbers_of_numpy_may_be_in_a_record():
    assert unpack_arrays(pack_arrays({"n": np.int64(3), "x": np.float64(0.5)}, {}))[0] == {"n": 3, "x": 0.5}


def test_other_byte_orders_and_strides_are_written_alike():
    plain = np.arange(12, dtype=np.int64)
    odd = np.arange(24)[::2].astype(">i8") // 2
    assert pack_arrays({}, {"a": odd}) == pack_arrays({}, {"a": plain})


@given(st.data())
def test_mutated_bytes_are_read_or_refused(data):
    content = bytearray(pack_arrays(RECORD, ARRAYS))
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    content = bytes(content[: data.draw(st.integers(0, len(content)))])
    try:
        record, arrays = unpack_arrays(content)
    except FileFormatError:
        return
    assert isinstance(record, dict)
    assert sum(array.nbytes for array in arrays.values()) <= len(content)


@pytest.mark.parametrize("shape", ["[1e9]", "[1000000000000]", "[-1]", "[true]", '["3"]', "7"])
def test_a_shape_that_cannot_be_is_refused_without_taking_memory(shape):
    text = f'{{"record": {{}}, "arrays": [["a", "<f8", {shape}]]}}'.encode()
    with pytest.raises(FileFormatError, match="damaged"):
        unpack_arrays(len(text).to_bytes(4, "little") + text + b"\0" * 8)
