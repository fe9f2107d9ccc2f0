"""Rejection: how similar an object must be to its best representative, so that the class of this one is believed.

The class of the most similar representative wins. An object is rejected if this similarity is below the bar of the
winning class. The bars may be given, may be the thresholds of the prototypes, or may be calibrated. Whatever the bars
are, an object is rejected that has nothing in common with any representative, if the similarity has a value that says
so (`Collection.nothing_in_common`).

Calibrated bars are set so that about a given share of new objects of known classes, the *rejection rate*, is rejected:

1. Find the most similar representative of each training object, but never one that is equal to the object. A
   representative is so compared as if it were a new object. So is a copy of a representative: if copies counted, a
   training set in which every object is repeated would have a bar that no new object reaches. For the same reason,
   equal objects count once in what follows.
2. Leave out what is no example of a new object. If all representatives of a class are equal, an object that is equal to
   them is compared as if its class were unknown, which it is not. And what has nothing in common with any
   representative is rejected without a bar; which class wins it is a matter of the order of the rows alone.
3. Collect the similarities by winning class, whatever the true class is. What is collected for a class is then a sample
   of what new objects of known classes will show if that class wins.
4. Take as bar a low quantile of the sample of each class, at the rank rate * (n + 1) of n similarities. A new object
   that is exchangeable with the sample lies below the k-th smallest similarity with probability k / (n + 1), so that
   the bar of a whole rank has the rate exactly. Other bars are interpolated between ranks. Equal similarities have
   their mean rank, so that of the two shares that can be rejected the nearer one is.
5. A sample of fewer than 1 / rate - 1 objects has no such quantile. All classes with such small samples share one bar,
   which is computed from their samples together, or if these are still too few, from the samples of all classes. If
   even all are too few, all bars are -inf, and the classifier warns that no bar rejects anything.

Representatives were selected to be near the other training objects, which are therefore a little nearer to them than
new objects are, while representatives are often further from each other. Both effects nearly cancel out.
``benchmarks/REJECTION.md`` has the shares of test objects that are rejected on ten data sets, with this estimate and
with others.
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
"""How many classes without a bar a sentence names. The number is a judgement."""
DEFAULT = -1
"""The default of `unknown_label`."""
UNKNOWN = "unknown"
"""What the default stands for if labels are texts, which have no number among them."""


class MissingBarsWarning(UserWarning):
    """The bars of a classifier with ``reject="calibrated"`` reject nothing, because it was fitted to too few objects.

    The message says how many different objects the rate needs. The bars in `rejection_bars_` are then -inf.

    See Also
    --------
    covey.NearestPrototypeClassifier : Says how bars are set.

    Examples
    --------
    >>> import warnings
    >>> import covey
    >>> with warnings.catch_warnings(record=True) as told:
    ...     warnings.simplefilter("always")
    ...     model = covey.NearestPrototypeClassifier(reject="calibrated", rejection_rate=0.1)
    ...     bars = model.fit([[9, 1], [8, 1], [1, 8], [1, 9]], ["wide", "wide", "tall", "tall"]).rejection_bars_
    >>> bars, told[0].category.__name__
    (array([-inf, -inf]), 'MissingBarsWarning')
    """


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
        found = examples(space, kinds, kinds[rows[first]], classes_of[first])
    return bars(found, int(classes_of.max()) + 1, rate, collection.nothing_in_common)


class Examples(NamedTuple):
    """Training objects, seen as if they were new: how similar the best representative is that is not equal to the
    object, the class of this one, and the kind of the object. Equal objects are of one kind.
    """

    similarities: Floats
    winners: Positions
    kinds: NDArray[Any]


def examples(space: Space, kinds: NDArray[Any], kinds_of_right: NDArray[Any], classes_of_right: Positions) -> Examples:
    """Return those objects of the left side that are examples of new objects of known classes.

    The right side holds the representatives, no two of which may be of one kind.
    """
    nearest_ones, similarities = _nearest_unequal(space, kinds, kinds_of_right)
    only_one = np.bincount(classes_of_right)[classes_of_right] == 1
    left = (similarities > -np.inf) & ~np.isin(kinds, kinds_of_right[only_one])
    return Examples(similarities[left], classes_of_right[nearest_ones[left]], kinds[left])


def _nearest_unequal(space: Space, kinds: NDArray[Any], kinds_of_right: NDArray[Any]) -> tuple[Positions, Floats]:
    """Return the most similar object of the right side that is not equal to each object of the left, and how similar
    it is.

    If an object has no unequal one, its similarity is -inf.
    """
    lists = nearest(space, min(2, space.n_right))
    unequal = kinds_of_right[lists.indices] != kinds[:, None]
    similarities = np.where(unequal, lists.similarities, -np.inf)
    first = unequal.argmax(axis=1)  # lists are ordered, so that the first one that is left is the best
    every = np.arange(kinds.size)
    return lists.indices[every, first].astype(np.intp), similarities[every, first]


def bars(found: Examples, n_classes: int, rate: float, nothing_in_common: float | None) -> Floats:
    """Return the bar of each class.

    Parameters
    ----------
    found : Examples
        The examples of new objects, with the winning classes counted from 0.
    n_classes : int
        How many classes there are.
    rate : float
        The share of objects that may be below the bar of their class.
    nothing_in_common : float or None
        The similarity at or below which objects are rejected without a bar, if there is one.
    """
    once = np.unique(found.kinds, return_index=True)[1]
    similarities, winners = found.similarities[once], found.winners[once]
    if nothing_in_common is not None:
        related = similarities > nothing_in_common
        similarities, winners = similarities[related], winners[related]
    small = np.bincount(winners, minlength=n_classes) < n_needed(rate)
    of_small = similarities[small[winners]]
    shared = _bar(of_small if of_small.size >= n_needed(rate) else similarities, rate)
    return np.array([shared if small[own] else _bar(similarities[winners == own], rate) for own in range(n_classes)])


def _bar(sample: Floats, rate: float) -> float:
    """Return the quantile at the rank rate * (n + 1), or -inf if the sample is too small to have it."""
    if sample.size < n_needed(rate):
        return -np.inf
    values, counts = np.unique(sample, return_counts=True)
    mean_ranks = np.cumsum(counts) - (counts - 1) / 2
    rank = round(rate * (sample.size + 1), 9)  # in floating-point numbers, .29 * 100 is less than 29
    return float(np.interp(rank, mean_ranks, values))


def n_needed(rate: float) -> int:
    """Return the size of the smallest sample that has a bar for a rate."""
    return math.ceil(round(1 / rate, 9)) - 1  # 1 / (1 / 49) is more than 49


def missing_bars(classifier: Any) -> str | None:
    """Say in a sentence which classes of a calibrated classifier have no bar, and what helps.

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
        f"{n_needed(rate):,} or more different objects, and {'it has' if alone else 'they have'} fewer"
        f"{'' if alone else ' even together'}; ask for a higher rate, or fit to more objects."
    )


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
