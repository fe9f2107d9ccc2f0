"""Rejection: how similar an object must be to its best representative, so that the class of this one is believed.

The class of the most similar representative wins. An object is rejected if this similarity is below the bar of the
winning class. The bars may be given, may be the thresholds of the prototypes, or may be calibrated. With any bars, an
object is rejected that has nothing in common with any representative, if the similarity has a value that says so
(`Collection.nothing_in_common`).

Calibrated bars are set so that about a given share of new objects of known classes, the *rejection rate*, is rejected:

1. Find the representative that stands for each training object, which is the most similar one, or the one that is
   equal to the object; and the most similar other one. Equal objects count once, because otherwise a training set in
   which every object is repeated would have a bar that no new object reaches.
2. A representative was selected for the g objects that it stands for, itself included. Had one of these not been there,
   another representative might have been selected; the chance of this is taken to be 1 / g. So each object is an
   example of a new object that shows the other similarity, with the weight 1 / g, and all but the representative itself
   are examples that show the first one, with the weight 1 - 1 / g.
3. Leave out what is not an example of a new object. If a class has only one representative, the other one is that of
   another class: the object would be compared as if its class were unknown, which it is not. And what has nothing in
   common with a representative is rejected without a bar; which class wins it is a matter of the order of the rows.
4. Collect the examples by winning class, not by true class. What is collected for a class is then a sample of what new
   objects of known classes will show if that class wins.
5. Take as bar a low quantile of the sample of each class, at the rank rate * (n + 1), where n is the sum of weights. If
   all weights are 1, a new object that is exchangeable with the sample lies below the k-th smallest similarity with
   probability k / (n + 1), so that the bar of a whole rank has the rate exactly. Other bars are interpolated between
   ranks. Equal similarities have their mean rank, so that of the two shares that can be rejected the nearer one is.
6. A sample of less than 1 / rate - 1 has no such quantile. All classes with such small samples share one bar, which is
   computed from their samples together, or if these are still too few, from the samples of all classes. If even all are
   too few, all bars are -inf, and the classifier warns that no bar rejects anything.

``benchmarks/REJECTION.md`` has the shares of test objects that are rejected on ten data sets.
"""

import math
from collections.abc import Mapping
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from covey.arrays import Floats, Positions
from covey.graph.exact import nearest
from covey.prototype import Prototype
from covey.runtime.progress import progress
from covey.runtime.wording import some_of
from covey.similarity.collection import Collection
from covey.similarity.space import Space

MOST_NAMED = 3
"""How many classes without a bar a sentence names."""
DEFAULT = -1
"""The default of `unknown_label`."""
UNKNOWN = "unknown"
"""What the default stands for if labels are strings, which have no number among them."""


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
    collection: Collection, rows: Positions, classes_of: Positions, rate: float, n_jobs: int | None, *, shown: bool
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
        matches = nearest_two(space, kinds, kinds[rows[first]])
    n_classes = int(classes_of.max()) + 1
    return calibrated_bars(matches, classes_of[first], n_classes, rate, collection.nothing_in_common)


class Matches(NamedTuple):
    """What training objects show that are compared with the representatives.

    Attributes
    ----------
    kinds : array
        Equal objects are of one kind.
    are_selected : bool array
        Whether an object is a representative, or equal to one.
    nearest : int array of shape (n, 2)
        The representative that stands for each object, and the most similar other one.
    similarities : float array of shape (n, 2)
        The similarities to both; -inf if there is no other one.
    """

    kinds: NDArray[Any]
    are_selected: NDArray[np.bool_]
    nearest: Positions
    similarities: Floats


def nearest_two(space: Space, kinds: NDArray[Any], kinds_of_right: NDArray[Any]) -> Matches:
    """Return what the two most similar representatives of each object show.

    Objects are on the left side and representatives, no two of which are of one kind, on the right.
    """
    lists = nearest(space, min(2, space.n_right))
    top_two, similarities = np.zeros((kinds.size, 2), dtype=np.intp), np.full((kinds.size, 2), -np.inf)
    width = lists.indices.shape[1]
    top_two[:, :width], similarities[:, :width] = lists.indices, lists.similarities
    order = np.argsort(kinds_of_right)
    own = order[np.searchsorted(kinds_of_right, kinds, sorter=order).clip(max=order.size - 1)]
    selected = kinds_of_right[own] == kinds
    # An equal representative stands for an object even if another one is more similar, which may then be the first.
    other = np.where(selected & (top_two[:, 0] != own), 0, 1)
    every = np.arange(kinds.size)
    first = np.where(selected, own, top_two[:, 0])
    shown = np.column_stack([similarities[:, 0], similarities[every, other]])
    return Matches(kinds, selected, np.column_stack([first, top_two[every, other]]), shown)


def calibrated_bars(
    matches: Matches, classes_of: Positions, n_classes: int, rate: float, nothing_in_common: float | None
) -> Floats:
    """Return the bar of each class.

    Parameters
    ----------
    matches : Matches
        What the training objects show.
    classes_of : int array
        The class of each representative, counted from 0.
    n_classes : int
        How many classes there are.
    rate : float
        The share of known objects that may be rejected.
    nothing_in_common : float or None
        The similarity at or below which objects are rejected without a bar, if there is one.
    """
    once = np.unique(matches.kinds, return_index=True)[1]
    stands_for, similarities = matches.nearest[once], matches.similarities[once]
    shares = 1 / np.bincount(stands_for[:, 0])[stands_for[:, 0]]
    only_one = np.bincount(classes_of)[classes_of] == 1
    weights = np.column_stack(
        [
            np.where(matches.are_selected[once], 0, 1 - shares),
            np.where(only_one[stands_for[:, 0]], 0, shares),
        ]
    )
    related = similarities > (-np.inf if nothing_in_common is None else nothing_in_common)
    counted = (weights > 0) & related
    return bars(similarities[counted], classes_of[stands_for[counted]], weights[counted], n_classes, rate)


def bars(similarities: Floats, winners: Positions, weights: Floats, n_classes: int, rate: float) -> Floats:
    """Return the bar of each class, given examples of new objects, their winning classes and their weights."""
    order = np.lexsort((weights, winners, similarities))  # sums are then the same for any order of the objects
    similarities, winners, weights = similarities[order], winners[order], weights[order]
    small = _are_too_few(np.bincount(winners, weights, minlength=n_classes), rate)
    shares = small[winners]
    if _are_too_few(weights[shares].sum(), rate):
        shares[:] = True
    shared = _bar(similarities[shares], weights[shares], rate)
    return np.array(
        [
            shared if small[own] else _bar(similarities[winners == own], weights[winners == own], rate)
            for own in range(n_classes)
        ]
    )


def _bar(similarities: Floats, weights: Floats, rate: float) -> float:
    """Return the quantile at the rank rate * (n + 1), or -inf if the sample is too small to have it."""
    n = weights.sum()
    if _are_too_few(n, rate):
        return -np.inf
    values, of_value = np.unique(similarities, return_inverse=True)
    together = np.bincount(of_value, weights)
    mean_ranks = np.cumsum(together) - (together - 1) / 2
    rank = round(rate * (n + 1), 9)  # in floating-point numbers, .29 * 100 is less than 29
    return float(np.interp(rank, mean_ranks, values))


def _are_too_few(weight: Any, rate: float) -> Any:
    """Return whether samples of these weights have no quantile at the rate."""
    return rate * (weight + 1) < 1 - 1e-9


def n_needed(rate: float) -> int:
    """Return how many examples of new objects it takes to set a bar for a rate."""
    return math.ceil(round(1 / rate, 9)) - 1  # 1 / (1 / 49) is more than 49


def missing_bars(classifier: Any) -> str | None:
    """Return in a sentence which classes of a calibrated classifier have no bar, and what helps.

    Return None if all have one, or if the classifier is not calibrated.
    """
    without = classifier.classes_[np.isneginf(getattr(classifier, "rejection_bars_", 0.0))].tolist()
    if not without:
        return None
    rate, alone = classifier.rejection_rate_, len(without) == 1
    what = "anything" if classifier.nothing_in_common_ is None else "what has something in common with a representative"
    return (
        f"no bar rejects {what} for {'the class' if alone else 'the classes'} "
        f"{some_of([repr(label) for label in without], MOST_NAMED)}: a rejection rate of {rate:g} needs "
        f"{n_needed(rate):,} different objects or more beside representatives, and "
        f"{'it has fewer' if alone else 'they have fewer even together'}; ask for a higher rate, or fit to more "
        "objects."
    )


def unknown_answer(label: Any, classes: NDArray[Any]) -> Any:
    """Return the answer for rejected objects: the label itself, or if it is the default, one of the classes' type.

    Raise an error unless the answer is of the type of the classes and is none of them.
    """
    if _is_default(label) and all(isinstance(other, str) for other in classes.tolist()):
        if UNKNOWN in classes.tolist():
            raise ValueError(
                f"unknown_label must be given if {UNKNOWN!r} is a class, got the default {label!r}, which stands for "
                f"{UNKNOWN!r} if labels are strings; choose another string."
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
    """Return whether the label and the classes are all strings, or all numbers.

    Truth values do not count as numbers here.
    """
    numbers = (Real, np.number)
    if isinstance(label, str):
        return all(isinstance(other, str) for other in classes.tolist())
    if isinstance(label, bool) or not isinstance(label, numbers):
        return False
    return all(isinstance(other, numbers) and not isinstance(other, bool) for other in classes.tolist())
