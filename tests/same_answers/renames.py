"""What differs between two trees on purpose. An entry goes when no tree that is compared is that old any more."""

import re

NAMES = {
    "OtherRunError": "CheckpointMismatchError",
    "OneProcessWarning": "UnpicklableSimilarityWarning",
    "Clusters": "Clustering",
}
"""The new name of each class by its old one, as it stands in errors, warnings and results."""

LEFT_OUT = re.compile(r"covey\.json\.format$|\.CRS\.parameters\.(sample_rate|tol)$")
"""The parts of answers that are not compared: in a model file, the number of its format and what CRS has no more."""

_WORDS = re.compile(rf"\b({'|'.join(NAMES)})\b")


def renewed(text):
    """Return a text with the new names for old ones."""
    return _WORDS.sub(lambda match: NAMES[match[0]], text)
