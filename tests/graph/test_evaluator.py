"""The evaluator, the pairs that it remembers and the lists that it fills."""

import numpy as np
import pytest

from covey.graph import pair_memory
from covey.graph.evaluator import Evaluator
from covey.similarity.measures import resolve
from tests.forms import space_of


def test_only_an_evaluator_that_remembers_no_pairs_can_renumber_its_objects(monkeypatch):
    """Remembered pairs would keep their old numbers."""
    X, order = np.random.default_rng(0).random((40, 6)), np.arange(40, dtype=np.int32)[::-1]
    with pytest.raises(RuntimeError, match="only while no pairs are remembered"):
        Evaluator(space_of(X, resolve("cosine")), 5).renumber(order)
    monkeypatch.setattr(pair_memory, "BITMAP_LIMIT", 0)
    evaluator = Evaluator(space_of(X, resolve("cosine")), 5)
    i, j = np.array(np.triu_indices(40, 1), dtype=np.int32)
    evaluator.meet(i, j)
    expected = evaluator.lists.renumbered(order)
    evaluator.renumber(order)
    evaluator.meet(i, j)  # every pair is in its list already, under the new numbers
    np.testing.assert_array_equal(evaluator.lists.indices, expected.indices)
