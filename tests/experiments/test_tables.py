"""Tables made of records of a small problem."""

from dataclasses import replace

import numpy as np
import pytest

import covey
from covey.experiments.records import read_records
from covey.experiments.specs import Problem, Results, SelectorFactory
from covey.experiments.tables import by_cluster, by_seed, methods_table, summarise
from tests.experiments.iris import FEW, IRIS, iris, run, shown_of


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
    assert by_method["CRS-k5"].spread[1] == pytest.approx(np.std(per_seed, ddof=1))
    f1 = by_seed(r for r in records if r.method == "CRS-k5")[:, 2]
    assert by_method["CRS-k5"].f1_spread == pytest.approx(np.std(f1, ddof=1))
    assert by_method["CRS-k5"].f1_error == pytest.approx(np.std(f1, ddof=1) / 2**0.5)


def test_the_time_of_a_fit_is_not_that_of_the_first_one_which_may_compile(tmp_path):
    few = {"CRS-k5": FEW["CRS-k5"]}
    records = [replace(r, seconds=60.0 if r.seed == 0 else 0.0042) for r in run(tmp_path, IRIS, few, seeds=[0, 1, 2])]
    (row,) = summarise(records, IRIS)
    assert row.seconds == 0.0042
    (table,) = methods_table(Results(records, IRIS, None))
    assert table.cells()[0][-1] == "0.004"  # short times can be told apart


def test_all_pairs_of_an_asymmetric_similarity_are_a_scan_rate_of_one(tmp_path):
    """All pairs in both directions are a scan rate of 1, not of 2."""
    similarity = covey.Similarity(lambda a, b: float(a[0] / (a[0] + b[1])), symmetric=False)
    problems = {"iris": Problem(iris, similarity=similarity)}
    exact = {"CRS, exact": SelectorFactory(lambda s, seed, n_jobs: covey.CRS(3, similarity=s, graph="exact"))}
    (row,) = summarise(run(tmp_path, problems, exact), problems)
    assert row.scan_rate == pytest.approx(1)


def test_the_table_of_methods_marks_one_row_and_leaves_out_what_says_nothing(tmp_path):
    records = run(tmp_path, IRIS, FEW, seeds=[0, 1])
    (table,) = methods_table(Results(records, IRIS, None), marked="CRS-k5")
    titles = [column.title for column in table.columns]
    assert titles[:4] == ["method", "F1", "selected, %", "paper: selected, %"]  # all rows have the same data
    assert table.rows[table.marked][0] == "CRS-k5"
    row = next(row for row in summarise(records, IRIS) if row.method == "CRS-k5")
    assert table.rows[table.marked][1] == (row.f1, row.f1_spread)
    alone = shown_of(methods_table, [r for r in records if r.seed == 0], {"iris": Problem(iris)})
    assert not any(column.title.startswith("paper") for column in alone.columns)
    assert all("±" not in cell for cells in alone.cells() for cell in cells)  # one seed does not vary


def test_clusters_are_listed_from_the_hardest_to_the_easiest(tmp_path):
    records = run(tmp_path, IRIS, FEW, seeds=[0, 1])
    (table,) = by_cluster(Results(records, IRIS, None))
    first = [row[2][0] for row in table.rows]
    assert first == sorted(first)
    own = [r for r in records if (r.method, r.cluster) == ("random-5%", table.rows[0][0])]
    f1 = [2 * r.precision * r.recall / (r.precision + r.recall) for r in own]
    assert table.rows[0][2] == pytest.approx((np.mean(f1), np.std(f1, ddof=1)))
    assert len({r.size for r in own}) == 2
    assert table.rows[0][1] == np.mean([r.size for r in own])  # not the size of the last fold
    right = [replace(r, precision=1.0, recall=1.0) for r in records]
    assert list(by_cluster(Results(right, IRIS, None))) == []


def test_records_come_in_the_order_of_methods_whatever_was_done_first(tmp_path):
    backwards = dict(reversed(FEW.items()))
    for name, method in backwards.items():
        run(tmp_path, IRIS, {name: method})
    assert list(dict.fromkeys(r.method for r in run(tmp_path, IRIS, FEW))) == list(FEW)
