"""A size shared among clusters: what it keeps is what one graph of all clusters selects."""

import numpy as np
import pytest
import scipy.sparse as sp

import covey
from tests import forms

rng = np.random.default_rng(0)
BLOBS = rng.standard_normal((300, 4)) + np.repeat(rng.standard_normal((3, 4)) * 3, 100, axis=0)


LABELS = np.repeat(["a", "b", "c"], 100)


@pytest.mark.parametrize("gain", ["similarity", "count"])
@pytest.mark.parametrize("size", [1, 2, 7, 30, 100, 299, 300])
def test_a_size_keeps_the_first_picks_of_the_ranking(size, gain):
    options = {"n_neighbors": 8, "gain": gain, "random_state": 0}
    ranking = covey.CRS(**options, coverage=1.0).fit(BLOBS).sample_indices_
    chosen = covey.CRS(**options, size=size).fit(BLOBS).sample_indices_
    assert chosen.size == size == np.unique(chosen).size
    assert chosen[: ranking.size].tolist() == ranking[:size].tolist()


def test_one_budget_for_all_clusters_is_what_greedy_picking_from_all_of_them_at_once_takes():
    options = {"n_neighbors": 6, "threshold": 0.9, "gain": "count", "random_state": 0}
    selector = covey.CRS(**options, size=20).fit(BLOBS, LABELS)
    edges = sp.block_diag(
        [covey.neighbor_graph(BLOBS[label == LABELS], 6, method="exact").to_csr() for label in "abc"], format="csr"
    )
    together = covey.cover(edges, 1.0, 0.9, gain="count", size=20)
    covered = sum(int((p.covered_by >= 0).sum()) for p in selector.prototypes_.values())
    assert covered == int((together.covered_by >= 0).sum())
    assert selector.sample_indices_.size == 20
    assert all(p.indices.size >= 1 for p in selector.prototypes_.values())


def test_a_cut_prototype_is_that_of_a_cover_of_its_size():
    selector = covey.CRS(6, size=25, random_state=0).fit(BLOBS, LABELS)
    for label, prototype in selector.prototypes_.items():
        alone = covey.CRS(6, size=prototype.indices.size, random_state=0).fit(BLOBS[label == LABELS]).prototypes_[0]
        members = np.flatnonzero(label == LABELS)
        assert members[alone.indices].tolist() == prototype.indices.tolist()
        assert np.array_equal(np.where(alone.covered_by >= 0, members[alone.covered_by], -1), prototype.covered_by)
        assert prototype.coverage == alone.coverage


@pytest.mark.parametrize("seed", range(30))
def test_a_size_selects_what_one_graph_of_all_clusters_selects(seed):
    """Similarities have few levels, so that there are ties; sizes reach from one of each cluster to all objects."""
    draw = np.random.default_rng(seed)
    n, n_clusters = int(draw.integers(4, 25)), int(draw.integers(1, 4))
    y = draw.permutation(np.concatenate([np.arange(n_clusters), draw.integers(0, n_clusters, n - n_clusters)]))
    similarities = forms.similarity_matrix(n, draw, symmetric=bool(draw.integers(2)), levels=int(draw.integers(2, 8)))
    similarities += 1e-3 * np.arange(n)[:, None] * draw.integers(2)  # no two objects are equal
    np.fill_diagonal(similarities, 2.0)
    options = {"threshold": float(draw.choice([0.1, 0.4])), "gain": str(draw.choice(["similarity", "count"]))}
    edges = sp.csr_array(np.where((y[:, None] == y) & ~np.eye(n, dtype=bool), similarities, 0))
    include = draw.permutation(n)[: int(draw.integers(0, 3))]
    selector = covey.CRS(None, similarity="precomputed", coverage=1.0, **options).fit(similarities, y, include=include)
    # The first pick of every cluster is kept in any case, and so are the rows to include.
    first = [p.indices[0] for p in selector.prototypes_.values() if not np.isin(p.members, include).any()]
    first = [*include, *first]
    for size in range(len(first), selector.sample_indices_.size + 4):
        if size > n:
            break
        found = selector.set_params(size=size).fit(similarities, y, include=include)
        with_itself = np.full(n, 2.0)
        together = covey.cover(edges, 1.0, include=first, size=size, with_itself=with_itself, **options)
        assert found.sample_indices_.size == size
        for prototype in found.prototypes_.values():
            of_cluster = together.indices[np.isin(together.indices, prototype.members)]
            assert prototype.indices.tolist() == of_cluster.tolist()
            assert prototype.covered_by.tolist() == together.covered_by[prototype.members].tolist()


def test_objects_without_a_gain_come_from_the_cluster_where_they_are_least_similar():
    similarities = np.eye(6)
    for i, j, value in [(0, 1, 0.99), (0, 2, 0.98), (1, 2, 0.9), (3, 4, 0.5), (3, 5, 0.6), (4, 5, 0.1)]:
        similarities[i, j] = similarities[j, i] = value
    chosen = [
        covey.CRS(2, similarity="precomputed", size=size, threshold=None).fit(similarities, list("aaabbb"))
        for size in (2, 3, 4, 5, 6)
    ]
    assert [sorted(selector.sample_indices_.tolist()) for selector in chosen] == [
        [0, 3],
        [0, 3, 4],
        [0, 3, 4, 5],
        [0, 2, 3, 4, 5],
        [0, 1, 2, 3, 4, 5],
    ]


def test_a_row_to_include_that_gains_little_does_not_take_the_budget_of_its_cluster():
    """After row 1, which adds nothing to row 0, the next pick of its cluster still comes before smaller gains."""
    blocks = [np.ones((2, 2)), np.ones((6, 6)), np.ones((4, 4)), np.ones((3, 3))]
    similarities = sp.block_diag(blocks).toarray()
    similarities += 1e-6 * np.arange(15)[:, None] * similarities  # no two objects are equal
    np.fill_diagonal(similarities, 2.0)
    y = np.repeat(["a", "a", "b", "b"], [2, 6, 4, 3])
    selector = covey.CRS(14, similarity="precomputed", threshold=0.5, gain="count", size=4)
    found = selector.fit(similarities, y, include=[0, 1]).prototypes_
    assert found["a"].indices.tolist() == [0, 1, 2]
    assert found["b"].indices.tolist() == [8]


def test_copies_of_a_representative_are_covered_by_it():
    X = np.array([[1, 0], [1, 0.1], [1, 0.2], [1, 0.1], [1, 0.2], [0, 1]])
    for size in (3, 4):
        prototype = covey.CRS(3, threshold=0.5, size=size).fit(X).prototypes_[0]
        for row in prototype.indices:
            equal = (X[row] == X).all(axis=1)
            assert (prototype.covered_by[equal] == row).all()


@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_share_is_at_least_one_of_each_cluster(n):
    assert covey.CRS(size=0.2).fit(np.eye(3)[:n]).sample_indices_.size == 1
    assert covey.CRS(size=0.2).fit(np.eye(3)[:n], list(range(n))).sample_indices_.size == n
    found = covey.CRS(size=0.001).fit(BLOBS, LABELS, include=[5, 7, 200])
    assert found.sample_indices_.size == 4  # and the rows to include
    assert {5, 7, 200} < set(found.sample_indices_.tolist())


def test_equal_rows_to_include_need_one_representative():
    X = np.repeat(np.eye(3), 2, axis=0)
    assert covey.CRS(size=1).fit(X, include=[0, 1]).sample_indices_.tolist() == [0]
    assert covey.CRS(size=2).fit(X, list("aaabbb"), include=[1, 0, 4, 5]).sample_indices_.tolist() == [1, 4]
    with pytest.raises(ValueError, match=r"^size must allow for the 2 rows to include, got 1 of 6 objects\.$"):
        covey.CRS(size=1).fit(X, include=[0, 1, 2])


def test_too_large_a_size_is_told_once_for_all_reasons():
    X = np.array([[1, 0], [1, 0.01], [0, 1], [-1, -1]])
    options = {"n_neighbors": 1, "threshold": 0.9, "on_orphan": "outlier", "size": 4}
    with pytest.warns(
        UserWarning, match="size asks for 4 representatives, but only 2 can be .* outliers and weights of 0"
    ):
        assert covey.CRS(**options).fit(X).sample_indices_.tolist() == [0, 1]
    with pytest.warns(UserWarning, match="only 1 can be selected"):
        assert covey.CRS(**options).fit(X, sample_weight=[1, 0, 0, 0]).sample_indices_.tolist() == [0]


def test_a_share_is_one_of_all_rows():
    assert covey.CRS(size=0.1).fit(BLOBS, LABELS).sample_indices_.size == 30


def test_a_size_beyond_the_distinct_objects_selects_all_of_them():
    X = np.repeat(np.eye(4), 5, axis=0)
    with pytest.warns(UserWarning, match="size asks for 15 representatives, but only 4 can be selected, because equal"):
        assert covey.CRS(size=15).fit(X).sample_indices_.size == 4
