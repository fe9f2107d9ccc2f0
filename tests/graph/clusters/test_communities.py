"""Communities: groups that have more links among themselves than chance would give them."""

import numpy as np
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components
from sklearn.datasets import load_wine
from sklearn.metrics import adjusted_rand_score

import covey
from covey.graph.clusters.communities import (
    CLOSE,
    _move,
    _visit,
    communities,
    cut_through,
    louvain,
    n_communities,
)
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
def test_no_step_loses_modularity(links):
    """An object moves only if this gains, and so do groups later; a group gains if it is cut where no links are.

    A single object may gain in the end all the same: groups have moved since it was asked.
    """
    n_links = np.asarray(links.sum(axis=1), dtype=float).ravel()
    first = _move(links.indptr, links.indices, links.data, n_links, n_links.sum(), 1.0)
    steps = [np.arange(links.shape[0]), first, louvain(links)]
    found = [modularity(links, groups) for groups in steps]
    assert found[0] <= found[1] + 1e-9
    assert found[1] <= found[2] + 1e-9


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
