"""What a model file looks like from outside, for those who write one and those who read one."""

FORMAT = 3
"""The number of the format that is written. `old.py` holds the readers of earlier ones."""
JSON = "covey.json"
"""The member of the archive that holds everything but the arrays."""
KEYS = {"format", "content", "notes", "callable"}
"""The keys of the JSON part: the number of the format; the class, parameters and state of the estimator; the notes; and
the name of the similarity that must be passed on loading, or null."""
JSON_FREE, JSON_RATIO = 4 * 2**20, 20
"""The JSON part may have this many bytes in any file, and this many times the bytes of the file in a large one. Dicts
and sets drawn at random are packed 9:1, so real models stay below; a JSON part full of empty lists takes 23 times its
bytes in memory, so a small file cannot take much."""

DEEPEST_ESTIMATOR = 6
"""How many levels deep estimators may lie within each other. A classifier of a sharpened selector has three levels.
With each further one scikit-learn takes 2.4 times as long to show an estimator (measured: 0.06 seconds for 8 levels and
0.37 for 10)."""


def most_json(size: int) -> int:
    """Return how many bytes the JSON part of a file of this size may have."""
    return max(JSON_FREE, JSON_RATIO * size)


def check_depth(depth: int) -> None:
    """Refuse estimators that lie too deep within each other."""
    if depth > DEEPEST_ESTIMATOR:
        raise ValueError(f"estimators must lie at most {DEEPEST_ESTIMATOR} levels deep within each other")


class UnknownNameError(LookupError):
    """A file names a class or a similarity that this program does not have. The message stands behind "holds"."""
