"""A similarity of a user's own gets a name and then works like those that covey has."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp

import covey
from covey.exceptions import FileFormatError
from covey.similarity.measures import MEASURES, NAMED
from tests import reference
from tests.forms import space_of

DENSE = (np.random.default_rng(0).random((40, 9)) < 0.4).astype(int)
DENSE[:, 0] |= DENSE.sum(axis=1) == 0  # no set is empty
SETS = [{f"column {column}" for column in np.flatnonzero(row)} for row in DENSE]
FORMS = {"dense": DENSE, "CSR": sp.csr_array(DENSE), "sets": SETS}


def dice(a, b):
    """The obvious version, of two sets."""
    return 2 * len(a & b) / (len(a) + len(b))


def same_first_letter(a, b):
    return float(a[0] == b[0])


@pytest.fixture
def named_dice():
    def finish(shared, a, b, width):
        return 2 * shared / (a + b)

    covey.register_similarity("my dice", covey.Measure("dot", finish, term="dot", domain="binary"))


@pytest.mark.usefixtures("named_dice")
@pytest.mark.parametrize("form", FORMS)
def test_the_graph_is_that_of_the_obvious_version(form):
    graph = covey.neighbor_graph(FORMS[form], n_neighbors=5, similarity="my dice", method="exact")
    expected = reference.neighbors(lambda i, j: dice(SETS[i], SETS[j]), len(SETS), 5)
    assert graph.indices.tolist() == [[j for j, _ in others] for others in expected]
    assert graph.similarities.tolist() == [[similarity for _, similarity in others] for others in expected]
    assert graph.n_evaluations == len(SETS) * (len(SETS) - 1) // 2


@pytest.mark.usefixtures("named_dice")
@pytest.mark.parametrize("form", FORMS)
def test_crs_picks_what_it_picks_with_the_obvious_version(form):
    found = covey.CRS(4, similarity="my dice").fit(FORMS[form]).prototypes_[0]
    expected = covey.CRS(4, similarity=dice).fit([frozenset(profile) for profile in SETS]).prototypes_[0]
    assert found.indices.tolist() == expected.indices.tolist()
    assert found.covered_by.tolist() == expected.covered_by.tolist()
    assert found.homogeneity == pytest.approx(expected.homogeneity, rel=1e-12)


@pytest.mark.usefixtures("named_dice")
def test_a_classifier_is_saved_with_the_name_alone(tmp_path):
    labels = DENSE[:, 1]
    model = covey.NearestPrototypeClassifier(covey.CRS(3, similarity="my dice")).fit(SETS, labels)
    covey.save(model, tmp_path / "model")
    loaded = covey.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict(SETS), model.predict(SETS))


@pytest.mark.usefixtures("named_dice")
@pytest.mark.parametrize("form", FORMS)
def test_a_fitted_classifier_is_pickled_although_the_measure_holds_a_local_function(form):
    model = covey.NearestPrototypeClassifier(covey.CRS(3, similarity="my dice")).fit(FORMS[form], DENSE[:, 1])
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(FORMS[form]), model.predict(FORMS[form]))


@pytest.mark.usefixtures("named_dice")
def test_numbers_outside_the_domain_are_refused_by_the_new_name():
    with pytest.raises(ValueError, match="X must hold sets or rows of 0 and 1 for similarity='my dice', got 2"):
        covey.homogeneity([[2, 0], [1, 1]], similarity="my dice")


@pytest.mark.parametrize(
    "similarity",
    [
        same_first_letter,
        covey.Similarity(same_first_letter),
        covey.batched(lambda A, B: [same_first_letter(a, b) for a, b in zip(A, B, strict=True)]),
        covey.from_distance(lambda a, b: 1e9 * (a[0] != b[0])),
    ],
)
def test_a_callable_gets_a_name_in_every_form(similarity):
    covey.register_similarity("same first letter", similarity)
    words = ["cat", "cow", "dog", "deer", "doe"]
    found = covey.homogeneity(words, similarity="same first letter")
    assert found.value == pytest.approx(4 / 10)
    assert found.n_evaluations == 10


def test_a_name_is_listed_wherever_names_are():
    assert "same first letter" not in covey.similarity_names()
    covey.register_similarity("same first letter", same_first_letter)
    assert "same first letter" in covey.similarity_names() == sorted(covey.similarity_names())
    with pytest.raises(ValueError, match=r"similarity must be .* one of .*'same first letter'.*, got 'unheard of'"):
        covey.CRS(similarity="unheard of").fit([[1], [2]])


@pytest.mark.parametrize("name", ["cosine", "levenshtein", "precomputed", "manhattan"])
def test_a_name_that_is_taken_is_refused(name):
    with pytest.raises(ValueError, match=f"name must not be taken, but '{name}' is the name of a similarity or dist"):
        covey.register_similarity(name, same_first_letter)


def test_a_name_of_ones_own_is_taken_as_well():
    covey.register_similarity("same first letter", same_first_letter)
    with pytest.raises(ValueError, match="name must not be taken"):
        covey.register_similarity("same first letter", dice)


@pytest.mark.parametrize("name", ["", None, 3])
def test_a_name_must_be_a_string(name):
    with pytest.raises(TypeError, match="name must be a string that is not empty"):
        covey.register_similarity(name, dice)


def test_what_is_no_similarity_gets_no_name():
    with pytest.raises(ValueError, match="similarity must be a callable"):
        covey.register_similarity("nothing", 3)
    assert "nothing" not in covey.similarity_names()


@pytest.mark.usefixtures("named_dice")
def test_a_name_that_is_not_registered_any_more_is_asked_for(tmp_path):
    model = covey.NearestPrototypeClassifier(covey.CRS(3, similarity="my dice")).fit(DENSE, DENSE[:, 1])
    covey.save(model, tmp_path / "model")
    del NAMED["my dice"], MEASURES["my dice"]
    with pytest.raises(FileFormatError, match=r"holds the similarity 'my dice', .* covey.register_similarity first"):
        covey.load(tmp_path / "model")
    with pytest.raises(ValueError, match=r"similarity 'my dice' is not registered in this program"):
        model.predict(DENSE)


def test_bounds_are_only_made_of_sums_that_they_hold_for():
    """A measure of minima may have estimates, but bounds of products say nothing about it."""
    measure = covey.Measure(
        "minimum",
        lambda common, a, b, width: common,
        term="minimum",
        estimate=lambda products, a, b: products,
        slack=lambda rounding, a, b: np.full(a.size, np.inf),
    )
    covey.register_similarity("common part", measure)
    assert space_of(DENSE, "common part").bounds() is None
    assert space_of(DENSE, "dot").bounds() is not None
