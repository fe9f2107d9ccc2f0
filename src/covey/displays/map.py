"""Clusters as a map, and the page that shows it.

1. `PrototypeMapDisplay` keeps all representatives, and a sample of the other members if there are too many.
2. They are laid out so that similar objects lie near each other (`layout.py`).
3. `page_data` packs what the page needs: numbers as arrays in base64, which take a quarter of the room of JSON, and
   names, cards (`cards.py`) and images (`images.py`), as many as the page can carry.

The map's colors are in `colors.py`. Its page is `map.html`, with `map.css`, and with `map.js` and the scripts whose
names begin with `map_`.
"""

import base64
import os
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from covey.arrays import Flags, Floats, Positions
from covey.displays.cards import fields_of
from covey.displays.colors import DRAWN_MAP, MAP_PAGE, of_clusters, of_things
from covey.displays.drawing import new_axes, plain
from covey.displays.estimators import fitted_selector, prototype_of
from covey.displays.images import Images
from covey.displays.layout import LARGEST_CORE, lay_out
from covey.displays.page import render, write_page
from covey.notebook import framed
from covey.prototype import Prototype
from covey.runtime.parameters import generator, is_whole
from covey.similarity.inputs import Objects
from covey.similarity.kinds import collect
from covey.similarity.measures import is_precomputed, resolve

MOST_TEXT = 2_000_000
"""How many bytes the names and the cards of one page take at most, so that it opens quickly. Together with
images and numbers, a page then stays under a few megabytes."""
LONGEST_NAME = 200
"""How many characters of the name of an object, or of a field, are on the page."""
JSON_OVERHEAD = 8
"""How many bytes JSON adds to a value: two quotes, two commas, and the number of its field."""
FINEST = 65535
"""Positions and similarities have this many steps, which 16 bits can tell apart."""
PNG = "data:image/png;base64,"
"""How the addresses of all images begin. The page adds it again."""


def page_data(display: Any) -> dict[str, Any]:
    """Return all that the scripts of the page draw from."""
    corner = display.positions.min(axis=0)
    extent = display.positions.max(axis=0) - corner
    wide, high = (extent / (extent.max() or 1.0)).tolist()
    x, y = ((display.positions - corner) / np.where(extent > 0, extent, 1.0)).T
    sizes = list(display.sizes.values())
    similarities, (lowest, highest) = _steps(display.similarities)
    return {
        "n": display.rows.size,
        "wide": wide,
        "high": high,
        "x": as_base64(np.rint(x * FINEST)),
        "y": as_base64(np.rint((1 - y) * FINEST)),  # on a page y grows downwards
        "rows": as_base64(display.rows),
        "clusters": [str(label) for label in display.sizes],
        "colors": of_clusters(len(sizes)),
        "nMembers": [members for members, _ in sizes],
        "nRepresentatives": [representatives for _, representatives in sizes],
        "clusterOf": as_base64(display.cluster_of),
        "coveredBy": as_base64(display.covered_by + 1),
        "representatives": as_base64(np.flatnonzero(display.is_representative)),
        "standsFor": as_base64(display.stands_for[display.is_representative]),
        "nNeighbors": display.neighbors.shape[1],
        "neighbors": as_base64(display.neighbors + 1),
        "similarities": as_base64(similarities),
        "lowest": lowest,
        "highest": highest,
        "images": _images(display),
        **_names_and_fields(display),
    }


def as_base64(values: ArrayLike) -> str:
    """Return whole numbers from 0 as the text of their bytes, after a digit that says how many bytes a number takes.

    Examples
    --------
    >>> as_base64([1, 2, 255])
    '1AQL/'
    """
    numbers = np.asarray(values)
    size = next(size for size in (1, 2, 4) if not numbers.size or numbers.max() < 256**size)
    return f"{size}{base64.b64encode(numbers.astype(f'<u{size}').tobytes()).decode('ascii')}"


def by_importance(display: Any) -> Positions:
    """Return the positions of the objects, representatives that stand for most first."""
    return np.lexsort((np.arange(display.rows.size), -display.stands_for, ~display.is_representative))


def _steps(similarities: Floats) -> tuple[Positions, tuple[float, float]]:
    """Return similarities as steps between the lowest and the highest one, and these two."""
    known = similarities[~np.isnan(similarities)]
    lowest, highest = (float(known.min()), float(known.max())) if known.size else (0.0, 0.0)
    shares = (np.nan_to_num(similarities, nan=lowest) - lowest) / (highest - lowest or 1.0)
    return np.rint(shares * FINEST).astype(np.intp), (lowest, highest)


def _images(display: Any) -> dict[str, str] | None:
    """Return the images that there are by the positions of their objects, without how all of them begin."""
    if display.images is None:
        return None
    return {str(at): image.removeprefix(PNG) for at, image in enumerate(display.images) if image is not None}


def _names_and_fields(display: Any) -> dict[str, Any]:
    """Return the names of objects, the names of all fields, and for each object its fields, as many as fit.

    What is most important comes first. An object whose strings do not fit has neither a name nor fields.
    """
    called = display.names or [""] * display.rows.size
    names: list[str | None] = [None] * display.rows.size
    cards: list[list[Any]] = [[] for _ in display.fields]
    numbers: dict[str, int] = {}
    room, left_out = MOST_TEXT, 0
    for at in by_importance(display).tolist():
        name, card = called[at][:LONGEST_NAME], {key[:LONGEST_NAME]: value for key, value in display.fields[at].items()}
        room -= sum(map(_n_bytes, (name, *card.values(), *(key for key in card if key not in numbers))))
        if room < 0:
            left_out += bool(name or card)
            continue
        names[at] = name
        cards[at] = [part for key, value in card.items() for part in (numbers.setdefault(key, len(numbers)), value)]
    return {
        "names": None if display.names is None else names,
        "fieldNames": list(numbers),
        "fields": cards if numbers else None,
        "nWithoutText": left_out,
    }


def _n_bytes(text: str) -> int:
    """Return how many bytes a text takes on the page, about."""
    return len(text.encode("utf-8", "replace")) + JSON_OVERHEAD


MOST_NAMED = 20
"""A drawing has a legend of up to this many clusters. More names would not be readable."""


@dataclass(eq=False)
class PrototypeMapDisplay:
    """Clusters in the plane: similar objects near each other, representatives marked, and what each covers.

    `from_estimator` makes it, `plot` draws it, and `to_html` and `write_html` make a page to explore. A notebook shows
    the page by itself.

    t-SNE lays out 2 000 objects at most, the representatives first. Each other one is compared with all of these, and
    put beside those it is most similar to, so that a map of 50 000 objects takes 96 million evaluations.

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
        Which objects are representatives.
    stands_for : int array of shape (n,)
        How many members of its whole cluster each one covers, itself included; 0 for all but representatives.
    names : list of str or None
        What the objects are called on the page; None calls them "row 17".
    label : hashable
        The cluster's label, or None if the map shows several.
    n_members, n_representatives : int
        How many there are in the whole clusters.
    sizes : dict
        For each label on the map the pair of its numbers of members and of representatives.
    cluster_of : int array of shape (n,)
        For each object the place of its cluster in `sizes`; `labels` are the labels themselves.
    neighbors : int array of shape (n, at most 6)
        For each object the positions in `rows` of its most similar others on the map, best first; -1 if there are
        fewer. On a map of more than 2 000 objects, only 2 000 of them are looked at as neighbors, the representatives
        first.
    similarities : float array of the same shape
        How similar the neighbors are; NaN where there are fewer.
    fields : list of dict
        For each object the values that its card shows, by their names.
    images : list of str or None, or None
        For each object its image as a data address, or None if the page has no room for it; None without images.
    ax_, figure_ : matplotlib axes and figure
        Where it was drawn last.

    See Also
    --------
    covey.displays.CoverageDisplay : Shows how coverage grows.

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
    names: list[str] | None = field(repr=False)
    label: Hashable
    n_members: int
    n_representatives: int
    sizes: dict[Hashable, tuple[int, int]] = field(repr=False)
    cluster_of: Positions = field(repr=False)
    neighbors: Positions = field(repr=False)
    similarities: Floats = field(repr=False)
    fields: list[dict[str, str]] = field(repr=False)
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
        values: Any = None,
        image_shape: Sequence[int] | None = None,
        n_neighbors: int = 15,
        max_objects: int = 5000,
        random_state: Any = 0,
        ax: Any = None,
    ) -> Self:
        """Make the map of a fitted estimator's clusters. The similarities of its objects are computed again.

        Parameters
        ----------
        estimator : selector or NearestPrototypeClassifier
            Fitted. Its similarity decides which objects are near each other.
        X : array, CSR matrix, frame or sequence of objects
            What was passed to `fit`.
        label : hashable, optional
            The only cluster to draw; by default all of them.
        names : sequence, optional
            What to call the objects of X on the page; by default "row 17".
        values : frame, dict of columns or sequence, optional
            What cards show of each object: columns, or a text or a dict for each. By default X, if it can be read.
        image_shape : (height, width) or (height, width, 3), optional
            The page shows the rows of X as images of this shape, gray or in color; see `show_images`.
        n_neighbors : int, default=15
            How many others each object should have around it: t-SNE's perplexity. A small number shows small groups.
        max_objects : int, default=5000
            Of more objects, all representatives are kept and a sample of the others; of too many representatives,
            those that were selected first.
        random_state : int, RandomState instance or None, default=0
            Decides the sample and the layout. The same seed gives the same map for any number of threads.
        ax : matplotlib axes, optional
            Draw on these at once; by default nothing is drawn before `plot`.

        Returns
        -------
        PrototypeMapDisplay
            The display.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        TypeError
            If it is neither a selector nor a classifier of covey.
        ValueError
            If X has not as many objects as that of the fit, if `names` or `values` are not as many, if `label` is no
            label of a cluster, or if a parameter has a value that is not allowed.
        """
        _check_at_least_one(n_neighbors=n_neighbors, max_objects=max_objects)
        described = {"names": names, "values": values}
        display = cls(
            **_mapped(fitted_selector(estimator), X, label, described, n_neighbors, max_objects, random_state)
        )
        if image_shape is not None and values is None:
            display.fields = [{}] * display.rows.size  # pixels are not for reading
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

        Returns
        -------
        PrototypeMapDisplay
            The display itself, with `images`.

        Raises
        ------
        ValueError
            If the rows of X do not have as many columns as an image has numbers.
        TypeError
            If X does not hold numbers.
        """
        pictured = Images.of(X, image_shape)
        order = by_importance(self)
        found = pictured.addresses(self.rows[order].tolist())
        self.images = [None] * self.rows.size
        for at, address in zip(order.tolist(), found, strict=False):
            self.images[at] = address
        return self

    @property
    def labels(self) -> list[Hashable]:
        """For each object the label of its cluster."""
        own = list(self.sizes)
        return [own[at] for at in self.cluster_of.tolist()]

    def plot(self, ax: Any = None) -> Self:
        """Draw the map: representatives stand out, larger if they stand for more, with a line to all that they cover.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; by default on a new figure.

        Returns
        -------
        PrototypeMapDisplay
            The display itself, with `ax_` and `figure_`.

        Raises
        ------
        ModuleNotFoundError
            If matplotlib is not installed, which the extra ``plot`` brings.
        """
        self.ax_ = ax = new_axes() if ax is None else ax
        self.figure_ = ax.figure
        chosen, covered = self.is_representative, self.covered_by >= 0
        ends = self.positions[covered], self.positions[self.covered_by[covered]]
        lines = np.stack([*ends, np.full_like(ends[0], np.nan)], axis=1).reshape(-1, 2)  # matplotlib stops at NaN
        ax.plot(*lines.T, color=DRAWN_MAP.line, linewidth=0.6, zorder=1)
        of_cluster = of_things(len(self.sizes))
        several = len(self.sizes) > 1
        colors = [of_cluster[at] if several else DRAWN_MAP.covered for at in self.cluster_of.tolist()]
        bold = colors if several else [DRAWN_MAP.representative] * len(colors)
        self._scatter(covered & ~chosen, colors, s=9, linewidths=0, zorder=2)
        self._scatter(~covered, colors, s=9, facecolors=DRAWN_MAP.background, linewidths=0.7, zorder=2)
        areas = 14 + 150 * self.stands_for[chosen] / max(self.stands_for.max(), 1)
        edge = {"edgecolors": DRAWN_MAP.edge if several else DRAWN_MAP.background, "linewidths": 0.5, "alpha": 0.85}
        self._scatter(chosen, bold, s=areas, **edge, zorder=3)
        ax.set(xticks=[], yticks=[], aspect="equal")
        them = "them" if several else "it"
        ax.set_title(plain(f"{self.title}: {self.n_representatives} of {self.n_members} objects represent {them}"))
        if several and len(of_cluster) <= MOST_NAMED:
            for color, own in zip(of_cluster, self.sizes, strict=True):
                ax.scatter([], [], s=30, color=color, label=plain(f"cluster {own}"))
            ax.legend(loc="center left", bbox_to_anchor=(1, 0.5), fontsize="small", frameon=False)
        ax.margins(0.05)
        return self

    def _scatter(self, which: Flags, colors: list[Any], **options: Any) -> None:
        """Draw some of the objects in their colors, as discs, or as rings if `options` fill them otherwise."""
        own = [color for color, is_one in zip(colors, which.tolist(), strict=True) if is_one]
        options.setdefault("facecolors", own)
        options.setdefault("edgecolors", own)
        self.ax_.scatter(*self.positions[which].T, **options)

    @property
    def title(self) -> str:
        """What the map shows."""
        return f"Cluster {self.label}" if len(self.sizes) == 1 else f"{len(self.sizes)} clusters"

    def to_html(self, label: Hashable = None, title: str | None = None) -> str:
        """Make one page with everything in it, which opens offline.

        It shows all clusters, or any one of them, can be zoomed and searched, and shows of the object that is chosen
        what it stands for, or what it is covered by, and what it is most similar to.

        Parameters
        ----------
        label : hashable, optional
            The cluster that the page shows first; by default all.
        title : str, optional
            What the page is called; by default it says which clusters there are.

        Returns
        -------
        str
            The page as HTML.

        Raises
        ------
        ValueError
            If `label` is not a label on the map.
        ModuleNotFoundError
            If jinja2 is not installed, which the extra ``plot`` brings.
        """
        if label is not None and label not in self.sizes:
            raise ValueError(f"label must be one of the labels on the map, got {label!r}.")
        first = None if label is None else list(self.sizes).index(label)
        data = page_data(self) | {"first": first, "nCompared": LARGEST_CORE}
        return render("map", MAP_PAGE, display=self, data=data, title=title or self.title)

    def write_html(self, path: str | os.PathLike[str], label: Hashable = None, title: str | None = None) -> None:
        """Write the page that `to_html` makes to a file.

        Parameters
        ----------
        path : path
            The file, which is replaced as a whole or not at all.
        label : hashable, optional
            The cluster that the page shows first; by default all.
        title : str, optional
            What the page is called; by default it says which clusters there are.

        Raises
        ------
        ValueError
            If `label` is not a label on the map.
        ModuleNotFoundError
            If jinja2 is not installed, which the extra ``plot`` brings.
        """
        write_page(self.to_html(label, title), path)

    def _repr_html_(self) -> str | None:
        """Return the page in a frame, for a notebook; see `covey.notebook.framed` on why this is safe."""
        try:
            return framed(self.to_html(), self.title)
        except ImportError:  # pages need jinja2; without it, a notebook shows the text
            return None


def _check_at_least_one(**parameters: Any) -> None:
    """Refuse parameters that are not positive integers, by name."""
    for name, value in parameters.items():
        if not is_whole(value, 1):
            raise ValueError(f"{name} must be an int of at least 1, got {value!r}.")


def _check_counts(prototypes: Mapping[Hashable, Prototype], n: int, *, names: Any, values: Any) -> None:
    """Refuse an X that cannot be the one passed to `fit`, and names or values that are not as many as its objects."""
    fitted = sum(prototype.members.size for prototype in prototypes.values())
    if n != fitted:
        raise ValueError(f"X must hold the {fitted} objects that were passed to fit, got {n}.")
    if names is not None and len(names) != n:
        raise ValueError(f"names must hold one name for each of the {n} objects of X, got {len(names)}.")
    columns = list(values.values()) if isinstance(values, Mapping) else [] if values is None else [values]
    for column in columns:
        if len(column) != n:
            raise ValueError(f"values must hold one value for each of the {n} objects of X, got {len(column)}.")


def _mapped(
    selector: Any, X: Any, label: Any, described: dict[str, Any], n_neighbors: int, max_objects: int, random_state: Any
) -> dict[str, Any]:
    """Lay out the clusters of a fitted selector, and return the attributes of their display."""
    every = selector.prototypes_
    shown = list(every.values()) if label is None else [prototype_of(every, label)]
    similarity = resolve(selector.similarity)
    collection = collect(X, similarity)
    _check_counts(every, len(collection), **described)
    rng = check_random_state(random_state)
    order = _by_importance(shown, max_objects, generator(rng))
    core, others = np.sort(order[:LARGEST_CORE]), np.sort(order[LARGEST_CORE:])
    layout = lay_out(collection, core, others, n_neighbors, getattr(selector, "n_jobs", None), rng)
    laid_out = np.concatenate([core, others])
    order = np.argsort(laid_out)
    rows = laid_out[order]
    places = np.append(np.argsort(order), -1)  # the last entry keeps -1, which is none, as it is
    names, values = described["names"], described["values"]
    if values is None and not is_precomputed(similarity):
        values = X
    return {
        "positions": layout.positions[order],
        "neighbors": places[layout.neighbors[order]],
        "similarities": layout.similarities[order],
        "names": None if names is None else _chosen_names(names, rows),
        "fields": fields_of(values, rows),
        **_held_of(shown, rows),
    }


def _by_importance(prototypes: Sequence[Prototype], most: int, rng: np.random.Generator) -> Positions:
    """Return the rows that are kept, the most important first.

    These are the representatives, those that were picked first in their clusters before the others, and then as many
    other members as there is room for, drawn at random.
    """
    ranks = np.concatenate([np.arange(prototype.indices.size) for prototype in prototypes])
    chosen = np.concatenate([prototype.indices for prototype in prototypes])
    chosen = chosen[np.argsort(ranks, kind="stable")][:most]
    members = np.concatenate([prototype.members for prototype in prototypes])
    others = np.setdiff1d(members, np.concatenate([prototype.indices for prototype in prototypes]))
    return np.concatenate([chosen, rng.permutation(others)[: most - chosen.size]])


def _held_of(prototypes: Sequence[Prototype], rows: Positions) -> dict[str, Any]:
    """Return what the display holds of the prototypes, for the rows on the map."""
    members = np.concatenate([prototype.members for prototype in prototypes])
    places = {row: at for at, row in enumerate(rows.tolist())}
    by_row = np.argsort(members)
    of_rows = by_row[np.searchsorted(members, rows, sorter=by_row)]
    coverers = np.concatenate([prototype.covered_by for prototype in prototypes])[of_rows]
    clusters = np.repeat(np.arange(len(prototypes)), [prototype.members.size for prototype in prototypes])[of_rows]
    stands_for = np.zeros(rows.size, dtype=np.intp)
    is_representative = np.zeros(rows.size, dtype=np.bool_)
    for prototype in prototypes:
        for row, count in zip(prototype.indices.tolist(), prototype.stands_for.tolist(), strict=True):
            if row in places:
                stands_for[places[row]], is_representative[places[row]] = count, True
    return {
        "rows": rows,
        "covered_by": np.array([places.get(row, -1) for row in coverers.tolist()], dtype=np.intp),
        "is_representative": is_representative,
        "stands_for": stands_for,
        "cluster_of": clusters,
        "label": prototypes[0].label if len(prototypes) == 1 else None,
        "n_members": members.size,
        "n_representatives": sum(prototype.indices.size for prototype in prototypes),
        "sizes": {prototype.label: (prototype.members.size, prototype.indices.size) for prototype in prototypes},
    }


def _chosen_names(names: Sequence[Any], rows: Positions) -> list[str]:
    called = list(names)  # a list, because a pandas Series would look rows up in its index
    return [str(called[row]) for row in rows.tolist()]
