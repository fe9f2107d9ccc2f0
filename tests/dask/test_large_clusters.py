"""Clusters in shards, on a real cluster: picks, recall, evaluations, equal objects, and what the answer depends on."""

import numpy as np
import pytest

pytest.importorskip("distributed", reason="needs the extra dask")

import dask
import dask.array as da
import dask.bag as db
from sklearn.datasets import load_iris

import covey
import covey.dask
from covey.dask import large
from covey.dask.engine import Engine
from covey.dask.shards import Links, Shard, assign, join_range
from covey.similarity.kinds import collect
from covey.similarity.measures import resolve
from tests.dask import measures
from tests.dask.measures import FIELDS, assert_same_state

POINTS = np.random.default_rng(1).normal(size=(400, 2)) ** 3
POINTS[300:330] = POINTS[:30]


@pytest.mark.parametrize("n_shards", [1, 2, 3, 5, 8])
@pytest.mark.parametrize(("gain", "on_orphan"), [("similarity", "self"), ("similarity", "outlier"), ("count", "self")])
def test_a_graph_gives_the_picks_of_one_process(client, n_shards, gain, on_orphan):
    """The objects lie at every other row of X, and are dealt to shards at random."""
    whole = collect(POINTS, resolve("euclidean"))
    distinct = whole.distinct()
    rows, copies = 2 * distinct.first + 1, np.bincount(distinct.kind)
    graph = covey.neighbor_graph(POINTS[distinct.first], 5, "euclidean")
    threshold = float(np.quantile(graph.similarities[:, 0], 0.2))
    selector = covey.CRS(coverage=0.97, gain=gain, on_orphan=on_orphan)
    options = {"gain": gain, "on_orphan": on_orphan, "multiplicity": copies}
    expected = covey.cover(graph, 0.97, threshold, **options)
    assert expected.n_orphans > 5
    shard_of = np.random.default_rng(n_shards).integers(0, n_shards, rows.size)
    shards, links = [], []
    for shard in range(n_shards):
        own, kinds = np.flatnonzero(shard_of == shard), distinct.kind
        members = np.flatnonzero(shard_of[kinds] == shard)
        collection = whole.take(distinct.first[own])
        collection.rows = rows[own]
        shards.append(Shard(collection, 2 * members + 1, np.searchsorted(own, kinds[members])))
        links.append(Links(rows[own], rows[graph.indices[own]].astype(np.int32), graph.similarities[own], 0))
    n_rows, width = 801, -(-801 // n_shards)
    with Engine(client, "test") as engine:
        futures = [[engine.submit("given", _same, value) for value in values] for values in (shards, links)]
        found = large.cover_shards(engine, *futures, threshold, n_shards, width, n_rows, selector, "coverage")
        tables = [
            engine.submit("by", assign, *pair, threshold, found.rows, width, n_shards)
            for pair in zip(*futures, strict=True)
        ]
        by = engine.gather(
            "by",
            [engine.submit("r", join_range, large._column(engine, tables, c)) for c in range(n_shards)],
        )
    assert found.rows.tolist() == rows[expected.indices].tolist()
    assert found.gains.tolist() == expected.gains.tolist()
    assert (found.coverage, found.n_orphans) == (expected.coverage, expected.n_orphans)
    members, coverers = (np.concatenate(side) for side in zip(*by, strict=True))
    assert members.tolist() == (2 * np.arange(400) + 1).tolist()
    of_kinds = np.where(expected.covered_by < 0, -1, rows[expected.covered_by])
    assert coverers.tolist() == of_kinds[distinct.kind].tolist()


def _same(value):
    return value


@pytest.fixture
def graphs(monkeypatch):
    """The neighbor lists of every large cluster that is fitted: rows, neighbors and similarities."""
    found = []
    original = large.cover_shards

    def watched(engine, shards, links, *args):
        parts = engine.gather("the lists", links)
        joined = [np.concatenate([getattr(part, name) for part in parts]) for name in ("rows", "neighbors")]
        order = np.argsort(joined[0])
        found.append([array[order] for array in joined])
        return original(engine, shards, links, *args)

    monkeypatch.setattr(large, "cover_shards", watched)
    return found


def recall(graphs, X, k, similarity):
    """The share of each object's k nearest, found by comparing all pairs, that the graph of all shards holds."""
    ((rows, neighbors),) = graphs
    assert rows.tolist() == list(range(len(X)))
    truth = covey.neighbor_graph(X, k, similarity, method="exact").indices
    shared = [len(set(a) & set(b)) for a, b in zip(neighbors.tolist(), truth.tolist(), strict=True)]
    return sum(shared) / truth.size


@pytest.mark.parametrize("n_shards", [4, 8])
def test_the_graph_of_vectors_misses_few_neighbors(client, graphs, n_shards):
    k = 10
    X = np.random.default_rng(0).normal(size=(3000, 10))
    arguments = {"n_neighbors": k, "graph": "nn-descent", "random_state": 0, "shard_size": 3000 // n_shards}
    found = covey.dask.CRS(**arguments).fit(da.from_array(X, chunks=(1000, 10)))
    assert recall(graphs, X, k, "cosine") >= 0.95
    assert found.n_evaluations_ == found.prototypes_[0].n_evaluations


@pytest.mark.parametrize("n_shards", [4, 8])
def test_the_graph_of_words_under_a_callable_misses_few_neighbors(client, graphs, n_shards):
    X = measures.words(500)
    similarity = {"similarity": measures.ngrams, "graph": "nn-descent"}
    covey.dask.CRS(8, **similarity, random_state=0, shard_size=500 // n_shards).fit(db.from_sequence(X, npartitions=5))
    assert recall(graphs, X, 8, measures.ngrams) >= 0.95


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("method", ["nn-descent", "exact"])
def test_evaluations_are_the_calls_of_all_workers(client, tmp_path, method, symmetric):
    """One large cluster and two small ones; the large one has copies. No pair is evaluated twice."""
    rng = np.random.default_rng(0)
    X = [*rng.permutation(5000)[:200].tolist(), *range(6000, 6030), *range(7000, 7040)]
    X[190:200] = X[:10]
    y = [0] * 200 + [1] * 30 + [2] * 40
    similarity = measures.Written(tmp_path, measures.close if symmetric else measures.closer, symmetric)
    arguments = {"n_neighbors": 3, "similarity": similarity, "graph": method, "random_state": 0}
    found = covey.dask.CRS(**arguments, shard_size=60).fit(db.from_sequence(X, npartitions=4), y)
    called = measures.pairs(tmp_path) if symmetric else measures.calls(tmp_path)
    assert len(called) == found.n_evaluations_ == sum(p.n_evaluations for p in found.prototypes_.values())
    assert len(set(called)) == len(called)
    n_pairs = sum(n * (n - 1) for n in (200, 30, 40)) // (2 if symmetric else 1)
    assert found.scan_rate_ == found.n_evaluations_ / n_pairs
    assert (found.n_repeated_evaluations_, found.n_restored_evaluations_) == (0, 0)


def without_counts(model):
    """Those fields of the prototypes that are the same if the graphs are, however they were made."""
    names = [name for name in FIELDS if name not in ("homogeneity", "n_evaluations", "scan_rate")]
    return {
        label: {name: getattr(p, name) for name in names}
        | {name: getattr(p, name).tolist() for name in measures.ARRAYS}
        for label, p in model.prototypes_.items()
    }


IRIS = load_iris().data
COPIED = {
    "twelve copies of each": np.random.default_rng(0).permutation(np.repeat(IRIS, 12, axis=0)),
    "half of all rows equal": np.random.default_rng(0).permutation(np.vstack([IRIS, np.tile(IRIS[7], (150, 1))])),
    "few distinct rows": np.tile(IRIS[:4], (40, 1)),
    "one distinct row": np.tile(IRIS[:1], (50, 1)),
    "no copies": np.unique(IRIS, axis=0),
}


@pytest.mark.parametrize("copied", COPIED)
def test_equal_objects_count_as_they_do_in_one_process(client, copied):
    """Exact graphs of shards make the exact graph of the cluster, so that everything that follows is the same, too."""
    X = COPIED[copied]
    settings = {"threshold": None} if copied.startswith("few") else {"threshold": 0.7, "on_orphan": "outlier"}
    arguments = {"n_neighbors": 6, "similarity": "euclidean", "graph": "exact", "random_state": 0, **settings}
    found = covey.dask.CRS(**arguments, shard_size=len(X) // 3).fit(da.from_array(X, chunks=(len(X) // 3, 4)))
    expected = covey.CRS(**arguments).fit(X)
    assert without_counts(found.to_local()) == without_counts(expected)


def test_the_default_threshold_is_close_to_that_of_one_process(client):
    X = COPIED["half of all rows equal"]
    arguments = {"similarity": "euclidean", "graph": "exact", "random_state": 0}
    found = covey.dask.CRS(**arguments, shard_size=100).fit(da.from_array(X, chunks=(41, 4))).prototypes_[0]
    expected = covey.CRS(**arguments).fit(X).prototypes_[0]
    assert abs(found.homogeneity - expected.homogeneity) < 0.05
    assert found.threshold == pytest.approx(found.homogeneity)


@pytest.mark.parametrize("shard_size", [1, 4])
def test_tiny_shards_do_no_harm(client, shard_size):
    X = np.unique(IRIS, axis=0)[::16]
    arguments = {"n_neighbors": 4, "similarity": "euclidean", "graph": "exact", "threshold": None, "random_state": 0}
    found = covey.dask.CRS(**arguments, shard_size=shard_size).fit(da.from_array(X, chunks=(5, 4)))
    assert without_counts(found.to_local()) == without_counts(covey.CRS(**arguments).fit(X))


def test_the_answer_does_not_depend_on_the_parts(client):
    X = np.random.default_rng(0).normal(size=(900, 6))
    y = np.repeat(["a", "b", "c"], [500, 300, 100])
    order = np.random.default_rng(1).permutation(900)
    X, y = X[order], y[order]
    found = [
        covey.dask.CRS(5, graph="nn-descent", random_state=3, shard_size=250).fit(*given).to_local()
        for given in [
            (da.from_array(X, chunks=(900, 6)), da.from_array(y, chunks=900)),
            (da.from_array(X, chunks=(130, 4)), da.from_array(y, chunks=130)),
            ([dask.delayed(X[:7]), dask.delayed(X[7:7]), dask.delayed(X[7:])], y),
            (X, y),
        ]
    ]
    for other in found[1:]:
        assert_same_state(other, found[0])


def test_the_same_seed_gives_the_same_answer_and_another_seed_another(client):
    X = da.from_array(np.random.default_rng(0).normal(size=(600, 8)), chunks=(200, 8))

    def fit(seed):
        return covey.dask.CRS(5, graph="nn-descent", random_state=seed, shard_size=200).fit(X).to_local()

    one = fit(1)
    assert_same_state(fit(1), one)
    assert fit(2).n_evaluations_ != one.n_evaluations_


def test_many_labels_of_all_sizes(client):
    """Packs and shards side by side: each small cluster is that of one process, no matter what else there is."""
    rng = np.random.default_rng(0)
    y = np.concatenate([np.full(300, 5), np.repeat(np.arange(10, 40), rng.integers(1, 9, 30)), np.full(150, 7)])
    y = y[rng.permutation(y.size)]
    X = rng.normal(size=(y.size, 4))
    arguments = {"n_neighbors": 3, "graph": "exact", "threshold": 0.5, "random_state": 0}
    found = covey.dask.CRS(**arguments, shard_size=100).fit(da.from_array(X, chunks=(90, 4)), y)
    expected = covey.CRS(**arguments).fit(X, y)
    assert without_counts(found.to_local()) == without_counts(expected)
    assert found.sample_indices_.tolist() == expected.sample_indices_.tolist()
    few, labels = found.fit_resample(da.from_array(X, chunks=(90, 4)), y)
    np.testing.assert_array_equal(few, X[expected.sample_indices_])
    assert labels.tolist() == y[expected.sample_indices_].tolist()
