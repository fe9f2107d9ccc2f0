"""`covey.find_clusters`: communities and dense places in neighbor graphs."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components
from sklearn.datasets import load_digits, load_wine, make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score

import covey
from covey.graph.communities import communities


def modularity(links, groups):
    """The share of links within groups, less what random ends would give; straight from the definition."""
    links, total = links.toarray(), links.sum()
    n_links = links.sum(axis=1)
    same = groups[:, None] == groups[None, :]
    return float(((links - np.outer(n_links, n_links) / total) * same).sum() / total)


def merged_slowly(links, groups, n_groups):
    """Merge the two groups with most links in relation to the product of their links, until there are n_groups."""
    links = links.toarray()
    while groups.max() + 1 > n_groups:
        member = np.eye(groups.max() + 1)[groups]
        between = member.T @ links @ member
        n_links = between.sum(axis=1)
        rated = between / np.outer(n_links, n_links)
        rated[np.tril_indices_from(rated)] = -1
        a, b = np.unravel_index(np.argmax(rated), rated.shape)
        groups = np.unique(np.where(groups == b, a, groups), return_inverse=True)[1]
    return groups


def is_same_partition(a, b):
    return adjusted_rand_score(a, b) == 1


@st.composite
def random_links(draw):
    n = draw(st.integers(2, 14))
    pairs = [(a, b) for a in range(n) for b in range(a)]
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True, min_size=1))
    dense = np.zeros((n, n))
    for a, b in chosen:
        dense[a, b] = dense[b, a] = 1
    return sp.csr_array(dense)


@given(random_links())
def test_no_object_gains_modularity_by_a_move_to_a_linked_group(links):
    groups = communities(links)
    found = modularity(links, groups)
    for x in range(links.shape[0]):
        for y in np.flatnonzero(links[[x]].toarray()):
            moved = groups.copy()
            moved[x] = groups[y]
            assert modularity(links, moved) <= found + 1e-9


@given(random_links())
def test_any_two_objects_of_a_community_are_joined_by_links_within_it(links):
    groups = communities(links)
    for group in np.unique(groups):
        members = np.flatnonzero(groups == group)
        assert connected_components(links[members][:, members])[0] == 1


@given(random_links(), st.data())
def test_there_are_as_many_groups_as_asked_for(links, data):
    n_groups = data.draw(st.integers(1, links.shape[0]))
    groups = communities(links, n_groups)
    assert np.unique(groups).tolist() == list(range(n_groups))


def test_fewer_groups_are_those_of_slow_merging():
    X, _ = load_wine(return_X_y=True)
    edges = covey.neighbor_graph(X, 6, "euclidean").to_csr()
    pattern = sp.csr_array((np.ones(edges.nnz), edges.indices, edges.indptr), shape=edges.shape)
    links = sp.csr_array(pattern + pattern.T)
    groups = communities(links)
    assert connected_components(links)[0] == 1
    for n_groups in range(2, groups.max() + 1):
        assert is_same_partition(communities(links, n_groups), merged_slowly(links, groups, n_groups))


def test_clusters_that_lie_apart_are_found_without_their_number():
    X, y = make_blobs(1000, centers=8, n_features=5, cluster_std=0.5, random_state=3)
    found = covey.find_clusters(X, similarity="euclidean")
    assert is_same_partition(found.labels, y)
    assert found.sizes.tolist() == [125] * 8
    assert found.n_evaluations > 0


def test_digits_are_found_better_than_by_density():
    X, y = load_digits(return_X_y=True)
    found = {asked: covey.find_clusters(X, asked) for asked in ("auto", 10, "hdbscan")}
    agreement = {asked: adjusted_rand_score(y, clusters.labels) for asked, clusters in found.items()}
    assert agreement["auto"] > 0.85
    assert agreement[10] > 0.75
    assert found[10].sizes.size == 10
    assert found["hdbscan"].n_noise > 0


def test_hdbscan_and_a_number_find_long_bent_clusters():
    X, y = make_moons(1000, noise=0.06, random_state=0)
    for asked in (2, "hdbscan"):
        assert is_same_partition(covey.find_clusters(X, asked, "euclidean").labels, y)


def test_only_the_order_of_similarities_counts_for_communities():
    X, _ = load_wine(return_X_y=True)
    one = covey.find_clusters(X, similarity="euclidean", graph="exact")
    other = covey.find_clusters(X, similarity=covey.from_distance("euclidean", how="negative"), graph="exact")
    np.testing.assert_array_equal(one.labels, other.labels)


def test_copies_belong_to_the_cluster_of_what_they_copy():
    X, _ = make_blobs(300, centers=3, random_state=0)
    often = np.repeat(X, 40, axis=0)
    found = covey.find_clusters(often, similarity="euclidean")
    np.testing.assert_array_equal(
        found.labels[::40], covey.find_clusters(X, similarity="euclidean", graph="exact").labels
    )
    assert (found.labels.reshape(-1, 40) == found.labels[::40, None]).all()


def test_the_largest_cluster_is_the_first():
    X = np.concatenate([make_blobs(size, centers=[[at, at]], cluster_std=0.1)[0] for size, at in ((20, 0), (60, 9))])
    found = covey.find_clusters(X, 2, "euclidean", n_neighbors=5)
    assert found.sizes.tolist() == [60, 20]
    assert found.labels[-1] == 0


@pytest.mark.parametrize("make", [lambda graph: graph, lambda graph: graph.to_csr()])
def test_a_graph_made_elsewhere_gives_the_same_clusters(make):
    X, _ = load_wine(return_X_y=True)
    graph = covey.neighbor_graph(X, 15, "euclidean")
    for asked in ("auto", 4, "hdbscan"):
        given_graph = covey.find_clusters(None, asked, graph=make(graph))
        own = covey.find_clusters(X, asked, "euclidean")
        np.testing.assert_array_equal(given_graph.labels, own.labels)
        assert given_graph.n_evaluations == 0


def test_parts_of_a_graph_without_any_link_between_them():
    links = sp.block_diag([np.ones((4, 4))] * 3 + [sp.csr_array((2, 2))], format="csr")
    found = covey.find_clusters(None, graph=links)
    assert found.sizes.tolist() == [4, 4, 4, 1, 1]
    assert covey.find_clusters(None, 2, graph=links).sizes.size == 2
    assert covey.find_clusters(None, "hdbscan", graph=links).n_noise == 14


def test_one_object_is_one_cluster():
    assert covey.find_clusters([[1.0, 2.0]]).labels.tolist() == [0]
    assert covey.find_clusters([[1.0, 2.0]] * 3).labels.tolist() == [0, 0, 0]


def test_similarities_of_anything_do():
    words = ["cat", "cart", "care", "car", "dodge", "lodge", "lodger", "dodger"]
    found = covey.find_clusters(words, 2, lambda a, b: len(set(a) & set(b)) / len(set(a) | set(b)), n_neighbors=2)
    assert is_same_partition(found.labels, [0, 0, 0, 0, 1, 1, 1, 1])


@pytest.mark.parametrize("asked", [0, 4, 2.5, "many", True, None])
def test_a_number_of_clusters_that_cannot_be_is_refused(asked):
    with pytest.raises(ValueError, match=r"n_clusters must be 'auto', 'hdbscan' or an int from 1 to 3"):
        covey.find_clusters([[1, 0], [1, 1], [0, 1], [2, 2]], asked)


def test_what_is_no_graph_is_refused():
    with pytest.raises(TypeError, match=r"graph must be a sparse matrix or .*, got ndarray"):
        covey.find_clusters(None, graph=np.eye(3))
    with pytest.raises(ValueError, match="graph must be a square matrix"):
        covey.find_clusters(None, graph=sp.csr_array((2, 3)))


def move_case():
    """Arguments of the compiled loop that moves objects between groups: links of 30 objects, and how many each has."""
    links = sp.random_array((30, 30), density=0.1, format="csr", rng=np.random.default_rng(move_case.seed))
    move_case.seed += 1
    links = sp.csr_array((links + links.T) != 0).astype(np.float64)
    n_links = links.sum(axis=1)
    of_links = (links.indptr, links.indices, links.data, n_links, float(n_links.sum()), 1.0)
    state = (np.arange(30), n_links.copy(), np.zeros(30), np.arange(30), np.ones(30, dtype=np.bool_), 0, 30)
    return *of_links, *state, 20 * move_case.seed


move_case.seed = 0
