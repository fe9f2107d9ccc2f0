"""How much memory a file may claim: an attack on memory must itself be large."""

FREE = 64 * 2**20
"""Every file may unpack to this many bytes (64 MiB), however small it is; any machine has that much to spare."""
MOST_RATIO = 100
"""A larger content may have this many bytes for each byte of the file.

Deflate packs equal bytes 1026:1, and the real tables of numbers that we measured 2:1 to 20:1. Only large tables of
almost nothing but zeros exceed 100:1 (one-hot columns of 100 categories in float64: 248:1); the message tells their
owners the remedy. A writer that must be able to read its own archives stores arrays beyond `FREE` bytes unpacked.
"""


def justified(size: int) -> int:
    """Return how many bytes a file of `size` bytes may declare, or unpack to."""
    return max(FREE, MOST_RATIO * size)
