"""Figures and a table of quality against size and evaluations, made of records of a small problem."""

import numpy as np
import pytest

from covey.experiments import METHODS, curves, summarise
from covey.experiments.methods import crs
from covey.experiments.sharpening import sharpened
from covey.experiments.specs import Results
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
    return Results(records, IRIS, lambda name: IRIS[name].split(0))


def drawn(show, results):
    return next(iter(show(results))).figure.axes[0]


def test_methods_that_differ_only_in_k_are_a_curve_whatever_they_are_called(results):
    axes = drawn(curves.quality_against_size, results)
    full = next(row.f1 for row in summarise(results.records, IRIS) if row.method == "full-100%")
    assert [text.get_text() for text in axes.texts] == [f"full-100%: {full:.3f}", "3", "20", "20"]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == [
        "CRS, k as written", "sharpened CRS, k as written", "CRS-k in name only",
    ]  # fmt: skip


def test_bars_are_standard_errors_of_f1(results):
    axes = drawn(curves.quality_against_size, results)
    rows = {row.method: row for row in summarise(results.records, IRIS)}
    (bars,) = axes.containers[0].lines[2]
    for segment, row in zip(bars.get_segments(), (rows["many"], rows["few"]), strict=True):
        np.testing.assert_allclose(segment[:, 0], row.percentage)
        np.testing.assert_allclose(segment[:, 1], [row.f1 - row.f1_error, row.f1 + row.f1_error])


def test_the_axis_of_sizes_has_round_numbers(results):
    axes = drawn(curves.quality_against_size, results)
    assert axes.get_xscale() == "log"
    assert [label.get_text() for label in axes.get_xticklabels()] == ["5 %", "10 %", "20 %"]


def test_what_evaluates_nothing_is_a_line_in_the_figure_of_evaluations(results):
    axes = drawn(curves.quality_against_evaluations, results)
    texts = [text.get_text() for text in axes.texts]
    assert [text.split(": ")[0] for text in texts[:2]] == ["CRS-k in name only", "full-100%"]
    assert len(axes.get_legend().get_texts()) == 2


def test_a_k_without_room_is_not_written(tmp_path):
    """k = 100 and k = 200 select the same, because no cluster has so many objects."""
    records = run(tmp_path, IRIS, {"one": crs(100), "same": crs(200)})
    axes = drawn(curves.quality_against_size, Results(records, IRIS, None))
    assert [text.get_text() for text in axes.texts] == ["100"]


def test_a_budget_gets_the_best_of_the_k_that_keep_to_it(results):
    rows = {row.method: row for row in summarise(results.records, IRIS)}
    (table,) = curves.quality_by_budget(results)
    budgets = [row[0] for row in table.rows]
    assert budgets[-1] == "all (full-100%)"
    assert table.rows[-1][1:] == [f"{rows['full-100%'].f1:.3f}"] * 2
    ten = table.rows[budgets.index("10 %")]
    within = [row for row in (rows["few"], rows["many"]) if row.percentage <= 10]
    best = max(within, key=lambda row: row.f1)
    assert ten[1] == f"{best.f1:.3f} (k = {best.k}, {best.percentage:.2f} %)"
    assert "1 %" not in budgets  # three clusters of thirty have at least three representatives
    only_others = Results([r for r in results.records if r.k is None], IRIS, None)
    assert list(curves.quality_by_budget(only_others)) == []


def test_nothing_is_drawn_of_nothing():
    assert list(curves.quality_against_size(Results([], IRIS, None))) == []
