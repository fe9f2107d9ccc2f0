"""Charts: where things are in both layouts, what is left out, and what is written to a file."""

import csv
import math

import numpy as np
import pytest

from covey.displays.chart import FRAMES, Axis, Chart, Level, Point, Series


def chart(points, levels=(), marked=None, more=()):
    series = [Series("curve", points), *more]
    return Chart("c", "words", Axis("size", "{:g} %"), Axis("F1", "{:.3f}"), series, levels, marked, "recommended")


def point(x, y, error=0.01, label=""):
    return Point(x, y, y - error, y + error, label)


CURVE = [point(1, 0.7, label="50"), point(3, 0.8, label="10"), point(30, 0.95, label="3")]


@pytest.mark.parametrize("at", range(len(FRAMES)))
def test_everything_is_inside_its_frame(at):
    levels = [Level("all", 0.97), Level("chance", 0.1)]
    drawing = chart(CURVE, levels, CURVE[2]).drawings()[at]
    frame = drawing.frame
    marks = [mark for line in drawing.lines for mark in line.marks]
    for x in [mark.x for mark in marks] + [x for x, _ in drawing.x_ticks]:
        assert frame.left <= x <= frame.width - frame.right
    ends = [end for mark in marks for end in (mark.low, mark.y, mark.high)]
    for y in ends + [y for y, _ in drawing.y_ticks] + [y for y, *_ in drawing.levels]:
        assert frame.top <= y <= frame.height - frame.bottom
    assert 0 < drawing.note[1] < marks[2].high


def test_the_axis_across_is_logarithmic_and_the_other_is_even():
    drawing = chart([point(1, 0.5), point(10, 0.6), point(100, 0.7)]).drawings()[0]
    x, y = np.array([(mark.x, mark.y) for mark in drawing.lines[0].marks]).T
    np.testing.assert_allclose(np.diff(x)[0], np.diff(x)[1], atol=0.2)
    np.testing.assert_allclose(np.diff(y)[0], np.diff(y)[1], atol=0.2)
    assert y[0] > y[2]  # larger values are further up


def test_ticks_are_round_numbers_where_they_say():
    for low, high in ((0.9312, 0.9388), (0.2, 0.97), (0.0, 1.0)):
        drawing = chart([point(2, low, 0), point(30, high, 0)]).drawings()[1]
        first, last = (mark.y for mark in drawing.lines[0].marks)
        assert 3 <= len(drawing.y_ticks) <= 7
        for place, text in drawing.y_ticks:
            expected = first + (float(text) - low) / (high - low) * (last - first)
            assert place == pytest.approx(expected, abs=0.2)
        assert [text for _, text in drawing.x_ticks] == ["2 %", "5 %", "10 %", "20 %"]


@pytest.mark.parametrize(("low", "high"), [(30, 36), (2.1, 9.9), (10.5, 19), (5.1, 19)])
def test_a_short_axis_has_ticks_too(low, high):
    for drawing in chart([point(low, 0.5), point(high, 0.6)]).drawings():
        assert 2 <= len(drawing.x_ticks) <= drawing.frame.n_ticks
        places = [place for place, _ in drawing.x_ticks]
        assert places == sorted(set(places))


@pytest.mark.parametrize("decades", [1, 3, 7])
def test_an_axis_of_any_length_has_a_few_ticks(decades):
    for drawing in chart([point(0.01, 0.5), point(0.01 * 10**decades, 0.6)]).drawings():
        assert 2 <= len(drawing.x_ticks) <= drawing.frame.n_ticks
        values = [float(text.removesuffix(" %")) for _, text in drawing.x_ticks]
        assert all(f"{value:e}"[0] in "1235" for value in values)
        assert values == sorted(values)


def test_a_level_far_below_has_a_strip_of_its_own_and_a_near_one_has_not():
    far = chart(CURVE, [Level("chance", 0.1)]).drawings()[0]
    assert far.gap is not None
    lowest = max(mark.low for mark in far.lines[0].marks)
    assert far.levels[0][0] > far.gap > lowest
    assert far.levels[0][2] == "chance: 0.100"
    near = chart(CURVE, [Level("chance", 0.6)]).drawings()[0]
    assert near.gap is None
    (y, *_), marks = near.levels[0], near.lines[0].marks
    assert y == pytest.approx(marks[0].y + (marks[0].y - marks[1].y), abs=0.2)  # .6 is as far below .7 as .7 below .8


def test_labels_and_words_of_levels_that_would_overlap_are_kept_apart():
    same = [point(5, 0.8, label="100"), point(5.01, 0.8, label="200"), point(50, 0.9, label="2")]
    drawing = chart(same, [Level("one", 0.85), Level("other", 0.849)]).drawings()[1]
    assert [mark.label for mark in drawing.lines[0].marks] == ["100", "", "2"]
    (_, above, *_), (_, below, *_) = drawing.levels
    assert below - above >= 12


def test_the_words_of_a_level_are_at_the_end_where_fewer_points_are():
    few, many = [point(1, 0.8), point(30, 0.9)], [point(1, 0.9), point(30, 0.8)]
    for points, expected in ((few, "start"), (many, "end")):
        for drawing in chart(points, [Level("all", 0.895)]).drawings():
            assert drawing.levels[0][3] == expected


def test_a_strong_series_is_labelled_first_and_drawn_last():
    weak = Series("weak", [point(3, 0.8, label="weak")], strong=False)
    drawing = chart(CURVE, more=[weak]).drawings()[0]
    assert [line.strong for line in drawing.lines] == [False, True]
    assert drawing.lines[0].marks[0].label == ""
    assert drawing.lines[1].marks[1].label == "10"


def test_a_single_value_and_no_error_can_be_drawn():
    for drawing in chart([point(5, 1.0, 0)], [Level("all", 1.0)]).drawings():
        (mark,) = drawing.lines[0].marks
        assert all(map(math.isfinite, (mark.x, mark.y, mark.low, mark.high)))
        assert drawing.y_ticks


def test_the_points_are_written_as_exact_as_they_are(tmp_path):
    chart([point(1 / 3, 2 / 3)], [Level("all", 0.9)]).write(tmp_path)
    with (tmp_path / "c.csv").open(newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["series", "point", "size", "F1", "low", "high"]
    assert [float(value) for value in rows[1][2:]] == [1 / 3, 2 / 3, 2 / 3 - 0.01, 2 / 3 + 0.01]
    assert rows[2] == ["all", "", "", "0.9", "", ""]
