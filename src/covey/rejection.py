"""Rejection: how similar an object must be to its best representative, so that the class of this one is believed.

The class of the most similar representative wins. An object is rejected if this similarity is below the bar of the
winning class. The bars may be given, may be the thresholds of the prototypes, or may be calibrated. Calibrated bars
are set so that about a given share of new objects of known classes, the *rejection rate*, is rejected:

1. Find the most similar representative of each training object, but never one that is equal to the object. A
   representative is so compared as if it were a new object. So is a copy of a representative: if copies counted, a
   training set in which every object is repeated would have a bar that no new object reaches.
2. Collect the similarities by winning class, whatever the true class is. What is collected for a class is then a sample
   of what new objects of known classes will show if that class wins.
3. Take as bar a low quantile of the sample of each class, with the finite-sample correction of conformal prediction
   (Vovk, Gammerman and Shafer, Algorithmic Learning in a Random World, 2005): of n similarities, the floor(rate * (n +
   1))-th smallest. A new object that is exchangeable with the sample is below it with at most the probability `rate`.
   If n objects are only d distinct ones, they are no more than d independent observations, so that the new object
   counts like an average distinct object, n / d times.
4. A sample of fewer than 1 / rate - 1 distinct objects has no such quantile. All classes with such small samples share
   one bar, which is computed from their samples together. If these are still too few, the bar is -inf: the rate is kept
   by rejecting nothing.

Representatives were selected to be near the other training objects, which are therefore a little nearer to them than
new objects are, while representatives are often further from each other. Both effects nearly cancel out: with CRS (k =
5, 10 and 30) on Fashion-MNIST, 20 Newsgroups, WhoTracks.me and digits, .044 to .058 of the test objects were rejected
at a rate of .05, .088 to .123 at .1, and .006 to .014 at .01. Two other estimates were further off. Without the
representatives, up to .064 were rejected at .05. With five folds, of which the selector had not seen one, only .028 to
.048 were, because fewer objects have fewer representatives. ``benchmarks/rejection.py`` measures such shares.
"""

from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey.arrays import Floats, Positions
from covey.graph.exact import nearest
from covey.prototype import Prototype
from covey.runtime.progress import progress
from covey.similarity.collection import Collection
from covey.similarity.space import Space

DEFAULT = -1
"""The default of `unknown_label`."""
UNKNOWN = "unknown"
"""What the default stands for if labels are texts, which have no number among them."""


def thresholds(prototypes: Mapping[Any, Prototype]) -> Floats:
    """Return the threshold of each prototype as its bar. Raise ValueError if one has none.

    A class of a single object needs none: its NaN rejects nothing.
    """
    for label, prototype in prototypes.items():
        if prototype.members.size > 1 and not np.isfinite(prototype.threshold):
            raise ValueError(
                f"reject='threshold' needs a threshold for each cluster, but {label!r} has none; "
                "use a selector with threshold='homogeneity', or a number as reject."
            )
    return np.array([prototype.threshold for prototype in prototypes.values()])


def calibrate(
    collection: Collection, rows: Positions, classes_of: Positions, rate: float, n_jobs: int | None, shown: bool
) -> Floats:
    """Return the calibrated bar of each class.

    Parameters
    ----------
    collection : Collection
        The training objects.
    rows : int array
        Which of them are representatives, in ascending order.
    classes_of : int array
        The class of each representative, counted from 0.
    rate : float
        The share of known objects that may be rejected.
    n_jobs : int or None
        How many threads or processes may compute similarities.
    shown : bool
        Whether to show a progress bar.
    """
    kinds = collection.distinct().kind
    first = np.sort(np.unique(kinds[rows], return_index=True)[1])  # of equal representatives the first one answers
    space = collection.against(collection.take(rows[first]), n_jobs)
    with progress("calibrating rejection", None, "evaluations", shown=shown) as bar:
        bar.watch(lambda: (space.n_done(), space.n_expected))
        nearest_ones, similarities = nearest_unequal(space, kinds, kinds[rows[first]])
    found = similarities > -np.inf
    winners = classes_of[first[nearest_ones]]
    return bars(similarities[found], winners[found], kinds[found], int(classes_of.max()) + 1, rate)


def nearest_unequal(space: Space, kinds: NDArray[Any], kinds_of_right: NDArray[Any]) -> tuple[Positions, Floats]:
    """Return the most similar object of the right side that is not equal to each object of the left, and how similar
    it is.

    Equal objects are of one kind. No two objects of the right side may be of one kind. If an object has no unequal one,
    its similarity is -inf.
    """
    lists = nearest(space, min(2, space.n_right))
    unequal = kinds_of_right[lists.indices] != kinds[:, None]
    similarities = np.where(unequal, lists.similarities, -np.inf)
    first = unequal.argmax(axis=1)  # lists are ordered, so that the first one that is left is the best
    every = np.arange(kinds.size)
    return lists.indices[every, first].astype(np.intp), similarities[every, first]


def bars(similarities: Floats, winners: Positions, kinds: Positions, n_classes: int, rate: float) -> Floats:
    """Return the bar of each class.

    Parameters
    ----------
    similarities : float array
        For each training object, the similarity to the best representative that is not equal to it.
    winners : int array
        The class of this representative, counted from 0.
    kinds : int array
        Equal objects have one kind.
    n_classes : int
        How many classes there are.
    rate : float
        The share of objects that may be below the bar of their class.
    """
    samples = [winners == number for number in range(n_classes)]
    small = np.array([_n_allowed(kinds[sample], rate) < 0 for sample in samples])
    shared = small[winners]
    return np.array(
        [
            _bar(similarities[sample], kinds[sample], rate)
            for sample in (shared if is_small else own for own, is_small in zip(samples, small, strict=True))
        ]
    )


def _bar(similarities: Floats, kinds: Positions, rate: float) -> float:
    """Return the largest similarity that has no more than the allowed number of others below it."""
    allowed = _n_allowed(kinds, rate)
    return -np.inf if allowed < 0 else float(np.sort(similarities)[allowed])


def _n_allowed(kinds: Positions, rate: float) -> int:
    """Return how many objects of a sample may lie below the bar. A negative number says that the sample is too small.

    The new object counts n / d times beside n objects of d kinds. It and those below must not be more than `rate` of
    all.
    """
    if not kinds.size:
        return -1
    weight = kinds.size / np.unique(kinds).size
    rounding = 1e-9  # in floating-point numbers, .29 * 100 is less than 29
    return min(int(np.floor(rate * (kinds.size + weight) - weight + rounding)), kinds.size - 1)


def unknown_answer(label: Any, classes: NDArray[Any]) -> Any:
    """Return the answer for rejected objects: the label itself, or if it is the default, one of the classes' type.

    Raise an error unless the answer is of the type of the classes and is none of them.
    """
    if _is_default(label) and all(isinstance(other, str) for other in classes.tolist()):
        if UNKNOWN in classes.tolist():
            raise ValueError(
                f"unknown_label must be given if {UNKNOWN!r} is a class, got the default {label!r}, which stands for "
                f"{UNKNOWN!r} if labels are texts; choose another text."
            )
        return UNKNOWN
    if not _same_type(label, classes):
        raise TypeError(
            f"unknown_label must be of the labels' type, got {label!r} for labels such as "
            f"{classes.tolist()[0]!r}; choose another, or relabel."
        )
    if label in classes.tolist():
        raise ValueError(f"unknown_label must not be a class, got {label!r}; choose another.")
    return label


def _is_default(label: Any) -> bool:
    return isinstance(label, int | np.integer) and not isinstance(label, bool) and label == DEFAULT


def _same_type(label: Any, classes: NDArray[Any]) -> bool:
    """Say whether the label and the classes are all texts, or all numbers.

    Truth values do not count as numbers here.
    """
    numbers = (Real, np.number)
    if isinstance(label, str):
        return all(isinstance(other, str) for other in classes.tolist())
    if isinstance(label, bool) or not isinstance(label, numbers):
        return False
    return all(isinstance(other, numbers) and not isinstance(other, bool) for other in classes.tolist())
