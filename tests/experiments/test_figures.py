"""Figures made of records of a small problem: what they draw."""

from dataclasses import replace

import numpy as np
from matplotlib.colors import to_rgba
from matplotlib.container import BarContainer

from covey.experiments import figures
from covey.experiments.specs import Results
from tests.experiments.iris import FEW, IRIS, run, shown_of


def test_methods_are_compared_over_clusters(tmp_path):
    records = run(tmp_path, IRIS, FEW, seeds=[0, 1])
    found = figures.comparison_over_clusters(records, "iris", "recall")
    assert set(found.names) == set(FEW)
    assert found.n_blocks == 3
    assert figures.comparison_over_clusters(records, "elsewhere", "recall") is None


def test_every_bar_chart_has_a_bar_for_each_method_and_cluster(tmp_path):
    records = run(tmp_path, IRIS, FEW, seeds=[0, 1])
    figure = shown_of(figures.bar_charts, records, IRIS).figure
    for axes, score in zip(figure.axes, ("precision", "recall"), strict=False):
        drawn = [bars for bars in axes.containers if isinstance(bars, BarContainer)]
        for bars, method in zip(drawn, FEW, strict=True):
            means = [
                np.mean([getattr(r, score) for r in records if (r.method, r.cluster) == (method, cluster)])
                for cluster in "012"
            ]
            np.testing.assert_allclose([bar.get_height() for bar in bars], means)
            scores = [[getattr(r, score) for r in records if (r.method, r.cluster) == (method, c)] for c in "012"]
            errors = [np.std(own, ddof=1) / len(own) ** 0.5 for own in scores]
            lengths = [np.ptp(line[:, 1]) / 2 for line in bars.errorbar.lines[2][0].get_segments()]
            np.testing.assert_allclose(lengths, errors, atol=1e-12)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == list(FEW)
    legend, bars = figure.legends[0].legend_handles, figure.axes[0].containers
    drawn = [own for own in bars if isinstance(own, BarContainer)]
    assert [to_rgba(own.get_facecolor()) for own in legend] == [to_rgba(own[0].get_facecolor()) for own in drawn]


def test_bar_charts_only_speak_of_errors_that_they_show(tmp_path):
    records = run(tmp_path, IRIS, FEW, seeds=[0, 1])
    assert "one standard error over seeds" in shown_of(figures.bar_charts, records, IRIS).caption
    one = shown_of(figures.bar_charts, [r for r in records if r.seed == 0], IRIS)
    assert "standard error" not in one.caption
    assert {text.get_ha() for text in one.figure.axes[-1].get_xticklabels()} == {"center"}  # names are not slanted


def test_ranks_that_do_not_differ_are_not_drawn(tmp_path):
    """Three methods that give the same answers have nothing that a figure could show."""
    some = run(tmp_path, IRIS, FEW)
    same = [replace(r, method=name) for r in some if r.method == "CRS-k5" for name in FEW]
    assert list(figures.critical_differences(Results(same, IRIS, None))) == []
    better = [replace(r, precision=r.precision * (1 + at), cluster=f"{r.cluster}{copy}")
              for r in some if r.method == "CRS-k5" for copy in range(4) for at in range(3)]  # fmt: skip
    ranked = [replace(r, method=f"method {at % 3}") for at, r in enumerate(better)]
    (picture,) = figures.critical_differences(Results(ranked, IRIS, None))
    assert "over 12 clusters" in picture.caption
