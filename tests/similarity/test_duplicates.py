"""Equal objects are one object with a multiplicity, in every form of input and in every selector."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris

import covey
from covey.similarity import duplicates
from covey.similarity.kinds import collect
from covey.similarity.measures import resolve
from tests import reference
from tests.forms import COSINES, Counted, plain_cosine, similarity_matrix


def kinds(objects, similarity):
    resolved = resolve(similarity)
    return collect(objects, resolved).distinct().kind.tolist()


def letters(a, b):
    return len(set(a) & set(b)) / len(set(a) | set(b))


ROWS = [[1.0, 2.0], [2.0, 4.0], [0.0, 0.0], [1.0, 2.0], [-1.0, -2.0], [0.0, -0.0], [0.3, 0.6]]


@pytest.mark.parametrize("form", [np.array, lambda rows: sp.csr_array(np.array(rows)), lambda rows: np.float32(rows)])
def test_rows_are_equal_if_the_similarity_cannot_tell_them_apart(form):
    """A multiple of a row has the same direction; its opposite has not, and rows of zeros have none."""
    assert kinds(form(ROWS), "cosine") == [0, 0, 1, 0, 2, 1, 0]
    assert kinds(form(ROWS), "euclidean") == [0, 1, 2, 0, 3, 2, 4]


def test_multiples_are_equal_under_cosine_although_they_are_rounded():
    X = np.random.default_rng(0).random((50, 40))
    copies = np.vstack([X, 3 * X, X / 7, 1e6 * X])
    assert kinds(copies, "cosine") == [*range(50)] * 4


def test_profiles_are_equal_if_their_numbers_are():
    profiles = [{"a": 1, "b": 2}, {"b": 2.0, "a": 1.0}, {"a": 1}, {"a": 1, "c": 0}, {"a": 2, "b": 4}, {}]
    assert kinds(profiles, "ruzicka") == [0, 0, 1, 1, 2, 3]
    assert kinds(profiles, "cosine") == [0, 0, 1, 1, 0, 2]
    assert kinds([{"x", "y"}, {"y", "x"}, {"x"}, set(), set()], "jaccard") == [0, 0, 1, 2, 2]


def test_any_objects_are_equal_if_python_says_so_and_their_types_agree():
    objects = ["a", "b", "a", ("a", 1), ("a", 1), ("a", True), 1, True, 1.0, None, None, float("nan")]
    assert kinds(objects, letters) == [0, 1, 0, 2, 2, 3, 4, 5, 6, 7, 7, 8]


def test_containers_and_arrays_are_equal_if_their_parts_are():
    series = [np.arange(3.0), np.arange(4.0), np.arange(3.0), np.arange(3), [1, {"a": {2}}], [1, {"a": {2}}], [1, {}]]
    assert kinds(series, letters) == [0, 1, 0, 2, 3, 3, 4]


def test_what_cannot_be_compared_is_no_copy_of_anything_but_itself():
    class Odd:
        __hash__ = None

    odd, endless = Odd(), []
    endless.append(endless)
    assert kinds([odd, Odd(), odd, endless, "a"], letters) == [0, 1, 0, 2, 3]


def test_rows_of_a_matrix_are_equal_if_the_objects_are_similar_to_themselves():
    """Leaves of a star have equal rows, and so have objects without any edge, but nothing says that they are equal."""
    X = np.array([[1.0, 0.0], [0.5, 1.0], [1.0, 0.0], [0.5, 1.0]])
    gram = X @ X.T
    assert kinds(gram, "precomputed") == [0, 1, 0, 1]
    assert kinds(sp.csr_array(gram), "precomputed") == [0, 1, 0, 1]
    distances = np.abs(np.subtract.outer([0.0, 3, 0, 5], [0.0, 3, 0, 5]))
    assert kinds(distances, covey.from_distance("precomputed")) == [0, 1, 0, 2]
    star = np.zeros((4, 4))
    star[0, 1:] = star[1:, 0] = 0.5
    assert kinds(sp.csr_array(star), "precomputed") == [0, 1, 2, 3]
    asymmetric = np.array([[1.0, 1, 0.2], [1, 1, 0.2], [0.3, 0.4, 1]])
    assert kinds(asymmetric, "precomputed") == [0, 1, 2]


def test_a_hash_alone_merges_nothing(monkeypatch):
    monkeypatch.setattr(duplicates, "hash_runs", lambda numbers, starts: np.zeros(starts.size - 1, dtype=np.uint64))
    X = np.array([[1.0], [2.0], [1.0], [3.0]])
    assert kinds(X, "euclidean") == [0, 1, 0, 2]


@given(n=st.integers(1, 40), width=st.integers(1, 3), seed=st.integers(0, 999), sparse=st.booleans())
def test_rows_are_compared_as_numpy_does(n, width, seed, sparse):
    X = np.random.default_rng(seed).integers(-1, 2, (n, width)).astype(float)
    _, expected = np.unique(X, axis=0, return_inverse=True)
    found = duplicates._distinct_rows(duplicates._ComparableRows(sp.csr_array(X) if sparse else X, scaled=False))
    same = found.kind[:, None] == found.kind
    np.testing.assert_array_equal(same, expected[:, None] == expected)
    assert found.first.tolist() == sorted(found.first.tolist())
    np.testing.assert_array_equal(found.multiplicity, np.bincount(found.kind))


SELECTORS = {
    "CRS, exact": covey.CRS(10, graph="exact"),
    "CRS, NN-Descent": covey.CRS(10, graph="nn-descent", random_state=0),
    "CRS, refined": covey.CRS(10, refine=True),
    "CRS, count": covey.CRS(10, gain="count"),
    "DeltaMedoids": covey.DeltaMedoids(),
    "DS3": covey.DS3(budget=3),
    "DS3, p = 2": covey.DS3(alpha=0.1, p=2),
}


@pytest.mark.parametrize("name", SELECTORS)
@pytest.mark.parametrize("similarity", ["cosine", "euclidean", plain_cosine])
def test_copies_of_a_set_select_what_the_set_does(name, similarity):
    """Every multiplicity is the same, so only the homogeneity changes: copies make it larger, if only a little.

    DS3 with p = 2 stops within a tolerance of the optimum, which one object more or less can be.
    """
    X = load_iris().data
    selector = SELECTORS[name].set_params(similarity=similarity)
    once = selector.fit(X).sample_indices_
    many = selector.fit(np.tile(X, (12, 1)))
    assert abs(many.sample_indices_.size - once.size) <= max(0.1 * once.size, 1 if name == "DS3, p = 2" else 0)
    prototype = many.prototypes_[0]
    assert prototype.covered_by.size == 12 * len(X)
    np.testing.assert_array_equal(
        prototype.covered_by.reshape(12, -1), np.tile(prototype.covered_by[: len(X)], (12, 1))
    )
    assert (prototype.covered_by < len(X)).all()  # the first of equal rows represents them
    assert many.n_evaluations_ <= len(X) * (len(X) + 1) / 2


def test_zero_rows_need_one_representative():
    assert covey.CRS().fit(np.zeros((20, 3))).sample_indices_.tolist() == [0]


@pytest.mark.parametrize("form", COSINES)
def test_every_form_merges_copies_alike(form):
    rng = np.random.default_rng(1)
    X = rng.integers(1, 5, (40, 9)).astype(float)[rng.integers(40, size=150)]
    objects, similarity = COSINES[form](X)
    expected = covey.CRS(4, threshold=0.9).fit(X)
    found = covey.CRS(4, threshold=0.9, similarity=similarity).fit(objects)
    np.testing.assert_array_equal(found.sample_indices_, expected.sample_indices_)
    np.testing.assert_array_equal(found.prototypes_[0].covered_by, expected.prototypes_[0].covered_by)


@pytest.mark.parametrize("graph", ["exact", "nn-descent"])
@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("n", [3, 40, 260])
def test_homogeneity_counts_every_pair_of_rows_but_scores_equal_ones_once(graph, symmetric, n):
    values = similarity_matrix(n, np.random.default_rng(n), symmetric)
    np.fill_diagonal(values, np.random.default_rng(0).random(n))
    rows = np.sort(np.random.default_rng(1).integers(n, size=3 * n))
    counted = Counted(values, symmetric)
    selector = covey.CRS(5, similarity=counted, graph=graph, random_state=0).fit(rows.tolist())
    assert selector.n_evaluations_ == len(counted.calls) == len(set(counted.pairs))
    prototype = selector.prototypes_[0]
    expected = reference.homogeneity(lambda a, b: values[rows[a], rows[b]], rows.size)
    assert prototype.homogeneity == pytest.approx(expected, abs=1e-9 if n < 200 else 0.03)
    all_pairs = rows.size * (rows.size - 1) / (2 if symmetric else 1)
    assert prototype.scan_rate == selector.scan_rate_ == selector.n_evaluations_ / all_pairs


@given(n=st.integers(1, 12), seed=st.integers(0, 999), coverage=st.sampled_from([0.5, 0.9, 1.0]), refine=st.booleans())
def test_multiplicity_in_coverage_counts_rows(n, seed, coverage, refine):
    """An object that is there m times is as good as m objects that cover each other and share all edges."""
    rng = np.random.default_rng(seed)
    times = rng.integers(1, 4, n)
    edges = np.where(rng.random((n, n)) < 0.3, rng.integers(1, 9, (n, n)) / 8, 0)
    np.fill_diagonal(edges, 0)
    found = covey.cover(sp.csr_array(edges), coverage, multiplicity=times, refine=refine)
    covered = times[found.covered_by >= 0].sum()
    assert found.coverage == covered / times.sum()
    assert covered >= np.ceil(coverage * times.sum() - 1e-9)
    if not refine:
        copies = np.repeat(np.arange(n), times)
        written_out = edges[np.ix_(copies, copies)] + (copies[:, None] == copies) * (1 - np.eye(copies.size))
        apart = covey.cover(sp.csr_array(written_out), coverage)
        first = np.cumsum(times) - times
        assert apart.indices.tolist() == first[found.indices].tolist()
        np.testing.assert_allclose(apart.gains, found.gains)


def test_a_given_graph_is_merged_too():
    """The copies' edges to other objects are united."""
    X = np.random.default_rng(0).integers(0, 3, (60, 4)).astype(float) + 1
    graph = covey.neighbor_graph(X, 20, "euclidean")
    selector = covey.CRS(5, similarity="euclidean", graph=graph, coverage=1.0).fit(X)
    prototype = selector.prototypes_[0]
    assert prototype.coverage == 1
    same = [tuple(row) for row in X]
    assert len({same[row] for row in selector.sample_indices_}) == selector.sample_indices_.size
    for row, by in zip(prototype.members, prototype.covered_by, strict=True):
        listed = {same[other] for twin in range(60) if same[twin] == same[row] for other in graph.indices[twin]}
        assert same[by] == same[row] or same[by] in listed


def test_a_given_graph_is_taken_as_it_is_unless_the_similarity_is_asked():
    """X may be a placeholder then; where it is not, a similarity that merges what the graph tells apart is refused."""
    X = np.random.default_rng(0).uniform(1, 2, (200, 1))
    graph = covey.neighbor_graph(X, 10, "euclidean")
    expected = covey.CRS(10, similarity="euclidean", graph=graph, threshold=None).fit(X).sample_indices_
    for placeholder in (X, np.zeros((200, 1)), np.arange(200)[:, None] + 1):
        found = covey.CRS(10, graph=graph, threshold=None).fit(placeholder).sample_indices_
        np.testing.assert_array_equal(found, expected)
    with pytest.raises(ValueError, match="graph and similarity must agree"):
        covey.CRS(10, graph=graph).fit(X)  # under cosine all these rows are one


def test_records_of_a_structured_array_are_told_apart():
    records = np.array([(at % 15, str(at % 15)) for at in range(30)], dtype=[("number", int), ("name", "U4")])
    nearness = covey.Similarity(lambda a, b: 1 / (1 + abs(int(a["number"]) - int(b["number"]))))
    assert kinds(records, nearness) == [*range(15)] * 2


def test_the_scan_rate_counts_the_pairs_of_copies():
    """A cluster of copies needs no evaluation, but it has pairs."""
    numbers, y = [0.0] * 100 + [float(at) for at in range(10)], [0] * 100 + [1] * 10
    selector = covey.CRS(3, threshold=0.1, similarity=lambda a, b: 1 / (1 + abs(a - b))).fit(numbers, y)
    assert selector.scan_rate_ == selector.n_evaluations_ / (100 * 99 / 2 + 10 * 9 / 2)


def test_surnames_that_repeat(surnames):
    """2 000 names drawn from 108 are no more than 108 objects."""
    few = sorted(set(surnames))[:108]
    names = [few[at] for at in np.random.default_rng(0).integers(108, size=2000)]
    once = covey.CRS(similarity="levenshtein").fit(few)
    many = covey.CRS(similarity="levenshtein").fit(names)
    assert abs(many.sample_indices_.size - once.sample_indices_.size) <= 0.1 * once.sample_indices_.size + 1
