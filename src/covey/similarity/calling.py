"""What processes need of those that call a function for pairs of objects."""

from typing import Any, Protocol

from covey.arrays import Floats, Indices


class Caller(Protocol):
    """What a pool needs of a caller: it computes the values of pairs of objects."""

    similarity: Any

    @property
    def unit(self) -> int:
        """How many pairs the function takes in one call."""
        ...

    def __call__(self, i: Indices, j: Indices) -> Floats:
        """Return the values of the pairs, with NaN for failures if the work goes on in spite of them."""
        ...

    def notes(self) -> list[str]:
        """Return descriptions of the failures since the last call, and forget them."""
        ...

    def names(self, i: int, j: int) -> str:
        """Name the two objects of a pair."""
        ...


Part = tuple[Floats, list[str]]
"""The values of some pairs that follow each other, and descriptions of failures among them."""


def answer(caller: Caller, i: Indices, j: Indices) -> Part:
    """Return the values of pairs, and descriptions of failures among them."""
    return caller(i, j), caller.notes()
