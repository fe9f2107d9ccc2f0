"""Values with arrays as bytes, and back."""

from dataclasses import asdict, dataclass
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from covey.exceptions import FileFormatError
from covey.storage.serialization import build, deserialize, serialize

ARRAYS = {"a": np.arange(6).reshape(2, 3), "b": np.array([1.5, np.nan]), "c": np.empty((0, 4), np.int32)}
VALUE = {"text": "ä", "number": 1.5, "nothing": None, "list": [1, [2]], "arrays": ARRAYS}


class Pair(NamedTuple):
    count: int
    rows: NDArray[np.int64]


@dataclass
class Result:
    pairs: list[Pair]
    best: Pair | None
    share: float


RESULT = Result([Pair(1, np.arange(3)), Pair(2, np.arange(2))], None, 0.5)


def test_what_was_serialized_comes_back():
    value = deserialize(serialize(VALUE))
    assert {**value, "arrays": None} == {**VALUE, "arrays": None}
    assert value["arrays"].keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(value["arrays"][name], array)
        assert value["arrays"][name].dtype == array.dtype


def test_dataclasses_and_named_tuples_are_built_by_their_types():
    np.testing.assert_equal(asdict(build(Result, deserialize(serialize(RESULT)))), asdict(RESULT))


@pytest.mark.parametrize(
    "change",
    [{"pairs": None}, {"pairs": [[1]]}, {"pairs": [["1", 2]]}, {"best": [1, 2]}, {"share": "0.5"}, {"other": 1}],
)
def test_values_of_other_types_are_not_built(change):
    with pytest.raises((TypeError, ValueError, KeyError)):
        build(Result, {**deserialize(serialize(RESULT)), **change})


def test_numbers_of_numpy_become_plain():
    assert deserialize(serialize({"n": np.int64(3), "x": np.float64(0.5)})) == {"n": 3, "x": 0.5}


def test_other_byte_orders_and_strides_are_written_alike():
    plain = np.arange(12, dtype=np.int64)
    odd = np.arange(24)[::2].astype(">i8") // 2
    assert serialize(odd) == serialize(plain)


@given(st.data())
def test_mutated_bytes_are_read_or_refused(data):
    content = bytearray(serialize(VALUE))
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    content = bytes(content[: data.draw(st.integers(0, len(content)))])
    try:
        value = deserialize(content)
    except FileFormatError:
        return
    arrays = value["arrays"].values() if isinstance(value, dict) and isinstance(value.get("arrays"), dict) else []
    distinct = {id(array): array for array in arrays if isinstance(array, np.ndarray)}
    assert sum(array.nbytes for array in distinct.values()) <= len(content)


@pytest.mark.parametrize("shape", ["[1e9]", "[1000000000000]", "[-1]", "[true]", '["3"]', "7"])
def test_a_shape_that_cannot_be_is_refused_without_taking_memory(shape):
    text = f'{{"value": {{}}, "arrays": [["<f8", {shape}]]}}'.encode()
    with pytest.raises(FileFormatError, match="damaged"):
        deserialize(len(text).to_bytes(4, "little") + text + b"\0" * 8)
