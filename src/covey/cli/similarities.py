"""The similarities that a user can name on the command line, and what the library takes for them."""

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from covey.cli.misuse import MisuseError
from covey.similarity.named import STRINGS, similarity_names

OF_TEXTS = tuple(STRINGS)
"""Similarities of texts as they are."""
OF_ROWS = tuple(name for name in similarity_names() if name not in ("precomputed", *OF_TEXTS))
"""Similarities of rows of numbers, of profiles, and of texts as TF-IDF vectors."""


def in_words() -> str:
    """Return the names as the help lists them."""
    return f"{', '.join(OF_ROWS)}; for --text also {', '.join(OF_TEXTS)}"


def check_similarity(similarity: str, text: str | None) -> None:
    """Refuse a similarity that there is not, and one of texts if no column of texts is named."""
    if similarity in OF_TEXTS and not text:
        raise MisuseError(f"--similarity {similarity} compares texts; say which column by --text.")
    if similarity not in (*OF_ROWS, *OF_TEXTS) and ":" not in similarity:
        known = ", ".join([*OF_ROWS, *OF_TEXTS])
        raise MisuseError(
            f"--similarity must be one of {known}, or module:function for one of your own, got {similarity!r}."
        )


def function_of(similarity: str) -> Any:
    """Return what the library takes as `similarity`: a name as it is, for module:function that function."""
    if ":" not in similarity:
        return similarity
    module, _, name = similarity.partition(":")
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        return getattr(import_module(module), name)
    except Exception as error:  # the user's code may raise anything
        what = f"{type(error).__name__}: {error}"
        raise ValueError(
            f"--similarity {similarity}: {what}; the module must lie in this folder or be installed."
        ) from error
