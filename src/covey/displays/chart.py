"""A chart: values against something that is drawn on a logarithmic axis, with intervals, as a drawing inside a page.

The page's own fonts and colors draw it, so that it follows the reader's light or dark mode, and any language can be
written in it. It is laid out twice, because a drawing that was made for a desktop cannot be read on a phone; the style
sheet shows one of the two.

1. `Chart` holds the values. `parts/chart.html` beside this file writes what `drawings` returns as SVG.
2. The vertical axis is as long as the values need. A level far below them, such as that of chance, would flatten them,
   so it gets a strip of its own below a gap.
3. A label that has no room is left out: a browser shows what a point is to whoever points at it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from covey.displays.files import write_csv

FAR = 1.0
"""A level that is further below all values than this many times their range gets a strip of its own."""
FEW = 3
"""With fewer numbers than this, an axis does not show its scale."""
CLOSE = 15.0
"""Labels that are nearer to each other than this would overlap: about the height of a line."""
WIDTH_OF_A_LETTER = 7.0
"""About how many pixels a letter is wide."""
DIGITS = (1, 2, 5)
"""The first digits of round numbers."""
FINER_DIGITS = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8)
"""The first digits of numbers that are a little less round, for axes on which there are too few of the others."""
SHAPES = ("circle", "square", "triangle", "diamond")
"""The marks of series, so that they differ not only by color."""
N_COLORS = 6
"""How many colors a style sheet has for series."""
STRIP = 40.0
"""The height of the strip for levels that are far below."""


@dataclass(frozen=True)
class Point:
    """A value with its interval: from `low` to `high`. `label` is written beside it, and `words` tell all about it."""

    x: float
    y: float
    low: float
    high: float
    label: str = ""
    words: str = ""


@dataclass(frozen=True)
class Series:
    """Points that belong together. Several of them are joined by a line. What is not strong is drawn paler."""

    name: str
    points: Sequence[Point]
    strong: bool = True

    @property
    def joined(self) -> bool:
        """Whether a line joins the points."""
        return len(self.points) > 1


@dataclass(frozen=True)
class Level:
    """A line across the chart, which everything else is held against."""

    name: str
    y: float


@dataclass(frozen=True)
class Axis:
    """The title of an axis, and how values on it are written."""

    title: str
    form: str


@dataclass(frozen=True)
class Frame:
    """The size of a drawing and its margins, in pixels, and about how many marks its axes have."""

    kind: str
    width: float
    height: float
    left: float
    n_ticks: int
    right: float = 12.0
    top: float = 26.0
    bottom: float = 46.0


FRAMES = (Frame("desktop", 760, 400, 52, 8), Frame("phone", 358, 360, 46, 6))
"""The two layouts. A page on a phone that is 390 pixels wide has 358 for a drawing."""


@dataclass(frozen=True)
class Mark:
    """A point as it is drawn: its place, the ends of its interval, and where its label is, if it has room."""

    x: float
    y: float
    low: float
    high: float
    words: str
    label: str
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
class Drawing:
    """A chart that is laid out in a frame. A tick is a place and a text; the line of a level has a place for its text.

    Attributes
    ----------
    x_ticks, y_ticks : list of (float, str)
    levels : list of (float, float, str, str)
        The place of the line and of its text, the text, and the end of the line at which it is: "start" or "end".
    gap : float or None
        Where the vertical axis is broken.
    note : (float, float, str) or None
        The place of the words beside the marked point, and on which side of the place they are.
    """

    frame: Frame
    x_ticks: Sequence[tuple[float, str]]
    y_ticks: Sequence[tuple[float, str]]
    levels: Sequence[tuple[float, float, str, str]]
    lines: Sequence[Line]
    gap: float | None
    note: tuple[float, float, str] | None


@dataclass(frozen=True)
class Chart:
    """Series of points, and levels across them.

    Attributes
    ----------
    name, caption : str
        The name of its file, and what it shows.
    across, up : Axis
        The logarithmic axis, and the other one.
    series : sequence of Series
    levels : sequence of Level
    marked : Point or None
        The point that stands out.
    mark : str
        What is written beside it.

    Examples
    --------
    >>> from covey.displays.chart import Axis, Chart, Point, Series
    >>> points = [Point(1, 0.5, 0.4, 0.6), Point(10, 0.9, 0.8, 1.0)]
    >>> chart = Chart("growth", "It grows.", Axis("size", "{:g}"), Axis("quality", "{:.1f}"), [Series("all", points)])
    >>> [drawing.frame.kind for drawing in chart.drawings()]
    ['desktop', 'phone']
    >>> [text for _, text in chart.drawings()[0].y_ticks]
    ['0.4', '0.5', '0.6', '0.7', '0.8', '0.9', '1.0']
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
        """The chart in both layouts."""
        return [_Layout(self, frame).drawing() for frame in FRAMES]

    def legend(self) -> list[tuple[int, str, Series]]:
        """The color and the shape of each series."""
        return [(at % N_COLORS, SHAPES[at % len(SHAPES)], own) for at, own in enumerate(self.series)]

    def write(self, folder: Path) -> None:
        """Write the points as a CSV file, as exact as they are."""
        rows = [(s.name, p.label, p.x, p.y, p.low, p.high) for s in self.series for p in s.points]
        lines = [(level.name, "", "", level.y, "", "") for level in self.levels]
        titles = ("series", "point", self.across.title, self.up.title, "low", "high")
        write_csv(folder / f"{self.name}.csv", titles, [*rows, *lines])


class _Layout:
    """Where everything of a chart is in a frame."""

    def __init__(self, chart: Chart, frame: Frame) -> None:
        self.chart, self.frame = chart, frame
        points = [point for series in chart.series for point in series.points]
        places = [point.x for point in points if point.x > 0] or [1.0]
        self.left, self.right = min(places) / 1.3, max(places) * 1.3  # some room at both sides
        ends = [end for point in points for end in (point.low, point.high)]
        low, high = min(ends, default=0.0), max(ends, default=1.0)
        self.far = [level for level in chart.levels if low - level.y > FAR * (high - low)]
        near = [level.y for level in chart.levels if level not in self.far]
        low, high = min([low, *near]), max([high, *near])
        room = 0.05 * (high - low or 1.0)
        self.low, self.high = low - room, high + room
        self.floor = frame.height - frame.bottom - (STRIP if self.far else 0)

    def across(self, x: float) -> float:
        """The horizontal place of a value; what a logarithmic axis has no place for is at its left end."""
        share = math.log(max(x, self.left) / self.left) / math.log(self.right / self.left)
        return round(self.frame.left + share * (self.frame.width - self.frame.left - self.frame.right), 1)

    def up(self, y: float) -> float:
        """The vertical place of a value, which grows downwards."""
        return round(self.floor - (y - self.low) / (self.high - self.low) * (self.floor - self.frame.top), 1)

    def drawing(self) -> Drawing:
        """Lay everything out."""
        frame, chart = self.frame, self.chart
        x_ticks = [
            (self.across(x), chart.across.form.format(x)) for x in _decades(self.left, self.right, frame.n_ticks)
        ]
        y_ticks = [(self.up(y), text) for y, text in _steps(self.low, self.high, frame.n_ticks)]
        gap = self.floor + 6 if self.far else None
        return Drawing(frame, x_ticks, y_ticks, self._levels(), self._lines(), gap, self._note())

    def _levels(self) -> list[tuple[float, float, str, str]]:
        """The lines of levels. The text is above its line, or below if another one is close above it."""
        found: list[tuple[float, float, str, str]] = []
        strip = self.frame.height - self.frame.bottom - 10
        for level in sorted(self.chart.levels, key=lambda level: -level.y):
            y = strip if level in self.far else self.up(level.y)
            crowded = any(0 <= y - other < 2 * CLOSE for other, *_ in found)
            text = f"{level.name}: {self.chart.up.form.format(level.y)}"
            text_y = y + 13 if crowded else y - 5
            found.append((y, text_y, text, self._free_end(text_y, text)))
        return found

    def _free_end(self, y: float, text: str) -> str:
        """The end of a line at which fewer points are in the way of a text: "start", or "end"."""
        width, right = WIDTH_OF_A_LETTER * len(text), self.frame.width - self.frame.right
        places = {"start": (self.frame.left, self.frame.left + width), "end": (right - width, right)}
        points = [point for series in self.chart.series for point in series.points]
        crossing = [self.across(p.x) for p in points if self.up(p.high) - CLOSE < y < self.up(p.low) + CLOSE]
        return min(places, key=lambda end: sum(places[end][0] <= x <= places[end][1] for x in crossing))

    def _lines(self) -> list[Line]:
        """The series, strong ones last, so that they are drawn over the others."""
        taken: list[tuple[float, float]] = []
        lines = [
            Line(color, shape, series.strong, series.joined, [self._mark(point, taken) for point in series.points])
            for color, shape, series in sorted(self.chart.legend(), key=lambda own: not own[2].strong)
        ]
        return lines[::-1]

    def _mark(self, point: Point, taken: list[tuple[float, float]]) -> Mark:
        """A point, whose label is left out if another one, or another point, is too close."""
        x, y = self.across(point.x), self.up(point.y)
        has_room = all(abs(x - other) > CLOSE or abs(y - at) > CLOSE for other, at in taken)
        taken.append((x, y))
        low, high = self.up(point.low), self.up(point.high)
        return Mark(x, y, low, high, point.words, point.label if has_room else "", point is self.chart.marked)

    def _note(self) -> tuple[float, float, str] | None:
        """Where the words beside the marked point are: above its interval, towards the middle of the drawing."""
        point = self.chart.marked
        if point is None:
            return None
        x = self.across(point.x)
        third = (self.frame.width - self.frame.left) / 3
        side = "start" if x < self.frame.left + third else "end" if x > self.frame.left + 2 * third else "middle"
        return x, max(self.up(point.high) - 9, 12.0), side


def _decades(low: float, high: float, most: int) -> list[float]:
    """Round numbers on a logarithmic axis, at most so many: 1, 2, 5, 10 ... if they fit.

    A short axis has numbers between them, and a long one powers of ten.
    """
    few = len(_round_numbers(low, high, DIGITS)) < FEW
    found: list[float] = []
    for digits in (FINER_DIGITS, DIGITS) if few else (DIGITS, (1, 3), (1,)):
        found = _round_numbers(low, high, digits)
        if len(found) <= most:
            return found
    return found[:: -(-len(found) // most)]


def _round_numbers(low: float, high: float, digits: Sequence[float]) -> list[float]:
    """The numbers in a range that begin with these digits, ascending."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [value for power in powers for digit in digits if low <= (value := digit * 10.0**power) <= high]


def _steps(low: float, high: float, most: int) -> list[tuple[float, str]]:
    """Round numbers at equal distances, about so many at most, written with as many digits as tell them apart."""
    smallest = (high - low) / most
    power = 10.0 ** math.floor(math.log10(smallest))
    step = next((digit * power for digit in DIGITS if digit * power >= smallest), 10 * power)
    digits = max(0, -math.floor(math.log10(step)))
    return [
        (number * step, f"{number * step:.{digits}f}")
        for number in range(math.ceil(low / step), math.floor(high / step) + 1)
    ]
