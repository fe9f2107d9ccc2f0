"""Numbers at the edges of floating point: precision, very large and very small values, and very many pairs."""

import math
import re
from fractions import Fraction
from functools import partial

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import covey
from covey.coverage.gains import as_similarities
from covey.dask.shards import Means, mean_of_cluster
from covey.graph.pair_memory import HashedPairs
from covey.selectors.delta_medoids import EvaluatedSimilarities
from covey.similarity.kinds import collect
from covey.similarity.mean import mean_similarity
from covey.similarity.measures import resolve
from covey.similarity.space import draw_pairs
from covey.similarity.sums import added, mean_of, total_of

N_GROUPS, SIZE = 6, 20
SELECTORS = {
    "CRS, exact": lambda **options: covey.CRS(5, graph="exact", random_state=0, **options),
    "CRS, nn-descent": lambda **options: covey.CRS(5, graph="nn-descent", random_state=0, **options),
    "DeltaMedoids": lambda **options: covey.DeltaMedoids(random_state=0, **options),
    "DS3": lambda **options: covey.DS3(budget=4, **options),
    "Sharpened": lambda **options: covey.Sharpened(covey.CRS(5, random_state=0, **options), random_state=0),
}


def separated(similarity="cosine"):
    """Two classes of groups of rows, in which no two similarities that are compared lie close to each other.

    All coordinates are multiples of 1/64 below 64, which float32 holds exactly. The sums over coordinates are made in
    float64 from either type, so that they are exact as well, and so are the bits of all similarities.
    """
    rng = np.random.default_rng(1)
    centers = rng.integers(0, 60, size=(N_GROUPS, 8))
    rows = np.repeat(centers, SIZE, axis=0) + rng.integers(0, 128, size=(N_GROUPS * SIZE, 8)) / 64
    if similarity in ("jaccard", "hamming"):
        rows = (rows % 4 > 2).astype(np.float64)
    return rows, np.repeat(np.arange(N_GROUPS), SIZE) % 2


FORMS = {
    "float32": lambda X: X.astype(np.float32),
    "big-endian": lambda X: X.astype(">f8"),
    "big-endian float32": lambda X: X.astype(">f4"),
    "Fortran order": np.asfortranarray,
    "every other column": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "reversed memory": lambda X: X[::-1].copy()[::-1],
    "CSR, float32": lambda X: sp.csr_array(X.astype(np.float32)),
}


@pytest.mark.parametrize("similarity", ["cosine", "dot", "euclidean", "ruzicka", "jaccard", "hamming"])
@pytest.mark.parametrize("name", SELECTORS)
def test_every_type_of_numbers_gives_the_same_representatives(name, similarity):
    X, y = separated(similarity)
    expected = SELECTORS[name](similarity=similarity).fit(X, y).sample_indices_.tolist()
    for form, convert in FORMS.items():
        if form == "CSR, float32" and name in ("CRS, nn-descent", "Sharpened"):
            continue  # NN-Descent begins differently on sparse rows
        found = SELECTORS[name](similarity=similarity).fit(convert(X), y).sample_indices_.tolist()
        assert found == expected, form


def scores(X, similarity):
    """The similarities of all pairs of different rows, in one order."""
    space = collect(X, resolve(similarity)).space(None)
    i, j = np.triu_indices(space.n_left, 1)
    return space.score(i.astype(np.int32), j.astype(np.int32))


@pytest.mark.parametrize("similarity", ["cosine", "euclidean", "ruzicka"])
@pytest.mark.parametrize("name", ["CRS, exact", "CRS, nn-descent", "DeltaMedoids", "DS3"])
def test_rounding_to_float32_keeps_representatives_if_nothing_is_close(name, similarity):
    """Thirds are rounded by float32, each by less than 2^-24 of itself, so that a similarity moves by less than 1e-6.

    No two similarities, and no similarity and the mean, lie so close together. So every list of neighbors and every
    cut at the threshold is the same, and the representatives follow from these.
    """
    X = np.random.default_rng(5).integers(1, 1000, size=(14, 5)) / 3
    exact = scores(X, similarity)
    moved = np.abs(scores(X.astype(np.float32), similarity) - exact).max()
    gap = np.diff(np.sort(np.append(exact, exact.mean()))).min()
    assert 0 < 2 * moved < gap
    fitted = [SELECTORS[name](similarity=similarity).fit(rows) for rows in (X, X.astype(np.float32))]
    assert fitted[0].sample_indices_.tolist() == fitted[1].sample_indices_.tolist()


def exact_cosine(x, y):
    """The cosine in exact arithmetic, but for the last root."""
    x, y = ([Fraction(float(value)) for value in row] for row in (x, y))
    dot, a, b = (sum(p * q for p, q in zip(*pair, strict=True)) for pair in ((x, y), (x, x), (y, y)))
    return 0.0 if a * b == 0 else math.sqrt(dot * dot / (a * b)) * (1 if dot > 0 else -1)


PAIRS = {
    "usual": ([1.0, 2.0, -3.0], [2.0, 0.5, 2.0]),
    "with zeros": ([0.0, 0.0, 0.0], [2.0, 0.5, 1.0]),
    "mixed in one row": ([1e-9, 1e9, 1.0], [1.0, 1e-8, 2.0]),
    "mixed far in one row": ([1e-200, 1.0, 0.0], [1.0, 1e-200, 0.0]),
    "orthogonal but for the smallest": ([1.0, 0.0, 1e-60], [0.0, 1.0, 1e-60]),
    "each of its own scale": ([1e-70, 3e-70, 0.0], [1e70, -1e70, 2e70]),
}
SCALES = [5e-324, 1e-310, 1e-200, 1e-160, 1e-100, 1e-74, 1.0, 1e74, 1e100, 1e154, 1e200, 1e300]
SINGLE_SCALES = [1e-45, 1e-40, 1e-30, 1e-19, 1e-15, 1.0, 1e15, 1e18, 1e30, 3e37]
REFUSED = r"X holds numbers too (large|small) for float(32|64) arithmetic, first in row \d; scale X (down|up)"


def scaled_pairs(scales, dtype):
    for name, pair in PAIRS.items():
        for scale in scales:
            with np.errstate(over="ignore", under="ignore"):
                rows = (np.array(pair) * scale).astype(dtype)
            if np.isfinite(rows).all():
                yield f"{name} * {scale:g}", rows


@pytest.mark.parametrize("store", [np.asarray, sp.csr_array], ids=["dense", "CSR"])
@pytest.mark.parametrize(("scales", "dtype"), [(SCALES, np.float64), (SINGLE_SCALES, np.float32)])
def test_cosines_of_tiny_huge_and_denormal_rows_are_right_or_refused(store, scales, dtype):
    answered, refusals = 0, []
    for name, rows in scaled_pairs(scales, dtype):
        expected = exact_cosine(*rows)
        try:
            found = scores(store(rows), "cosine")[0]
            mean = covey.homogeneity(store(rows), similarity="cosine").value if (rows[0] != rows[1]).any() else found
        except ValueError as error:
            refusals.append(str(error))
            continue
        answered += 1
        assert abs(found) <= 1, name
        assert found == pytest.approx(expected, rel=1e-12, abs=1e-15), name
        assert found != 0 or abs(expected) < 1e-150, name
        assert mean == pytest.approx(expected, rel=1e-12, abs=1e-15), name
    assert answered >= 10
    assert all(re.match(REFUSED, refusal) for refusal in refusals)


EXACT = {
    "dot": lambda x, y: sum(p * q for p, q in zip(x, y, strict=True)),
    "manhattan": lambda x, y: -sum(abs(p - q) for p, q in zip(x, y, strict=True)),
    "sqeuclidean": lambda x, y: -sum((p - q) ** 2 for p, q in zip(x, y, strict=True)),
    "ruzicka": lambda x, y: sum(map(min, x, y)) / sum(map(max, x, y)),
}


@pytest.mark.parametrize("similarity", EXACT)
@pytest.mark.parametrize("store", [np.asarray, sp.csr_array], ids=["dense", "CSR"])
@pytest.mark.parametrize(("scales", "dtype"), [(SCALES, np.float64), (SINGLE_SCALES, np.float32)])
def test_other_similarities_of_tiny_and_huge_rows_are_right_or_refused(similarity, store, scales, dtype):
    asked = similarity if similarity in ("dot", "ruzicka") else covey.from_distance(similarity, "negative")
    answered, refusals = 0, []
    for name, rows in scaled_pairs(scales, dtype):
        rows = np.abs(rows)
        if similarity == "ruzicka" and not rows.any():
            continue
        exact = EXACT[similarity](*([Fraction(float(value)) for value in row] for row in rows))
        try:
            found = scores(store(rows), asked)[0]
        except ValueError as error:
            refusals.append(str(error))
            continue
        answered += 1
        assert found == pytest.approx(float(exact), rel=1e-12, abs=1e-307), name
    assert answered >= 10
    assert all(re.match(REFUSED, refusal) for refusal in refusals)


@pytest.mark.parametrize("scale", [5e-324, 1e-310, 1e-200, 1.0, 1e100, 1e149, 1e200, 1e308])
def test_gower_of_tiny_and_huge_columns_is_right_or_refused(scale):
    frame = pd.DataFrame({"size": np.array([0.0, 1.0, -1.0]) * scale, "kind": ["a", "a", "b"]})
    try:
        found = scores(frame, "gower")
    except ValueError as error:
        message = str(error)
        assert scale >= 1e150, message
    else:
        assert found.tolist() == pytest.approx([(0.5 + 1) / 2, (0.5 + 0) / 2, 0.0], rel=1e-12)


def symmetric_matrix(n, seed=0):
    """Similarities from -1 to 1 as multiples of 2^-20, so that no sum of them is rounded. The diagonal is 1."""
    rng = np.random.default_rng(seed)
    places = rng.normal(size=(n, 3))
    far = np.linalg.norm(places[:, None] - places, axis=2)
    matrix = np.rint((1 - 2 * far / far.max()) * 2.0**20) / 2.0**20
    return (matrix + matrix.T) / 2


MATRIX = symmetric_matrix(60)
LABELS = np.arange(60) % 2
SCALED = {
    "CRS": lambda unit, **options: covey.CRS(5, **options),
    "CRS, threshold": lambda unit, **options: covey.CRS(5, threshold=0.25 * unit, **options),
    "CRS, all above": lambda unit, **options: covey.CRS(None, threshold=0.25 * unit, **options),
    "CRS, refined": lambda unit, **options: covey.CRS(5, refine=True, **options),
    "DeltaMedoids": lambda unit, **options: covey.DeltaMedoids(**options),
    "DeltaMedoids, not strict": lambda unit, **options: covey.DeltaMedoids(0.25 * unit, strict=False, **options),
    "DS3": lambda unit, **options: covey.DS3(budget=4, **options),
    "DS3, p = 2": lambda unit, **options: covey.DS3(p=2, alpha=0.1, **options),
    "Sharpened": lambda unit, **options: covey.Sharpened(covey.CRS(5, **options), random_state=0),
}


@pytest.mark.parametrize("power", [-480, 480])
@pytest.mark.parametrize("name", SCALED)
def test_very_large_and_very_small_similarities_give_the_same_representatives(name, power):
    """To scale all similarities and the threshold by a power of 2 changes no comparison. 2^480 is 3e144."""
    unit = 2.0**power
    plain = SCALED[name](1.0, similarity="precomputed").fit(MATRIX, LABELS)
    scaled = SCALED[name](unit, similarity="precomputed").fit(MATRIX * unit, LABELS)
    assert scaled.sample_indices_.tolist() == plain.sample_indices_.tolist()
    for label, prototype in plain.prototypes_.items():
        other = scaled.prototypes_[label]
        assert other.covered_by.tolist() == prototype.covered_by.tolist()
        np.testing.assert_allclose(other.homogeneity / unit, prototype.homogeneity, rtol=1e-12)
        np.testing.assert_allclose(other.threshold / unit, prototype.threshold, rtol=1e-12)
        assert np.isfinite(other.gains).all()


@pytest.mark.parametrize("graph", ["exact", "nn-descent"])
@pytest.mark.parametrize("form", ["function", "batched"])
def test_functions_may_return_very_large_numbers(form, graph):
    """What an object counts for itself is 1 for a function, which is nothing beside 2^400 and beside 2^480."""
    matrix, found = symmetric_matrix(300, seed=1), []
    for unit in (2.0**400, 2.0**480):
        values = matrix * unit
        if form == "function":
            similarity = covey.Similarity(lambda a, b, values=values: values[int(a[0]), int(b[0])])
        else:
            similarity = covey.batched(lambda A, B, values=values: values[A[:, 0], B[:, 0]], symmetric=True)
        objects = np.arange(300)[:, None]
        found.append(covey.CRS(10, similarity=similarity, graph=graph, random_state=0).fit(objects))
    assert found[0].sample_indices_.tolist() == found[1].sample_indices_.tolist()
    assert 1 < found[0].sample_indices_.size < 100
    assert found[1].prototypes_[0].homogeneity == found[0].prototypes_[0].homogeneity * 2.0**80


def test_classifiers_answer_alike_if_similarities_are_very_large():
    answers = []
    for unit in (1.0, 2.0**480):
        selector = covey.CRS(5, similarity="precomputed")
        model = covey.NearestPrototypeClassifier(selector, reject="calibrated", rejection_rate=0.2)
        model.fit(MATRIX * unit, LABELS)
        why = model.explain(MATRIX * unit)
        assert np.isfinite(why.margins).all()
        answers.append((model.predict(MATRIX * unit).tolist(), why.representatives.tolist(), why.rejected.tolist()))
    assert answers[0] == answers[1]


@pytest.mark.parametrize("graph", ["exact", "nn-descent"])
@pytest.mark.parametrize("power", [-240, 240])
def test_very_large_and_very_small_dot_products_are_right(power, graph):
    """Rows that are 2^240 times as long have products that are 2^480 times as large."""
    X = np.random.default_rng(0).integers(-40, 50, size=(400, 6)).astype(np.float64)
    X[:, 0] += 90  # so that the mean is far from 0
    plain, scaled = (
        covey.CRS(5, similarity="dot", graph=graph, random_state=0).fit(rows)
        for rows in (X / 256, X / 256 * 2.0**power)
    )
    assert scaled.sample_indices_.tolist() == plain.sample_indices_.tolist()
    assert scaled.prototypes_[0].homogeneity == plain.prototypes_[0].homogeneity * 2.0 ** (2 * power)


def test_sampled_means_and_their_errors_have_floats():
    plain, large = (
        covey.homogeneity(np.arange(400)[:, None], covey.batched(partial(_far, unit), symmetric=True), random_state=0)
        for unit in (1.0, 2.0**498)
    )
    assert large.value == plain.value * 2.0**498
    assert large.standard_error == pytest.approx(plain.standard_error * 2.0**498)


def _far(unit, A, B):
    return np.where((A[:, 0] + B[:, 0]) % 2, unit, -unit)


def test_sums_are_exact():
    values = np.array([1e149, 1.0, -1e149])
    assert total_of(values) == 1
    assert mean_of(total_of(values[:1], np.array([2**33])), 2**33) == 1e149
    assert mean_of(added([total_of(values[:1])] * 7), 7) == 1e149
    assert added([total_of(values[:2]), total_of(values[2:])]) == 1
    assert total_of(np.array([0.25, 0.5])) == 0.75


def test_shards_of_a_cluster_have_a_mean():
    shards = [Means(10**5, value, 0.0, 0) for value in (9e149, 1e149)]
    assert mean_of_cluster(shards) == pytest.approx(5e149)
    assert mean_of_cluster([Means(4, 0.5, 0.5, 2)]) == pytest.approx(0.5)


def test_gains_may_be_larger_than_similarities():
    found = covey.CRS(9, similarity="precomputed", threshold=None).fit(np.full((10, 10), 9e149))
    assert found.prototypes_[0].gains.tolist() == [pytest.approx(9e150)]
    graph = sp.csr_array((np.ones((10, 10)) - np.eye(10)) * 9e149)
    assert covey.cover(graph, with_itself=np.full(10, 9e149)).gains.tolist() == [pytest.approx(9e150)]
    assert as_similarities(np.array([3]), -2).tolist() == [12.0]


@pytest.mark.parametrize("value", [1e150, -1e150, 1e308])
def test_what_is_too_large_is_refused_with_the_names_of_the_objects(value):
    edges = sp.csr_array((np.array([0.5, value]), ([0, 1], [1, 2])), shape=(3, 3))
    for refused in (covey.cover, covey.cover_lower_bound, covey.NeighborGraph.from_csr):
        with pytest.raises(ValueError, match=r"below 1e\+150 in magnitude, got .* for the objects 1 and 2"):
            refused(edges)
    with pytest.raises(ValueError, match=r"below 1e\+150 in magnitude, got .* for the objects 1 and 2"):
        covey.NeighborGraph(np.array([[1], [2], [0]]), np.array([[0.5], [value], [0.5]]))
    with pytest.raises(ValueError, match=r"below 1e\+150 in magnitude .* at row 0, column 1"):
        covey.CRS(1, similarity="precomputed").fit(np.array([[0, value], [value, 0]]))
    with pytest.raises(ValueError, match=r"object 0 and object 1 returned .* below 1e\+150 in magnitude"):
        covey.CRS(1, similarity=lambda a, b: value).fit(["a", "b", "c"])
    with pytest.raises(ValueError, match=r"with_itself must hold a finite number, below 1e\+150 in magnitude"):
        covey.cover(sp.csr_array(np.ones((3, 3))), with_itself=np.full(3, value))


COPIES = (150_000, 49_999, 3, 1)


def test_means_over_ten_billion_pairs_are_right():
    """200 003 rows make 2 * 10^10 pairs, more than 32 bits can count; only four rows are different."""
    different = np.array([[1.0, 0, 0], [1, 1, 0], [0, 1, 1], [0, 0, 1]])
    X = np.repeat(different, COPIES, axis=0)
    for similarity in ("cosine", "dot", "jaccard", "hamming"):
        score = collect(different, resolve(similarity)).space(None).score
        total = Fraction(0)
        for a, m in enumerate(COPIES):
            for b, other in enumerate(COPIES[a:], start=a):
                n_pairs = m * (m - 1) // 2 if a == b else m * other
                total += n_pairs * Fraction(float(score(np.array([a], np.int32), np.array([b], np.int32))[0]))
        n = sum(COPIES)
        expected = float(total / (n * (n - 1) // 2))
        found = covey.homogeneity(X, similarity=similarity, random_state=0)
        # Cosine and dot add up n rows, and each addition rounds by at most 2^-53.
        error = 6 * found.standard_error + 2 * n * 2.0**-53 * expected
        assert found.value == pytest.approx(expected, abs=error)


def test_selections_of_ten_billion_pairs_count_right():
    X = np.repeat(np.array([[1.0, 0, 0], [1, 1, 0], [0, 1, 1], [0, 0, 1]]), COPIES, axis=0)
    n = sum(COPIES)
    for selector in (covey.CRS(2, similarity="jaccard"), covey.DeltaMedoids(similarity="jaccard"), covey.DS3(budget=2)):
        found = selector.fit(X)
        prototype = found.prototypes_[0]
        assert prototype.members.size == n
        assert 0 < found.n_evaluations_ <= 6 + 4
        assert found.scan_rate_ == pytest.approx(found.n_evaluations_ / (n * (n - 1) / 2), rel=1e-12)
        assert prototype.stands_for.sum() == np.count_nonzero(prototype.covered_by >= 0)


def test_merged_objects_of_a_hundred_thousand_copies_each_make_ten_billion_pairs():
    copies = np.array([10**5, 10**5, 10**9], dtype=np.int64)
    values = symmetric_matrix(3)
    space = collect(values, resolve("precomputed")).space(None)
    found, _ = mean_similarity(space, copies, np.random.default_rng(0))
    n, total = int(copies.sum()), Fraction(0)
    for a in range(3):
        for b in range(3):
            total += Fraction(values[a, b]) * int(copies[a]) * (int(copies[b]) - (a == b))
    assert found.value == pytest.approx(float(total / (n * (n - 1))), rel=1e-12)
    cover = covey.cover(sp.csr_array(np.where(np.eye(3), 0, values)), 1.0, multiplicity=copies)
    assert cover.coverage == 1
    assert cover.gains.sum() <= n * (1 + 1e-9)


def test_weights_of_ten_billion_count_exactly():
    graph = sp.csr_array(np.array([[0, 0.5, 0], [0.5, 0, 0], [0, 0, 0]]))
    found = covey.cover(graph, 0.9, gain="count", sample_weight=np.array([1e10, 3e10, 1.0]))
    assert (found.indices.tolist(), found.gains.tolist()) == ([0], [4e10])
    found = covey.cover(graph * 1e149, 0.9, sample_weight=np.array([2.0**990, 2.0**990, 1.0]))
    assert found.indices.tolist() == [0]
    assert found.gains.tolist() == [np.finfo(np.float64).max]


class Codes:
    """Draws the given pairs instead of random ones."""

    def __init__(self, codes):
        self.codes = codes

    def choice(self, n, size, replace, shuffle):
        assert self.codes.max() < n
        return self.codes


def test_pairs_of_two_billion_objects_are_drawn_without_overflow():
    n = 2**31 - 1
    last = n * (n - 1) // 2 - 1
    around = [j * (j - 1) // 2 for j in (2, 3, 2**16, 2**20 + 1, 2**30, 2**31 - 2)]
    codes = np.array([0, 1, *(code + by for code in around for by in (-1, 0, 1)), last - 1, last], dtype=np.int64)
    i, j = draw_pairs(n, codes.size, Codes(codes))
    for code, low, high in zip(codes.tolist(), i.tolist(), j.tolist(), strict=True):
        assert 0 <= low < high < n
        assert high * (high - 1) // 2 + low == code
    i, j = draw_pairs(n, 1000, np.random.default_rng(0))
    assert (i < j).all()
    assert i.min() >= 0


def test_pairs_of_two_billion_objects_are_told_apart():
    n = 2**31 - 1
    i = np.array([0, 0, 1, n - 2, n - 3, 0], dtype=np.int32)
    j = np.array([1, n - 1, n - 1, n - 1, n - 1, n - 1], dtype=np.int32)
    memory = HashedPairs(1)  # the number of objects decides only about marks, which would take 17 GB
    assert memory.add(i, j).tolist() == [True, True, True, True, True, False]


def test_places_of_pairs_beyond_32_bits_are_right():
    n = 200_000

    class Many:
        n_left, symmetric, n_pairs = n, True, n * (n - 1) // 2

    kept = EvaluatedSimilarities.__new__(EvaluatedSimilarities)
    kept.space = Many
    i, j = (np.array(side, dtype=np.int32) for side in ([0, 0, 100_000, n - 2], [1, n - 1, 100_001, n - 1]))
    expected = [0, n - 2, 100_000 * n - 100_000 * 100_001 // 2, n * (n - 1) // 2 - 1]
    assert kept._places(i, j).tolist() == expected
    assert kept._places(j, i).tolist() == expected
    Many.symmetric = False
    assert kept._places(i, j).tolist() == [int(a) * n + int(b) for a, b in zip(i, j, strict=True)]


def test_spaces_of_many_objects_count_pairs_exactly():
    space = collect(np.ones((200_000, 1), dtype=np.float32), resolve("dot")).space(None)
    assert space.n_pairs == 200_000 * 199_999 // 2
    space.count(2**40)
    space.count(2**40)
    assert space.n_evaluations == 2**41
    assert space.scan_rate == 2**41 / space.n_pairs


def test_single_precision_is_compared_with_the_largest_similarity_without_a_warning():
    """The largest similarity has no float32. Warnings are errors here."""
    X = np.random.default_rng(0).random((40, 5)).astype(np.float32)
    matrix = X @ X.T
    edges = covey.neighbor_graph(X, 3).to_csr()
    edges.data = edges.data.astype(np.float32)
    for similarity, objects in (
        ("precomputed", matrix),
        ("precomputed", sp.csr_array(matrix)),
        (covey.batched(lambda a, b: (np.asarray(a) * np.asarray(b)).sum(axis=1).astype(np.float32)), X),
        (lambda a, b: np.float32(a @ b), list(X)),
        ("gower", X),
    ):
        assert covey.CRS(3, similarity=similarity).fit(objects).sample_indices_.size
    assert covey.cover(edges, 0.9).indices.size


@pytest.mark.parametrize("value", [10**400, -(10**400), 10**151, 1e151])
def test_numbers_too_large_for_a_profile_are_refused_in_words(value):
    with pytest.raises(ValueError, match=r"^X must hold dicts of numbers, all finite, .* but object 0 holds"):
        covey.CRS(1).fit([{"a": value, "b": 1}, {"a": 1}])
