"""Confusion matrices on pages: colors that always mean the same, and only so many clusters as can be read."""

import csv

import numpy as np

from covey.displays.confusion import LARGEST, MOST_CLUSTERS, STEPS, Confusion, ConfusionMatrix, largest


def test_a_color_means_the_same_share_in_every_matrix():
    small = ConfusionMatrix("a", "", ["x", "y"], np.array([[1, 1], [0, 2]]))
    large = ConfusionMatrix("b", "", ["x", "y"], np.array([[500, 500], [1, 999]]))
    steps = [[[step for step, _, _ in cells] for _, cells in matrix.rows()] for matrix in (small, large)]
    assert steps[0] == [[5, 5], [0, STEPS]]
    assert steps[1] == [[5, 5], [1, STEPS]]  # all that is not 0 is told from 0
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
    assert matrix.remark.startswith(f"Of {n} clusters, {MOST_CLUSTERS} are shown: ")
    matrix.write(tmp_path)
    with (tmp_path / "many.csv").open(newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["cluster", *matrix.labels]
    np.testing.assert_array_equal(np.array([row[1:] for row in rows[1:]], dtype=int), counts)


def test_clusters_that_are_told_about_in_words_are_in_the_matrix():
    """The first clusters have many small mistakes; the last ones have few, but all of the same kind."""
    n = MOST_CLUSTERS + 2 * LARGEST
    counts = np.diag(np.full(n, 100))
    many = range(MOST_CLUSTERS)
    counts[np.ix_(many, many)] += 2
    told = [(MOST_CLUSTERS + 2 * at, MOST_CLUSTERS + 2 * at + 1) for at in range(LARGEST)]
    for row, column in told:
        counts[row, column] = 9
    matrix = ConfusionMatrix("many", "", [f"c{at}" for at in range(n)], counts)
    assert largest(counts) == told
    assert {at for pair in told for at in pair} <= set(matrix.shown.tolist())
    assert len(matrix.shown) == MOST_CLUSTERS


def test_long_labels_are_shortened_and_numbers_stand_before_labels():
    """Numbers after a label in Arabic would be read from right to left."""
    long = "a label that is much longer than a sentence about it can be"
    told = Confusion("عربي", long, 4, 25)
    assert told.sentence == "4 of 25 objects (16.0 %) of عربي were taken for a label that is much longer than a sent…."
    assert (told.asked, told.decided) == (
        "an object of عربي", "decided by one of a label that is much longer than a sent…",
    )  # fmt: skip
    cell = ConfusionMatrix("a", "", ["عربي", long], np.array([[3, 1], [0, 2]])).rows()[0][1][1]
    assert cell[2] == "1 of 4 objects of عربي taken for a label that is much longer than a sent…"
