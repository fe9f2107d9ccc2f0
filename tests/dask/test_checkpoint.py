"""Checkpoints in stores of objects, and files of a checkpoint that somebody else has written, without a cluster."""

from dataclasses import replace
from typing import ClassVar

import numpy as np
import pytest

pytest.importorskip("distributed", reason="needs the extra dask")

import fsspec
from fsspec.implementations.memory import MemoryFileSystem

import covey
from covey.dask.checkpoint import FolderCheckpoint, _read_result, _run_and_keep, absolute, read_manifest
from covey.dask.large import graph_parameters
from covey.dask.shards import Links, Shard, merge_shards, shard_graph
from covey.dask.worker import prepare_part
from covey.exceptions import FileFormatError
from covey.similarity.kinds import collect
from covey.similarity.measures import resolve


class Store(MemoryFileSystem):
    """A store that behaves like S3: it has no folders without files, and it remembers listings until it is told."""

    protocol = "likes3"
    store: ClassVar[dict] = {}
    pseudo_dirs: ClassVar[list] = [""]
    listings: ClassVar[dict] = {}

    def makedirs(self, path, exist_ok=False):
        pass

    def ls(self, path, detail=True, **options):
        if path not in self.listings:
            self.listings[path] = super().ls(path, detail=False)
        return self.listings[path]

    def invalidate_cache(self, path=None):
        self.listings.clear()


@pytest.fixture
def url():
    fsspec.register_implementation("likes3", Store, clobber=True)
    Store.store.clear()
    return "likes3://bucket/run"


def links():
    rng = np.random.default_rng(0)
    shards = [Shard.of(collect(rng.normal(size=(30, 3)), resolve("euclidean"))) for _ in range(2)]
    shards[1].collection.rows = shards[1].collection.rows + 30
    how = graph_parameters(covey.CRS(3, graph="nn-descent"), 60)
    return shards, [shard_graph(shard, how, rng) for shard in shards], how


def test_a_checkpoint_begins_and_goes_on_in_a_store_of_objects(url):
    assert read_manifest(url) is None
    checkpoint = FolderCheckpoint(url, {"seed": 1})
    assert not checkpoint.is_restored("shard-0-0")
    _, (expected, _), _ = links()
    _run_and_keep(url, "shard-0-0.result", lambda: expected)
    again = FolderCheckpoint(url, {"seed": 1})
    assert again.is_restored("shard-0-0")
    found = _read_result(url, "shard-0-0.result", Links)
    assert np.array_equal(found.neighbors, expected.neighbors)
    assert found.means == expected.means
    with pytest.raises(ValueError, match="was made with another seed"):
        FolderCheckpoint(url, {"seed": 2})


def test_a_manifest_that_is_too_deep_is_damaged(tmp_path):
    (tmp_path / "covey-checkpoint.json").write_text("[" * 100_000)
    with pytest.raises(FileFormatError, match="is damaged, or was written by an earlier version of covey; remove"):
        read_manifest(str(tmp_path))


@pytest.mark.parametrize("wrong", [60, 2**31 - 1])
@pytest.mark.parametrize("name", ["rows", "neighbors"])
def test_rows_that_no_shard_has_are_refused_by_a_merge(name, wrong):
    shards, (left, right), how = links()
    array = getattr(left, name).copy()
    array.flat[-1] = wrong
    with pytest.raises(ValueError, match=rf"must be objects of the two shards .* got row {wrong}; .* is damaged"):
        merge_shards(shards[0], replace(left, **{name: array}), shards[1], right, how, np.random.default_rng(0))


def test_every_flipped_bit_of_a_manifest_is_damage(tmp_path):
    """Without a checksum it would look like the manifest of another run."""
    manifest = {"data": "6cdd03d5c5217c08", "seed": 1, "coverage": 0.95, "refine": False, "threshold": None}
    FolderCheckpoint(str(tmp_path), manifest)
    path = tmp_path / "covey-checkpoint.json"
    content = path.read_bytes()
    for bit in range(8 * len(content)):
        damaged = bytearray(content)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        with pytest.raises(FileFormatError, match=r"covey-checkpoint\.json is damaged"):
            FolderCheckpoint(str(tmp_path), manifest)
    path.write_bytes(content)
    FolderCheckpoint(str(tmp_path), manifest)


def test_a_flipped_bit_of_a_result_is_damage(tmp_path):
    _, (expected, _), _ = links()
    _run_and_keep(str(tmp_path), "shard-0-0.result", lambda: expected)
    path = tmp_path / "shard-0-0.result"
    content = path.read_bytes()
    for bit in np.random.default_rng(0).choice(8 * len(content), 300, replace=False):
        damaged = bytearray(content)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        with pytest.raises(FileFormatError, match=r"shard-0-0\.result is damaged; remove it"):
            _read_result(str(tmp_path), "shard-0-0.result", Links)


def test_an_empty_name_is_no_folder():
    with pytest.raises(FileNotFoundError, match=r"checkpoint must be the name of a folder, got ''\."):
        absolute("")


def test_messages_about_a_part_speak_of_the_selector():
    with pytest.raises(ValueError, match=r"In part 3 of X, .* dim 3, while dim <= 2 is required by covey\.dask\.CRS"):
        prepare_part(np.zeros((4, 2, 2)), 3, resolve("cosine"), packed=False)
