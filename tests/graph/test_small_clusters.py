"""`covey.find_clusters` on clusters of any size: what lies apart is never joined, and what is one is not cut."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cluster import HDBSCAN
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import adjusted_rand_score

import covey
from covey.graph.clusters.density import _hdbscan, condense, core_lengths, join
from covey.graph.clusters.links import dimensions, lengths_of, links_of
from covey.similarity.measures import resolve
from tests.graph.mixtures import N_MIXTURES, is_far, mixture

SIZES = (3, 4, 5, 9, 14, 15, 16, 22, 30)


def rows(rng, n, kind):
    return rng.normal(size=(n, 2)) + np.array([40 * kind, 0])


def dicts(rng, n, kind):
    keys = [f"{'xy'[kind]}{key}" for key in range(6)]
    return [{"xy"[kind]: 8.0, **dict(zip(keys, rng.integers(0, 4, 6).tolist(), strict=True))} for _ in range(n)]


def texts(rng, n, kind):
    words = (
        ["login", "user", "session", "token", "failed", "password", "account", "locked"],
        ["disk", "volume", "full", "sector", "bytes", "mounted", "quota", "partition"],
    )[kind]
    return [f"{words[0]} {' '.join(rng.choice(words[1:], 4))} at node {rng.integers(9)}" for _ in range(n)]


def strings(rng, n, kind):
    stem = ("alpha-server-", "ZQ##77__")[kind]
    return [stem + "".join(rng.choice(list("abcdef" if kind == 0 else "012345"), 4)) for _ in range(n)]


def of_kind(make, rng, sizes):
    """Objects of two kinds, and the similarity that compares them."""
    made = [make(rng, size, kind) for kind, size in enumerate(sizes)]
    if make is rows:
        return np.vstack(made), "euclidean"
    joined = [one for part in made for one in part]
    if make is texts:
        return TfidfVectorizer().fit_transform(joined), "cosine"
    return joined, "levenshtein" if make is strings else "cosine"


@pytest.mark.parametrize("make", [rows, dicts, texts, strings])
@pytest.mark.parametrize("size", SIZES)
def test_a_small_cluster_beside_a_large_one_is_not_mixed_with_it(make, size):
    rng = np.random.default_rng(size)
    X, similarity = of_kind(make, rng, (200, size))
    kinds = np.repeat([0, 1], [200, size])
    for asked, options in (("auto", {}), (2, {}), ("hdbscan", {"min_cluster_size": 3}), ("hdbscan", {})):
        found = covey.find_clusters(X, asked, similarity, **options)
        assert all(len(set(kinds[found.labels == label])) == 1 for label in range(found.sizes.size)), asked
        if asked == 2:
            assert adjusted_rand_score(kinds, found.labels) == 1
            assert found.separation > 0.4 if make is texts else found.separation == 1  # texts share a few words


@pytest.mark.parametrize("n_neighbors", [7, 15])
@pytest.mark.parametrize("asked", ["auto", 3, "hdbscan"])
def test_three_blobs_far_apart_are_three_clusters(asked, n_neighbors):
    rng = np.random.default_rng(0)
    sizes, centers = [80, 9, 8], np.array([[0, 0], [40, 0], [0, 40]])
    blobs = np.repeat([0, 1, 2], sizes)
    X = np.vstack([rng.normal(size=(size, 2)) for size in sizes]) + centers[blobs]
    found = covey.find_clusters(X, asked, "euclidean", n_neighbors=n_neighbors)
    np.testing.assert_array_equal(found.labels, blobs)
    assert found.separation == 1


def test_a_cloud_without_gaps_is_one_cluster():
    X = np.random.default_rng(0).uniform(size=(2000, 2))
    assert covey.find_clusters(X, similarity="euclidean").sizes.size == 1


@pytest.fixture(scope="module")
def mixtures():
    return [mixture(seed) for seed in range(N_MIXTURES)]


@pytest.fixture(scope="module")
def agreement(mixtures):
    """The adjusted Rand index and the number of clusters that mix what lies 10 sigma apart, for each mixture."""

    def by_scikit_learn(one):
        return HDBSCAN(copy=True).fit(one.X).labels_ if len(one.X) >= 5 else np.full(len(one.X), -1)

    methods = {
        "auto": lambda one: covey.find_clusters(one.X, "auto", "euclidean").labels,
        "number": lambda one: covey.find_clusters(one.X, int(one.groups.max()) + 1, "euclidean").labels,
        "hdbscan": lambda one: covey.find_clusters(one.X, "hdbscan", "euclidean").labels,
        "scikit-learn": by_scikit_learn,
    }
    found = {}
    for name, method in methods.items():
        labels = [method(one) for one in mixtures]
        found[name] = np.array(
            [
                (adjusted_rand_score(one.groups, label), one.n_mixed(label))
                for one, label in zip(mixtures, labels, strict=True)
            ]
        )
    return found


@pytest.mark.parametrize("asked", ["auto", "number", "hdbscan"])
def test_no_cluster_mixes_what_lies_10_sigma_apart(agreement, asked):
    assert not agreement[asked][:, 1].any()
    assert agreement["scikit-learn"][:, 1].any()


def test_clusters_agree_with_the_truth_at_least_as_well_as_those_of_scikit_learn(agreement):
    far = np.array([is_far(seed) for seed in range(N_MIXTURES)])
    mean = {name: (found[far, 0].mean(), found[~far, 0].mean()) for name, found in agreement.items()}
    for name in ("auto", "number", "hdbscan"):
        assert np.all(np.array(mean[name]) >= mean["scikit-learn"]), mean
    assert mean["number"][0] == 1
    assert mean["auto"][0] > 0.98
    assert mean["auto"][1] > mean["scikit-learn"][1] + 0.1


def test_hdbscan_is_that_of_scikit_learn(mixtures):
    """Ties of mutual reachability may be broken either way, so that a few of many mixtures differ."""
    n_same = 0
    for one in mixtures[:60]:
        n = len(one.X)
        edges = covey.neighbor_graph(one.X, n - 1, "euclidean", "exact").to_csr()
        labels, strength = _hdbscan(lengths_of(edges, resolve("euclidean"), None), np.ones(n, dtype=np.int64), 3)
        other = HDBSCAN(min_cluster_size=3, copy=True).fit(one.X)
        if adjusted_rand_score(labels, other.labels_) == 1 and ((labels < 0) == (other.labels_ < 0)).all():
            n_same += np.allclose(strength, other.probabilities_, rtol=1e-6)
    assert n_same >= 45


def test_equal_objects_count_in_the_size_of_a_cluster():
    X = np.vstack([np.zeros((30, 2)), np.random.default_rng(0).normal(size=(60, 2)) + 40])
    for asked in ("auto", "hdbscan"):
        found = covey.find_clusters(X, asked, "euclidean", min_cluster_size=10)
        assert found.sizes.tolist() == [60, 30]
        assert len({*found.labels[:30]}) == 1
        assert found.separation == 1


def test_objects_with_nothing_in_common_are_never_joined():
    X = [{"a": 1.0}, {"b": 1.0}, {"c": 1.0}, {"c": 2.0, "d": 1.0}]
    assert covey.find_clusters(X).labels.tolist() == [1, 2, 0, 0]
    found = covey.find_clusters(X, 2)
    assert found.labels.tolist() == [1, -1, 0, 0]
    assert found.strength.tolist() == [1, 0, 1, 1]
    assert covey.find_clusters(X, min_cluster_size=2).labels.tolist() == [-1, -1, 0, 0]


def test_groups_that_are_too_small_join_what_they_are_linked_to():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(60, 2)), rng.normal(size=(4, 2)) + 4, rng.normal(size=(4, 2)) + 60])
    for asked in ("auto", 1):
        found = covey.find_clusters(X, asked, "euclidean", min_cluster_size=10)
        assert found.sizes.tolist() == [64]
        assert (found.labels[64:] == -1).all()
        assert (found.strength[64:] == 0).all()
    with pytest.raises(ValueError, match="n_clusters must be at most 1, the number of groups of at least min_cluster_"):
        covey.find_clusters(X[:19], 3, "euclidean", min_cluster_size=10)


def test_strength_is_the_share_of_links_into_the_own_cluster():
    links = sp.block_diag([np.ones((4, 4)), np.ones((4, 4))], format="lil")
    links[3, 4] = links[4, 3] = 1
    found = covey.find_clusters(None, 2, graph=links.tocsr())
    assert sorted(found.sizes) == [4, 4]
    np.testing.assert_allclose(found.strength, [1, 1, 1, 3 / 4, 3 / 4, 1, 1, 1])


def test_separation_is_near_0_for_what_is_one_and_1_for_what_lies_apart():
    one, apart = [], []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        for d in (2, 8):
            X = rng.normal(size=(200, d))
            one.append(covey.find_clusters(X, 2, "euclidean").separation)
            one.append(covey.find_clusters(rng.uniform(size=(200, d)), 2, "euclidean").separation)
            Y = np.vstack([X, rng.normal(size=(100, d)) + 10 * np.eye(d)[0]])
            apart.append(covey.find_clusters(Y, 2, "euclidean").separation)
    assert np.mean(one) < 0.15
    assert np.min(apart) == 1
    assert np.isnan(covey.find_clusters(X, 1, "euclidean").separation)


@pytest.mark.parametrize(("asked", "least"), [("auto", 1), (2, 1), ("hdbscan", 2)])
@pytest.mark.parametrize("size", [0, -1, 2.5, True, "3"])
def test_a_size_that_cannot_be_is_refused(asked, least, size):
    with pytest.raises(ValueError, match=f"min_cluster_size must be an int of at least {least}, got "):
        covey.find_clusters([[1.0, 2.0]], asked, min_cluster_size=size)


def test_evaluations_are_those_of_the_graph_and_every_row_is_numbered():
    X = np.random.default_rng(0).normal(size=(120, 3))
    for asked in ("auto", 3, "hdbscan"):
        n_calls = 0

        def near(a, b):
            nonlocal n_calls
            n_calls += 1
            return -float(np.abs(a - b).sum())

        near.trusted = near.symmetric = True
        found = covey.find_clusters(X, asked, near)
        assert found.n_evaluations == n_calls
        assert found.labels.shape == found.strength.shape == (120,)


@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_the_dimension_is_that_of_uniform_data(d):
    X = np.random.default_rng(d).uniform(size=(2000, d))
    lengths = lengths_of(covey.neighbor_graph(X, 15, "euclidean").to_csr(), resolve("euclidean"), None)
    assert np.median(dimensions(lengths)) == pytest.approx(d, rel=0.15)


def test_similarities_of_any_size_have_lengths():
    X = np.random.default_rng(0).normal(size=(40, 2))
    X[20:] += 50
    D = np.linalg.norm(X[:, None] - X, axis=2)
    for scale in (1e-140, 1.0, 1e140):
        found = covey.find_clusters(-D * scale, 2, "precomputed")
        assert sorted(found.labels) == [0] * 20 + [1] * 20
    ties = covey.find_clusters(np.ones((6, 6)) + 4 * np.eye(6), 2, "precomputed")
    assert ties.sizes.sum() == 6
    assert covey.find_clusters(np.exp(-100 * D), 2, covey.from_distance("precomputed", "negative")) is not None


def test_links_are_symmetric_and_edges_that_are_too_long_join_nothing():
    X = np.vstack([np.random.default_rng(0).normal(size=(30, 2)), [[0.0, 90.0], [0.5, 90.0], [0.0, 90.5]]])
    lengths = lengths_of(covey.neighbor_graph(X, 8, "euclidean").to_csr(), resolve("euclidean"), None)
    links, every = links_of(lengths, np.ones(len(X), dtype=np.int64))
    for array in (links, every):
        assert abs(array - array.T).sum() == 0
    assert not links[30:][:, :30].nnz
    assert every[30:][:, :30].nnz
    assert links.data.max() <= 2


def joins(rng, n=40):
    """A random tree on n objects, from the shortest join to the longest; some joins are equally long."""
    order = rng.permutation(n)
    a, b = order[1:], order[[rng.integers(at + 1) for at in range(n - 1)]]
    return a.astype(np.intp), b.astype(np.intp), np.sort(rng.integers(1, 30, n - 1)) / 1.0


def joining_case():
    joining_case.seed += 1
    a, b, _ = joins(np.random.default_rng(joining_case.seed))
    return a, b, 40


def condense_case():
    condense_case.seed += 1
    rng = np.random.default_rng(condense_case.seed)
    a, b, lengths = joins(rng)
    left, right = join.py_func(a, b, 40)
    sizes = np.append(rng.integers(1, 4, 40), np.zeros(39, dtype=np.int64))
    return left, right, 64 - lengths, sizes, int(rng.integers(2, 6)), 64.0


joining_case.seed = condense_case.seed = 0


def test_every_object_leaves_one_group_and_stabilities_are_those_of_the_definition():
    for _ in range(20):
        left, right, levels, sizes, smallest, highest = condense_case()
        group, left_at, parent, stability, _ = condense(left, right, levels, sizes, smallest, highest)
        born = np.zeros(parent.size)
        expected = np.zeros(parent.size)
        inside = [set(np.flatnonzero(group == number).tolist()) for number in range(parent.size)]
        for number in range(parent.size - 1, 0, -1):
            inside[parent[number]] |= inside[number]
        for node in range(78, 39, -1):
            for child in (left[node - 40], right[node - 40]):
                leaves = {child} if child < 40 else objects_under(child, left, right)
                match = [number for number in range(1, parent.size) if inside[number] == leaves]
                for number in match:
                    born[number] = levels[node - 40]
        for number in range(parent.size):
            children = np.flatnonzero(parent == number)
            for x in inside[number]:
                down = [child for child in children if x in inside[child]]
                until = born[down[0]] if down else left_at[x]
                expected[number] += (until - born[number]) * sizes[x]
        np.testing.assert_allclose(stability, expected)


def objects_under(node, left, right):
    """The objects below a node of a tree of 40 objects."""
    if node < 40:
        return {int(node)}
    return objects_under(left[node - 40], left, right) | objects_under(right[node - 40], left, right)


def test_core_lengths_count_equal_objects():
    similarities = sp.csr_array(-np.array([[0, 1.0, 3.0], [1.0, 0, 5.0], [3.0, 5.0, 0]]))
    lengths = lengths_of(similarities, resolve("cosine"), None)
    assert core_lengths(lengths, np.array([1, 1, 1]), 2).tolist() == [1, 1, 3]
    assert core_lengths(lengths, np.array([1, 1, 1]), 3).tolist() == [3, 5, 5]
    assert core_lengths(lengths, np.array([1, 2, 1]), 3).tolist() == [1, 1, 5]
    assert core_lengths(lengths, np.array([3, 1, 1]), 3).tolist() == [0, 1, 3]
