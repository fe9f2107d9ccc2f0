"""DS3 against the whole linear program, against enumeration, and against its own certificates."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

import covey
from covey.runtime import memory
from covey.selectors import ds3
from covey.selectors.base import Cluster
from covey.selectors.ds3 import facility
from covey.selectors.ds3.facility import Openings
from covey.similarity.measures import resolve
from covey.similarity.similarity import Similarity
from tests.attack import sparse
from tests.forms import Counted, similarity_matrix, space_of
from tests.selectors.ds3.cases import largest_lambda, nobody, once, random_costs, two_norm


@pytest.mark.parametrize("symmetric", [True, False])
def test_a_budget_of_one_is_the_medoid(symmetric):
    values = similarity_matrix(40, np.random.default_rng(0), symmetric)
    selector = covey.DS3(1, similarity=Similarity(Counted(values, symmetric), symmetric=symmetric)).fit(list(range(40)))
    assert selector.sample_indices_.tolist() == [np.argmax(values.sum(axis=0))]
    assert selector.duality_gap_ < 1e-6
    assert selector.row_weights_[selector.sample_indices_] == pytest.approx(1)
    np.testing.assert_array_equal(selector.prototypes_[0].covered_by, selector.sample_indices_[0])


@pytest.mark.parametrize("options", [{"budget": 3}, {"alpha": 0.2}, {"alpha": 0.2, "p": 2}])
def test_the_order_of_objects_does_not_matter(options):
    X = np.random.default_rng(0).random((60, 3))
    order = np.random.default_rng(1).permutation(60)
    plain = covey.DS3(**options, similarity="euclidean").fit(X)
    moved = covey.DS3(**options, similarity="euclidean").fit(X[order])
    assert set(order[moved.sample_indices_]) == set(plain.sample_indices_)
    np.testing.assert_allclose(moved.row_weights_, plain.row_weights_[order], atol=0.02)


@pytest.mark.parametrize("options", [{}, {"alpha": 0.5}, {"alpha": 0.5, "p": 2}, {"outliers": True}])
def test_nothing_but_the_same(options):
    selector = covey.DS3(**options).fit(np.ones((20, 3)))
    assert selector.sample_indices_.tolist() == [0]
    assert selector.duality_gap_ == 0
    single = covey.DS3(**options).fit(np.ones((1, 3)))
    assert single.sample_indices_.tolist() == [0]


def test_duplicates_share_a_representative():
    X = np.repeat(np.random.default_rng(0).random((6, 3)), 5, axis=0)
    selector = covey.DS3(6, similarity="euclidean").fit(X)
    assert len({tuple(x) for x in X[selector.sample_indices_]}) == 6
    assert selector.sample_indices_.size == 6
    np.testing.assert_array_equal(X[selector.prototypes_[0].covered_by], X)


def test_every_pair_is_evaluated_once():
    for symmetric, n_pairs in ((True, 30 * 29 // 2), (False, 30 * 29)):
        counted = Counted(similarity_matrix(30, np.random.default_rng(0), symmetric), symmetric)
        selector = covey.DS3(similarity=Similarity(counted, symmetric=symmetric)).fit(list(range(30)))
        assert selector.n_evaluations_ == len(counted.calls) == len(set(counted.pairs)) == n_pairs
        assert selector.scan_rate_ == 1


def test_costs_follow_the_direction():
    """Representing x by r costs as much as s(x, r) falls short."""
    values = np.array([[1.0, 0.2, 0.9], [0.5, 1.0, 0.7], [0.1, 0.3, 1.0]])
    space = space_of(values, resolve("precomputed"))
    costs, mean = ds3.dissimilarities(space, once(space.n_left), 4)
    expected = (0.9 - values.T) / 0.8
    np.fill_diagonal(expected, 0)
    np.testing.assert_allclose(costs, expected, rtol=1e-6)
    assert mean == pytest.approx((0.2 + 0.9 + 0.5 + 0.7 + 0.1 + 0.3) / 6)


def test_a_fractional_optimum_uses_more_objects_than_the_budget():
    """The example of the docstring: 24 for a budget of 3, whose weights add up to 3."""
    selector = covey.DS3(3, similarity="euclidean").fit(np.random.default_rng(0).random((700, 4)))
    assert selector.sample_indices_.size == 24
    assert selector.row_weights_.sum() == pytest.approx(3, abs=1e-3)
    assert selector.duality_gap_ < 1e-6


def test_far_objects_become_outliers():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(0, 0.1, (40, 2)), rng.normal(5, 0.1, (40, 2)), [[60.0, -40.0]]])
    similarity = covey.from_distance("euclidean", "negative")
    for options in ({"budget": 2}, {"alpha": 0.2}, {"alpha": 0.01, "p": 2}):
        selector = covey.DS3(**options, outliers=True, sigma=0.2, similarity=similarity).fit(X)
        assert selector.outliers_.tolist() == [80]
        assert selector.prototypes_[0].covered_by[80] == -1
        assert selector.prototypes_[0].coverage == 80 / 81
        assert 80 not in selector.sample_indices_
    assert covey.DS3(2, similarity=similarity).fit(X).outliers_.size == 0


@pytest.mark.parametrize("p", [2, np.inf])
def test_where_nobody_is_worth_a_representative_one_stands_for_itself(p):
    X = np.random.default_rng(0).random((30, 3))
    selector = covey.DS3(alpha=1.0, p=p, outliers=True, beta=0.01).fit(X)
    assert selector.sample_indices_.size == 1
    assert selector.outliers_.size == 29
    assert selector.prototypes_[0].coverage == 1 / 30
    assert not selector.row_weights_.any()


@pytest.mark.parametrize("scale", [1e-25, 1e-8, 1e20])
def test_the_scale_of_similarities_does_not_matter(scale):
    X = np.random.default_rng(0).random((40, 3))
    plain, scaled = (covey.DS3(2, similarity="dot").fit(rows) for rows in (X, X * scale))
    assert plain.sample_indices_.tolist() == scaled.sample_indices_.tolist()
    np.testing.assert_allclose(plain.row_weights_, scaled.row_weights_, atol=1e-3)


def test_who_is_represented_at_no_cost_is_no_outlier():
    values = np.full((6, 6), 0.1)
    values[:2], values[:, :2] = 1, 1
    np.fill_diagonal(values, 1)
    assert covey.DS3(1, similarity="precomputed", outliers=True).fit(values).outliers_.size == 0


def test_wrong_parameters_and_too_many_objects(monkeypatch):
    X = np.random.default_rng(0).random((50, 3))
    with pytest.raises(ValueError, match="p must be inf with a budget, got 2; pass alpha"):
        covey.DS3(3, p=2).fit(X)
    with pytest.raises(ValueError, match="'budget' parameter of DS3 must be a float in the range"):
        covey.DS3(0.5).fit(X)
    with pytest.warns(ConvergenceWarning, match="DS3 stopped at a duality gap of"):
        covey.DS3(alpha=0.2, p=2, max_iter=2).fit(X)
    monkeypatch.setattr(memory.os, "sysconf", lambda name: 50)
    with pytest.raises(MemoryError, match=r"DS3 on a cluster of 50 objects needs .* draw a sample of it"):
        covey.DS3().fit(X)


def test_a_class_of_fashion_mnist_is_solved(fashion):
    X = fashion[0][fashion[1] == 1][:1500].astype(np.float32)
    selector = covey.DS3(3, n_jobs=2).fit(X)
    assert selector.duality_gap_ < 1e-6
    assert 3 <= selector.sample_indices_.size <= 9
    assert selector.row_weights_.sum() == pytest.approx(3, abs=0.01)


@pytest.mark.parametrize("outliers", [{}, {"outliers": True, "beta": 0.3, "sigma": 0.01}])
@pytest.mark.parametrize(("options", "most"), [({"budget": 2.5}, 1e-6), ({"alpha": 0.1, "p": 2}, 1e-3)])
def test_the_gap_is_small_where_next_to_nothing_is_spent(options, most, outliers):
    """Of few values many are no cost at all, outliers may cost nearly nothing, and lambda_max may be 0 for p = 2."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        places = rng.integers(0, 4, 5)
        for values in (rng.integers(0, 2, (19, 19)).astype(float), -np.abs(places[:, None] - places).astype(float)):
            np.fill_diagonal(values, values.max())
            assert covey.DS3(**options, **outliers, similarity="precomputed").fit(values).duality_gap_ <= most


def test_where_somebody_must_be_served_the_bound_pays_for_a_row():
    """Though none gains by being opened, the one that loses least is, and others come into play that lose less."""
    rho, openings = np.array([-0.25, -0.5, 0.0]), Openings(price=1.0)
    least, opened = openings.cheapest(rho, needed=True)
    assert (least, opened.tolist(), openings.hurdle(rho, needed=True)) == (0.5, [0, 1, 0], 0.5)
    least, opened = openings.cheapest(rho, needed=False)
    assert (least, opened.tolist(), openings.hurdle(rho, needed=False)) == (0, [0, 0, 0], 1)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("budget", [2, 2.5, 5])
def test_costs_of_all_orders_of_magnitude_are_solved(seed, budget):
    """What the solver tolerates is small next to the optimum, however small that is next to the largest cost."""
    values = -np.exp(np.random.default_rng(seed).normal(0, 4, (20, 20)))
    np.fill_diagonal(values, 0)
    assert covey.DS3(budget, similarity="precomputed").fit(values).duality_gap_ < 1e-6


def test_random_problems_are_right_without_a_warning():
    outcomes = sparse.attack(np.random.default_rng(0), 60)
    assert all(outcome.startswith("right") for outcome in outcomes), outcomes


def with_copies(costs, multiplicity):
    """The costs with every copy written out."""
    return np.repeat(np.repeat(costs, multiplicity, axis=0), multiplicity, axis=1)


def weighed(n, seed):
    """Costs, multiplicities from 1 to 4, and the costs of all copies of a column together."""
    costs = random_costs(n, seed)
    multiplicity = np.random.default_rng(seed).integers(1, 5, n)
    return costs, multiplicity, costs * multiplicity.astype(np.float32)


@settings(max_examples=20)
@given(n=st.integers(2, 10), seed=st.integers(0, 1000), spare=st.booleans())
def test_merged_copies_have_the_optimum_of_copies_written_out(n, seed, spare):
    costs, multiplicity, merged = weighed(n, seed)
    copies = with_copies(costs, multiplicity)
    spared = np.random.default_rng(seed).random(n) * 0.5 if spare else nobody(n)
    for p in (2, np.inf):
        expected = largest_lambda(copies, p)
        assert ds3.largest_lambda(merged, p, multiplicity) == pytest.approx(expected, rel=1e-5)
    for openings in (Openings(budget=2), Openings(price=0.2 * expected)):
        few = facility.solve(merged, openings, spared * multiplicity)
        all_ = facility.solve(copies, openings, np.repeat(spared, multiplicity))
        assert few.cost == pytest.approx(all_.cost, rel=1e-6, abs=1e-9)
        assert few.gap < 1e-6


@settings(max_examples=20)
@given(n=st.integers(2, 10), seed=st.integers(0, 1000), alpha=st.sampled_from([1, 0.2, 0.05]))
def test_merged_copies_have_the_optimum_of_copies_written_out_for_the_two_norm(n, seed, alpha):
    costs, multiplicity, merged = weighed(n, seed)
    price = alpha * ds3.largest_lambda(merged, 2, multiplicity)
    few = two_norm(merged, price, 1e-5, multiplicity=multiplicity)
    all_ = two_norm(with_copies(costs, multiplicity), price, 1e-5)
    assert few.gap <= 1e-5
    assert few.cost == pytest.approx(all_.cost, rel=2e-5)


@pytest.mark.parametrize("symmetric", [True, False])
def test_costs_and_the_mean_similarity_count_copies(symmetric):
    """Two copies are as similar as the object is to itself, and nobody else is here as similar as these."""
    values = similarity_matrix(6, np.random.default_rng(0), symmetric)
    np.fill_diagonal(values, [1.0, 1.5, 1.0, 2.0, 5.0, 1.0])
    multiplicity = np.array([1, 3, 1, 2, 1, 1])
    space = space_of(values, resolve("precomputed"))
    space.with_itself = lambda: np.diagonal(values)
    copies = np.repeat(np.repeat(values, multiplicity, axis=0), multiplicity, axis=1)
    costs, mean = ds3.dissimilarities(space, multiplicity, 4)
    expected = np.where(np.eye(6, dtype=bool), 0, 2.0 - values.T)
    np.testing.assert_allclose(costs, expected / expected.max(), rtol=1e-6)
    assert mean == pytest.approx(copies[~np.eye(9, dtype=bool)].mean())


@pytest.mark.parametrize("options", [{"budget": 3}, {"alpha": 0.2}, {"alpha": 0.2, "p": 2, "tol": 1e-5}])
def test_a_selector_of_merged_objects_selects_as_one_of_all_copies(options, monkeypatch):
    X = np.random.default_rng(0).random((30, 3))
    multiplicity = np.random.default_rng(1).integers(1, 5, 30)
    every = covey.DS3(**options, similarity="euclidean").fit(np.repeat(X, multiplicity, axis=0)).prototypes_[0]
    monkeypatch.setattr(Cluster, "multiplicity", multiplicity)
    merged = covey.DS3(**options, similarity="euclidean").fit(X).prototypes_[0]
    original = np.repeat(np.arange(30), multiplicity)
    gains = np.bincount(original[every.indices], every.gains, minlength=30)
    assert set(original[every.indices]) == set(merged.indices)
    np.testing.assert_allclose(merged.gains, gains[merged.indices], rtol=0.01)
    assert merged.homogeneity == pytest.approx(every.homogeneity)
    assert merged.coverage == every.coverage == 1
