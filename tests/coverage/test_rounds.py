"""Coverage in shards and rounds: the same picks, gains and coverage as `covey.cover` on one machine."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import covey
from covey.coverage import rounds
from covey.coverage.rounds import (
    ALL_SENT,
    cover_in_rounds,
    covered_by,
    join_pieces,
    pick_from,
    propose,
    scale_of,
    split_edges,
)
from tests.coverage.test_cover import graphs


class Problem:
    """A graph whose objects are scattered over more rows than there are objects, in groups and shards."""

    def __init__(self, graph, seed, n_groups, n_shards, threshold=None, multiplicity=None, with_itself=None):
        self.graph, self.threshold, self.n_shards = graph, threshold, n_shards
        rng = np.random.default_rng(seed)
        n = graph.n_objects
        self.n_rows = n + int(rng.integers(0, 2 * n + 1))
        self.rows = np.sort(rng.choice(self.n_rows, n, replace=False)).astype(np.int32)
        self.multiplicity = np.ones(n, np.int64) if multiplicity is None else multiplicity
        self.with_itself = np.ones(n) if with_itself is None else with_itself
        self.groups = [np.flatnonzero(group == g) for group in [rng.integers(0, n_groups, n)] for g in range(n_groups)]
        self.neighbors = np.where(graph.indices < 0, -1, self.rows[graph.indices]).astype(np.int32)

    def shards(self, gain="similarity", on_orphan="self"):
        """The shards, each joined from pieces that went through pickle, as they do between machines."""
        width = -(-self.n_rows // self.n_shards)
        objects = [self.rows, self.multiplicity, self.with_itself, self.neighbors, self.graph.similarities]
        pieces = [
            split_edges(*(array[group] for array in objects), self.threshold, width, self.n_shards)
            for group in self.groups
        ]
        joined = (join_pieces(list(column), gain, on_orphan) for column in zip(*pieces, strict=True))
        return [pickle.loads(pickle.dumps(shard)) for shard in joined]

    def cover(self, coverage, gain="similarity", on_orphan="self", budget=None):
        """Coverage in rounds, with a budget of its own for each shard, or the one that the driver gives."""
        shards = self.shards(gain, on_orphan)

        def ask(covered, scale, budgets):
            budgets = budgets if budget is None else [budget] * len(shards)
            covered.flags.writeable = False  # the driver must not change what a task may still read
            return [propose(shard, covered, scale, most) for shard, most in zip(shards, budgets, strict=True)]

        return cover_in_rounds(ask, [shard.facts for shard in shards], self.n_rows, coverage, gain)

    def covered_by(self, picked):
        """The coverers of all objects, asked for group by group."""
        found = np.full(self.rows.size, -2)
        for group in self.groups:
            lists = self.neighbors[group], self.graph.similarities[group]
            found[group] = covered_by(self.rows[group], *lists, self.threshold, picked)
        return found

    def assert_same(self, coverage, gain="similarity", on_orphan="self", budget=None):
        """Assert that rounds give bit by bit what `covey.cover` gives."""
        options = {
            "with_itself": self.with_itself,
            "multiplicity": self.multiplicity,
            "gain": gain,
            "on_orphan": on_orphan,
        }
        expected = covey.cover(self.graph, coverage, self.threshold, **options)
        found = self.cover(coverage, gain, on_orphan, budget)
        assert found.rows.tolist() == self.rows[expected.indices].tolist()
        assert found.gains.tolist() == expected.gains.tolist()
        assert found.coverage == expected.coverage
        assert found.n_orphans == expected.n_orphans
        by = np.where(expected.covered_by < 0, -1, self.rows[expected.covered_by])
        assert self.covered_by(found.rows).tolist() == by.tolist()
        is_covered = np.zeros(self.n_rows, bool)
        is_covered[self.rows[expected.covered_by >= 0]] = True
        assert np.unpackbits(found.covered, count=self.n_rows).tolist() == is_covered.tolist()
        assert 1 <= found.n_rounds <= found.rows.size + 1
        return found


def random_graph(n, k, seed, levels=None, lowest=0.0):
    """Random lists of neighbors: some places are empty, and an object may list another one twice, or itself."""
    rng = np.random.default_rng(seed)
    similarities = (
        rng.uniform(lowest, 1, (n, k)) if levels is None else rng.integers(lowest, levels + 1, (n, k)) / levels
    )
    return covey.NeighborGraph(rng.integers(-1 - n // 3, n, (n, k)).clip(-1), similarities)


random_graphs = st.builds(
    random_graph,
    n=st.integers(1, 40),
    k=st.integers(0, 6),
    seed=st.integers(0, 10_000),
    levels=st.sampled_from([None, 1, 3]),
    lowest=st.sampled_from([0, -1]),
)


@settings(max_examples=400)
@given(
    graph=graphs | random_graphs,
    seed=st.integers(0, 10_000),
    n_groups=st.integers(1, 5),
    n_shards=st.sampled_from([1, 2, 3, 5, 8]),
    coverage=st.sampled_from([0.01, 0.5, 0.9, 0.95, 1.0]),
    threshold=st.sampled_from([None, 0.0, 0.4, 0.5, 0.8, 1.1]),
    gain=st.sampled_from(["similarity", "count"]),
    on_orphan=st.sampled_from(["self", "outlier"]),
    most_copies=st.sampled_from([1, 3, 1000]),
    itself=st.sampled_from(["one", "negative", "random"]),
    budget=st.sampled_from([None, 1, 2, 7, 50]),
)
def test_rounds_pick_what_one_machine_picks(
    graph, seed, n_groups, n_shards, coverage, threshold, gain, on_orphan, most_copies, itself, budget
):
    rng, n = np.random.default_rng(seed), graph.n_objects
    multiplicity = rng.integers(1, most_copies + 1, n)
    own = {"one": np.ones(n), "negative": np.full(n, -1.0), "random": rng.uniform(-1, 3, n)}[itself]
    problem = Problem(graph, seed, n_groups, n_shards, threshold, multiplicity, own)
    problem.assert_same(coverage, gain, on_orphan, budget)


@pytest.mark.parametrize("n_shards", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("gain", ["similarity", "count"])
@pytest.mark.parametrize("on_orphan", ["self", "outlier"])
def test_a_larger_graph_of_points_gives_the_same(n_shards, gain, on_orphan):
    """The similarities of points are no random numbers: they agree between neighbors, and gains are unevenly spread."""
    X = np.random.default_rng(n_shards).normal(size=(3000, 3)) ** 3
    X = X[np.argsort(X[:, 0])]  # some shards are much denser than others
    graph = covey.neighbor_graph(X, 8, "euclidean")
    problem = Problem(graph, 0, 4, n_shards, float(np.median(graph.similarities[:, 0])))
    whole = problem.assert_same(0.95, gain, on_orphan)
    pieces = problem.assert_same(0.95, gain, on_orphan, budget=100)
    assert whole.n_rounds < pieces.n_rounds


@pytest.mark.parametrize("scale", [1e-300, 1e-7, 1.0, 1e9, 1e145])
def test_units_do_not_depend_on_the_shards(scale):
    """The unit is a power of 2 that follows from the largest gain, at whatever scale."""
    graph = random_graph(300, 5, 1)
    graph = covey.NeighborGraph(graph.indices, graph.similarities * scale)
    for n_shards in (1, 3, 8):
        Problem(graph, n_shards, 3, n_shards, with_itself=np.full(300, scale / 3)).assert_same(0.9, budget=40)


def test_the_largest_gain_is_summed_in_the_same_order():
    """Floats summed in another order differ in their last bits, which may move the unit by a factor of 2."""
    n, threshold = 100, 0.3
    for seed in range(20):
        graph = random_graph(n, 30, seed)
        sums = [0.0] * n
        for coverers, similarities in zip(graph.indices.tolist(), graph.similarities.tolist(), strict=True):
            for r, similarity in zip(coverers, similarities, strict=True):
                if r >= 0 and similarity >= threshold:
                    sums[r] += similarity
        for n_groups, n_shards in ((1, 1), (6, 5)):
            shards = Problem(graph, seed, n_groups, n_shards, threshold).shards()
            expected = max(1.0 + total for total in sums)
            assert max(shard.facts.largest for shard in shards) == expected


def test_a_shard_sends_its_best_and_the_first_one_that_it_keeps():
    """The candidates and the bound are the head of the list that is sorted by key and row."""
    problem = Problem(random_graph(60, 4, 3, levels=3), 3, 2, 1)
    (shard,) = problem.shards("count")
    scale = scale_of([shard.facts], "count")
    is_covered = np.random.default_rng(0).random(problem.n_rows) < 0.4
    bits = np.packbits(is_covered)
    left = {
        int(row): [int(x) for x in shard.covered[s:t] if not is_covered[x]]
        for row, s, t in zip(shard.rows, shard.starts[:-1], shard.starts[1:], strict=True)
    }
    keys = {row: len(objects) + (not is_covered[row]) for row, objects in left.items()}
    ranked = sorted(keys, key=lambda row: (-keys[row], row))
    for budget in (1, 5, 20, 100, 10_000):
        sent = propose(shard, bits, scale, budget)
        n_sent = sent.rows.size
        assert sorted(ranked[:n_sent]) == sent.rows.tolist()
        cost = n_sent + sum(len(left[row]) for row in ranked[:n_sent])
        assert cost <= budget or n_sent == 1
        if n_sent < len(ranked) and keys[ranked[n_sent]] > 0:
            assert sent.bound == (keys[ranked[n_sent]], ranked[n_sent])
            assert cost + 1 + len(left[ranked[n_sent]]) > budget
        else:
            assert sent.bound == ALL_SENT
        lists = [sent.covered[s:t].tolist() for s, t in zip(sent.starts[:-1], sent.starts[1:], strict=True)]
        assert lists == [left[row] for row in sent.rows.tolist()]
        assert sent.own.tolist() == sent.multiplicity.tolist() == [int(not is_covered[row]) for row in sent.rows]


@given(graph=random_graphs, seed=st.integers(0, 999), budget=st.sampled_from([1, 3, 10]))
def test_every_round_picks_unless_no_gain_is_left(graph, seed, budget):
    problem = Problem(graph, seed, 2, 4)
    shards = problem.shards()
    scale = scale_of([shard.facts for shard in shards], "similarity")
    bits = np.packbits(np.random.default_rng(seed).random(problem.n_rows) < 0.7)
    proposals = [propose(shard, bits, scale, budget) for shard in shards]
    batch = pick_from(proposals, scale, graph.n_objects, n_least=0)
    uncovered = ~np.unpackbits(bits, count=problem.n_rows).astype(bool)
    assert (batch.rows.size > 0) == uncovered[problem.rows].any()  # an uncovered object has a gain: itself
    assert batch.n_picked_of.sum() == batch.rows.size


def test_the_first_object_is_picked_even_if_nobody_has_a_gain():
    graph = covey.NeighborGraph(np.full((5, 1), -1), np.full((5, 1), -np.inf))
    for n_shards in (1, 3, 5):
        found = Problem(graph, 0, 2, n_shards).assert_same(1.0, on_orphan="outlier")
        assert (found.rows.size, found.gains.tolist(), found.n_orphans) == (1, [0.0], 5)


def test_proposals_of_a_round_stay_within_the_limit(monkeypatch):
    """The budgets grow while few candidates are picked, and all together never exceed the limit."""
    monkeypatch.setattr(rounds, "FIRST_EDGES", 50)
    monkeypatch.setattr(rounds, "MOST_EDGES", 400)
    problem = Problem(covey.neighbor_graph(np.random.default_rng(0).random((2000, 2)), 6), 0, 2, 4)
    shards, asked = problem.shards(), []

    def ask(covered, scale, budgets):
        asked.append(sum(budgets))
        return [propose(shard, covered, scale, budget) for shard, budget in zip(shards, budgets, strict=True)]

    found = cover_in_rounds(ask, [shard.facts for shard in shards], problem.n_rows, 0.95, "similarity")
    assert found.rows.tolist() == problem.rows[covey.cover(problem.graph).indices].tolist()
    assert len(asked) == found.n_rounds > 4
    assert asked[0] <= 50 < 200 < max(asked) <= 400


def test_a_tie_gives_most_to_the_shard_with_the_lowest_rows_left(monkeypatch):
    """Without edges all objects tie, so the shards are exhausted one after the other."""
    monkeypatch.setattr(rounds, "FIRST_EDGES", 40)
    monkeypatch.setattr(rounds, "MOST_EDGES", 40)
    problem = Problem(covey.NeighborGraph(np.full((400, 1), -1), np.full((400, 1), -np.inf)), 0, 1, 4)
    shards, largest = problem.shards(), []

    def ask(covered, scale, budgets):
        largest.append(int(np.argmax(budgets)))
        return [propose(shard, covered, scale, budget) for shard, budget in zip(shards, budgets, strict=True)]

    found = cover_in_rounds(ask, [shard.facts for shard in shards], problem.n_rows, 1.0, "similarity")
    assert found.rows.tolist() == problem.rows.tolist()
    assert largest == sorted(largest)
    assert set(largest) == {0, 1, 2, 3}


def test_what_is_refused():
    rows, ones = np.array([2, 7], dtype=np.int32), np.ones(2)
    lists = np.array([[7], [2]], dtype=np.int32), np.ones((2, 1))
    multiplicity = np.ones(2, dtype=np.int64)
    with pytest.raises(ValueError, match=r"rows must lie below width \* n_shards = 6, got 7"):
        split_edges(rows, multiplicity, ones, *lists, None, 3, 2)
    (piece,) = split_edges(rows, multiplicity, ones, *lists, None, 8, 1)
    with pytest.raises(ValueError, match="every object must be in one group only, got row 2 more than once"):
        join_pieces([piece, piece], "count", "self")
    (piece,) = split_edges(rows, multiplicity, ones, lists[0] + 1, lists[1], None, 10, 1)
    with pytest.raises(ValueError, match="every neighbor must be an object of the cluster, got row 8"):
        join_pieces([piece], "count", "self")
    with pytest.raises(ValueError, match="the shards must hold at least one object, got none"):
        cover_in_rounds(lambda *_: [], [], 5, 0.95, "count")
    with pytest.raises(ValueError, match=r"coverage must be in \(0, 1\], got 2"):
        cover_in_rounds(lambda *_: [], [], 5, 2, "count")
