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
from covey.graph.clusters.communities import CLOSE, _visit, communities, cut_through, louvain, n_communities
from covey.graph.clusters.links import lengths_of, links_of
from covey.similarity.measures import resolve


def modularity(links, groups):
    """The share of links within groups, less what random ends would give; straight from the definition."""
    links, total = links.toarray(), links.sum()
    n_links = links.sum(axis=1)
    same = groups[:, None] == groups[None, :]
    return float(((links - np.outer(n_links, n_links) / total) * same).sum() / total)


def merged_slowly(links, groups, cuts, close):
    """Merge the closest two groups until none are close, as `communities.py` describes it."""
    members, cuts = [np.flatnonzero(groups == group) for group in range(len(cuts))], list(cuts)
    links = links.toarray()
    while len(members) > 1:
        pairs = [(a, b) for b in range(len(members)) for a in range(b)]
        between = {(a, b): links[np.ix_(members[a], members[b])].sum() for a, b in pairs}
        with np.errstate(divide="ignore", invalid="ignore"):
            closeness = {(a, b): np.divide(between[a, b], np.sqrt(cuts[a] * cuts[b])) for a, b in pairs}
        rated = [(-closeness[pair], -between[pair], *pair) for pair in pairs if between[pair] > 0]
        if not rated or -min(rated)[0] < close:
            break
        _, _, a, b = min(rated)
        cuts[a] = max(cuts[a], cuts[b], between[a, b])
        members[a] = np.append(members[a], members[b])
        del members[b], cuts[b]
    found = np.empty(len(groups), dtype=int)
    for group, rows in enumerate(members):
        found[rows] = group
    return found


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


def ones(links):
    return np.ones(links.shape[0], dtype=np.int64)


@given(random_links())
def test_no_object_gains_modularity_by_a_move_to_a_linked_group(links):
    groups = louvain(links)
    found = modularity(links, groups)
    for x in range(links.shape[0]):
        for y in np.flatnonzero(links[[x]].toarray()):
            moved = groups.copy()
            moved[x] = groups[y]
            assert modularity(links, moved) <= found + 1e-9


@given(random_links())
def test_any_two_objects_of_a_community_are_joined_by_links_within_it(links):
    groups = communities(links, ones(links))
    for group in np.unique(groups):
        members = np.flatnonzero(groups == group)
        assert connected_components(links[members][:, members])[0] == 1


@given(random_links(), st.data())
def test_there_are_as_many_groups_as_asked_for(links, data):
    n_groups = data.draw(st.integers(1, links.shape[0]))
    groups = n_communities(links, links, n_groups, ones(links))
    assert np.unique(groups[groups >= 0]).tolist() == list(range(n_groups))
    n_parts = connected_components(links)[0]
    assert (groups >= 0).all() or n_parts > n_groups


def test_close_groups_are_merged_as_by_slow_merging():
    X, _ = load_wine(return_X_y=True)
    lengths = lengths_of(covey.neighbor_graph(X, 6, "euclidean").to_csr(), resolve("euclidean"), None)
    links, _ = links_of(lengths, np.ones(len(X), dtype=np.int64))
    groups = louvain(links)
    members = [np.flatnonzero(groups == group) for group in range(groups.max() + 1)]
    cuts = [cut_through(sp.csr_array(links[rows][:, rows])) for rows in members]
    slow = merged_slowly(links, groups, cuts, CLOSE)
    assert 1 < slow.max() + 1 < groups.max() + 1
    assert is_same_partition(communities(links, ones(links)), slow)


def test_the_visits_of_one_step_are_as_many_as_were_asked_for():
    for _ in range(20):
        *arguments, most = move_case()
        queue, first, n_waiting = arguments[9].copy(), *arguments[11:13]
        for asked in (3, most):
            copies = [part.copy() if isinstance(part, np.ndarray) else part for part in arguments]
            begins, left = _visit(*copies, asked)
            n_visits = min(asked, n_waiting)
            assert begins == (first + n_visits) % queue.size
            assert left >= n_waiting - n_visits


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


@pytest.mark.parametrize("asked", ["auto", 3, "hdbscan"])
def test_the_way_a_distance_is_converted_does_not_count(asked):
    X, _ = make_blobs(200, centers=4, random_state=1)
    found = [
        covey.find_clusters(X, asked, covey.from_distance("euclidean", how=how))
        for how in ("inverse", "negative", "exponential")
    ]
    for other in found[1:]:
        np.testing.assert_array_equal(found[0].labels, other.labels)
        np.testing.assert_allclose(found[0].strength, other.strength, atol=1e-9)
        assert found[0].separation == pytest.approx(other.separation, abs=1e-9)


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
    for asked in ("auto", 4):
        given_graph = covey.find_clusters(None, asked, "euclidean", graph=make(graph))
        own = covey.find_clusters(X, asked, "euclidean")
        np.testing.assert_array_equal(given_graph.labels, own.labels)
        assert given_graph.n_evaluations == 0


def test_parts_of_a_graph_without_any_link_between_them():
    links = sp.block_diag([np.ones((4, 4))] * 3 + [sp.csr_array((2, 2))], format="csr")
    found = covey.find_clusters(None, graph=links)
    assert found.sizes.tolist() == [4, 4, 4, 1, 1]
    two = covey.find_clusters(None, 2, graph=links)
    assert two.sizes.tolist() == [4, 4]
    assert two.n_noise == 6
    assert covey.find_clusters(None, "hdbscan", graph=links).n_noise == 14
    assert covey.find_clusters(None, "hdbscan", graph=links, min_cluster_size=4).sizes.tolist() == [4, 4, 4]


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
