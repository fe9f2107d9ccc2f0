"""A cluster as a map.

1. Keep all representatives, and a sample of the other members if there are too many.
2. Build the neighbor graph of what is kept. The distance of two neighbors is how much less similar they are than the
   most similar pair.
3. Lay the graph out by t-SNE, and turn the result so that it is widest from left to right.

The map's colors are in `colors.py`. Its page is `map.html`, with `map.css` and `map.js`.
"""

import os
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.manifold import TSNE
from sklearn.utils import check_random_state
from threadpoolctl import threadpool_limits

from covey.arrays import Flags, Floats, Positions
from covey.displays.colors import DRAWN_MAP, MAP_PAGE
from covey.displays.drawing import new_axes, plain
from covey.displays.fitted import fitted_selector, prototype_of
from covey.displays.page import render, write_page
from covey.displays.thumbnails import Images
from covey.graph.build import build, choose_method
from covey.graph.graph import NeighborGraph
from covey.prototype import Prototype
from covey.runtime.random import generator
from covey.similarity.collect import collect
from covey.similarity.named import resolve
from covey.similarity.space import Space
from covey.similarity.types import Objects


@dataclass(eq=False)
class PrototypeMapDisplay:
    """A cluster in the plane: similar objects near each other, representatives marked, and what each covers.

    `from_estimator` makes it, `plot` draws it, and `to_html` and `write_html` make a page to explore.

    Attributes
    ----------
    positions : float array of shape (n, 2)
        Where the objects lie. Similar objects are near each other; axes and large distances have no meaning.
    rows : int array of shape (n,)
        Their rows in X, ascending.
    covered_by : int array of shape (n,)
        The position in `rows` of the representative that covers each object; -1 if there is none, or if it is not
        on the map.
    is_representative : bool array of shape (n,)
    stands_for : int array of shape (n,)
        How many members of the whole cluster each one covers, itself included; 0 for all but representatives.
    names : list of str
        What the objects are called on the page.
    images : list of str or None, or None
        For each object its image as a data address, or None if the page has no room for it; None without images.
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
    is_representative: Flags = field(repr=False)
    stands_for: Positions = field(repr=False)
    names: list[str] = field(repr=False)
    label: Hashable
    n_members: int
    n_representatives: int
    images: list[str | None] | None = field(default=None, repr=False)
    ax_: Any = field(init=False, repr=False)
    figure_: Any = field(init=False, repr=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Objects,
        *,
        label: Hashable = None,
        names: Sequence[Any] | None = None,
        image_shape: Sequence[int] | None = None,
        n_neighbors: int = 15,
        max_objects: int = 2000,
        random_state: Any = 0,
        ax: Any = None,
    ) -> Self:
        """The map of one cluster of a fitted estimator. The similarities of its objects are computed again.

        Parameters
        ----------
        estimator : selector or NearestPrototypeClassifier
            Fitted. Its similarity decides which objects are near each other.
        X : array, CSR matrix, frame or sequence of objects
            What was passed to `fit`.
        label : hashable, optional
            The cluster to draw; not needed if there is only one.
        names : sequence, optional
            What to call the objects of X on the page; by default "row 17".
        image_shape : (height, width) or (height, width, 3), optional
            The page shows the rows of X as images of this shape, gray or in color; see `show_images`.
        n_neighbors : int, default=15
            How many others each object should have around it: t-SNE's perplexity. A small number shows small groups.
        max_objects : int, default=2000
            A larger cluster is sampled: all representatives are kept, and as many of the others as there is room for.
            If there are more representatives than this, those selected first are kept.
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
        positions = _lay_out(space, n_neighbors, rng)
        display = cls(positions=positions, names=_names(names, rows), **_held_of(prototype, rows))
        if image_shape is not None:
            display.show_images(X, image_shape)
        return display if ax is None else display.plot(ax)

    def show_images(self, X: Any, image_shape: Sequence[int]) -> Self:
        """Show the objects as images on the page.

        Parameters
        ----------
        X : array, CSR matrix or frame
            The pixels, line by line, in a row for each object that was passed to `fit`. Bytes are shown as they are.
            Other numbers are scaled: the smallest one of X is black, and the largest is white.
        image_shape : (height, width) or (height, width, 3)
            The shape of an image, gray or in color. Large images are made smaller. If all images take more than 3 MB,
            the page has those of the representatives that stand for most, and then those of other objects.
        """
        pictured = Images.of(X, image_shape)
        order = np.lexsort((np.arange(self.rows.size), -self.stands_for, ~self.is_representative))
        found = pictured.addresses(self.rows[order].tolist())
        self.images = [None] * self.rows.size
        for at, address in zip(order.tolist(), found, strict=False):
            self.images[at] = address
        return self

    def plot(self, ax: Any = None) -> Self:
        """Draw the map: representatives stand out, larger if they stand for more, with a line to all that they cover.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; by default on a new figure.
        """
        self.ax_ = ax = new_axes() if ax is None else ax
        self.figure_ = ax.figure
        colors = DRAWN_MAP
        chosen, covered = self.is_representative, self.covered_by >= 0
        ends = self.positions[covered], self.positions[self.covered_by[covered]]
        lines = np.stack([*ends, np.full_like(ends[0], np.nan)], axis=1).reshape(-1, 2)  # matplotlib stops at NaN
        ax.plot(*lines.T, color=colors.line, linewidth=0.6, zorder=1)
        ax.scatter(*self.positions[covered & ~chosen].T, s=9, color=colors.covered, linewidths=0, zorder=2)
        ring = {"facecolors": colors.background, "edgecolors": colors.covered, "linewidths": 0.7}
        ax.scatter(*self.positions[~covered].T, s=9, **ring, zorder=2)
        areas = 14 + 150 * self.stands_for[chosen] / max(self.stands_for.max(), 1)
        disc = {"color": colors.representative, "edgecolors": colors.background, "linewidths": 0.5, "alpha": 0.85}
        ax.scatter(*self.positions[chosen].T, s=areas, **disc, zorder=3)
        ax.set(xticks=[], yticks=[], aspect="equal")
        ax.set_title(plain(f"Cluster {self.label}: {self.n_representatives} of {self.n_members} objects represent it"))
        ax.margins(0.05)
        return self

    def to_html(self) -> str:
        """One page with everything in it.

        Who points at an object, or taps it, sees what it stands for, or what it is covered by.
        """
        return render("map", MAP_PAGE, display=self, data=self._data())

    def write_html(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file, which is replaced as a whole or not at all."""
        write_page(self.to_html(), path)

    def _data(self) -> dict[str, Any]:
        """What the page draws. Positions are scaled so that the wider side of the map is 1."""
        corner = self.positions.min(axis=0)
        extent = self.positions.max(axis=0) - corner
        x, y = ((self.positions - corner) / (extent.max() or 1.0)).round(4).T
        return {
            "x": x.tolist(),
            "y": (y.max() - y).round(4).tolist(),  # on a page y grows downwards
            "coveredBy": self.covered_by.tolist(),
            "standsFor": self.stands_for.tolist(),
            "isRepresentative": self.is_representative.tolist(),
            "names": self.names,
            "images": self.images,
            "nMembers": self.n_members,
        }


def _check_at_least_one(**parameters: Any) -> None:
    """Refuse parameters that are no positive integers, by name."""
    for name, value in parameters.items():
        if not isinstance(value, Integral) or int(value) < 1:
            raise ValueError(f"{name} must be an int of at least 1, got {value!r}.")


def _check_counts(prototypes: Mapping[Hashable, Prototype], n: int, names: Sequence[Any] | None) -> None:
    """Refuse an X that cannot be the one passed to `fit`, and names that are not as many as its objects."""
    fitted = sum(prototype.members.size for prototype in prototypes.values())
    if n != fitted:
        raise ValueError(f"X must hold the {fitted} objects that were passed to fit, got {n}.")
    if names is not None and len(names) != n:
        raise ValueError(f"names must hold one name for each of the {n} objects of X, got {len(names)}.")


def _kept(prototype: Prototype, max_objects: int, rng: np.random.Generator) -> Positions:
    """The rows of the representatives and of as many other members as there is room for, ascending."""
    chosen = prototype.indices[:max_objects]
    others = np.setdiff1d(prototype.members, prototype.indices)
    room = max_objects - chosen.size
    if others.size > room:
        others = rng.choice(others, room, replace=False)
    return np.sort(np.concatenate([chosen, others]))


def _held_of(prototype: Prototype, rows: Positions) -> dict[str, Any]:
    """What the display holds of the prototype, for the rows on the map."""
    return {
        "rows": rows,
        "covered_by": _covered_by(prototype, rows),
        "is_representative": np.isin(rows, prototype.indices),
        "stands_for": _stands_for(prototype, rows),
        "label": prototype.label,
        "n_members": prototype.members.size,
        "n_representatives": prototype.indices.size,
    }


def _covered_by(prototype: Prototype, rows: Positions) -> Positions:
    """For each of the rows the position in `rows` of its representative, or -1."""
    coverers = prototype.covered_by[np.searchsorted(prototype.members, rows)]
    at = np.minimum(np.searchsorted(rows, coverers), rows.size - 1)
    return np.where(rows[at] == coverers, at, -1)


def _stands_for(prototype: Prototype, rows: Positions) -> Positions:
    """For each of the rows how many members of the whole cluster it covers."""
    kept = np.isin(prototype.indices, rows)
    counts = np.zeros(rows.size, dtype=np.intp)
    counts[np.searchsorted(rows, prototype.indices[kept])] = prototype.stands_for[kept]
    return counts


def _names(names: Sequence[Any] | None, rows: Positions) -> list[str]:
    """For each of the rows its name, or its number if there are no names."""
    called = None if names is None else list(names)  # a list, because a pandas Series would look rows up in its index
    return [f"row {row}" if called is None else str(called[row]) for row in rows.tolist()]


def _lay_out(space: Space, n_neighbors: int, rng: np.random.RandomState) -> Floats:
    """Where the members lie in the plane. Equal members lie side by side."""
    n = space.n_left
    if n == 1:
        return np.zeros((1, 2))
    k = min(3 * n_neighbors + 1, n - 1)  # scikit-learn's t-SNE asks for so many neighbors
    method = choose_method("auto", space, k)
    graph = build(space, k, method, generator(rng))
    # With a perplexity near n - 1 all others would count as equally near. With one near 1 few objects would lie in a
    # line. Two thirds of n - 1 is between them.
    perplexity = max(1.0, min(float(n_neighbors), 2 * (n - 1) / 3))
    layout = TSNE(perplexity=perplexity, metric="precomputed", init="random", random_state=rng)
    with threadpool_limits(1, "openmp"):  # threads would add numbers in any order, and a last bit may move the map
        positions = layout.fit_transform(_distances(graph))
    return _turned(positions.astype(np.float64))


def _distances(graph: NeighborGraph) -> sp.csr_array:
    """The distances of all pairs on the graph, as t-SNE takes them: in each row the object itself, then the nearest.

    A pair that has two similarities, one in each direction, counts with the larger one. Distances of zero are stored,
    because scikit-learn would otherwise miss the object itself and its duplicates among the neighbors.
    """
    n, k = graph.indices.shape
    every, i, j = np.arange(n), np.repeat(np.arange(n), k), graph.indices.ravel()
    similarities = graph.similarities / 2  # the difference of two may have no float
    distances = (similarities.max() - similarities).ravel()
    distances /= distances.max() or 1.0  # t-SNE squares them in single precision, so they must not be huge
    rows, columns = np.concatenate([every, i, j]), np.concatenate([every, j, i])
    values = np.concatenate([np.full(n, -1.0), distances, distances])  # -1 puts the object itself before its duplicates
    order = np.lexsort((values, columns, rows))
    rows, columns, values = rows[order], columns[order], values[order]
    first = (np.diff(rows, prepend=-1) != 0) | (np.diff(columns, prepend=-1) != 0)
    rows, columns, values = rows[first], columns[first], values[first]
    order = np.lexsort((columns, values, rows))
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n))])
    return sp.csr_array((np.maximum(values[order], 0.0), columns[order], starts), shape=(n, n))


def _turned(positions: Floats) -> Floats:
    """The positions moved to the origin and turned so that their variance is largest from left to right."""
    x, y = (positions - positions.mean(axis=0)).T
    angle = np.arctan2(2 * (x * y).sum(), (x * x).sum() - (y * y).sum()) / 2
    cosine, sine = np.cos(angle), np.sin(angle)
    return np.stack([cosine * x + sine * y, cosine * y - sine * x], axis=1)
