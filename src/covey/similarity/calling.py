"""What processes need of those that call a function for pairs of objects."""

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

from covey.arrays import Floats, Indices
from covey.runtime.workers import Outcome, attempt

Part = tuple[Floats, list[str]]
"""The values of some pairs that follow each other, and descriptions of failures among them."""


class Caller(Protocol):
    """What a pool needs of a caller: it computes the values of pairs of objects."""

    similarity: Any

    @property
    def unit(self) -> int:
        """How many pairs the function takes in one call."""
        ...

    def parts(self, i: Indices, j: Indices) -> Iterator[Part]:
        """Yield the values of all pairs. If something stops the work, yield those of the first pairs, and raise it."""
        ...

    def names(self, i: int, j: int) -> str:
        """Name the two objects of a pair."""
        ...


class Answer(NamedTuple):
    """What a worker answers: the parts that a caller has yielded, and how it has ended, well or by an error."""

    parts: list[Part]
    ending: Outcome


def answer(caller: Caller, i: Indices, j: Indices) -> Answer:
    """Let a caller work, and return what it has yielded, also if an error has stopped it."""
    parts: list[Part] = []

    def collect() -> None:
        for part in caller.parts(i, j):
            parts.append(part)  # one by one, because a list made at once would be lost with the error

    return Answer(parts, attempt(collect))
