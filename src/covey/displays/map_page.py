"""What the page of a map holds: numbers as packed arrays, which take a quarter of the room of JSON, and texts."""

import base64
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from covey.arrays import Floats, Positions
from covey.displays.colors import of_clusters

MOST_TEXT = 2_000_000
"""How many bytes the names and the cards of one page take at most, so that it opens quickly. It is a judgement:
together with images and numbers, a page then stays under a few megabytes."""
LONGEST_NAME = 200
"""How many characters of the name of an object, or of a field, are on the page."""
SIGNS = 8
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
        "x": packed(np.rint(x * FINEST)),
        "y": packed(np.rint((1 - y) * FINEST)),  # on a page y grows downwards
        "rows": packed(display.rows),
        "clusters": [str(label) for label in display.sizes],
        "colors": of_clusters(len(sizes)),
        "nMembers": [members for members, _ in sizes],
        "nRepresentatives": [representatives for _, representatives in sizes],
        "clusterOf": packed(display.cluster_of),
        "coveredBy": packed(display.covered_by + 1),
        "representatives": packed(np.flatnonzero(display.is_representative)),
        "standsFor": packed(display.stands_for[display.is_representative]),
        "nNeighbors": display.neighbors.shape[1],
        "neighbors": packed(display.neighbors + 1),
        "similarities": packed(similarities),
        "lowest": lowest,
        "highest": highest,
        "images": _images(display),
        **_texts(display),
    }


def packed(values: ArrayLike) -> str:
    """Return whole numbers from 0 as the text of their bytes, after a digit that says how many bytes a number takes.

    Examples
    --------
    >>> packed([1, 2, 255])
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
    half = highest / 2 - lowest / 2  # the whole difference may have no float
    shares = (np.nan_to_num(similarities, nan=lowest) / 2 - lowest / 2) / (half or 1.0)
    return np.rint(shares * FINEST).astype(np.intp), (lowest, highest)


def _images(display: Any) -> dict[str, str] | None:
    """Return the images that there are by the positions of their objects, without how all of them begin."""
    if display.images is None:
        return None
    return {str(at): image.removeprefix(PNG) for at, image in enumerate(display.images) if image is not None}


def _texts(display: Any) -> dict[str, Any]:
    """Return the names of objects, the names of all fields, and for each object its fields, as far as they fit.

    What is most important comes first. An object whose texts do not fit has neither a name nor fields.
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
    return len(text.encode("utf-8", "replace")) + SIGNS
