"""Tables made of records of a small problem."""

import numpy as np
import pytest

import covey
from covey.experiments import Method, Problem, read_records, summarise
from covey.experiments.tables import by_seed
from tests.experiments.iris import FEW, IRIS, iris, run


def test_a_row_holds_means_over_clusters_then_over_seeds(tmp_path):
    rows = summarise(run(tmp_path, IRIS, FEW, seeds=[0, 1]), IRIS)
    assert [row.method for row in rows] == list(FEW)
    by_method = {row.method: row for row in rows}
    assert by_method["full-100%"].percentage == 100
    assert by_method["CRS-k5"].paper == (0.9, 0.8, 7.0)
    assert by_method["random-5%"].paper is None
    records = read_records(tmp_path)
    per_seed = [np.mean([r.recall for r in records if (r.method, r.seed) == ("CRS-k5", seed)]) for seed in (0, 1)]
    assert by_method["CRS-k5"].recall == pytest.approx(np.mean(per_seed))
    assert by_method["CRS-k5"].spread[1] == pytest.approx(np.std(per_seed))
    f1 = by_seed(r for r in records if r.method == "CRS-k5")[:, 2]
    assert by_method["CRS-k5"].f1_error == pytest.approx(np.std(f1, ddof=1) / 2**0.5)


def test_all_pairs_of_an_asymmetric_similarity_are_a_scan_rate_of_one(tmp_path):
    """All pairs in both directions are a scan rate of 1, not of 2."""
    similarity = covey.Similarity(lambda a, b: float(a[0] / (a[0] + b[1])), symmetric=False)
    problems = {"iris": Problem(iris, similarity=similarity)}
    exact = {"CRS, exact": Method(lambda s, seed, n_jobs: covey.CRS(3, similarity=s, graph="exact"))}
    (row,) = summarise(run(tmp_path, problems, exact), problems)
    assert row.scan_rate == pytest.approx(1)
