"""Figures made of records of a small problem: what they draw."""

import numpy as np
from sklearn.metrics import confusion_matrix

import covey
from covey.experiments import figures
from tests.experiments.iris import FEW, IRIS, iris, run, shown_of


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
        for bars, method in zip(axes.containers, FEW, strict=True):
            means = [
                np.mean([getattr(r, score) for r in records if (r.method, r.cluster) == (method, cluster)])
                for cluster in "012"
            ]
            np.testing.assert_allclose([bar.get_height() for bar in bars], means)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == list(FEW)


def test_confusion_counts_every_query(tmp_path):
    records = [r for r in run(tmp_path, IRIS, FEW) if r.method == "CRS-k5"]
    split = iris(0, None)
    model = covey.NearestPrototypeClassifier(covey.CRS(5, random_state=0)).fit(split.X, split.y)
    expected = confusion_matrix(split.truth, model.predict(split.queries))
    np.testing.assert_array_equal(figures.confusion(records, ["0", "1", "2"]), expected)
