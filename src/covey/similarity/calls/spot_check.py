"""A spot check of custom functions: does the order of two objects matter, and is the answer always the same?

Unless something says otherwise, a function s(a, b) is taken for symmetric, so that each pair is evaluated in one
direction only. It is also taken to give the same value each time that it is called for a pair. If one of the two is
not true, results are wrong in silence. So before the first pairs of a space are scored, a few pairs are scored in
both directions, and some of these again. A warning names the first pair whose values differ.

The pairs are drawn by a generator of their own, so that no other random choice changes, and they are the same for any
number of threads or processes. Their evaluations are counted like any others.
"""

from functools import partial
from typing import Any

import numpy as np

from covey.arrays import Floats, Indices, Positions
from covey.exceptions import AsymmetryWarning, NondeterminismWarning
from covey.similarity.similarity import Similarity
from covey.similarity.space import Space, draw_pairs

TOLERANCE = 1e-6
"""Which share of the largest value two values of a pair may differ by. Sums of a thousand terms of single precision
differ by less than that if they are added in another order, on average."""


def differing(before: Floats, now: Floats) -> Positions:
    """Return where two evaluations of the same pairs differ by more than rounding. Two failures, NaN, are the same."""
    scale = max(np.nanmax(np.abs(before), initial=0.0), np.nanmax(np.abs(now), initial=0.0)) or 1.0
    same = (np.abs(before - now) <= TOLERANCE * scale) | (np.isnan(before) & np.isnan(now))
    return np.flatnonzero(~same)


CHECKED_PAIRS = 10
"""How many pairs of a space are checked at most. If the order matters for three of ten pairs, it is noticed in 97 of
100 spaces; if it matters for every other pair, in 999 of 1000."""
CHECKED_AGAIN = 0.5
"""Which share of them is also scored again in the same direction. If one value in four is another one the second time,
five pairs show it in 76 of 100 spaces. A function that draws random numbers hardly ever gives the same answer twice."""
FEWEST_PAIRS = 1_000
"""A space of fewer pairs, which is one of fewer than 46 objects, is not checked."""
MOST_SHARE = 0.01
"""Which share of the evaluations of all pairs the check may take."""


def spot_check(space: Space, similarity: Similarity, rows: Positions) -> Space:
    """Let a space of objects among themselves check some pairs before it scores the first.

    `rows` are the rows of X that the objects came from, by which a warning names them. The space itself is returned.
    """
    if space.n_pairs >= FEWEST_PAIRS and not similarity.trusted:
        space.evaluations.before_first(partial(_check, space, similarity, rows))
    return space


def _check(space: Space, similarity: Similarity, rows: Positions) -> None:
    """Score some pairs in both directions and some of them again, and warn if one has two different values."""
    n_checked = min(CHECKED_PAIRS, int(MOST_SHARE * space.n_pairs / (2 + CHECKED_AGAIN)))
    i, j = draw_pairs(space.n_left, n_checked, np.random.default_rng(0))
    forward = space.score_or_nan(i, j)
    backward = space.score_backward(i, j) if space.symmetric else forward
    n_again = int(CHECKED_AGAIN * n_checked)
    first, repeated = forward[:n_again], space.score_again(i[:n_again], j[:n_again])
    space.evaluations.note_checks((2 if space.symmetric else 1) * n_checked + n_again)
    if differing(first, repeated).size:
        where = differing(first, repeated)[0]
        space.run.warn_once(
            "untrue",
            NondeterminismWarning,
            f"The similarity of {_names(rows, i, j, where)} is {first[where]:.8g} when it is asked for the first time "
            f"and {repeated[where]:.8g} the second time, so that no result can be repeated; let it give the same "
            "answer for the same pair.",
        )
    elif (differ := differing(forward, backward)).size:
        values = f"{forward[differ[0]]:.8g} in this order and {backward[differ[0]]:.8g} in the other"
        space.run.warn_once(
            "untrue",
            AsymmetryWarning,
            f"The similarity of {_names(rows, i, j, differ[0])} is {values}, so that it depends on the order "
            f"({differ.size} of {n_checked} pairs that were looked at do), but only one order is evaluated, because "
            f"{'it is declared symmetric' if similarity.declared else 'nothing says that it matters'}; "
            f"{_remedy(similarity)}.",
        )


def _names(rows: Positions, i: Indices, j: Indices, where: Any) -> str:
    return f"objects {rows[i[where]]} and {rows[j[where]]}"


def _remedy(similarity: Similarity) -> str:
    """Return in words how to declare that a similarity is not symmetric."""
    name = getattr(similarity.function, "__name__", "f")
    name = name if name.isidentifier() else "f"
    attribute = "" if similarity.kind == "batches" else f", or set {name}.symmetric = False"
    wrapped = f"batched({name}" if similarity.kind == "batches" else f"Similarity({name}"
    if similarity.conversion is not None:
        wrapped = f"from_distance({f'covey.batched({name})' if similarity.kind == 'batches' else name}"
    return f"pass covey.{wrapped}, symmetric=False){attribute}"
