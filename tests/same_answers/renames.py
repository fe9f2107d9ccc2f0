"""What differs between two trees on purpose. An entry goes when no tree that is compared is that old any more."""

import re

NAMES = {
    "OtherRunError": "CheckpointMismatchError",
    "OneProcessWarning": "UnpicklableSimilarityWarning",
    "Clusters": "Clustering",
}
"""The new name of each class by its old one, as it stands in errors, warnings and results."""

PHRASES = {
    "is no Parquet file": "is not a Parquet file",
    "is no workbook": "is not a workbook",
    "is no .np": "is not an .np",
    "is no molecule": "is not a molecule",
    "is no profile": "is not a profile",
    "is no checkpoint": "is not a checkpoint",
    "is no model": "is not a model",
    "is no UTF-8": "is not UTF-8",
    "is no text in": "is not text in",
    "which is no array": "which is not an array",
    ": no JSON (": ": not JSON (",
}
"""The new words of each message by its old ones."""

LEFT_OUT = re.compile(r"covey\.json\.format$|\.CRS\.parameters\.(sample_rate|tol)$")
"""The parts of answers that are not compared: in a model file, the number of its format and what CRS has no more."""

_WORDS = re.compile(rf"\b({'|'.join(NAMES)})\b")


def renewed(text):
    """Return a text with the new names and words for old ones."""
    for old, new in PHRASES.items():
        text = text.replace(old, new)
    return _WORDS.sub(lambda match: NAMES[match[0]], text)
