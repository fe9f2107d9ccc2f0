"""The table of pairs holds what a dict would hold."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from covey.similarity.hash_table import PairTable, pair_keys

RNG = np.random.default_rng(0)
KEYS = st.integers(0, 2**63) | st.integers(0, 50)


@given(st.lists(st.lists(st.tuples(KEYS, st.floats(allow_nan=False)), max_size=60), max_size=5))
def test_a_table_holds_what_a_dict_would_hold(batches):
    table, expected = PairTable(), {}
    for batch in batches:
        new = {key: value for key, value in dict(batch).items() if key not in expected}
        table.store(np.array(list(new), dtype=np.uint64), np.array(list(new.values()), dtype=float))
        expected.update(new)
        asked = [*expected, *(key % 97 + 1 for key in expected)]
        values, known = table.look_up(np.array(asked, dtype=np.uint64))
        assert known.tolist() == [key in expected for key in asked]
        assert values[known].tolist() == [expected[key] for key in asked if key in expected]


def test_a_table_grows_and_loses_nothing():
    table = PairTable()
    a, b = (side.ravel().astype(np.uint64) for side in np.indices((150, 150)))
    values = RNG.random(a.size)
    for batch in np.array_split(np.arange(a.size), 7):
        table.store(pair_keys(a[batch], b[batch]), values[batch])
    i, j, stored = table.pairs()
    np.testing.assert_array_equal(i, a.astype(np.int32))
    np.testing.assert_array_equal(j, b.astype(np.int32))
    np.testing.assert_array_equal(stored, values)
