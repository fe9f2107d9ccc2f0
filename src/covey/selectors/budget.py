"""A budget of representatives for all clusters together, and how it is shared out.

1. Every cluster gets one representative and those that it must include.
2. The others are the representatives with the largest gains, from whichever cluster they come.
3. If representatives without a gain are needed as well, they are those that are least similar to what covers them.

Of equal ones the lowest row of X comes first. Gains never grow from one pick to the next, so each cluster keeps the
first of its picks. This is what greedy picking from all clusters at once, with their graphs side by side, would pick.
"""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple, Self

import numpy as np

from covey.arrays import Floats, Positions
from covey.coverage.gains import keys_of
from covey.prototype import Prototype
from covey.selectors.request import Request
from covey.selectors.saved_state import ROWS_OR_NONE


class Ranking(NamedTuple):
    """What is needed to cut a prototype after any of its representatives, beside the prototype.

    `first_covered_by` says for each member which representative covered it first, even if the member is a
    representative itself. `similarities` says for each representative how similar it is to the one that covered it
    before it was picked; it is infinite if none did.
    """

    first_covered_by: Positions
    similarities: Floats

    def checked(self, prototype: Prototype) -> Self:
        """Return the ranking of this prototype as a file has it. Raise ValueError if it cannot be true."""
        first = ROWS_OR_NONE.check("details", self.first_covered_by)
        if first.shape != prototype.members.shape or not np.isin(first, np.append(prototype.indices, -1)).all():
            raise ValueError("details must be one of the indices for each member, or -1")
        picked = np.isin(prototype.members, prototype.indices)
        by = prototype.covered_by[picked]
        if not ((by == prototype.members[picked]) | (by == -1)).all():
            raise ValueError("a representative must be covered by itself, or by none")
        similarities = np.asarray(self.similarities, dtype=np.float64)
        if similarities.shape != prototype.indices.shape or np.isnan(similarities).any():
            raise ValueError("details must be one similarity for each of the indices")
        return self._replace(first_covered_by=first, similarities=similarities)


def best_of(prototypes: Sequence[Prototype], rankings: Sequence[Ranking], request: Request) -> list[Prototype]:
    """Return the prototypes of the best representatives of all clusters, as many as are requested.

    Warn if there are fewer.
    """
    size = request.n if request.size is None else request.size
    n_least = [max(1, int(np.isin(p.indices, request.included).sum())) for p in prototypes]
    sizes = picks_per_cluster(prototypes, rankings, n_least, size)
    warn_if_fewer(size, sum(sizes), "equal objects count once, and outliers and weights of 0 are left out")
    return [
        first_of(prototype, n, ranking.first_covered_by, request.weights_of(prototype.members))
        for prototype, n, ranking in zip(prototypes, sizes, rankings, strict=True)
    ]


def warn_if_fewer(size: int, n_selected: int, reason: str) -> None:
    """Warn that there are fewer representatives than were asked for, and why."""
    if n_selected < size:
        warnings.warn(
            f"size asks for {size} representatives, but only {n_selected} can be selected, because {reason}.",
            stacklevel=2,
        )


def picks_per_cluster(
    prototypes: Sequence[Prototype], rankings: Sequence[Ranking], n_least: Sequence[int], size: int
) -> list[int]:
    """Return how many of the picks of each cluster are kept if there may be `size` in all.

    Each cluster keeps at least this many as `n_least` says.
    """
    sizes = [min(least, p.indices.size) for p, least in zip(prototypes, n_least, strict=True)]
    # Gains are rounded, so the last digits of two picks that tie may be in the wrong order.
    gains = np.concatenate([np.minimum.accumulate(p.gains[n:]) for p, n in zip(prototypes, sizes, strict=True)])
    similarities = np.concatenate([ranking.similarities[n:] for ranking, n in zip(rankings, sizes, strict=True)])
    rows = np.concatenate([p.indices[n:] for p, n in zip(prototypes, sizes, strict=True)])
    keys = keys_of(gains)
    order = np.lexsort((rows, np.where(keys > 0, 0, similarities), -keys))
    owners = np.repeat(np.arange(len(sizes)), [p.indices.size - n for p, n in zip(prototypes, sizes, strict=True)])
    best = owners[order[: max(size - sum(sizes), 0)]]
    return (np.array(sizes) + np.bincount(best, minlength=len(sizes))).tolist()


def first_of(prototype: Prototype, n: int, first_covered_by: Positions, weights: Floats | None) -> Prototype:
    """Return the prototype of the first n representatives alone.

    `first_covered_by` says for each member which representative covered it first, even if the member, or one equal to
    it, is a representative itself. `weights` says how much each member counts.
    """
    first = prototype.indices[:n]
    covered_by = np.where(np.isin(first_covered_by, first), first_covered_by, -1)
    # A representative that is kept covers itself and its copies, also if others have covered them before it was picked.
    covered_by = np.where(np.isin(prototype.covered_by, first), prototype.covered_by, covered_by)
    return replace(
        prototype,
        indices=first,
        gains=prototype.gains[:n],
        covered_by=covered_by,
        coverage=float(np.average(covered_by >= 0, weights=weights)),
    )
