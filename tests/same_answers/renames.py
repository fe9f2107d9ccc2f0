"""What is called differently in two trees that are compared. An entry goes when no tree has the old name any more."""

import re

NAMES = {
    "OtherRunError": "CheckpointMismatchError",
    "OneProcessWarning": "UnpicklableSimilarityWarning",
    "Clusters": "Clustering",
}
"""The new name of each class by its old one, as it stands in errors, warnings and results."""

_WORDS = re.compile(rf"\b({'|'.join(NAMES)})\b")


def renewed(text):
    """Return a text with the new names for old ones."""
    return _WORDS.sub(lambda match: NAMES[match[0]], text)
