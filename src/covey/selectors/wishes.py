"""What a user may ask of a selection beside its coverage: rows to include, weights of rows, and a number of rows.

A budget for all clusters is shared out so: every cluster gets one representative and those that it must include. The
others are the representatives with the largest gains, from whichever cluster they come. Gains never grow from one pick
to the next, so each cluster keeps the first of its picks. This is what greedy picking from all clusters at once, with
their graphs side by side, would pick.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import column_or_1d

from covey.arrays import Floats, Positions
from covey.prototype import Prototype


@dataclass(frozen=True, eq=False)
class Wishes:
    """What a user asks of one fit of n objects.

    Attributes
    ----------
    n : int
    weights : float array or None
        How much each row of X counts.
    included : int array
        The rows of X that must be representatives, in the order in which the user has named them.
    size : int or None
        How many representatives there may be in all clusters together.
    """

    n: int
    weights: Floats | None
    included: Positions
    size: int | None

    def about(self, label: Any, members: Positions) -> dict[str, Any]:
        """Return what concerns the members of a cluster, as arguments of `Cluster`."""
        included = self.included[np.isin(self.included, members)]
        return {"weights": self._weights_of(members, label), "included": included if included.size else None}

    def check_size(self, clusters: Sequence[Positions]) -> None:
        """Raise ValueError if the size does not allow for a representative of each cluster and for included rows."""
        n_least = sum(max(1, int(np.isin(self.included, members).sum())) for members in clusters)
        if self.size is not None and self.size < n_least:
            rows = f" and the {self.included.size} rows to include" if self.included.size else ""
            raise ValueError(
                f"size must allow for one representative of each of the {len(clusters)} clusters{rows}, got "
                f"{self.size} of {self.n} objects."
            )

    def best_of(self, prototypes: Sequence[Prototype], first_covered_by: Sequence[Positions]) -> list[Prototype]:
        """Return the prototypes of the best representatives of all clusters, as many as there may be."""
        n_least = [max(1, int(np.isin(p.indices, self.included).sum())) for p in prototypes]
        sizes = shared_out(prototypes, n_least, self.n if self.size is None else self.size)
        return [
            first_of(prototype, n, covered, self._weights_of(prototype.members))
            for prototype, n, covered in zip(prototypes, sizes, first_covered_by, strict=True)
        ]

    def _weights_of(self, members: Positions, label: Any = None) -> Floats | None:
        if self.weights is None:
            return None
        weights = self.weights[members]
        if not weights.any():
            raise ValueError(
                f"sample_weight must not be zero for all objects of a cluster, but all of cluster {label!r} have the "
                "weight zero; leave this cluster out."
            )
        return weights


def check_wishes(n: int, *, size: Any = None, sample_weight: Any = None, include: Any = None) -> Wishes:
    """Return what the user asks for about n objects, or raise an error that names the parameter at fault."""
    return Wishes(
        n,
        None if sample_weight is None else _check_weights(sample_weight, n),
        np.empty(0, dtype=np.intp) if include is None else _check_include(include, n),
        None if size is None else size_in_rows(size, n),
    )


def size_in_rows(size: Any, n: int) -> int:
    """Return how many of n objects a size means, which is their number or their share."""
    return int(size) if isinstance(size, Integral) else round(float(size) * n)


def _check_weights(sample_weight: Any, n: int) -> Floats:
    weights = column_or_1d(np.asarray(sample_weight, dtype=np.float64))
    if weights.size != n:
        raise ValueError(f"sample_weight must hold one number for each of the {n} objects of X, got {weights.size}.")
    wrong = np.flatnonzero(~np.isfinite(weights) | (weights < 0))
    if wrong.size:
        raise ValueError(
            f"sample_weight must hold finite numbers of at least 0, got {weights[wrong[0]]} for row {wrong[0]}."
        )
    return weights


def _check_include(include: Any, n: int) -> Positions:
    """Return the rows, which are given by their numbers or by a mask of all rows."""
    given = np.asarray(include)
    if given.size == 0 and given.dtype.kind != "b":
        return np.empty(0, dtype=np.intp)
    if given.ndim != 1 or given.dtype.kind not in "iub":
        raise ValueError(
            f"include must hold numbers of rows of X, or True or False for each row, got an array of the type "
            f"{given.dtype} and shape {given.shape}."
        )
    if given.dtype.kind == "b":
        if given.size != n:
            raise ValueError(
                f"include must hold True or False for each of the {n} objects of X, got {given.size} values."
            )
        return np.flatnonzero(given)
    for extreme in (int(given.min()), int(given.max())):
        if not 0 <= extreme < n:
            raise ValueError(f"include must hold numbers of rows of X, from 0 to {n - 1}, got {extreme}.")
    _, first = np.unique(given, return_index=True)
    return given[np.sort(first)].astype(np.intp)


def shared_out(prototypes: Sequence[Prototype], n_least: Sequence[int], size: int) -> list[int]:
    """Return how many of the picks of each cluster are kept if there may be `size` in all.

    Each cluster keeps at least this many as `n_least` says.
    """
    sizes = np.array([min(least, p.indices.size) for p, least in zip(prototypes, n_least, strict=True)])
    # Gains are rounded, so the last digits of two picks that tie may be in the wrong order.
    gains = np.concatenate([np.minimum.accumulate(p.gains)[n:] for p, n in zip(prototypes, sizes, strict=True)])
    owners = np.repeat(np.arange(sizes.size), np.array([p.indices.size for p in prototypes]) - sizes)
    best = owners[np.argsort(-gains, kind="stable")[: size - int(sizes.sum())]]
    return (sizes + np.bincount(best, minlength=sizes.size)).tolist()


def first_of(prototype: Prototype, n: int, first_covered_by: Positions, weights: Floats | None) -> Prototype:
    """Return the prototype of the first n representatives alone.

    `first_covered_by` says for each member which representative covered it first, even if the member is a
    representative itself. `weights` says how much each member counts.
    """
    kept = prototype.indices[:n]
    covered_by = np.where(np.isin(first_covered_by, kept), first_covered_by, -1)
    themselves = np.isin(prototype.members, kept)
    covered_by[themselves] = prototype.covered_by[themselves]
    return replace(
        prototype,
        indices=kept,
        gains=prototype.gains[:n],
        covered_by=covered_by,
        coverage=float(np.average(covered_by >= 0, weights=weights)),
    )
