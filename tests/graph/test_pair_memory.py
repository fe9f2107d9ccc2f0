"""The memory of pairs: whichever form it has, it knows each pair once, and graphs are the same."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import covey
from covey.graph import pair_memory
from covey.similarity.space import draw_pairs
from tests.forms import compiled_cosine
from tests.graph.compared import assert_same, recall


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)).filter(lambda p: p[0] != p[1]), max_size=300))
def test_pair_sets_know_what_they_have_seen(pairs):
    i, j = np.array(pairs, dtype=np.int32).reshape(-1, 2).T
    seen = set()
    expected = []
    for pair in pairs:
        expected.append(frozenset(pair) not in seen)
        seen.add(frozenset(pair))
    for pair_set in (pair_memory.BitmapPairs(31), pair_memory.HashedPairs(600)):
        half = len(pairs) // 2
        first = np.concatenate([pair_set.add(i[:half], j[:half]), pair_set.add(i[half:], j[half:])])
        assert first.tolist() == expected


def test_a_hash_of_pairs_grows():
    i, j = draw_pairs(600, 600 * 599 // 2, np.random.default_rng(0))
    pair_set = pair_memory.HashedPairs(600)
    assert pair_set.add(i[:40000], j[:40000]).all()
    assert pair_set.add(i, j).sum() == i.size - 40000
    assert not pair_set.add(j, i).any()


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)).filter(lambda p: p[0] != p[1]), max_size=200))
def test_pairs_within_a_side_are_never_new(pairs):
    on_right = np.random.default_rng(0).random(21) < 0.4
    i, j = np.array(pairs, dtype=np.int32).reshape(-1, 2).T
    seen, expected = set(), []
    for a, b in pairs:
        expected.append(bool(on_right[a] != on_right[b]) and frozenset((a, b)) not in seen)
        seen.add(frozenset((a, b)))
    for inner in (pair_memory.BitmapPairs(21), pair_memory.HashedPairs(21)):
        assert pair_memory.CrossPairs(on_right, inner).add(i, j).tolist() == expected
    forgotten = pair_memory.CrossPairs(on_right, pair_memory.ForgottenPairs(21)).add(i, j)
    assert forgotten.tolist() == (on_right[i] != on_right[j]).tolist()


def test_a_hash_of_pairs_does_what_the_bitmap_does(monkeypatch):
    X = np.random.default_rng(0).random((500, 8))
    expected = covey.neighbor_graph(X, 8, compiled_cosine, "nn-descent", random_state=0)
    monkeypatch.setattr(pair_memory, "BITMAP_LIMIT", 0)
    assert_same(covey.neighbor_graph(X, 8, compiled_cosine, "nn-descent", random_state=0, n_jobs=2), expected)


def test_cheap_scores_need_no_memory_of_pairs(monkeypatch):
    """Without it the same pairs meet, so the graph is the same; only evaluations are more."""
    X = np.random.default_rng(0).random((450, 8))
    expected = covey.neighbor_graph(X, 8, method="nn-descent", random_state=0)
    monkeypatch.setattr(pair_memory, "BITMAP_LIMIT", 0)
    graphs = [covey.neighbor_graph(X, 8, method="nn-descent", random_state=0, n_jobs=n_jobs) for n_jobs in (1, 2)]
    assert_same(*graphs)
    assert recall(graphs[0], expected) > 0.99
    assert graphs[0].n_evaluations > expected.n_evaluations
