"""What a user may ask of a selection beside its coverage: rows to include, weights of rows, and a number of rows.

A budget for all clusters is shared out so: every cluster gets one representative and those that it must include. The
others are the representatives with the largest gains, from whichever cluster they come. If representatives without a
gain are needed as well, they are those that are least similar to what covers them. Of equal ones the lowest row of X
comes first. Gains never grow from one pick to the next, so each cluster keeps the first of its picks. This is what
greedy picking from all clusters at once, with their graphs side by side, would pick.
"""

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils import column_or_1d

from covey.arrays import Floats, Positions
from covey.coverage.gains import as_similarities, keys_of
from covey.prototype import Prototype
from covey.runtime.wording import several
from covey.selectors.cluster import Cluster
from covey.selectors.routing import where_rows_may_be_cut


class Ranking(NamedTuple):
    """What is needed to cut a prototype after any of its representatives, beside the prototype.

    `first_covered_by` says for each member which representative covered it first, even if the member is a
    representative itself. `similarities` says for each representative how similar it is to the one that covered it
    before it was picked; it is infinite if none did.
    """

    first_covered_by: Positions
    similarities: Floats


@dataclass(frozen=True, eq=False)
class Wishes:
    """What a user asks of one fit of n objects.

    Attributes
    ----------
    n : int
    weights : float array or None
        How much each row of X counts, divided by 2^exponent.
    exponent : int
        The power of 2 by which weights are scaled, so that the largest is at most 1. Sums of weights near the largest
        or the smallest float are floats then, and keep all their digits.
    included : int array
        The rows of X that must be representatives, in the order in which the user has named them.
    size : int or None
        How many representatives there may be in all clusters together.
    is_share : bool
        Whether the user has given the size as a share, which means about so many.
    given : sparse array or None
        The edges of a finished graph of all objects.
    merged : bool
        Whether equal objects are merged.
    for_inner : mapping
        What is passed to the `fit` of a selector inside.
    """

    n: int
    weights: Floats | None
    exponent: int
    included: Positions
    size: int | None
    is_share: bool
    given: sp.csr_array | None = None
    merged: bool = True
    for_inner: Mapping[str, Any] = field(default_factory=dict)

    def about(self, label: Any, members: Positions) -> dict[str, Any]:
        """Return what concerns the members of a cluster, as arguments of `Cluster`."""
        included = self.included[np.isin(self.included, members)]
        return {"weights": self._weights_of(members, label), "included": included if included.size else None}

    def sized_for(self, clusters: Sequence[Cluster]) -> "Wishes":
        """Return these wishes with a size that allows for a representative of each cluster and for included rows.

        A share is raised to that size. Raise ValueError if a number is too small.
        """
        if self.size is None:
            return self
        n_included = sum(cluster.included.size for cluster in clusters)  # equal rows need one representative
        n_least = sum(max(1, cluster.included.size) for cluster in clusters)
        if self.size >= n_least:
            return self
        if self.is_share:
            return replace(self, size=n_least)
        needed = [f"one representative of each of the {several(len(clusters), 'cluster')}"] if len(clusters) > 1 else []
        needed += [f"the {several(n_included, 'row')} to include"] if n_included else []
        raise ValueError(f"size must allow for {' and '.join(needed)}, got {self.size} of {self.n} objects.")

    def best_of(self, prototypes: Sequence[Prototype], rankings: Sequence[Ranking]) -> list[Prototype]:
        """Return the prototypes of the best representatives of all clusters, as many as there may be.

        Warn if there are fewer than the size says.
        """
        size = self.n if self.size is None else self.size
        n_least = [max(1, int(np.isin(p.indices, self.included).sum())) for p in prototypes]
        sizes = shared_out(prototypes, rankings, n_least, size)
        warn_if_fewer(size, sum(sizes), "equal objects count once, and outliers and weights of 0 are left out")
        return [
            first_of(prototype, n, ranking.first_covered_by, self._weights_of(prototype.members))
            for prototype, n, ranking in zip(prototypes, sizes, rankings, strict=True)
        ]

    def in_given_units(self, prototypes: Sequence[Prototype]) -> list[Prototype]:
        """Return the prototypes with gains in the weights that the user has given."""
        return [replace(found, gains=as_similarities(found.gains, -self.exponent)) for found in prototypes]

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
    weights, exponent = (None, 0) if sample_weight is None else _scaled(_check_weights(sample_weight, n))
    return Wishes(
        n,
        weights,
        exponent,
        np.empty(0, dtype=np.intp) if include is None else _check_include(include, n),
        None if size is None else size_in_rows(size, n, n_least=1),
        is_share=size is not None and not isinstance(size, Integral),
    )


def size_in_rows(size: Any, n: int, n_least: int) -> int:
    """Return how many of n objects a size means, which is their number or their share.

    A share is never less than `n_least` objects.
    """
    return int(size) if isinstance(size, Integral) else max(round(float(size) * n), n_least)


def warn_if_fewer(size: int, n_found: int, reason: str) -> None:
    """Warn that there are fewer representatives than were asked for, and why."""
    if n_found < size:
        warnings.warn(
            f"size asks for {size} representatives, but only {n_found} can be selected, because {reason}.", stacklevel=2
        )


def _check_weights(sample_weight: Any, n: int) -> Floats:
    try:
        weights = column_or_1d(np.asarray(sample_weight, dtype=np.float64))
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"sample_weight must hold one number for each of the {n} objects of X: {error}.") from error
    if weights.size != n:
        raise ValueError(f"sample_weight must hold one number for each of the {n} objects of X, got {weights.size}.")
    wrong = np.flatnonzero(~np.isfinite(weights) | (weights < 0))
    if wrong.size:
        raise ValueError(
            f"sample_weight must hold finite numbers of at least 0, got {weights[wrong[0]]} for row {wrong[0]}."
        )
    return weights


def _scaled(weights: Floats) -> tuple[Floats, int]:
    """Return weights divided by a power of 2 so that the largest is below 1, and which power it is.

    The power is even, so that square roots of sums are scaled by a power of 2 as well. A weight above 0 stays above 0,
    even where the quotient is too small for a float.
    """
    exponent = math.frexp(float(weights.max(initial=0)))[1]
    exponent += exponent % 2
    least = np.where(weights > 0, np.finfo(np.float64).smallest_subnormal, 0)
    return np.maximum(np.ldexp(weights, -exponent), least), exponent


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
    cutting = where_rows_may_be_cut()
    if cutting is not None:
        raise ValueError(
            f"include must hold True or False for each row of X if fit is called by {cutting}, got row numbers, which "
            "would mean other rows wherever only some rows are passed on; pass np.isin(np.arange(n), include) for the "
            "n rows of the whole X."
        )
    for extreme in (int(given.min()), int(given.max())):
        if not 0 <= extreme < n:
            raise ValueError(f"include must hold numbers of rows of X, from 0 to {n - 1}, got {extreme}.")
    _, first = np.unique(given, return_index=True)
    return given[np.sort(first)].astype(np.intp)


def shared_out(
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
    kept = prototype.indices[:n]
    covered_by = np.where(np.isin(first_covered_by, kept), first_covered_by, -1)
    # A representative that is kept covers itself and its copies, whoever has covered them before it was picked.
    covered_by = np.where(np.isin(prototype.covered_by, kept), prototype.covered_by, covered_by)
    return replace(
        prototype,
        indices=kept,
        gains=prototype.gains[:n],
        covered_by=covered_by,
        coverage=float(np.average(covered_by >= 0, weights=weights)),
    )
