"""The memory of pairs: whichever form it has, it knows each pair once, and graphs are the same."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import covey
from covey.graph import descent, pair_memory
from covey.similarity.space import draw_pairs
from tests.forms import compiled_cosine, space_of
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


def by_hand(pairs, n, remembered):
    """What a memory of fixed size says to pairs, with a dict for its slots and Python's integers for its hashes."""
    slots, news = {}, []
    for pair in pairs:
        low, high = sorted(pair)
        size = min(-(-2 * remembered * (n - 1 - low) // n), n - 1 - low)

        def mixed(other, low=low):
            z = low << 32 | other
            z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) % 2**64
            z = ((z ^ z >> 27) * 0x94D049BB133111EB) % 2**64
            return z ^ z >> 31

        place = low, (mixed(high) >> 32) * size >> 32
        held = slots.get(place)
        news.append(held != high)
        if held is None or mixed(high) % 2**32 < mixed(held) % 2**32:
            slots[place] = high
    return news, slots


@given(
    st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)).filter(lambda p: p[0] != p[1]), max_size=300),
    st.integers(1, 20),
    st.integers(0, 9),
)
def test_what_a_bounded_memory_forgets_follows_from_indices(pairs, remembered, seed):
    """A pair that it knows was added. What it knows in the end does not depend on the order in which pairs came."""
    i, j = np.array(pairs, dtype=np.int32).reshape(-1, 2).T
    memory = pair_memory.BoundedPairs(31, remembered)
    half = len(pairs) // 2
    news = np.concatenate([memory.add(i[:half], j[:half]), memory.add(i[half:], j[half:])]).tolist()
    assert news == by_hand(pairs, 31, remembered)[0]
    seen = set()
    for pair, new in zip(pairs, news, strict=True):
        assert new or frozenset(pair) in seen
        seen.add(frozenset(pair))
    other = pair_memory.BoundedPairs(31, remembered)
    order = np.random.default_rng(seed).permutation(len(pairs))
    other.add(j[order], i[order])
    np.testing.assert_array_equal(memory._table, other._table)


def test_a_bounded_memory_takes_at_most_two_kilobytes_an_object_and_knows_most_of_what_fits():
    n = 3000
    memory = pair_memory.BoundedPairs(n)
    assert memory._table.nbytes + memory._firsts.nbytes <= 2000 * n
    i, j = draw_pairs(n, 100 * n, np.random.default_rng(0))
    assert memory.add(i, j).all()
    assert memory.add(j, i).mean() < 0.15


def test_what_is_remembered_follows_from_what_a_pair_costs(monkeypatch):
    X = np.random.default_rng(0).random((40, 6))
    words, long = [f"{x:.6f}" for x in X[:, 0]], [f"{x:.6f}" * 10 for x in X[:, 0]]
    spaces = {
        pair_memory.HashedPairs: [space_of(X, compiled_cosine), space_of(words, lambda a, b: float(a == b))],
        pair_memory.BoundedPairs: [space_of(words, "jaro-winkler"), space_of(long, "levenshtein")],
        pair_memory.ForgottenPairs: [space_of(words, "levenshtein"), space_of(X, "cosine")],
    }
    for kind, those in spaces.items():
        for space in those:
            assert type(pair_memory.pair_set(space)) is pair_memory.BitmapPairs
            with monkeypatch.context() as patch:
                patch.setattr(pair_memory, "BITMAP_LIMIT", 0)
                assert type(pair_memory.pair_set(space)) is kind


def test_a_graph_with_a_bounded_memory_is_the_same_for_any_number_of_threads_and_any_blocks(monkeypatch):
    """Pairs that were forgotten are evaluated, and counted, again."""
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("abcdef"), rng.integers(3, 12))) for _ in range(700)]
    complete = covey.neighbor_graph(words, 8, "jaro-winkler", "nn-descent", random_state=0)
    monkeypatch.setattr(pair_memory, "BITMAP_LIMIT", 0)
    monkeypatch.setattr(pair_memory.BoundedPairs.__init__, "__defaults__", (8,))
    graphs = [covey.neighbor_graph(words, 8, "jaro-winkler", "nn-descent", random_state=0)]
    for n_jobs, owners in ((2, 1024), (3, 50), (1, 1)):
        monkeypatch.setattr(descent, "OWNERS", owners)
        graphs.append(covey.neighbor_graph(words, 8, "jaro-winkler", "nn-descent", random_state=0, n_jobs=n_jobs))
    for graph in graphs:
        np.testing.assert_array_equal(graph.indices, graphs[0].indices)
        np.testing.assert_array_equal(graph.similarities, graphs[0].similarities)
        assert graph.n_evaluations == graphs[0].n_evaluations > complete.n_evaluations
    assert np.mean(graphs[0].similarities >= complete.similarities[:, -1:]) > 0.97
