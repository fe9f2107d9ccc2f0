"""What workers do for a cluster in shards, called in this process: exact graphs of shards make the exact graph."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("distributed", reason="needs the extra dask")

import covey
from covey.dask.large import graph_parameters
from covey.dask.shards import Shard, drop_unneeded, fold, mean_of_cluster, merge_shards, shard_graph
from covey.similarity.kinds import collect
from covey.similarity.measures import resolve
from tests.dask import measures
from tests.forms import letters


def in_shards(X, similarity, n_shards, seed, n_parts=1):
    """Deal distinct objects to shards at random, and cut each shard into pieces that come from different parts of X."""
    whole = collect(X, resolve(similarity))
    kinds = whole.distinct().kind
    shard_of = np.random.default_rng(seed).integers(0, n_shards, kinds.max() + 1)[kinds]
    ends = np.linspace(0, len(whole), n_parts + 1).astype(int)
    shards = []
    for shard in range(n_shards):
        rows = np.flatnonzero(shard_of == shard)
        cuts = [rows[(rows >= a) & (rows < b)] for a, b in pairwise(ends)]
        pieces = [Shard.of(whole.take(cut)) for cut in cuts if cut.size]
        if pieces:
            shards.append(Shard.joined(pieces))
    return shards


def linked(shards, how, seed=0):
    """The lists of each shard after all merges, the means over pairs, and the number of evaluations."""
    rng = np.random.default_rng(seed)
    first = [shard_graph(shard, how, rng) for shard in shards]
    links = [drop_unneeded(part, how.n_neighbors) for part in first]
    n = sum(part.n_evaluations for part in first)
    for s, t in combinations(range(len(shards)), 2):
        merged = merge_shards(shards[s], first[s], shards[t], first[t], how, rng)
        links[s], links[t] = fold(links[s], merged.left), fold(links[t], merged.right)
        n += merged.n_evaluations
    return links, [part.means for part in first], n


def exactly(k, n):
    return graph_parameters(covey.CRS(k, graph="exact"), n)


OBJECTS = {
    "numbers": (lambda rng, n: rng.integers(0, 12, n).tolist(), measures.close),
    "asymmetric": (
        lambda rng, n: rng.integers(0, 12, n).tolist(),
        covey.Similarity(measures.closer, symmetric=False),
    ),
    "rows": (lambda rng, n: rng.integers(0, 3, (n, 2)).astype(float), "euclidean"),
    "words": (lambda rng, n: ["".join(rng.choice(list("abc"), 2)) for _ in range(n)], letters),
}


@pytest.mark.parametrize("kind", OBJECTS)
@settings(max_examples=40)
@given(
    n=st.integers(2, 40),
    k=st.integers(1, 9),
    n_shards=st.integers(2, 6),
    n_parts=st.integers(1, 4),
    seed=st.integers(0, 999),
)
def test_exact_graphs_of_shards_make_the_exact_graph_of_the_cluster(kind, n, k, n_shards, n_parts, seed):
    make, similarity = OBJECTS[kind]
    X = make(np.random.default_rng(seed), n)
    shards = in_shards(X, similarity, n_shards, seed, n_parts)
    whole = collect(X, resolve(similarity))
    distinct = whole.distinct()
    n_distinct = distinct.first.size
    links, means, n_evaluations = linked(shards, exactly(k, n_distinct))
    k = min(k, n_distinct - 1)
    space = whole.take(distinct.first).space()
    everybody = np.arange(n_distinct, dtype=np.int32)
    for part in links:
        assert part.neighbors.shape == part.similarities.shape == (part.rows.size, k)
        for x, neighbors, values in zip(part.rows, part.neighbors, part.similarities, strict=True):
            number = np.int32(np.searchsorted(distinct.first, x))
            scores = space.score(np.full(n_distinct, number, dtype=np.int32), everybody)
            best = sorted((y for y in range(n_distinct) if y != number), key=lambda y: (-scores[y], y))[:k]
            assert neighbors.tolist() == distinct.first[best].tolist()
            assert values.tolist() == scores[best].tolist()
    rows = np.concatenate([part.rows for part in links])
    assert sorted(rows.tolist()) == distinct.first.tolist()
    copies = np.bincount(distinct.kind)
    n_copied = np.count_nonzero(copies > 1)  # each of them is compared with its copies, for the mean
    assert n_evaluations == n_copied + n_distinct * (n_distinct - 1) // (2 if resolve(similarity).symmetric else 1)
    multiplicities = np.concatenate([shard.multiplicity for shard in shards])
    assert multiplicities[np.argsort(rows)].tolist() == copies.tolist()
    assert sum(part.n for part in means) == n


@pytest.mark.parametrize("n_shards", [1, 2, 4, 8])
@pytest.mark.parametrize("frequent", [0.0, 0.5])
def test_the_mean_of_a_cluster_estimates_that_of_all_pairs(n_shards, frequent):
    """Copies lie in one shard, so that they are more frequent among the pairs within shards than among all pairs."""
    errors = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 80, 150)
        X[rng.random(150) < frequent] = 7
        shards = in_shards(X.tolist(), measures.close, n_shards, seed)
        _, means, _ = linked(shards, exactly(3, 80))
        errors.append(mean_of_cluster(means) - covey.homogeneity(X.tolist(), measures.close, random_state=0).value)
    assert abs(np.mean(errors)) <= 4 * np.std(errors) / np.sqrt(30) + 1e-9
    if n_shards == 1:
        np.testing.assert_allclose(errors, 0, atol=1e-9)


def test_the_mean_of_equal_objects_is_their_similarity():
    shards = in_shards([7] * 30, measures.close, 4, 0)
    _, means, _ = linked(shards, exactly(3, 1))
    assert mean_of_cluster(means) == 1
