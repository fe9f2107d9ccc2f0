"""How coverage grows with each representative."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from covey.arrays import Floats
from covey.displays.colors import of_things
from covey.displays.drawing import new_axes, plain
from covey.displays.estimators import fitted_selector, prototype_of
from covey.prototype import Prototype

MOST_NAMED_INSIDE, MOST_NAMED = 10, 40
"""Up to 10 clusters are named in a legend inside the axes and up to 40 in one beside them, as many as fit in. Names of
more clusters would not be readable, so there is no legend."""


@dataclass(eq=False)
class CoverageDisplay:
    """How coverage grows with each representative, one curve for each cluster.

    A curve that is steep at first and then flat says that a few representatives stand for most of the cluster.
    `from_estimator` makes it and evaluates no similarity. `plot` draws it, for which matplotlib is needed.

    Attributes
    ----------
    curves : dict
        For each label the share of its members that the first 0, 1, 2, ... representatives cover, in the order in
        which they were selected. The last value is the prototype's coverage.
    n_members : dict
        The size of each cluster.
    ax_, figure_ : matplotlib axes and figure
        Where it was drawn last.

    See Also
    --------
    covey.displays.PrototypeMapDisplay : Shows where the representatives lie.

    Examples
    --------
    The first two representatives cover three quarters of the numbers:

    >>> import covey
    >>> from covey.displays import CoverageDisplay
    >>> def nearness(a, b):
    ...     return -abs(a - b)
    >>> selector = covey.DeltaMedoids(delta=-2, similarity=nearness).fit([1, 2, 3, 10, 11, 12, 13, 20])
    >>> CoverageDisplay.from_estimator(selector).curves[0]
    array([0.   , 0.375, 0.75 , 0.875, 1.   ])
    """

    curves: dict[Hashable, Floats] = field(repr=False)
    n_members: dict[Hashable, int]
    ax_: Any = field(init=False, repr=False)
    figure_: Any = field(init=False, repr=False)

    @classmethod
    def from_estimator(cls, estimator: Any, *, labels: Sequence[Hashable] | None = None, ax: Any = None) -> Self:
        """Make the curves of a fitted estimator.

        Parameters
        ----------
        estimator : selector or NearestPrototypeClassifier
            Fitted.
        labels : sequence of labels, optional
            The clusters to show; by default all.
        ax : matplotlib axes, optional
            Draw on these at once; by default nothing is drawn before `plot`.

        Returns
        -------
        CoverageDisplay
            The display.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        TypeError
            If it is neither a selector nor a classifier of covey.
        ValueError
            If one of `labels` is not a label of a cluster.
        """
        prototypes = fitted_selector(estimator).prototypes_
        chosen = [prototype_of(prototypes, label) for label in (prototypes if labels is None else labels)]
        display = cls(
            curves={prototype.label: _curve(prototype) for prototype in chosen},
            n_members={prototype.label: prototype.members.size for prototype in chosen},
        )
        return display if ax is None else display.plot(ax)

    def plot(self, ax: Any = None, *, relative: bool = False) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; by default on a new figure.
        relative : bool, default=False
            Count representatives as a share of their cluster, so that clusters of different sizes can be compared.

        Returns
        -------
        CoverageDisplay
            The display itself, with `ax_` and `figure_`.

        Raises
        ------
        ModuleNotFoundError
            If matplotlib is not installed, which the extra ``plot`` brings.
        """
        self.ax_ = ax = new_axes() if ax is None else ax
        self.figure_ = ax.figure
        for color, (label, curve) in zip(of_things(len(self.curves)), self.curves.items(), strict=True):
            n_selected = np.arange(curve.size)
            x = n_selected / self.n_members[label] if relative else n_selected
            ax.plot(x, curve, label=plain(f"cluster {label}"), color=color)
        ax.set(xlabel="representatives as a share of the cluster" if relative else "representatives", ylabel="coverage")
        ax.set(xlim=(0, None), ylim=(0, 1.02))
        if not relative:
            ax.xaxis.get_major_locator().set_params(integer=True)
        ax.grid(alpha=0.3)
        if len(self.curves) <= MOST_NAMED_INSIDE:
            ax.legend(loc="lower right")
        elif len(self.curves) <= MOST_NAMED:
            ax.legend(loc="center left", bbox_to_anchor=(1, 0.5), fontsize="x-small")
        return self


def _curve(prototype: Prototype) -> Floats:
    """Return the share of members covered by the first 0, 1, 2, ... representatives."""
    return np.concatenate([[0], np.cumsum(prototype.stands_for)]) / prototype.members.size
