"""Refined covers and lower bounds, with the integer optimum between them."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import covey
from covey.coverage import lower_bound
from covey.coverage import refine as _refine
from covey.coverage.edges import adjacency_of, edges_of
from covey.coverage.gains import required
from covey.coverage.lower_bound import solve_program
from covey.coverage.primal_dual import multipliers_of, smallest
from tests import reference
from tests.coverage.test_cover import as_lists, graphs

coverages = st.sampled_from([0.3, 0.7, 0.9, 0.95, 1.0])
thresholds = st.sampled_from([None, 0.4, 0.5, 0.8])


@settings(max_examples=300)
@given(graphs, coverages, thresholds)
def test_bound_optimum_refined_greedy_are_in_this_order(graph, coverage, threshold):
    bound = covey.cover_lower_bound(graph, coverage, threshold)
    optimum = reference.smallest_cover(as_lists(graph), coverage, threshold)
    refined = covey.cover(graph, coverage, threshold, gain="count", refine=True)
    greedy = covey.cover(graph, coverage, threshold, gain="count")
    assert 1 <= bound <= optimum <= refined.indices.size <= greedy.indices.size


@given(graphs, coverages, thresholds, st.integers(0, 100))
def test_any_multipliers_give_a_bound(graph, coverage, threshold, seed):
    """Weak duality: no solver is trusted."""
    rng = np.random.default_rng(seed)
    edges, n_required = edges_of(graph, threshold), required(coverage, graph.n_objects)
    u, v = rng.random(graph.n_objects) * rng.choice([0.1, 0.3, 1.0]), rng.random()
    value = lower_bound._dual_value(edges, n_required, u, v)
    assert value <= reference.smallest_cover(as_lists(graph), coverage, threshold) + 1e-9


@settings(max_examples=100)
@given(graphs, coverages, thresholds)
def test_the_bound_of_a_large_graph_never_exceeds_that_of_the_program_and_comes_close(graph, coverage, threshold):
    edges, n_required = edges_of(graph, threshold), required(coverage, graph.n_objects)
    solved = lower_bound._dual_value(edges, n_required, *lower_bound._optimal_multipliers(edges, n_required))
    u = multipliers_of(adjacency_of(edges), n_required)
    value = lower_bound._dual_value(edges, n_required, u, float(smallest(u, n_required)[-1]))
    assert value == pytest.approx(smallest(u, n_required).sum(), abs=1e-9)  # no load exceeds 1
    assert 0.97 * solved <= value <= solved + 1e-6


def test_the_bound_of_a_large_graph_is_always_the_same_and_near_the_choice(monkeypatch):
    graph = covey.neighbor_graph(np.random.default_rng(0).random((1500, 3)), 8)
    bound = covey.cover_lower_bound(graph)
    assert 0.8 * covey.cover(graph, refine=True).indices.size < bound
    monkeypatch.setattr("covey.runtime.interruptible.SECONDS", 1e-9)  # steps have another size
    assert covey.cover_lower_bound(graph) == bound


@given(graphs, coverages, thresholds, st.sampled_from(["similarity", "count"]), st.sampled_from(["self", "outlier"]))
def test_refining_keeps_what_was_reached(graph, coverage, threshold, gain, on_orphan):
    options = {"gain": gain, "on_orphan": on_orphan}
    greedy = covey.cover(graph, coverage, threshold, **options)
    refined = covey.cover(graph, coverage, threshold, refine=True, **options)
    again = covey.cover(graph, coverage, threshold, refine=True, **options)
    assert refined.indices.size <= greedy.indices.size
    assert refined.coverage >= min(greedy.coverage, required(coverage, graph.n_objects) / graph.n_objects)
    assert refined.indices.tolist() == again.indices.tolist()
    assert refined.n_orphans == greedy.n_orphans
    edges = reference.covers(as_lists(graph), threshold)
    covered = set()
    for r, won in zip(refined.indices.tolist(), refined.gains, strict=True):
        newly = {r, *edges[r]} - covered
        assert all(refined.covered_by[x] in (r, x) for x in newly)  # a representative covers itself in the end
        assert newly  # nobody is superfluous
        if gain == "count" and on_orphan == "self":
            assert won == len(newly)
        covered |= newly
    assert covered == set(np.flatnonzero(refined.covered_by >= 0).tolist())


@given(st.integers(2, 25), st.integers(0, 10_000), st.sampled_from([0.5, 0.9, 1.0]))
def test_refining_keeps_what_is_covered_by_a_weight_of_nothing(n, seed, coverage):
    """Similarities may be 0, or round to 0 in the units of gains."""
    rng = np.random.default_rng(seed)
    weights = rng.choice([0, 1e-12, 0.5], (n, n)) + 0.0
    stored = np.argwhere((rng.random((n, n)) < 0.3) & ~np.eye(n, dtype=bool))
    graph = sp.csr_array((weights[tuple(stored.T)], tuple(stored.T)), shape=(n, n))
    greedy, refined = (covey.cover(graph, coverage, refine=refine) for refine in (False, True))
    assert refined.indices.size <= greedy.indices.size
    assert refined.coverage >= required(coverage, n) / n


def test_a_tiny_coverage_needs_one():
    graph = covey.neighbor_graph(np.random.default_rng(0).random((9, 3)), 2)
    for refine in (False, True):
        assert covey.cover(graph, 1e-11, refine=refine).indices.size == 1
    assert covey.cover_lower_bound(graph, 1e-11) == 1


def test_refining_finds_what_greedy_misses():
    """Two halves are the optimum; greedy starts with the eight in the middle."""
    covers = {12: [0, 1, 2, 3, 4, 5, 14], 13: [6, 7, 8, 9, 10, 11], 14: [2, 3, 4, 5, 6, 7, 8, 9]}
    edges = sp.lil_array((15, 15))
    for r, objects in covers.items():
        edges[objects, r] = 0.5
    greedy, refined = (covey.cover(edges.tocsr(), 1.0, gain="count", refine=refine) for refine in (False, True))
    assert sorted(refined.indices.tolist()) == [12, 13]
    assert greedy.indices.size == 3
    assert covey.cover_lower_bound(edges.tocsr(), 1.0) == 2


def test_more_steps_never_hurt():
    graph = covey.neighbor_graph(np.random.default_rng(0).random((400, 3)), 8)
    sizes = []
    for steps in (0, 1, 5, 20):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("covey.coverage.cover.STEPS", steps)
            sizes.append(covey.cover(graph, refine=True).indices.size)
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] == covey.cover(graph).indices.size
    assert _refine.STEPS >= 1


def test_what_the_bound_refuses():
    graph = covey.neighbor_graph(np.random.default_rng(0).random((9, 3)), 2)
    with pytest.raises(ValueError, match=r"coverage must be in \(0, 1\], got 0"):
        covey.cover_lower_bound(graph, 0)
    with pytest.raises(TypeError, match="graph must be a sparse matrix"):
        covey.cover_lower_bound(np.eye(3))


@pytest.mark.parametrize("method", ["highs-ipm", "highs-ds"])
def test_a_program_that_may_take_long_is_solved_by_another_process_to_the_same_answer(method, monkeypatch):
    rng = np.random.default_rng(0)
    problem = (-rng.random(300), rng.random((200, 300)), np.ones(200), (0, 1), method)
    here = solve_program(*problem)
    apart = []

    def call_apart(function, *args, **kwargs):
        apart.append(function)
        return linear_program_apart(function, *args, **kwargs)

    linear_program_apart = lower_bound.call_apart
    monkeypatch.setattr(lower_bound, "call_apart", call_apart)
    monkeypatch.setattr(lower_bound, "SMALL", 10)
    monkeypatch.setattr(lower_bound, "SHORT", 0.0)
    there = solve_program(*problem)
    assert len(apart) == 1
    np.testing.assert_array_equal(here.x, there.x)
    np.testing.assert_array_equal(here.ineqlin.marginals, there.ineqlin.marginals)
