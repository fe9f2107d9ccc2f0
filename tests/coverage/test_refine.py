"""A refined choice is smaller and covers no less."""

import numpy as np
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import covey


@given(n=st.integers(1, 9), seed=st.integers(0, 9999), gain=st.sampled_from(["similarity", "count"]))
def test_refining_never_covers_less_than_asked_for_where_orphans_are_outliers(n, seed, gain):
    """A representative that no edge covers covers itself; a refined choice that keeps it keeps that."""
    rng = np.random.default_rng(seed)
    graph = sp.csr_array(np.where(rng.random((n, n)) < 0.25, 1.0, 0) * (1 - np.eye(n)))
    plain, refined = (
        covey.cover(graph, 1.0, gain=gain, on_orphan="outlier", refine=refine) for refine in (False, True)
    )
    assert refined.coverage >= plain.coverage
    assert refined.indices.size <= plain.indices.size


def test_crs_refines_and_stays_smaller(fashion):
    X = fashion[0][fashion[1] == 6][:2000].astype(np.float32)
    greedy, refined = (covey.CRS(10, refine=refine, random_state=0).fit(X) for refine in (False, True))
    assert refined.sample_indices_.size < 0.985 * greedy.sample_indices_.size
    assert refined.prototypes_[0].coverage >= 0.95
    assert refined.n_evaluations_ == greedy.n_evaluations_
    graph = covey.neighbor_graph(X, 10)
    bound = covey.cover_lower_bound(graph, 0.95, greedy.prototypes_[0].threshold)
    assert 0.7 * greedy.sample_indices_.size < bound < refined.sample_indices_.size
