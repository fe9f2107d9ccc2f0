"""A chart: values against something that is drawn on a logarithmic axis, with intervals, as a drawing inside a page.

The page's own fonts and colors draw it, so that it follows the reader's light or dark mode, and any language can be
written in it. It is laid out twice, because a drawing that was made for a desktop cannot be read on a phone; the style
sheet shows one of the two.

1. `Chart` holds the values. `parts/chart.html` beside this file writes what `drawings` returns as SVG.
2. The vertical axis is as long as the values need. A level far below them, such as that of chance, would flatten them,
   so it gets a strip of its own below a gap.
3. Labels are written where `LabelPlacer` finds a free place, and left out otherwise. The legend names everything that
   is drawn, and a browser shows the name of a point below the pointer.
4. `decades` and `steps` choose round numbers for the axes.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import ClassVar

from covey.displays.table import write_csv

LETTER = 8.5
"""About how many pixels a letter is wide, in bold and in a wide font: "recommended" takes 93 in DejaVu Sans."""
ABOVE, BELOW = 10.0, 3.0
"""How far letters reach above and below the line that they stand on, in pixels."""
CLOSE = 2.0
"""How near a label may come to a thin line, in pixels."""
Box = tuple[float, float, float, float]
"""The left, upper, right and lower edge of something, in pixels from the upper left corner."""
Place = tuple[float, float, str]
"""Where a label may be: x, the line that it stands on, and which part of it is at x: its "start", "middle" or "end"."""
SHARE_BEFORE = {"start": 0.0, "middle": 0.5, "end": 1.0}
"""Which share of a label is to the left of x."""
NOTHING, LINE, BAR, SOLID = range(4)
"""Weights of reserved boxes. A label can be read across a line; across a bar, only a number can."""


@dataclass(frozen=True)
class Label:
    """A label and its place, as `Place` describes it."""

    text: str
    x: float
    y: float
    side: str


class LabelPlacer:
    """Places labels where they cover nothing: boxes of a drawing are reserved, and labels avoid them.

    Examples
    --------
    >>> labels = LabelPlacer((0, 0, 100, 100))
    >>> labels.reserve((0, 20, 60, 60))
    >>> labels.place("k = 5", [(30, 40, "start"), (30, 80, "start")])
    Label(text='k = 5', x=30, y=80, side='start')
    >>> labels.place("k = 7", [(30, 80, "start")]) is None
    True
    """

    def __init__(self, inside: Box) -> None:
        self._inside = inside
        self._reserved: list[tuple[Box, int]] = []

    def reserve(self, box: Box, weight: int = SOLID) -> None:
        """Reserve a box. Labels avoid reserved boxes, those of the highest `weight` most."""
        self._reserved.append((box, weight))

    def reserve_line(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Reserve boxes along a straight line."""
        (x, y), (to_x, to_y) = start, end
        n = 1 + int(math.dist(start, end) / (2 * CLOSE))
        for at in range(n + 1):
            here, there = x + at / n * (to_x - x), y + at / n * (to_y - y)
            self.reserve((here - CLOSE, there - CLOSE, here + CLOSE, there + CLOSE), LINE)

    def place(self, text: str, places: Iterable[Place], crossing: int = NOTHING) -> Label | None:
        """Return the label at the first free place, which is then reserved; None if no place is free.

        It may cross boxes up to the weight `crossing`, but is placed where it crosses less, if possible.
        """
        inside = [(place, box) for place in places if _holds(self._inside, box := _box_of(text, place))]
        for crossed in range(crossing + 1):
            others = [other for other, weight in self._reserved if weight > crossed]
            for place, box in inside:
                if not any(_overlap(box, other) for other in others):
                    self.reserve(box)
                    return Label(text, *place)
        return None


def _box_of(text: str, place: Place) -> Box:
    x, y, side = place
    left = x - SHARE_BEFORE[side] * LETTER * len(text)
    return left, y - ABOVE, left + LETTER * len(text), y + BELOW


def _holds(outer: Box, inner: Box) -> bool:
    return outer[0] <= inner[0] and outer[1] <= inner[1] and inner[2] <= outer[2] and inner[3] <= outer[3]


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


FEW = 3
"""With fewer numbers than this, an axis does not show its scale."""
DIGITS = (1, 2, 5)
"""The first digits of round numbers."""
FINER_DIGITS = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8)
"""The first digits of numbers that are a little less round, for axes on which there are too few of the others."""


def decades(low: float, high: float, most: int) -> list[float]:
    """Return round numbers on a logarithmic axis, at most this many: 1, 2, 5, 10 ... if they fit.

    A short axis has numbers between them, and a long one powers of ten.

    Examples
    --------
    >>> decades(0.8, 30, 8), decades(0.8, 3000, 4)
    ([1.0, 2.0, 5.0, 10.0, 20.0], [1.0, 10.0, 100.0, 1000.0])
    """
    few = len(_round_numbers(low, high, DIGITS)) < FEW
    found: list[float] = []
    for digits in (FINER_DIGITS, DIGITS) if few else (DIGITS, (1, 3), (1,)):
        found = _round_numbers(low, high, digits)
        if len(found) <= most:
            return found
    return found[:: -(-len(found) // most)]


def _round_numbers(low: float, high: float, digits: Sequence[float]) -> list[float]:
    """Return the numbers in a range that begin with these digits, ascending."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [value for power in powers for digit in digits if low <= (value := digit * 10.0**power) <= high]


def steps(low: float, high: float, most: int) -> list[tuple[float, str]]:
    """Return round numbers at equal distances, about this many at most, written with as many digits as tell them apart.

    Examples
    --------
    >>> [text for _, text in steps(0.47, 0.81, 4)]
    ['0.5', '0.6', '0.7', '0.8']
    """
    smallest = (high - low) / most
    power = 10.0 ** math.floor(math.log10(smallest))
    step = next((digit * power for digit in DIGITS if digit * power >= smallest), 10 * power)
    digits = max(0, -math.floor(math.log10(step)))
    return [
        (number * step, f"{number * step:.{digits}f}")
        for number in range(math.ceil(low / step), math.floor(high / step) + 1)
    ]


FAR = 1.0
"""A level that is further below all values than this many times their range gets a strip of its own."""
SHAPES = ("circle", "square", "triangle", "diamond")
"""The marks of series, so that they differ not only by color."""
N_COLORS, N_DASHES = 6, 4
"""How many colors a style sheet has for series, and how many kinds of dashes for levels."""
STRIP = 40.0
"""The height of the strip for levels that are far below."""


@dataclass(frozen=True)
class Point:
    """A value in a chart, with its interval.

    Attributes
    ----------
    x, y : float
        Its place on the logarithmic axis, and on the other one. A logarithmic axis has no place for an x of 0 or below,
        which is drawn at the left end.
    low, high : float
        The ends of its interval, which is drawn as a bar.
    label : str
        What is written beside it, if there is room.
    words : str
        What a browser shows to a reader who points at it.

    See Also
    --------
    covey.displays.chart.Chart : Draws points.

    Examples
    --------
    A score with its standard error:

    >>> from covey.displays.chart import Point
    >>> score, error = 0.75, 0.125
    >>> Point(10, score, score - error, score + error, label="k = 5")
    Point(x=10, y=0.75, low=0.625, high=0.875, label='k = 5', words='')
    """

    x: float
    y: float
    low: float
    high: float
    label: str = ""
    words: str = ""


@dataclass(frozen=True)
class Series:
    """Points of a chart that belong together: they have one color and one shape, and a line joins them.

    Attributes
    ----------
    name : str
        What the legend calls them.
    points : sequence of Point
        The points, in the order in which the line joins them.
    strong : bool
        Whether they stand out; if not, they are drawn paler and below the others.

    See Also
    --------
    covey.displays.chart.Chart : Draws series.

    Examples
    --------
    >>> from covey.displays.chart import Point, Series
    >>> Series("CRS", [Point(1, 0.8, 0.8, 0.8), Point(5, 0.9, 0.9, 0.9)]).joined
    True
    """

    name: str
    points: Sequence[Point]
    strong: bool = True

    @property
    def joined(self) -> bool:
        """Whether a line joins the points: there are several of them."""
        return len(self.points) > 1


@dataclass(frozen=True)
class Level:
    """A line across a chart that everything else is compared with, such as chance.

    Attributes
    ----------
    name : str
        What it is called, in the legend and beside the line.
    y : float
        Its height. A level far below all points gets a strip of its own below a gap, so that it does not flatten them.
    low, high : float or None
        The ends of its interval, which is drawn as a band; None if it has none.

    See Also
    --------
    covey.displays.chart.Chart : Draws levels.

    Examples
    --------
    >>> from covey.displays.chart import Axis, Chart, Level, Point, Series
    >>> good = Series("CRS", [Point(1, 0.8, 0.78, 0.82), Point(5, 0.9, 0.88, 0.92)])
    >>> axes = Axis("size", "{:g}"), Axis("F1", "{:.2f}")
    >>> chart = Chart("quality", "Better than chance.", *axes, [good], [Level("chance", 0.1)])
    >>> drawing = chart.drawings()[0]
    >>> drawing.gap is None, [text for _, text in drawing.y_ticks][0]
    (False, '0.78')
    """

    name: str
    y: float
    low: float | None = None
    high: float | None = None

    @property
    def interval(self) -> tuple[float, float]:
        """Both ends of the interval; the level itself if it has none."""
        return self.y if self.low is None else self.low, self.y if self.high is None else self.high


@dataclass(frozen=True)
class Axis:
    """An axis of a chart.

    Attributes
    ----------
    title : str
        What the values are.
    form : str
        How a value is written, as `str.format` takes it, for example "{:.3f}".
    limits : (float, float)
        The smallest and the largest value that there can be, such as 0 and 1 for a share. A vertical axis does not go
        beyond them.

    See Also
    --------
    covey.displays.chart.Chart : Has two axes.

    Examples
    --------
    >>> from covey.displays.chart import Axis
    >>> Axis("selected", "{:g} %").form.format(2.5)
    '2.5 %'
    """

    title: str
    form: str
    limits: tuple[float, float] = (-math.inf, math.inf)


@dataclass(frozen=True)
class PlotArea:
    """The size of a drawing and its margins, in pixels, and about how many marks its axes have."""

    kind: str
    width: float
    height: float
    left: float
    n_ticks: int
    right: float = 12.0
    top: float = 30.0
    bottom: float = 46.0


PLOT_AREAS = (PlotArea("desktop", 760, 400, 52, 8), PlotArea("phone", 358, 360, 46, 6))
"""The two layouts. A page on a phone that is 390 pixels wide has 358 for a drawing."""


@dataclass(frozen=True)
class Mark:
    """A point as it is drawn: its place, the ends of its interval, and its label, if that has a place."""

    x: float
    y: float
    low: float
    high: float
    words: str
    label: Label | None
    marked: bool


@dataclass(frozen=True)
class Line:
    """A series as it is drawn: its color and shape, and its marks."""

    color: int
    shape: str
    strong: bool
    joined: bool
    marks: Sequence[Mark]

    @property
    def path(self) -> str:
        """The places of all marks, as SVG writes a line."""
        return " ".join(f"{mark.x},{mark.y}" for mark in self.marks)


@dataclass(frozen=True)
class LevelLine:
    """A level as it is drawn: its place, the ends of its band, the kind of its dashes, and what is written about it.

    The legend has the text in any case, and the drawing has it as a label if there is room.
    """

    y: float
    low: float
    high: float
    dashes: int
    text: str
    label: Label | None


@dataclass(frozen=True)
class Drawing:
    """A chart that is laid out in a frame.

    Attributes
    ----------
    x_ticks, y_ticks : list of (float, str)
        The place and the text of each.
    rules : list of LevelLine
        The levels.
    lines : list of Line
        The series.
    gap : float or None
        Where the vertical axis is broken.
    note : Label or None
        What is written beside the marked point, if it has room.
    """

    frame: PlotArea
    x_ticks: Sequence[tuple[float, str]]
    y_ticks: Sequence[tuple[float, str]]
    rules: Sequence[LevelLine]
    lines: Sequence[Line]
    gap: float | None
    note: Label | None


@dataclass(frozen=True)
class Chart:
    """A chart in a report: values with intervals against something that grows by factors, such as a size.

    The page itself draws it, so that it follows the reader's light or dark mode, and no matplotlib is needed.

    Attributes
    ----------
    name, caption : str
        The name of its file, without a suffix, and what it shows.
    across, up : Axis
        The horizontal axis, which is logarithmic, and the vertical one, which is not.
    series : sequence of Series
        The points.
    levels : sequence of Level
        Lines across the chart.
    marked : Point or None
        The point that stands out. It must be one of the points in `series`, not another one that is equal to it.
    mark : str
        What it is called, in the legend and beside it.

    Examples
    --------
    The axes get round numbers that suit the values:

    >>> from covey.displays.chart import Axis, Chart, Point, Series
    >>> points = [Point(1, 0.5, 0.4, 0.6), Point(10, 0.9, 0.8, 1.0)]
    >>> chart = Chart("growth", "It grows.", Axis("size", "{:g}"), Axis("quality", "{:.1f}"), [Series("all", points)])
    >>> desktop, phone = chart.drawings()
    >>> [text for _, text in desktop.x_ticks], [text for _, text in desktop.y_ticks]
    (['1', '2', '5', '10'], ['0.4', '0.5', '0.6', '0.7', '0.8', '0.9', '1.0'])
    """

    name: str
    caption: str
    across: Axis
    up: Axis
    series: Sequence[Series]
    levels: Sequence[Level] = ()
    marked: Point | None = None
    mark: str = ""

    template: ClassVar[str] = "chart.html"

    def drawings(self) -> list[Drawing]:
        """Return the chart in two layouts, for a desktop and for a phone. The page shows the one that suits the window.

        Returns
        -------
        list
            Two drawings. Their attributes hold the places of everything, in pixels; `x_ticks` and `y_ticks` are pairs
            of a place and a text.
        """
        return [_ChartLayout(self, frame).drawing() for frame in PLOT_AREAS]

    def legend(self) -> list[tuple[int, str, Series]]:
        """Return the color and the shape of each series.

        Returns
        -------
        list of (int, str, Series)
            The number of the color, the name of the shape, and the series.
        """
        return [(at % N_COLORS, SHAPES[at % len(SHAPES)], own) for at, own in enumerate(self.series)]

    def write(self, folder: Path) -> None:
        """Write the points and levels as a CSV file, as exact as they are.

        Parameters
        ----------
        folder : path
            Where the file is written, which must exist.
        """
        rows = [(s.name, p.label, p.x, p.y, p.low, p.high) for s in self.series for p in s.points]
        lines = [(level.name, "", "", level.y, level.low, level.high) for level in self.levels]
        titles = ("series", "point", self.across.title, self.up.title, "low", "high")
        write_csv(folder / f"{self.name}.csv", titles, [*rows, *lines])


class _ChartLayout:
    """Where everything of a chart is in a frame."""

    def __init__(self, chart: Chart, frame: PlotArea) -> None:
        self.chart, self.frame = chart, frame
        points = [point for series in chart.series for point in series.points]
        places = [point.x for point in points if point.x > 0] or [1.0]
        self.left, self.right = min(places) / 1.3, max(places) * 1.3  # some room at both sides
        ends = [end for point in points for end in (point.low, point.high)]
        low, high = min(ends, default=0.0), max(ends, default=1.0)
        self.far = [level for level in chart.levels if low - level.y > FAR * (high - low)]
        near = [end for level in chart.levels if level not in self.far for end in level.interval]
        low, high = min([low, *near]), max([high, *near])
        air, (lowest, highest) = 0.05 * (high - low or 1.0), chart.up.limits
        self.low, self.high = min(low, max(low - air, lowest)), max(high, min(high + air, highest))
        self.floor = frame.height - frame.bottom - (STRIP if self.far else 0)
        self.labels = LabelPlacer((frame.left, frame.top - 12, frame.width, frame.height - frame.bottom))

    def across(self, x: float) -> float:
        """Return the horizontal place of a value; what a logarithmic axis has no place for is at its left end."""
        share = math.log(max(x, self.left) / self.left) / math.log(self.right / self.left)
        return round(self.frame.left + share * (self.frame.width - self.frame.left - self.frame.right), 1)

    def up(self, y: float) -> float:
        """Return the vertical place of a value, which grows downwards."""
        return round(self.floor - (y - self.low) / (self.high - self.low) * (self.floor - self.frame.top), 1)

    def drawing(self) -> Drawing:
        """Lay everything out: what is drawn reserves its place first, then labels do, the most important ones first."""
        frame, chart = self.frame, self.chart
        x_ticks = [(self.across(x), chart.across.form.format(x)) for x in decades(self.left, self.right, frame.n_ticks)]
        y_ticks = [(self.up(y), text) for y, text in steps(self.low, self.high, frame.n_ticks)]
        gap = self.floor + 10 if self.far else None
        for series in chart.series:
            self._reserve(series)
        for level in chart.levels:
            y = self._height(level)
            self.labels.reserve_line((frame.left, y), (frame.width, y))
        note = None if chart.marked is None else self._note(chart.marked)
        rules = [self._rule(level, at) for at, level in enumerate(chart.levels)]
        return Drawing(frame, x_ticks, y_ticks, rules, self._lines(), gap, note)

    def _reserve(self, series: Series) -> None:
        """Reserve the places of marks, of intervals, and of the line that joins them."""
        marks = [(self.across(point.x), self.up(point.y)) for point in series.points]
        for point, (x, y) in zip(series.points, marks, strict=True):
            half = self._half(point)
            self.labels.reserve((x - half, y - half, x + half, y + half))
            self.labels.reserve((x - 5, self.up(point.high), x + 5, self.up(point.low)), BAR)
        for start, end in pairwise(marks):
            self.labels.reserve_line(start, end)

    def _half(self, point: Point) -> float:
        """Return half of the width that a mark takes; the marked one has a ring around it."""
        return 13.0 if point is self.chart.marked else 7.0

    def _height(self, level: Level) -> float:
        """Return where the line of a level is."""
        return self.frame.height - self.frame.bottom - 10 if level in self.far else self.up(level.y)

    def _rule(self, level: Level, at: int) -> LevelLine:
        """Return the line of a level and its band; its label is above or below, at a free place along it."""
        y, left, right = self._height(level), self.frame.left + 5, self.frame.width - self.frame.right - 3
        low, high = (y, y) if level in self.far else map(self.up, level.interval)
        inner = [(left + share * (right - left), "middle") for share in (0.5, 0.25, 0.75)]
        places = [(x, line, side) for line in (y - 5, y + 14) for x, side in [(left, "start"), (right, "end"), *inner]]
        text = f"{level.name}: {self.chart.up.form.format(level.y)}"
        return LevelLine(y, low, high, at % N_DASHES, text, self.labels.place(text, places))

    def _lines(self) -> list[Line]:
        """Return the series, strong ones last, so that they are drawn over the others. They get their labels first."""
        lines = [
            Line(color, shape, series.strong, series.joined, [self._mark(point) for point in series.points])
            for color, shape, series in sorted(self.chart.legend(), key=lambda own: not own[2].strong)
        ]
        return lines[::-1]

    def _mark(self, point: Point) -> Mark:
        """Return a point. Its label is to the right of it, because one in between two points could belong to either."""
        x, y, half = self.across(point.x), self.up(point.y), self._half(point)
        places = [(x + half, line, "start") for line in (y + 15, y - 8)]
        label = self.labels.place(point.label, places, BAR) if point.label else None
        return Mark(x, y, self.up(point.low), self.up(point.high), point.words, label, point is self.chart.marked)

    def _note(self, point: Point) -> Label | None:
        """Return what is written beside the marked point: above or below its ring and its interval, or at a side."""
        x, y = self.across(point.x), self.up(point.y)
        above, below = min(self.up(point.high) - 9, y - 16), max(self.up(point.low) + 18, y + 25)
        places = [(x, line, side) for line in (above, below) for side in ("middle", "start", "end")]
        return self.labels.place(self.chart.mark, [*places, (x + 16, y + 4, "start"), (x - 16, y + 4, "end")], LINE)
