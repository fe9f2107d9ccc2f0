"""Charts: where things are in both layouts, what is left out, and what is written to a file."""

import csv
import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.displays.chart import ABOVE, BELOW, LETTER, PLOT_AREAS, SHARE_BEFORE, Axis, Chart, Level, Point, Series


def chart(points, levels=(), marked=None, more=(), limits=(-math.inf, math.inf)):
    series = [Series("curve", points), *more]
    axes = Axis("size", "{:g} %"), Axis("F1", "{:.3f}", limits)
    return Chart("c", "words", *axes, series, levels, marked, "recommended")


def point(x, y, error=0.01, label=""):
    return Point(x, y, y - error, y + error, label)


CURVE = [point(1, 0.7, label="50"), point(3, 0.8, label="10"), point(30, 0.95, label="3")]


@pytest.mark.parametrize("at", range(len(PLOT_AREAS)))
def test_everything_is_inside_its_frame(at):
    levels = [Level("all", 0.97), Level("chance", 0.1)]
    drawing = chart(CURVE, levels, CURVE[2]).drawings()[at]
    frame = drawing.frame
    marks = [mark for line in drawing.lines for mark in line.marks]
    for x in [mark.x for mark in marks] + [x for x, _ in drawing.x_ticks]:
        assert frame.left <= x <= frame.width - frame.right
    ends = [end for mark in marks for end in (mark.low, mark.y, mark.high)]
    for y in ends + [y for y, _ in drawing.y_ticks] + [rule.y for rule in drawing.rules]:
        assert frame.top <= y <= frame.height - frame.bottom
    assert drawing.note is not None


def box(word):
    """The left, upper, right and lower edge of a word."""
    left = word.x - SHARE_BEFORE[word.side] * LETTER * len(word.text)
    return left, word.y - ABOVE, left + LETTER * len(word.text), word.y + BELOW


def overlap(one, other):
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


values = st.tuples(st.floats(0.1, 100), st.floats(0, 1), st.floats(0, 0.2))


@given(st.lists(values, min_size=1, max_size=12), st.lists(values, max_size=6), st.lists(st.floats(0, 1), max_size=3))
def test_words_never_lie_on_each_other_nor_on_marks_nor_outside(curve, others, levels):
    """What does not fit is left out. Only labels of points may cross thin lines."""
    points = [point(x, y, error, label=str(10 + at)) for at, (x, y, error) in enumerate(curve)]
    more = [Series(str(at), [point(x, y, error)]) for at, (x, y, error) in enumerate(others)]
    all_levels = [Level(f"level {at}", y) for at, y in enumerate(levels)]
    for drawing in chart(points, all_levels, points[0], more, limits=(0, 1)).drawings():
        marks = [mark for line in drawing.lines for mark in line.marks]
        labels = [box(mark.label) for mark in marks if mark.label is not None]
        others = [box(word) for word in (drawing.note, *(rule.label for rule in drawing.rules)) if word is not None]
        assert not any(overlap(*pair) for pair in combinations([*labels, *others], 2))
        for left, top, right, bottom in [*labels, *others]:
            assert drawing.frame.left <= left < right <= drawing.frame.width
            assert 12 < top < bottom <= drawing.frame.height - drawing.frame.bottom
            for mark in marks:
                assert not overlap((left, top, right, bottom), (mark.x - 6, mark.y - 6, mark.x + 6, mark.y + 6))
        for word in others:
            for mark in marks:
                assert not overlap(word, (mark.x - 4, mark.high, mark.x + 4, mark.low))


def test_an_axis_does_not_go_beyond_the_values_that_there_can_be():
    for points in ([point(5, 1.0, 0), point(9, 1.0, 0)], [point(5, 0.97), point(9, 0.99)]):
        for drawing in chart(points, [Level("all", 1.0)], limits=(0.0, 1.0)).drawings():
            assert max(float(text) for _, text in drawing.y_ticks) == 1
    (drawing, _) = chart([point(5, 0.0, 0)], limits=(0.0, 1.0)).drawings()
    assert min(float(text) for _, text in drawing.y_ticks) == 0
    (drawing, _) = chart([point(5, 2.0, 0)], limits=(0.0, 1.0)).drawings()
    assert drawing.lines[0].marks[0].y >= drawing.frame.top  # a value that cannot be is drawn all the same


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
    assert far.rules[0].y > far.gap > lowest
    assert far.rules[0].text == "chance: 0.100"
    near = chart(CURVE, [Level("chance", 0.6)]).drawings()[0]
    assert near.gap is None
    y, marks = near.rules[0].y, near.lines[0].marks
    assert y == pytest.approx(marks[0].y + (marks[0].y - marks[1].y), abs=0.2)  # .6 is as far below .7 as .7 below .8


def test_a_level_with_an_interval_has_a_band_and_is_inside_with_it():
    levels = [Level("all", 0.97, 0.95, 0.99), Level("chance", 0.1)]
    for drawing in chart(CURVE, levels).drawings():
        band, line = drawing.rules
        assert drawing.frame.top <= band.high < band.y < band.low
        assert line.low == line.y == line.high
        assert {rule.dashes for rule in drawing.rules} == {0, 1}  # they can be told apart in the legend


def test_labels_and_words_that_have_no_room_are_left_out_and_the_legend_has_them():
    same = [point(5, 0.8, label="100"), point(5.01, 0.8, label="200"), point(5.02, 0.8, label="300")]
    crowd = [Series(str(at), [point(5 * 1.2**at, 0.8 + 0.01 * (at % 2), 0.3)]) for at in range(-9, 9)]
    drawing = chart(same, [Level("one", 0.85)], same[0], crowd).drawings()[1]
    curve = next(line for line in drawing.lines if len(line.marks) == 3)
    assert [mark.label is None for mark in curve.marks][2]
    assert drawing.note is None
    assert drawing.rules[0].label is None
    assert drawing.rules[0].text == "one: 0.850"


def test_the_words_of_a_level_are_where_no_points_are():
    few, many = [point(1, 0.8), point(30, 0.9)], [point(1, 0.9), point(30, 0.8)]
    for points, expected in ((few, "start"), (many, "end")):
        for drawing in chart(points, [Level("all", 0.895)]).drawings():
            assert drawing.rules[0].label.side == expected


def test_the_words_beside_a_point_keep_off_its_ring_however_short_its_interval_is():
    points = [point(3, 0.8, 0.0001), point(30, 0.9)]
    for drawing in chart(points, marked=points[0]).drawings():
        (mark,) = [mark for mark in drawing.lines[0].marks if mark.marked]
        assert not overlap(box(drawing.note), (mark.x - 11, mark.y - 11, mark.x + 11, mark.y + 11))


def test_a_strong_series_is_labelled_first_and_drawn_last():
    weak = Series("weak", [point(3, 0.8, label="weak")], strong=False)
    drawing = chart(CURVE, more=[weak]).drawings()[0]
    assert [line.strong for line in drawing.lines] == [False, True]
    assert drawing.lines[1].marks[1].label.text == "10"
    assert drawing.lines[1].marks[1].label.y > drawing.lines[0].marks[0].label.y  # the weak one had to give way


def test_a_single_value_and_no_error_can_be_drawn():
    for drawing in chart([point(5, 1.0, 0)], [Level("all", 1.0)]).drawings():
        (mark,) = drawing.lines[0].marks
        assert all(map(math.isfinite, (mark.x, mark.y, mark.low, mark.high)))
        assert drawing.y_ticks


def test_the_points_are_written_as_exact_as_they_are(tmp_path):
    chart([point(1 / 3, 2 / 3)], [Level("all", 0.9, 0.8), Level("chance", 0.1)]).write(tmp_path)
    with (tmp_path / "c.csv").open(newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["series", "point", "size", "F1", "low", "high"]
    assert [float(value) for value in rows[1][2:]] == [1 / 3, 2 / 3, 2 / 3 - 0.01, 2 / 3 + 0.01]
    assert rows[2:] == [["all", "", "", "0.9", "0.8", ""], ["chance", "", "", "0.1", "", ""]]
