"""What a user may ask of a selection: all members above a threshold, a size, rows to include, weights, the members."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import covey
from tests import forms, reference

rng = np.random.default_rng(0)
BLOBS = rng.standard_normal((300, 4)) + np.repeat(rng.standard_normal((3, 4)) * 3, 100, axis=0)
LABELS = np.repeat(["a", "b", "c"], 100)


def cosines(X):
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    return unit @ unit.T


# n_neighbors=None


@pytest.mark.parametrize("threshold", [0.3, 0.8, 0.95])
def test_without_k_every_object_has_a_representative_that_is_at_least_so_similar(threshold):
    selector = covey.CRS(None, threshold=threshold, coverage=1.0).fit(BLOBS)
    best = cosines(BLOBS)[:, selector.sample_indices_].max(axis=1)
    assert (best >= threshold - 1e-12).all()
    assert selector.prototypes_[0].coverage == 1.0


def test_without_k_there_are_no_more_representatives_than_with_any_k():
    sizes = [
        covey.CRS(k, threshold=0.8, coverage=1.0, graph="exact", gain="count").fit(BLOBS).sample_indices_.size
        for k in (5, 20, 100, None)
    ]
    assert sizes == sorted(sizes, reverse=True)
    bound = covey.cover_lower_bound(covey.threshold_graph(BLOBS, 0.8), coverage=1.0)
    assert bound <= sizes[-1]


@pytest.mark.parametrize("threshold", ["homogeneity", 0.7])
def test_all_members_above_the_threshold_are_all_neighbors_of_the_longest_possible_list(threshold):
    options = {"threshold": threshold, "graph": "exact", "random_state": 0}
    for copies in (BLOBS, np.repeat(BLOBS[:40], 3, axis=0)):
        none = covey.CRS(None, **options).fit(copies)
        all_others = covey.CRS(len(copies), **options).fit(copies)
        assert none.sample_indices_.tolist() == all_others.sample_indices_.tolist()
        assert np.array_equal(none.prototypes_[0].covered_by, all_others.prototypes_[0].covered_by)
        assert none.n_evaluations_ == all_others.n_evaluations_


def test_without_k_there_must_be_a_threshold():
    with pytest.raises(ValueError, match="threshold must be 'homogeneity' or a number if n_neighbors is None"):
        covey.CRS(None, threshold=None).fit(BLOBS)


def test_all_edges_of_a_given_graph_are_used_and_memory_does_not_grow_with_its_largest_degree():
    n = 200_000  # lists as long as that of the hub would take 480 GB
    spokes = np.arange(1, n)
    graph = sp.coo_array((np.full(n - 1, 0.9), (spokes, np.zeros(n - 1, dtype=int))), shape=(n, n)).tocsr()
    # One row is full, too: the hub has all others as neighbors.
    graph = sp.vstack([sp.csr_array(np.full((1, n), 0.9)), graph[1:]]).tocsr()
    selector = covey.CRS(None, graph=graph, threshold=None, coverage=1.0).fit(np.zeros((n, 1)))
    assert selector.sample_indices_.tolist() == [0]


def test_a_single_object_represents_itself_without_k():
    assert covey.CRS(None).fit([[1.0, 2.0]]).sample_indices_.tolist() == [0]


# size


@pytest.mark.parametrize(
    ("options", "fitting", "message"),
    [
        ({"size": 2}, {}, "size must allow for one representative of each of the 3 clusters, got 2 of 300 objects"),
        ({"size": 3}, {"include": [0, 1, 2]}, "3 clusters and the 3 rows to include, got 3 of 300"),
        ({"size": 0}, {}, "size"),
        ({"size": 1.0}, {}, "size"),
        ({"size": 5, "refine": True}, {}, "refine looks for fewer representatives, but size says how many there are"),
        ({}, {"include": [300]}, "include must hold numbers of rows of X, from 0 to 299, got 300"),
        ({}, {"include": [-1]}, "include must hold numbers of rows of X, from 0 to 299, got -1"),
        ({}, {"include": [True, False]}, "include must hold True or False for each of the 300 objects"),
        ({}, {"include": ["a"]}, "include must hold numbers of rows of X, or True or False"),
        ({}, {"sample_weight": [1.0]}, "sample_weight must hold one number for each of the 300 objects of X, got 1"),
        ({}, {"sample_weight": np.full(300, -1.0)}, "finite numbers of at least 0, got -1.0 for row 0"),
        ({}, {"sample_weight": np.repeat([1.0, 0.0, 1.0], 100)}, "all of cluster 'b' have the weight zero"),
    ],
)
def test_wishes_that_cannot_be_fulfilled_are_refused(options, fitting, message):
    with pytest.raises(ValueError, match=message):
        covey.CRS(**options).fit(BLOBS, LABELS, **fitting)


def test_a_number_is_kept_with_a_model(tmp_path):
    model = covey.NearestPrototypeClassifier(covey.CRS(None, threshold=0.5, size=12)).fit(BLOBS, LABELS)
    covey.save(model, tmp_path / "model.covey")
    loaded = covey.load(tmp_path / "model.covey")
    assert loaded.selector_.size == 12
    assert loaded.selector_.n_neighbors is None
    assert loaded.predict(BLOBS).tolist() == model.predict(BLOBS).tolist()


# include


@pytest.mark.parametrize("options", [{}, {"refine": True}, {"size": 40}, {"n_neighbors": None}, {"coverage": 0.2}])
def test_included_rows_are_representatives_and_come_first(options):
    wanted = [299, 3, 150, 4]
    selector = covey.CRS(**{"n_neighbors": 8, "random_state": 0, **options}).fit(BLOBS, LABELS, include=wanted)
    assert selector.prototypes_["a"].indices[:2].tolist() == [3, 4]
    assert selector.prototypes_["b"].indices[0] == 150
    assert selector.prototypes_["c"].indices[0] == 299
    mask = np.isin(np.arange(300), wanted)
    again = covey.CRS(**{"n_neighbors": 8, "random_state": 0, **options}).fit(BLOBS, LABELS, include=mask)
    assert sorted(again.sample_indices_) == sorted(selector.sample_indices_)


def test_an_earlier_selection_can_be_extended():
    first = covey.CRS(8, size=20, random_state=0).fit(BLOBS)
    more = covey.CRS(8, size=30, random_state=0).fit(BLOBS, include=first.sample_indices_)
    assert more.sample_indices_[:20].tolist() == first.sample_indices_.tolist()
    assert more.sample_indices_.tolist() == covey.CRS(8, size=30, random_state=0).fit(BLOBS).sample_indices_.tolist()


def test_an_included_copy_represents_its_equals():
    X = np.repeat(np.eye(3), 4, axis=0)
    selector = covey.CRS(1, threshold=0.5).fit(X, include=[6, 7])
    assert selector.sample_indices_[0] == 6
    assert selector.prototypes_[0].covered_by[4:8].tolist() == [6, 6, 6, 6]


def test_nothing_to_include_changes_nothing():
    plain = covey.CRS(8).fit(BLOBS).sample_indices_.tolist()
    assert covey.CRS(8).fit(BLOBS, include=[]).sample_indices_.tolist() == plain
    assert covey.CRS(8).fit(BLOBS, include=np.zeros(300, dtype=bool)).sample_indices_.tolist() == plain


# weights


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32), gain=st.sampled_from(["similarity", "count"]))
def test_whole_weights_count_as_copies_do(seed, gain):
    draw = np.random.default_rng(seed)
    graph = covey.neighbor_graph(draw.random((40, 3)), 5, method="exact")
    weights = draw.integers(1, 5, 40)
    by_weight = covey.cover(graph, 0.9, 0.9, gain=gain, sample_weight=weights)
    by_copies = covey.cover(graph, 0.9, 0.9, gain=gain, multiplicity=weights)
    orphans = (graph.similarities < 0.9).all(axis=1) & (weights == 1)
    assert by_weight.indices.tolist() == by_copies.indices.tolist()
    assert np.allclose(by_weight.gains, by_copies.gains)
    assert by_weight.coverage == by_copies.coverage
    assert by_copies.n_orphans == orphans.sum()


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32), gain=st.sampled_from(["similarity", "count"]))
def test_weights_are_those_of_a_slow_greedy_choice(seed, gain):
    """The reference recomputes every gain. It counts whole numbers of copies, so weights are eighths of these."""
    draw = np.random.default_rng(seed)
    graph = covey.neighbor_graph(draw.random((30, 2)), 4, method="exact")
    eighths = draw.integers(0, 9, 30) + (np.arange(30) == 0)
    lists = [list(zip(graph.indices[x].tolist(), graph.similarities[x].tolist(), strict=True)) for x in range(30)]
    try:
        expected = reference.greedy(lists, 0.8, 0.95, gain, multiplicities=eighths.tolist(), margin=1e-9)
    except reference.CloseCallError:
        return
    found = covey.cover(graph, 0.8, 0.95, gain=gain, sample_weight=eighths / 8)
    assert found.indices.tolist() == expected[0]
    assert np.allclose(found.gains, np.array(expected[1]) / 8)


EIGHTHS = np.random.default_rng(3).integers(0, 9, 300) / 8
"""Weights that stay exact when they are multiplied by any power of 2."""


@pytest.mark.parametrize("scale", [2.0**-498, 2.0**-300, 1024, 2.0**300, 2.0**498])
@pytest.mark.parametrize("options", [{}, {"gain": "count"}, {"size": 40}, {"refine": True}], ids=str)
def test_weights_of_any_size_give_the_same_choice(scale, options):
    plain = covey.CRS(8, **options).fit(BLOBS, LABELS, sample_weight=EIGHTHS)
    scaled = covey.CRS(8, **options).fit(BLOBS, LABELS, sample_weight=scale * EIGHTHS)
    assert scaled.sample_indices_.tolist() == plain.sample_indices_.tolist()
    for label, prototype in plain.prototypes_.items():
        assert scaled.prototypes_[label].coverage == prototype.coverage
        np.testing.assert_allclose(scaled.prototypes_[label].gains, prototype.gains * scale, rtol=1e-15)


@pytest.mark.parametrize("estimator", [covey.CRS(8), covey.Sharpened(covey.CRS(8))], ids=str)
@pytest.mark.parametrize("factor", [5e-324, 1e-151, 1e150, 1.7e308])
def test_weights_whose_sums_would_lose_digits_are_refused(estimator, factor):
    weights = np.full(300, 0.0)
    weights[::7] = factor
    with pytest.raises(ValueError, match="the largest sample_weight must be at least 1e-150 and below 1e") as error:
        estimator.fit(BLOBS, LABELS, sample_weight=weights)
    assert f"got {factor}; divide all by the largest one" in str(error.value)
    estimator.fit(BLOBS, LABELS, sample_weight=weights / weights.max())


@pytest.mark.parametrize("weight", [1e-150, 1e-100, 0.1, 1 / 3, 7, 9e149])
@pytest.mark.parametrize("coverage", [0.07, 0.3, 0.95, 1.0])
def test_equal_weights_of_any_size_change_nothing(weight, coverage):
    graph = covey.neighbor_graph(BLOBS[:100], 6, method="exact")
    plain = covey.cover(graph, coverage, 0.9)
    weighted = covey.cover(graph, coverage, 0.9, sample_weight=np.full(100, weight))
    assert weighted.indices.tolist() == plain.indices.tolist()
    assert weighted.coverage == plain.coverage
    chosen = [
        covey.CRS(6, coverage=coverage).fit(BLOBS, LABELS, sample_weight=given).sample_indices_.tolist()
        for given in (None, np.full(300, weight))
    ]
    assert chosen[0] == chosen[1]


@pytest.mark.parametrize("factor", [0.1, 1 / 3, 1e-149])
@pytest.mark.parametrize("gain", ["similarity", "count"])
def test_sums_of_weights_that_are_equal_on_paper_tie(factor, gain):
    """A tenth is no float, and 3 * 0.1 is another number than 0.1 + 0.1 + 0.1."""
    for seed in range(20):
        draw = np.random.default_rng(seed)
        graph = covey.neighbor_graph(draw.integers(0, 5, (40, 2)), 4, "euclidean", method="exact")
        whole, options = draw.integers(0, 6, 40), {"coverage": 0.9, "threshold": 0.4, "gain": gain}
        expected = covey.cover(graph, **options, sample_weight=whole)
        found = covey.cover(graph, **options, sample_weight=factor * whole)
        assert found.indices.tolist() == expected.indices.tolist()
        y = draw.integers(0, 2, 40)
        chosen = [
            covey.CRS(4, size=12, graph=graph, threshold=0.4, gain=gain).fit(np.eye(40), y, sample_weight=weights)
            for weights in (whole + 1, factor * (whole + 1))
        ]
        assert chosen[0].sample_indices_.tolist() == chosen[1].sample_indices_.tolist()


def test_a_weight_that_is_nothing_beside_others_still_counts():
    """Everything has to be covered, and that is little more than nothing for two rows that resemble no other."""
    X = np.eye(4)[[0, 0, 1, 2, 3]] + 0.01 * np.eye(5, 4)
    weights = [9e149, 9e149, 1e-300, 5e-324, 0.0]
    selector = covey.CRS(1, threshold=0.9, coverage=1.0).fit(X, sample_weight=weights)
    assert sorted(selector.sample_indices_.tolist()) == [0, 2, 3]
    assert selector.prototypes_[0].coverage == 1.0


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32), gain=st.sampled_from(["similarity", "count"]))
def test_rows_of_weight_0_are_picked_only_for_others(seed, gain):
    """Against the reference: with outliers, rows to include, a size beyond what covers everything, and refined."""
    draw = np.random.default_rng(seed)
    graph = covey.neighbor_graph(draw.integers(0, 4, (16, 2)), 3, "euclidean", method="exact")
    lists = [list(zip(graph.indices[x].tolist(), graph.similarities[x].tolist(), strict=True)) for x in range(16)]
    weights = draw.integers(0, 3, 16) * (np.arange(16) > 6) + (np.arange(16) == draw.integers(16))
    options = {"gain": gain, "on_orphan": str(draw.choice(["self", "outlier"]))}
    wishes = {"include": draw.permutation(16)[: draw.integers(3)].tolist(), "size": [None, 3, 9, 16][draw.integers(4)]}
    threshold = float(draw.choice([0.3, 0.45, 0.6]))
    try:
        expected = reference.greedy(lists, 1.0, threshold, **options, **wishes, weights=weights.tolist(), margin=1e-9)
    except reference.CloseCallError:
        return
    found = covey.cover(graph, 1.0, threshold, **options, **wishes, sample_weight=weights)
    assert found.indices.tolist() == expected[0]
    assert np.allclose(found.gains, expected[1])
    assert found.covered_by.tolist() == expected[2]
    if wishes["size"] is None:
        refined = covey.cover(
            graph, 1.0, threshold, **options, include=wishes["include"], sample_weight=weights, refine=True
        )
        assert refined.coverage == found.coverage
        assert refined.indices.size <= found.indices.size
        picked = set(refined.indices[(refined.gains == 0)].tolist())
        assert picked <= {*wishes["include"], *found.indices[:1].tolist()}


def test_a_row_of_weight_0_is_not_picked_for_itself():
    """An outlier keeps the coverage from being reached, so that picking goes on as long as anything is gained."""
    similarities = np.eye(5)
    for i, j, value in [(0, 1, 0.9), (2, 3, 0.8)]:
        similarities[i, j] = similarities[j, i] = value
    options = {"similarity": "precomputed", "threshold": 0.5, "on_orphan": "outlier"}
    for gain in ("similarity", "count"):
        selector = covey.CRS(1, gain=gain, **options).fit(similarities, sample_weight=[1, 1, 0, 0, 1])
        assert selector.sample_indices_.tolist() == [0]


@pytest.mark.parametrize("weights", [["a"] * 300, [None] * 300, [10**400] * 300, [[1, 2]] * 300])
def test_weights_that_are_no_numbers_are_refused_by_name(weights):
    with pytest.raises(ValueError, match="sample_weight must hold"):
        covey.CRS(8).fit(BLOBS, sample_weight=weights)


def test_coverage_is_a_share_of_the_weight():
    weights = np.ones(300)
    weights[:5] = 1e6
    prototype = covey.CRS(8, coverage=0.9).fit(BLOBS, sample_weight=weights).prototypes_[0]
    assert (prototype.covered_by[:5] >= 0).all()
    covered = prototype.covered_by >= 0
    assert prototype.coverage == pytest.approx(weights[covered].sum() / weights.sum())
    assert prototype.coverage >= 0.9 > covered.mean()


def test_a_classifier_hands_weights_and_rows_on_to_its_selector():
    weights = np.random.default_rng(4).random(300)
    model = covey.NearestPrototypeClassifier(covey.CRS(8)).fit(BLOBS, LABELS, sample_weight=weights, include=[7])
    alone = covey.CRS(8).fit(BLOBS, LABELS, sample_weight=weights, include=[7])
    assert model.selector_.sample_indices_.tolist() == alone.sample_indices_.tolist()
    with pytest.raises(TypeError, match="include"):
        covey.NearestPrototypeClassifier(covey.DeltaMedoids()).fit(BLOBS, LABELS, include=[7])


# members


SELECTORS = [
    covey.CRS(5, random_state=0),
    covey.CRS(5, coverage=0.5, random_state=0),
    covey.DeltaMedoids(random_state=0),
    covey.DS3(budget=5),
    covey.RandomSelector(0.1, random_state=0),
    covey.KeepAll(),
    covey.Sharpened(covey.CRS(5, random_state=0), random_state=0),
]


@pytest.mark.parametrize("selector", SELECTORS, ids=repr)
def test_each_row_is_listed_with_its_representative(selector):
    X = np.concatenate([BLOBS, BLOBS[:10]])
    y = np.concatenate([LABELS, LABELS[:10]])
    members = selector.fit(X, y).members(X)
    matrix = cosines(X)
    assert list(members.columns) == ["row", "label", "representative", "similarity", "rank", "covered"]
    assert members["row"].tolist() == list(range(310))
    assert members["label"].tolist() == y.tolist()
    for row, line in enumerate(members.itertuples()):
        prototype = selector.prototypes_[line.label]
        coverer = prototype.covered_by[np.searchsorted(prototype.members, row)]
        assert line.covered == (coverer >= 0)
        nearest = prototype.indices[np.argmax(matrix[row, prototype.indices])]
        expected = coverer if coverer >= 0 else nearest
        assert line.representative == expected or matrix[row, line.representative] == pytest.approx(
            matrix[row, expected]
        )
        assert line.similarity == pytest.approx(matrix[row, line.representative])
        assert prototype.indices[line.rank - 1] == line.representative


def test_members_are_listed_for_any_kind_of_objects():
    words = ["cat", "cart", "care", "dog", "dodge", "lodge"]
    members = covey.CRS(2, similarity="levenshtein").fit(words).members(words)
    assert members["label"].tolist() == [0] * 6
    assert members["similarity"].between(0, 1).all()
    matrix = cosines(BLOBS)
    listed = covey.CRS(5, similarity="precomputed").fit(matrix).members(matrix)
    same = covey.CRS(5, graph="exact").fit(BLOBS).members(BLOBS)
    pd.testing.assert_frame_equal(listed, same, check_exact=False)


@pytest.mark.parametrize("form", forms.COSINES)
def test_members_are_the_same_in_every_form_of_objects_and_similarity(form):
    X = np.abs(BLOBS[:60].round(2))
    objects, similarity = forms.COSINES[form](X)
    selector = covey.CRS(3, coverage=0.8, similarity=similarity, graph="exact", random_state=0)
    plain = covey.CRS(3, coverage=0.8, graph="exact", random_state=0).fit(X)
    found, expected = selector.fit(objects).members(objects), plain.members(X)
    assert not found["covered"].all()  # the nearest representative has to be found for some
    pd.testing.assert_frame_equal(found, expected, check_exact=False)


def test_members_of_other_objects_are_refused():
    with pytest.raises(ValueError, match="X must be what was passed to fit, which had 300 objects, got 10"):
        covey.CRS(5).fit(BLOBS).members(BLOBS[:10])
