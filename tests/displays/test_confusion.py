"""Confusion matrices on pages: colors that always mean the same, and only so many clusters as can be read."""

import csv

import numpy as np

from covey.displays.confusion import MOST_CLUSTERS, STEPS, ConfusionMatrix


def test_a_color_means_the_same_share_in_every_matrix():
    small = ConfusionMatrix("a", "", ["x", "y"], np.array([[1, 1], [0, 2]]))
    large = ConfusionMatrix("b", "", ["x", "y"], np.array([[500, 500], [1, 999]]))
    steps = [[[step for step, _, _ in cells] for _, cells in matrix.rows()] for matrix in (small, large)]
    assert steps[0] == [[5, 5], [0, STEPS]]
    assert steps[1] == [[5, 5], [1, STEPS]]  # whatever is not 0 is told from 0
    assert [text for _, text, _ in large.rows()[1][1]] == ["<.01", ">.99"]


def test_a_cluster_that_nobody_asked_about_is_an_empty_row():
    matrix = ConfusionMatrix("a", "", ["x", "y"], np.array([[0, 0], [1, 2]]))
    assert [(step, text) for step, text, _ in matrix.rows()[0][1]] == [(0, ""), (0, "")]


def test_of_many_clusters_those_with_most_mistakes_are_shown_and_all_are_written(tmp_path):
    n = MOST_CLUSTERS + 5
    counts = np.diag(np.full(n, 100))
    counts[n - 1, n - 2] = 50
    matrix = ConfusionMatrix("many", "", [f"c{at}" for at in range(n)], counts)
    assert len(matrix.rows()) == len(matrix.titles()) == MOST_CLUSTERS
    assert matrix.titles()[-2:] == [f"c{n - 2}", f"c{n - 1}"]
    assert matrix.remark == f"Of {n} clusters, the {MOST_CLUSTERS} with most mistakes are shown."
    matrix.write(tmp_path)
    with (tmp_path / "many.csv").open(newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["cluster", *matrix.labels]
    np.testing.assert_array_equal(np.array([row[1:] for row in rows[1:]], dtype=int), counts)
