"""Why a classifier has answered as it has."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey.arrays import Floats, Positions


@dataclass(frozen=True, eq=False)
class Explanation:
    """Why objects got their labels. Each attribute has an entry for each object.

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
        The similarity to the best representative of the first class, less the similarity to that of the second.

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
