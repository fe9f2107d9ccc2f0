"""Packed bits under "jaccard" give, to the last bit, what the same bits as columns of a CSR array give."""

import pickle
import re

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import cross_val_predict

import covey
from covey.exceptions import FileFormatError
from covey.similarity.collection import Collection
from covey.similarity.kinds import bits as bit_rows
from covey.similarity.kinds import collect
from covey.similarity.kinds.bits import BitRows
from covey.similarity.measures import MEASURES, NAMED, resolve
from covey.similarity.packed_bits import PackedBits
from tests.damage import change_file

JACCARD = resolve("jaccard")


def random_bits(n, width, density, seed=0):
    """Rows of bits, some of which are there twice; the first row is empty."""
    rng = np.random.default_rng(seed)
    bits = rng.random((n, width)) < density * rng.random((n, 1))
    bits[0] = False
    bits[n // 2 :: 5] = bits[: len(bits[n // 2 :: 5])]
    return bits


def packed(bits, dtype=np.uint8):
    """The bits as `numpy.packbits` packs them, filled up to whole words if these are asked for."""
    filled = np.pad(bits, ((0, 0), (0, -bits.shape[1] % (8 * np.dtype(dtype).itemsize))))
    return PackedBits(np.packbits(filled, axis=1).view(dtype))


problems = st.tuples(
    st.integers(2, 60), st.integers(1, 300), st.sampled_from([0.05, 0.4, 1.0]), st.integers(0, 1000)
).map(lambda parts: random_bits(*parts))


@settings(deadline=None, max_examples=60)
@given(problems, st.sampled_from([np.uint8, np.uint64]), st.integers(1, 12))
def test_the_exact_graph_is_that_of_a_csr_array(bits, dtype, k):
    ours = covey.neighbor_graph(packed(bits, dtype), k, "jaccard", method="exact")
    theirs = covey.neighbor_graph(sp.csr_array(bits), k, "jaccard", method="exact")
    np.testing.assert_array_equal(ours.indices, theirs.indices)
    np.testing.assert_array_equal(ours.similarities, theirs.similarities)
    assert ours.n_evaluations == theirs.n_evaluations


@settings(deadline=None, max_examples=40)
@given(problems, st.sampled_from([np.uint8, np.uint64]), st.integers(1, 12), st.sampled_from([0.2, "homogeneity"]))
def test_the_same_objects_are_picked_as_from_a_csr_array(bits, dtype, k, threshold):
    labels = np.arange(len(bits)) % 2
    selector = covey.CRS(k, similarity="jaccard", threshold=threshold, random_state=0)
    ours, theirs = (
        covey.CRS(**selector.get_params()).fit(X, labels) for X in (packed(bits, dtype), sp.csr_array(bits))
    )
    np.testing.assert_array_equal(ours.sample_indices_, theirs.sample_indices_)
    assert ours.n_evaluations_ == theirs.n_evaluations_
    for label in (0, 1):
        a, b = ours.prototypes_[label], theirs.prototypes_[label]
        np.testing.assert_array_equal(a.covered_by, b.covered_by)
        np.testing.assert_array_equal([a.threshold, a.homogeneity], [b.threshold, b.homogeneity])


def test_nn_descent_finds_what_it_finds_in_a_csr_array():
    bits = random_bits(1500, 200, 0.3)
    ours, theirs = (
        covey.neighbor_graph(X, 8, "jaccard", method="nn-descent", random_state=0, n_jobs=n_jobs)
        for X, n_jobs in ((packed(bits), 2), (sp.csr_array(bits), 1))
    )
    np.testing.assert_array_equal(ours.indices, theirs.indices)
    np.testing.assert_array_equal(ours.similarities, theirs.similarities)


@pytest.mark.parametrize("density", [0.02, 0.5, 1.0])
@pytest.mark.parametrize("shape", [(3, 1, 1), (5, 64, 130), (2, 70, 5000), (4, 65, 8192)])
def test_blocks_count_the_common_bits_of_all_pairs(shape, density):
    """Counts beyond 255, rows wider than what is laid into planes at a time, and columns that fill no whole word."""
    n_left, n_right, width = shape
    rng = np.random.default_rng(width)
    left, right = (rng.random((n, width)) < density for n in (n_left, n_right))
    found = BitRows(packed(left)).products(slice(0, n_left), BitRows(packed(right)), slice(0, n_right))
    np.testing.assert_array_equal(found, left.astype(float) @ right.T.astype(float))
    assert 64 * bit_rows.WORDS_AT_ONCE < 8192


def test_estimates_of_blocks_are_the_similarities_themselves():
    space = collect(packed(random_bits(90, 150, 0.4)), JACCARD).space()
    i, j = (side.ravel().astype(np.int32) for side in np.mgrid[10:90, 5:70])
    estimates = space.estimates(slice(10, 90), slice(5, 70))
    np.testing.assert_array_equal(estimates.ravel(), space.score(i, j))
    assert not space.slack(slice(10, 90)).any()


@pytest.fixture
def registered():
    """Measures of rows of 0 and 1, one for each sum over coordinates, and one that is a product."""
    made = {
        f"by {statistic}": covey.Measure(statistic, lambda sums, a, b, width: sums / width, domain="binary")
        for statistic in ("dot", "minimum", "squared", "absolute", "mismatches")
    }
    made["product"] = covey.Measure(
        "dot", lambda dot, a, b, width: dot, term="dot", domain="binary", is_product=True, with_itself=lambda a: a
    )
    for name, measure in made.items():
        covey.register_similarity(name, measure)
    yield list(made)
    for name in made:
        del MEASURES[name], NAMED[name]


def test_measures_of_the_users_own_see_each_bit_as_a_column(registered):
    bits = random_bits(70, 128, 0.5)
    i, j = np.random.default_rng(0).integers(0, 70, (2, 200)).astype(np.int32)
    for name in registered:
        ours, theirs = (collect(X, resolve(name)).space() for X in (packed(bits), sp.csr_array(bits)))
        np.testing.assert_array_equal(ours.score(i, j), theirs.score(i, j))
        assert covey.homogeneity(packed(bits), name, random_state=0) == covey.homogeneity(
            sp.csr_array(bits), name, random_state=0
        )


# How packed bits are recognised


def test_bytes_and_words_above_1_are_read_as_packed_bits():
    bits = random_bits(30, 256, 0.3)
    graph = covey.neighbor_graph(sp.csr_array(bits), 3, "jaccard")
    for dtype in (np.uint8, np.uint64):
        found = covey.neighbor_graph(np.asarray(packed(bits, dtype)), 3, "jaccard")
        np.testing.assert_array_equal(found.indices, graph.indices)
        np.testing.assert_array_equal(found.similarities, graph.similarities)


def test_bytes_of_0_and_1_are_columns_unless_they_are_wrapped():
    rows = np.array([[1, 1, 0], [1, 0, 0], [0, 1, 1]], dtype=np.uint8)
    assert covey.homogeneity(rows, "jaccard").value == pytest.approx((1 / 2 + 1 / 3 + 0) / 3)
    assert covey.homogeneity(PackedBits(rows), "jaccard").value == pytest.approx((1 / 2 + 1 / 3 + 0) / 3)
    few = np.array([[1], [1]], dtype=np.uint8)
    assert collect(few, JACCARD).space()._left.width == 1
    assert collect(PackedBits(few), JACCARD).space()._left.width == 8


@pytest.mark.parametrize("dtype", [np.int64, np.int8, np.float32, np.uint16])
def test_other_types_of_numbers_above_1_are_refused(dtype):
    with pytest.raises(ValueError, match=r"rows of 0 and 1 .* got 2.*packed bits must be of type uint8 or uint64"):
        covey.CRS(similarity="jaccard").fit(np.array([[0, 2], [1, 0]], dtype=dtype))
    with pytest.raises(TypeError, match="Packed bits must be an array of type uint8 or uint64, got"):
        PackedBits(np.array([[0, 2]], dtype=dtype))


@pytest.mark.parametrize("similarity", ["cosine", "hamming", covey.from_distance("manhattan")])
def test_similarities_of_other_numbers_refuse_packed_bits(similarity):
    with pytest.raises(ValueError, match=r"X must hold rows of numbers for .*, got packed bits; use 'jaccard'"):
        covey.CRS(similarity=similarity).fit(packed(random_bits(9, 40, 0.3)))
    plain = np.asarray(packed(random_bits(9, 40, 0.3)))
    assert covey.CRS(similarity=similarity).fit(plain).n_features_in_ == 5  # bytes are numbers to them, as ever


def test_a_function_of_the_users_own_gets_the_bytes():
    def common(a, b):
        return int.from_bytes(bytes(a & b), "big").bit_count()

    bits = random_bits(12, 40, 0.5)
    dot = (bits.astype(int) @ bits.T)[0, 1:]
    np.testing.assert_array_equal(collect(packed(bits), resolve(common)).space().score(
        np.zeros(11, np.int32), np.arange(1, 12, dtype=np.int32)), dot)  # fmt: skip


def test_packed_bits_need_two_dimensions():
    with pytest.raises(ValueError, match=re.escape("must have two dimensions, a row for each object, got shape (3,)")):
        PackedBits(np.zeros(3, dtype=np.uint8))


def test_calculations_with_packed_bits_give_plain_arrays_and_rows_stay_packed():
    bits = packed(random_bits(9, 40, 0.3))
    assert type(bits & 1) is type(bits == 0) is np.ndarray
    assert type(bits.sum()) is np.uint64
    for same in (bits[2:5], bits[np.array([3, 1])], pickle.loads(pickle.dumps(bits)), np.concatenate([bits, bits])):
        assert type(same) is PackedBits


# What is done with them


def test_equal_rows_are_merged_and_have_equal_hashes_in_every_part():
    bits = random_bits(40, 70, 0.3)
    for dtype in (np.uint8, np.uint64):
        whole = collect(packed(bits, dtype), JACCARD)
        kinds = np.unique(bits, axis=0, return_inverse=True)[1]
        same = kinds[:, None] == kinds
        np.testing.assert_array_equal(whole.distinct().kind[:, None] == whole.distinct().kind, same)
        parts = [collect(packed(bits[rows], dtype), JACCARD) for rows in (slice(0, 13), slice(13, 40))]
        hashes = np.concatenate([part.content_hashes() for part in parts])
        np.testing.assert_array_equal(hashes[:, None] == hashes, same)
        found = Collection.joined(parts)
        assert (type(found.objects), found.n_columns) == (PackedBits, whole.n_columns)
        np.testing.assert_array_equal(found.objects, whole.objects)
        assert type(pickle.loads(pickle.dumps(found)).objects) is PackedBits


def test_parts_that_are_packed_in_different_ways_are_not_joined():
    bits = random_bits(40, 512, 0.3)
    parts = [collect(packed(bits, np.uint8)[:, :8], JACCARD), collect(packed(bits, np.uint64), JACCARD)]
    with pytest.raises(ValueError, match=r"packed bits in 8 columns of uint8 .* packed bits in 8 columns of uint64"):
        Collection.joined(parts)


def test_rows_are_read_wherever_they_lie_in_memory():
    bits = random_bits(30, 192, 0.3)
    graph = covey.neighbor_graph(packed(bits), 3, "jaccard")
    plain = np.asarray(packed(bits))
    unaligned = np.frombuffer(b"x" + plain.tobytes(), dtype=np.uint8, offset=1).reshape(plain.shape)
    for other in (np.asfortranarray(plain), np.repeat(plain, 2, axis=0)[::2], unaligned):
        found = covey.neighbor_graph(PackedBits(other), 3, "jaccard")
        np.testing.assert_array_equal(found.similarities, graph.similarities)


@pytest.mark.parametrize("wrapped", [True, False])
def test_selected_rows_keep_the_type_of_x(wrapped):
    X = packed(random_bits(40, 70, 0.3)) if wrapped else np.asarray(packed(random_bits(40, 70, 0.3)))
    few, labels = covey.CRS(3, similarity="jaccard").fit_resample(X, np.arange(40) % 2)
    assert (type(few), few.dtype, few.shape) == (type(X), X.dtype, (labels.size, 9))


def classifier():
    return covey.NearestPrototypeClassifier(covey.CRS(3, similarity="jaccard", random_state=0))


def test_a_classifier_answers_as_from_a_csr_array():
    bits, labels = random_bits(80, 130, 0.3), np.arange(80) % 3
    ours, theirs = (
        classifier().fit(packed(bits[:50]), labels[:50]),
        classifier().fit(sp.csr_array(bits[:50]), labels[:50]),
    )
    assert ours.n_features_in_ == 17
    a, b = ours.explain(packed(bits[50:])), theirs.explain(sp.csr_array(bits[50:]))
    for name in ("labels", "representatives", "similarities", "margins"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
    np.testing.assert_array_equal(ours.transform(packed(bits[50:])), theirs.transform(sp.csr_array(bits[50:])))
    assert cross_val_predict(classifier(), packed(bits), labels, cv=3).shape == (80,)


def test_objects_to_classify_are_read_as_those_of_the_fit_were():
    X = np.array([[3, 0], [1, 0], [0, 3], [0, 1]], dtype=np.uint8)  # the sets {0, 1}, {0}, {8, 9} and {8}
    fitted = covey.NearestPrototypeClassifier(covey.KeepAll(similarity="jaccard")).fit(X, list("aabb"))
    few = np.array([[1, 0], [1, 1]], dtype=np.uint8)
    np.testing.assert_array_equal(fitted.nearest_prototypes(few, 4)[1], [[1, 0.5, 0, 0], [0.5, 0.5, 1 / 3, 1 / 3]])
    for other in (few.astype(np.int64), few.tolist(), few.astype(np.uint64)):
        with pytest.raises(TypeError, match="X must hold packed bits of type uint8, as the X passed to fit, got"):
            fitted.predict(other)
    with pytest.raises(ValueError, match="X has 3 features, but NearestPrototypeClassifier is expecting 2"):
        fitted.predict(np.zeros((1, 3), dtype=np.uint8))
    plain = covey.NearestPrototypeClassifier(covey.KeepAll(similarity="jaccard")).fit(few, list("ab"))
    for other in (X, PackedBits(few)):
        with pytest.raises(TypeError, match="X must not hold packed bits, because the X passed to fit did not"):
            plain.predict(other)


def model_file(path, bits=None):
    bits = random_bits(40, 70, 0.3) if bits is None else bits
    fitted = classifier().fit(packed(bits), np.arange(40) % 2)
    covey.save(fitted, path, {"kept": packed(bits)})
    return fitted


def test_a_model_of_packed_bits_is_saved_and_loaded(tmp_path):
    bits = np.zeros((40, 70), dtype=bool)
    bits[:, 7::8] = random_bits(40, 8, 0.5)  # all bytes are 0 or 1, which only the class of the array makes packed bits
    fitted = model_file(tmp_path / "model", bits)
    loaded = covey.load(tmp_path / "model")
    assert type(loaded.representatives_) is PackedBits
    queries = packed(random_bits(30, 70, 0.4, seed=1))
    np.testing.assert_array_equal(loaded.class_evidence(queries), fitted.class_evidence(queries))


def swap(content, name, change):
    """Change what the JSON part holds for an attribute of the classifier."""
    state = content["content"]["NearestPrototypeClassifier"]["state"]
    state[name] = change(state[name])


DAMAGE = {
    "plain numbers": lambda content, arrays: swap(
        content, "representatives_", lambda found: {"array": found["packed"]}
    ),
    "other types": lambda content, arrays: arrays.__setitem__(slice(None), [array.astype(float) for array in arrays]),
    "no rows": lambda content, arrays: swap(content, "representatives_", lambda found: {"packed": 99}),
    "no array": lambda content, arrays: swap(content, "representatives_", lambda found: {"packed": [[1]]}),
    "other columns": lambda content, arrays: arrays.__setitem__(
        slice(None), [array[:, :2] if array.ndim == 2 else array for array in arrays]
    ),
    "another similarity": lambda content, arrays: content["content"]["NearestPrototypeClassifier"]["state"][
        "selector_"
    ]["CRS"]["parameters"].update(similarity="cosine"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_model_of_packed_bits_is_refused(tmp_path, damage):
    model_file(tmp_path / "model")
    covey.load(tmp_path / "model")
    change_file(tmp_path / "model", DAMAGE[damage])
    with pytest.raises(FileFormatError, match="model"):
        covey.load(tmp_path / "model")
