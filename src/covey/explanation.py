"""Why a classifier has answered as it has."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey.arrays import Floats, Positions


@dataclass(frozen=True, eq=False)
class Explanation:
    """Why objects got their labels.

    `NearestPrototypeClassifier.explain` returns it, and each attribute has an entry for each object. A small margin
    marks an answer that nearly was another one; look at such objects first.

    Attributes
    ----------
    labels : array
        The labels that `predict` answers.
    rejected : bool array
        Whether the label is `unknown_label`, because no representative is similar enough.
    representatives : int array
        The most similar representative, which decided the label, as its row in the X passed to `fit`.
    similarities : float array
        The similarity of the object to this representative.
    runners_up : array or None
        The label of the class that came second. It is None if there is only one class.
    margins : float array or None
        The similarity to the best representative of the first class, less the similarity to that of the second. It is
        None if there is only one class.

    See Also
    --------
    covey.NearestPrototypeClassifier : Its method `explain` makes explanations.

    Examples
    --------
    >>> import covey
    >>> X, y = [[1, 0], [1, 0.1], [0.1, 1], [0, 1]], ["wide", "wide", "tall", "tall"]
    >>> model = covey.NearestPrototypeClassifier(covey.KeepAll(similarity="euclidean")).fit(X, y)
    >>> answer = model.explain([[0.9, 0.1]])
    >>> answer.labels, answer.representatives, answer.runners_up
    (array(['wide'], dtype='<U4'), array([1]), array(['tall'], dtype='<U4'))
    >>> answer.margins.round(2)
    array([0.46])
    """

    labels: NDArray[Any]
    rejected: NDArray[np.bool_]
    representatives: Positions
    similarities: Floats
    runners_up: NDArray[Any] | None
    margins: Floats | None


def best_classes(rows: Positions, similarities: Floats) -> Positions:
    """Return the class with the largest similarity to each object, given the best representative of each class.

    Of equal ones it is the class whose representative has the lowest row.
    """
    tied = similarities == similarities.max(axis=1, keepdims=True)
    return np.where(tied, rows, np.iinfo(rows.dtype).max).argmin(axis=1)


def runners_up(rows: Positions, similarities: Floats, winners: Positions) -> tuple[Positions, Floats]:
    """Return the classes that came second, and by how much they lost."""
    every = np.arange(winners.size)
    best, others = similarities[every, winners], similarities.copy()
    others[every, winners] = -np.inf
    second = best_classes(rows, others)
    with np.errstate(over="ignore"):  # a margin that is larger than the largest float is given as that one
        return second, np.minimum(best - others[every, second], np.finfo(np.float64).max)
