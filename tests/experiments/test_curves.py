"""Charts and a table of quality against size and evaluations, made of records of a small problem."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.metrics import f1_score

from covey.experiments import curves
from covey.experiments.methods import crs, sharpened
from covey.experiments.paper.methods import METHODS
from covey.experiments.specs import Results
from covey.experiments.tables import summarise
from tests.experiments.iris import IRIS, run

TRIED = {
    "few": crs(20),
    "CRS-k in name only": METHODS["random-5%"],
    "many": crs(3),
    "sharp": sharpened(20),
    "full-100%": METHODS["full-100%"],
}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    records = run(tmp_path_factory.mktemp("records"), IRIS, TRIED, seeds=[0, 1])
    return Results(records, IRIS, None)


@pytest.fixture(scope="module")
def rows(results):
    return {row.method: row for row in summarise(results.records, IRIS)}


def test_methods_that_differ_only_in_k_are_a_curve_whatever_they_are_called(results):
    (chart,) = curves.quality_against_size(results)
    assert [series.name for series in chart.series] == ["CRS", "sharpened CRS", "CRS-k in name only"]
    assert [point.label for point in chart.series[0].points] == ["3", "20"]
    assert [series.joined for series in chart.series] == [True, False, False]


def test_all_objects_and_chance_are_lines_and_what_has_folds_has_an_interval(results, rows):
    (chart,) = curves.quality_against_size(results)
    everything, chance = chart.levels
    whole = rows["full-100%"]
    assert (everything.name, everything.y) == ("full-100%", whole.f1)
    assert everything.interval == (whole.f1 - whole.f1_error, min(whole.f1 + whole.f1_error, 1))
    assert (chance.name, chance.y, chance.low, chance.high) == ("chance", pytest.approx(1 / 3), None, None)


def test_intervals_are_standard_errors_of_f1_within_0_and_1(results, rows):
    (chart,) = curves.quality_against_size(results)
    for point, row in zip(chart.series[0].points, (rows["many"], rows["few"]), strict=True):
        assert (point.x, point.y) == (row.percentage, row.f1)
        assert point.low == row.f1 - row.f1_error
        assert point.high == min(row.f1 + row.f1_error, 1)
    perfect = [replace(r, precision=1.0, recall=1.0) if r.seed else r for r in results.records]
    (chart,) = curves.quality_against_size(Results(perfect, IRIS, None))
    assert max(point.high for series in chart.series for point in series.points) <= 1


def test_the_recommended_method_and_its_curve_stand_out(results, rows):
    (chart,) = curves.quality_against_size(results, "few")
    assert chart.marked is chart.series[0].points[1]
    assert [series.strong for series in chart.series] == [True, False, False]
    assert all(series.strong for series in next(iter(curves.quality_against_size(results))).series)


def descended(records):
    """The records, as if CRS with fewer neighbors had evaluated half of the pairs."""
    return [
        replace(r, n_evaluations=r.n_evaluations // 2, scan_rate=r.scan_rate / 2) if r.method == "many" else r
        for r in records
    ]


def test_what_evaluates_nothing_is_a_line_in_the_chart_of_evaluations(results):
    (chart,) = curves.quality_against_evaluations(Results(descended(results.records), IRIS, None))
    assert [level.name for level in chart.levels] == ["CRS-k in name only", "full-100%", "chance"]
    assert [series.name for series in chart.series] == ["CRS", "sharpened CRS"]


def test_a_chart_of_evaluations_that_would_say_nothing_is_not_drawn(results):
    """Each curve would be a stack of points if it evaluates the same for every k, and a line if all are as good."""
    assert {r.scan_rate for r in results.records if r.method in ("few", "many")} == {1.0}
    assert list(curves.quality_against_evaluations(results)) == []
    right = [replace(r, precision=1.0, recall=1.0) for r in descended(results.records)]
    assert list(curves.quality_against_evaluations(Results(right, IRIS, None))) == []


def test_an_axis_of_f1_ends_at_1(results):
    right = [replace(r, precision=1.0, recall=1.0) for r in results.records]
    (chart,) = curves.quality_against_size(Results(right, IRIS, None))
    for drawing in chart.drawings():
        assert max(float(text) for _, text in drawing.y_ticks) == 1


@pytest.mark.parametrize("shares", [(0.5, 0.5), (0.7, 0.2, 0.1), (0.96, 0.01, 0.01, 0.02)])
def test_chance_is_what_guessing_gets(results, shares):
    """A guess that draws labels as often as they occur; always giving the most frequent label is no better."""
    rng = np.random.default_rng(0)
    truth = rng.choice(len(shares), p=shares, size=200_000)
    asked = [replace(results.records[0], cluster=str(at), predicted={"0": int((truth == at).sum())})
             for at in range(len(shares))]  # fmt: skip
    guess = DummyClassifier(strategy="stratified", random_state=1).fit(truth, truth).predict(truth)
    assert curves.chance(asked) == pytest.approx(f1_score(truth, guess, average="macro"), abs=0.005)
    assert curves.chance(asked) >= f1_score(truth, np.zeros_like(truth), average="macro", zero_division=0)


def test_a_budget_gets_the_best_of_the_k_that_keep_to_it(results, rows):
    (table,) = curves.quality_by_budget(results)
    budgets = [row[0] for row in table.rows]
    assert budgets[-1] == "all (full-100%)"
    assert table.rows[-1][1:] == [f"{rows['full-100%'].f1:.3f} ± {rows['full-100%'].f1_spread:.3f}"] * 2
    assert "± its standard deviation over folds" in table.caption
    ten = table.rows[budgets.index("10 %")]
    within = [row for row in (rows["few"], rows["many"]) if row.percentage <= 10]
    best = max(within, key=lambda row: row.f1)
    assert ten[1] == f"{best.f1:.3f} ± {best.f1_spread:.3f} (k = {best.k}, {best.percentage:.1f} %)"
    assert "1 %" not in budgets  # three clusters of thirty have at least three representatives
    only_others = Results([r for r in results.records if r.k is None], IRIS, None)
    assert list(curves.quality_by_budget(only_others)) == []


def test_nothing_is_drawn_of_nothing():
    assert list(curves.quality_against_size(Results([], IRIS, None))) == []
