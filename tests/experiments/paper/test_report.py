"""The paper's own tables, figure and methods, on a small problem."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import wilcoxon

from covey.experiments.paper import report
from covey.experiments.paper.problems import SAME_SIZE, by_descent
from covey.experiments.paper.report import METHODS
from covey.experiments.specs import Problem
from covey.experiments.tables import summarise
from tests.experiments.iris import IRIS, iris, run, shown_of


def test_random_takes_as_many_of_each_cluster_as_crs():
    split = iris(0, None)
    ours, random = (METHODS[name].make("cosine", 3, None).fit(split.X, split.y) for name in ("CRS-k10", SAME_SIZE))
    for label, found in ours.prototypes_.items():
        drawn = random.prototypes_[label]
        assert drawn.indices.size == found.indices.size
        assert np.isin(drawn.indices, found.members).all()
    assert not np.array_equal(np.sort(ours.sample_indices_), np.sort(random.sample_indices_))


def test_only_smaller_selections_at_least_as_good_dominate(tmp_path):
    methods = {name: METHODS[name] for name in ("CRS-k3", "CRS-k5", "CRS-k15")}
    records = run(tmp_path, IRIS, methods)
    measured = {row.method: row for row in summarise(records, IRIS)}
    k15 = measured["CRS-k15"]
    exactly = (k15.precision, k15.recall, k15.percentage + 0.01)
    problem = Problem(iris, paper={"CRS-k10": exactly, "CRS-k5": (1.1, 0, 100), "CRS-k15": (*exactly[:2], 0.0)})
    rows = shown_of(report.domination_table, records, {"iris": problem}).rows
    assert [row[4] for row in rows] == ["CRS-k15", "none", "none"]


def test_against_random_pairs_by_seed(tmp_path):
    methods = {name: METHODS[name] for name in ("CRS-k10", SAME_SIZE)}
    records = run(tmp_path, IRIS, methods, seeds=range(6))
    ((name, seeds, *means, p_precision, p_recall, _),) = shown_of(report.against_random_table, records, IRIS).rows
    assert (name, seeds) == ("iris", 6)
    for at, (score, p_value) in enumerate({"precision": p_precision, "recall": p_recall}.items()):
        ours, random = (
            [np.mean([getattr(r, score) for r in records if (r.method, r.seed) == (method, seed)]) for seed in range(6)]
            for method in methods
        )
        assert (means[at], means[2 + at]) == pytest.approx((np.mean(ours), np.mean(random)))
        assert p_value == pytest.approx(wilcoxon(ours, random, alternative="greater").pvalue)
    same = [r if r.method == "CRS-k10" else None for r in records]
    twice = [r for r in same if r] + [replace(r, method=SAME_SIZE) for r in same if r]
    assert shown_of(report.against_random_table, twice, IRIS).rows[0][-3:] == (1.0, 1.0, 1.0)  # no difference, no proof


def test_the_impact_of_k_is_drawn_against_the_ks_of_the_records(tmp_path, monkeypatch):
    monkeypatch.setattr(report, "FIGURE_CLUSTERS", {"iris": ("0", "2")})
    methods = {by_descent(k): METHODS[by_descent(k)] for k in (5, 2, 10)}
    figure = shown_of(report.impact_of_k, run(tmp_path, IRIS, methods), IRIS).figure
    for axes in figure.axes[:2]:
        assert [line.get_xdata().tolist() for line in axes.lines] == [[2, 5, 10]] * 3
