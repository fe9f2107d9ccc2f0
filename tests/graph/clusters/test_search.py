"""`covey.find_clusters`: what lies apart is never joined, and what is one is not cut."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits, load_wine, make_blobs, make_moons
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import adjusted_rand_score

import covey


def is_same_partition(a, b):
    return adjusted_rand_score(a, b) == 1


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
