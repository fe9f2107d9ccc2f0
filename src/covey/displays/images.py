"""Rows of numbers as small images that a page can hold.

1. The numbers of a row become bytes: those of the type uint8 stay as they are, and others are scaled so that the
   smallest number of all rows is black and the largest is white.
2. An image that is larger than `LARGEST_SIDE` is made smaller: each pixel is the mean of several.
3. The bytes are written as a PNG file, which takes a few lines and needs no library.
"""

import base64
import math
import struct
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from covey.runtime.parameters import is_whole

LARGEST_SIDE = 64
"""How many pixels a thumbnail is wide or high at most. The page shows it about so large."""
MOST_BYTES = 3_000_000
"""How many bytes the images of one page take at most, so that it opens quickly. A page of 2 000 gray
images of 28 x 28 pixels stays below, and one of 2 000 photographs would not."""
Pixels = NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class Images:
    """Rows of numbers that are the pixels of images, line by line.

    Attributes
    ----------
    rows : array, CSR array or frame
        A row for each image.
    shape : tuple of int
        Height and width of an image, and 3 if each pixel has the parts red, green and blue.
    lowest, highest : float
        The numbers that are black and white.
    """

    rows: Any
    shape: tuple[int, ...]
    lowest: float
    highest: float

    @classmethod
    def of(cls, X: Any, shape: Sequence[int]) -> Self:
        """Check that the rows of X can be images of this shape, and find out how bright they are."""
        checked = check_shape(shape)
        rows = X if sp.issparse(X) else np.asarray(X)
        width = rows.shape[1] if rows.ndim == 2 else 0
        if width != math.prod(checked):
            raise ValueError(
                f"image_shape must fit the rows of X, but {describe_shape(checked)} are {math.prod(checked)} numbers, "
                f"and a row of X has {width or 'no'} columns."
            )
        if rows.dtype.kind not in "biuf":
            raise TypeError(f"X must hold numbers to be shown as images, got the type {rows.dtype}.")
        whole = (0.0, 255.0) if rows.dtype == np.uint8 else (float(rows.min()), float(rows.max()))
        return cls(rows, checked, *whole)

    def pixels(self, row: int) -> Pixels:
        """Return one of the images, made smaller if it is large."""
        numbers = self.rows[[row]].toarray() if sp.issparse(self.rows) else self.rows[row]
        spread = self.highest - self.lowest
        bright = (numbers.astype(np.float64).reshape(self.shape) - self.lowest) / (spread if spread > 0 else 1.0) * 255
        return np.rint(_smaller(bright)).astype(np.uint8)

    def address(self, row: int) -> str:
        """Return one of the images as a data address."""
        return png_address(self.pixels(row))

    def addresses(self, rows: Iterable[int]) -> list[str]:
        """Return the images of the first of these rows, as many as take no more bytes than allowed."""
        found: list[str] = []
        n_bytes = 0
        for row in rows:
            found.append(self.address(row))
            n_bytes += len(found[-1])
            if n_bytes > MOST_BYTES:
                return found[:-1]
        return found


def is_image(shape: Any) -> bool:
    """Return whether a value is the shape of an image: its height and width, and 1 or 3 if pixels have parts."""
    sizes = tuple(shape) if isinstance(shape, Sequence) else ()
    whole = all(is_whole(size, 1) for size in sizes)
    return whole and len(sizes) in (2, 3) and sizes[2:] in ((), (1,), (3,))


def check_shape(shape: Any) -> tuple[int, ...]:
    """Return the shape of images, without a third part of 1. Raise ValueError if it is none."""
    if not is_image(shape):
        raise ValueError(
            f"image_shape must be the height and the width of images, and 3 for images in color, got {shape!r}."
        )
    return tuple(map(int, shape[:2] if tuple(shape[2:]) == (1,) else shape))


def describe_shape(shape: Sequence[int]) -> str:
    """Return what images of a shape are called.

    Examples
    --------
    >>> describe_shape((32, 32, 3))
    'images of 32 x 32 pixels in color'
    """
    return f"images of {shape[0]} x {shape[1]} pixels{' in color' if tuple(shape[2:]) == (3,) else ''}"


def png_address(pixels: Pixels) -> str:
    """Return an image as a data address."""
    return inline(png(pixels), "png")


def inline(content: bytes, kind: str) -> str:
    """Return an image file as a data address, which a page can hold."""
    return f"data:image/{kind};base64,{base64.b64encode(content).decode('ascii')}"


def png(pixels: Pixels) -> bytes:
    """Return the content of a PNG file with these pixels: of shape (height, width), or (height, width, 3) in color."""
    height, width = pixels.shape[:2]
    lines = np.zeros((height, 1 + pixels[0].size), dtype=np.uint8)  # each line begins with 0: it is not filtered
    lines[:, 1:] = pixels.reshape(height, -1)
    color = 2 if pixels.ndim == 3 else 0
    head = struct.pack(">IIBBBBB", width, height, 8, color, 0, 0, 0)
    parts = [(b"IHDR", head), (b"IDAT", zlib.compress(lines.tobytes(), 9)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(part)) + name + part + struct.pack(">I", zlib.crc32(name + part)) for name, part in parts
    )


def _smaller(image: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return an image no larger than a thumbnail. Each of its pixels is the mean of a square of pixels."""
    step = -(-max(image.shape[:2]) // LARGEST_SIDE)
    if step == 1:
        return image
    missing = [(0, -size % step) for size in image.shape[:2]]
    padded = np.pad(image, [*missing, *[(0, 0)] * (image.ndim - 2)], mode="edge")
    height, width = (size // step for size in padded.shape[:2])
    squares = padded.reshape(height, step, width, step, *image.shape[2:])
    means: NDArray[np.float64] = squares.mean(axis=(1, 3))
    return means
