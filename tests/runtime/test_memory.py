"""The sizes that Dask is told: about the memory that the arrays and lists of a value take."""

import sys

import numpy as np
import pytest
import scipy.sparse as sp

pytest.importorskip("distributed", reason="needs the extra dask")

import covey
from covey.dask.large import graph_parameters
from covey.dask.shards import Shard, merge_shards, shard_graph
from covey.dask.worker import FittedPack, Pack, fit_pack
from covey.similarity.kinds import collect
from covey.similarity.measures import resolve

ROWS = np.random.default_rng(0).normal(size=(500, 8))
OBJECTS = {
    "rows": (ROWS, "euclidean", ROWS.nbytes),
    "CSR rows": (sp.csr_array(ROWS), "euclidean", ROWS.nbytes * 3 // 2),
    "words": ([f"{n:0100}" for n in range(500)], "levenshtein", 500 * 100),
    "arrays": (list(ROWS), covey.batched(lambda a, b: np.ones(len(a))), ROWS.nbytes),
}


@pytest.mark.parametrize("form", OBJECTS)
def test_a_collection_takes_about_what_its_objects_take(form):
    X, similarity, n = OBJECTS[form]
    if form == "words":
        pytest.importorskip("rapidfuzz", reason="needs the extra text")
    collection = collect(X, resolve(similarity))
    collection = collection.without_given()  # as on a worker
    assert n <= sys.getsizeof(collection) <= 2 * n


def test_the_results_of_tasks_take_what_their_arrays_take():
    collection = collect(ROWS, resolve("euclidean"))
    shard, rng = Shard.of(collection), np.random.default_rng(0)
    how = graph_parameters(covey.CRS(5), 500)
    links = shard_graph(shard, how, rng)
    assert sys.getsizeof(shard) >= ROWS.nbytes
    assert sys.getsizeof(links) >= links.neighbors.nbytes + links.similarities.nbytes
    right = collect(ROWS + 9, resolve("euclidean"))
    right.rows = right.rows + 500
    other = Shard.of(right)
    merged = merge_shards(shard, links, other, shard_graph(other, how, rng), how, rng)
    assert sys.getsizeof(merged) >= 2 * merged.left.neighbors.nbytes
    pack = Pack(collection, np.zeros(500, dtype=np.intp))
    fitted = fit_pack(pack, covey.CRS(5), {0: rng})
    assert isinstance(fitted, FittedPack)
    assert sys.getsizeof(pack) >= ROWS.nbytes + 500 * 8
    assert sys.getsizeof(fitted) >= fitted.prototypes[0].members.nbytes + fitted.prototypes[0].covered_by.nbytes
