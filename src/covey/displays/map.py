"""A cluster as a map.

1. Keep all representatives, and a sample of the others where there are too many.
2. Build their neighbor graph. An edge's distance is how much less similar it is than the most similar pair.
3. Lay it out by t-SNE, and turn it so that it is widest from left to right.
"""

import os
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.manifold import TSNE
from sklearn.utils import check_random_state
from threadpoolctl import threadpool_limits

from covey.displays.drawing import new_axes, plain
from covey.displays.fitted import fitted_selector, prototype_of
from covey.displays.page import render
from covey.graph.build import build, choose_method
from covey.graph.graph import NeighborGraph
from covey.prototype import Prototype
from covey.runtime.random import generator
from covey.similarity.collect import collect
from covey.similarity.named import resolve
from covey.similarity.space import Space
from covey.storage.whole import whole

Floats = NDArray[np.float64]
Positions = NDArray[np.intp]


@dataclass(eq=False)
class PrototypeMapDisplay:
    """A cluster in the plane: similar objects near each other, representatives marked, and what each covers.

    Made by `from_estimator`; `plot` draws it, `to_html` and `write_html` make a page to explore.

    Attributes
    ----------
    positions : float array of shape (n, 2)
        Where the objects lie; only who is near whom has a meaning, neither axes nor far distances have.
    rows : int array of shape (n,)
        Their rows in X, ascending.
    covered_by : int array of shape (n,)
        The position in `rows` of the representative that covers each; -1 if there is none, or if it is not kept.
    is_representative : bool array of shape (n,)
    stands_for : int array of shape (n,)
        How many members of the whole cluster each one covers, itself included; 0 for all but representatives.
    names : list of str
    label : hashable
        The cluster's label.
    n_members, n_representatives : int
        How many there are in the whole cluster.
    ax_, figure_ : matplotlib axes and figure
        Where it was drawn last.

    Examples
    --------
    >>> import covey
    >>> from covey.displays import PrototypeMapDisplay
    >>> words = ["cat", "cart", "care", "dog", "dodge", "lodge"]
    >>> def shared_letters(a, b):
    ...     return len(set(a) & set(b)) / len(set(a) | set(b))
    >>> selector = covey.CRS(n_neighbors=2, similarity=shared_letters).fit(words)
    >>> display = PrototypeMapDisplay.from_estimator(selector, words, names=words)
    >>> for at in range(len(words)):
    ...     print(display.names[at], "is covered by", display.names[display.covered_by[at]])
    cat is covered by cart
    cart is covered by cart
    care is covered by cart
    dog is covered by dodge
    dodge is covered by dodge
    lodge is covered by dodge
    """

    positions: Floats = field(repr=False)
    rows: Positions = field(repr=False)
    covered_by: Positions = field(repr=False)
    is_representative: NDArray[np.bool_] = field(repr=False)
    stands_for: Positions = field(repr=False)
    names: list[str] = field(repr=False)
    label: Hashable
    n_members: int
    n_representatives: int
    ax_: Any = field(init=False, repr=False)
    figure_: Any = field(init=False, repr=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        label: Hashable = None,
        names: Sequence[Any] | None = None,
        n_neighbors: int = 15,
        max_objects: int = 2000,
        random_state: Any = 0,
        ax: Any = None,
    ) -> Self:
        """The map of one cluster of a fitted estimator; similarities are computed again, those of the kept objects.

        Parameters
        ----------
        estimator : selector or NearestPrototypeClassifier
            Fitted. Its similarity decides who is near whom.
        X : array, CSR matrix, frame or sequence of objects
            What was passed to `fit`.
        label : hashable, optional
            Which cluster; not needed if there is only one.
        names : sequence, optional
            What to call the objects of X on the page; by default "row 17".
        n_neighbors : int, default=15
            How many others each object should have around it: t-SNE's perplexity. The neighbor graph has three times
            as many. Few show small groups, many the large ones.
        max_objects : int, default=2000
            In a larger cluster all representatives and a random sample of the others are kept. If there are more
            representatives than this, the first so many.
        random_state : int, RandomState instance or None, default=0
            Decides the sample and the layout. The same seed gives the same map for any number of threads.
        ax : matplotlib axes, optional
            Draw on these at once; by default nothing is drawn before `plot`.
        """
        _check_at_least_one(n_neighbors=n_neighbors, max_objects=max_objects)
        selector = fitted_selector(estimator)
        prototype = prototype_of(selector.prototypes_, label)
        collection = collect(X, resolve(selector.similarity))
        _check_counts(selector.prototypes_, len(collection), names)
        rng = check_random_state(random_state)
        rows = _kept(prototype, max_objects, generator(rng))
        space = collection.take(rows).space(getattr(selector, "n_jobs", None))
        display = cls(
            positions=_lay_out(space, n_neighbors, rng),
            rows=rows,
            covered_by=_covered_by(prototype, rows),
            is_representative=np.isin(rows, prototype.indices),
            stands_for=_stands_for(prototype, rows),
            names=_names(names, rows),
            label=prototype.label,
            n_members=prototype.members.size,
            n_representatives=prototype.indices.size,
        )
        return display if ax is None else display.plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the map: representatives in red, larger if they stand for more, and a line from each to what it covers.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; by default on a new figure.
        """
        self.ax_ = ax = new_axes() if ax is None else ax
        self.figure_ = ax.figure
        chosen, covered = self.is_representative, self.covered_by >= 0
        ends = self.positions[covered], self.positions[self.covered_by[covered]]
        lines = np.stack([*ends, np.full_like(ends[0], np.nan)], axis=1).reshape(-1, 2)  # NaN lifts the pen
        ax.plot(*lines.T, color="0.87", linewidth=0.6, zorder=1)
        ax.scatter(*self.positions[covered & ~chosen].T, s=9, color="0.6", linewidths=0, zorder=2)
        ax.scatter(*self.positions[~covered].T, s=9, facecolors="white", edgecolors="0.6", linewidths=0.7, zorder=2)
        areas = 14 + 150 * self.stands_for[chosen] / max(self.stands_for.max(), 1)
        at = self.positions[chosen].T
        ax.scatter(*at, s=areas, color="crimson", edgecolors="white", linewidths=0.5, alpha=0.85, zorder=3)
        ax.set(xticks=[], yticks=[], aspect="equal")
        ax.set_title(plain(f"Cluster {self.label}: {self.n_representatives} of {self.n_members} objects represent it"))
        ax.margins(0.05)
        return self

    def to_html(self) -> str:
        """One page with everything in it: point at an object, or tap it, to see whom it stands for or who covers it."""
        return render("covey.displays", "map.html", display=self, data=self._data())

    def write_html(self, path: str | os.PathLike[str]) -> None:
        """Write the page, whole or not at all."""
        with whole(path) as temporary:
            temporary.write_text(self.to_html(), encoding="utf-8")

    def _data(self) -> dict[str, Any]:
        """What the page draws; the wider side of the map becomes 1."""
        corner = self.positions.min(axis=0)
        extent = self.positions.max(axis=0) - corner
        x, y = ((self.positions - corner) / (extent.max() or 1.0)).round(4).T
        return {
            "x": x.tolist(),
            "y": (y.max() - y).round(4).tolist(),  # a page counts from the top
            "coveredBy": self.covered_by.tolist(),
            "standsFor": self.stands_for.tolist(),
            "isRepresentative": self.is_representative.tolist(),
            "names": self.names,
            "nMembers": self.n_members,
        }


def _check_at_least_one(**parameters: Any) -> None:
    for name, value in parameters.items():
        if not isinstance(value, Integral) or int(value) < 1:
            raise ValueError(f"{name} must be an int of at least 1, got {value!r}.")


def _check_counts(prototypes: Mapping[Hashable, Prototype], n: int, names: Sequence[Any] | None) -> None:
    fitted = sum(prototype.members.size for prototype in prototypes.values())
    if n != fitted:
        raise ValueError(f"X must hold the {fitted} objects that were passed to fit, got {n}.")
    if names is not None and len(names) != n:
        raise ValueError(f"names must hold one name for each of the {n} objects of X, got {len(names)}.")


def _kept(prototype: Prototype, max_objects: int, rng: np.random.Generator) -> Positions:
    """Rows of the representatives and of as many others as there is room for, ascending."""
    chosen = prototype.indices[:max_objects]
    others = np.setdiff1d(prototype.members, prototype.indices)
    room = max_objects - chosen.size
    if others.size > room:
        others = rng.choice(others, room, replace=False)
    return np.sort(np.concatenate([chosen, others]))


def _covered_by(prototype: Prototype, rows: Positions) -> Positions:
    """The position in `rows` of each one's representative, or -1."""
    coverers = prototype.covered_by[np.searchsorted(prototype.members, rows)]
    at = np.minimum(np.searchsorted(rows, coverers), rows.size - 1)
    return np.where(rows[at] == coverers, at, -1)


def _stands_for(prototype: Prototype, rows: Positions) -> Positions:
    """How many members of the whole cluster each one covers."""
    kept = np.isin(prototype.indices, rows)
    counts = np.zeros(rows.size, dtype=np.intp)
    counts[np.searchsorted(rows, prototype.indices[kept])] = prototype.stands_for[kept]
    return counts


def _names(names: Sequence[Any] | None, rows: Positions) -> list[str]:
    called = None if names is None else list(names)  # a pandas Series would be asked by its index
    return [f"row {row}" if called is None else str(called[row]) for row in rows.tolist()]


def _lay_out(space: Space, n_neighbors: int, rng: np.random.RandomState) -> Floats:
    """Positions of the members; equal ones lie side by side."""
    n = space.n_left
    if n == 1:
        return np.zeros((1, 2))
    k = min(3 * n_neighbors + 1, n - 1)  # so many t-SNE asks for
    method = choose_method("auto", space, k)
    graph = build(space, k, method, generator(rng))
    # A perplexity near n - 1 would call all others equally near, one near 1 would string few objects up in a line.
    perplexity = max(1.0, min(float(n_neighbors), 2 * (n - 1) / 3))
    layout = TSNE(perplexity=perplexity, metric="precomputed", init="random", random_state=rng)
    with threadpool_limits(1, "openmp"):  # threads add up in an order of their own: a last bit may move the map
        positions = layout.fit_transform(_distances(graph))
    return _turned(positions.astype(np.float64))


def _distances(graph: NeighborGraph) -> sp.csr_array:
    """Of each pair on the graph, by the larger of its similarities; nearest first, each object before all others.

    Zeros are stored: to scikit-learn an object without itself, or without its duplicates, would lack neighbors.
    """
    n, k = graph.indices.shape
    every, i, j = np.arange(n), np.repeat(np.arange(n), k), graph.indices.ravel()
    distances = (graph.similarities.max() - graph.similarities).ravel()
    distances /= distances.max() or 1.0  # squared in single precision, later
    rows, columns = np.concatenate([every, i, j]), np.concatenate([every, j, i])
    values = np.concatenate([np.full(n, -1.0), distances, distances])  # -1 is sorted before 0
    order = np.lexsort((values, columns, rows))
    rows, columns, values = rows[order], columns[order], values[order]
    first = (np.diff(rows, prepend=-1) != 0) | (np.diff(columns, prepend=-1) != 0)
    rows, columns, values = rows[first], columns[first], values[first]
    order = np.lexsort((columns, values, rows))
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n))])
    return sp.csr_array((np.maximum(values[order], 0.0), columns[order], starts), shape=(n, n))


def _turned(positions: Floats) -> Floats:
    """Around the origin, with the largest variance from left to right."""
    x, y = (positions - positions.mean(axis=0)).T
    angle = np.arctan2(2 * (x * y).sum(), (x * x).sum() - (y * y).sum()) / 2
    cosine, sine = np.cos(angle), np.sin(angle)
    return np.stack([cosine * x + sine * y, cosine * y - sine * x], axis=1)
