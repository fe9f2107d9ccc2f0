"""Room for words in a drawing: a word is written where nothing else is, or not at all."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

LETTER = 8.5
"""About how many pixels a letter is wide, in bold and in a wide font: "recommended" takes 93 in DejaVu Sans."""
ABOVE, BELOW = 10.0, 3.0
"""How far letters reach above and below the line that they stand on, in pixels."""
CLOSE = 2.0
"""How near a word may come to a thin line, in pixels."""
Box = tuple[float, float, float, float]
"""The left, upper, right and lower edge of something, in pixels from the upper left corner."""
Place = tuple[float, float, str]
"""Where a word may be: x, the line that it stands on, and which part of it is at x: its "start", "middle" or "end"."""
SHARE_BEFORE = {"start": 0.0, "middle": 0.5, "end": 1.0}
"""Which share of a word is to the left of x."""
NOTHING, LINE, BAR, SOLID = range(4)
"""How much something is in the way of words. A word can be read across a line; across a bar, only a number can."""


@dataclass(frozen=True)
class Word:
    """A text and the place that it has found, as `Place` describes it."""

    text: str
    x: float
    y: float
    side: str


class Room:
    """What is taken of a drawing, and what is free.

    Examples
    --------
    >>> room = Room((0, 0, 100, 100))
    >>> room.take((0, 20, 60, 60))
    >>> room.word("k = 5", [(30, 40, "start"), (30, 80, "start")])
    Word(text='k = 5', x=30, y=80, side='start')
    >>> room.word("k = 7", [(30, 80, "start")]) is None
    True
    """

    def __init__(self, inside: Box) -> None:
        self._inside = inside
        self._taken: list[tuple[Box, int]] = []

    def take(self, box: Box, weight: int = SOLID) -> None:
        """Take a part of the drawing for something; `weight` says how much it is in the way of words."""
        self._taken.append((box, weight))

    def take_line(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Take what is along a straight line."""
        (x, y), (to_x, to_y) = start, end
        n = 1 + int(math.dist(start, end) / (2 * CLOSE))
        for at in range(n + 1):
            here, there = x + at / n * (to_x - x), y + at / n * (to_y - y)
            self.take((here - CLOSE, there - CLOSE, here + CLOSE, there + CLOSE), LINE)

    def word(self, text: str, places: Iterable[Place], crossing: int = NOTHING) -> Word | None:
        """Write a text at the first place where it has room, and take this place; None if it has room nowhere.

        It may cross what is no more in the way than `crossing`, but goes where it crosses less, if it can.
        """
        inside = [(place, box) for place in places if _holds(self._inside, box := _box_of(text, place))]
        for crossed in range(crossing + 1):
            others = [other for other, weight in self._taken if weight > crossed]
            for place, box in inside:
                if not any(_overlap(box, other) for other in others):
                    self.take(box)
                    return Word(text, *place)
        return None


def _box_of(text: str, place: Place) -> Box:
    x, y, side = place
    left = x - SHARE_BEFORE[side] * LETTER * len(text)
    return left, y - ABOVE, left + LETTER * len(text), y + BELOW


def _holds(outer: Box, inner: Box) -> bool:
    return outer[0] <= inner[0] and outer[1] <= inner[1] and inner[2] <= outer[2] and inner[3] <= outer[3]


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
