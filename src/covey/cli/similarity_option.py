"""The similarities that a user can name on the command line, and what the library takes for them."""

import sys
import traceback
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from covey.similarity.names import MIXED, ROWS, STRINGS

OF_TEXTS = STRINGS
"""Similarities of texts as they are."""
OF_TABLES = MIXED
"""Similarities of rows whose columns may hold numbers, categories and gaps."""
OF_ROWS = ROWS
"""Similarities of rows of numbers, of profiles, and of texts as TF-IDF vectors."""
OF_MOLECULES = "jaccard"
"""The similarity of fingerprints of molecules."""
OWN = "module:function or path/to/file.py:function"
"""How a user names a custom function."""


def help_text() -> str:
    """Return the names as the help lists them."""
    tables = f"{', '.join(OF_TABLES)} for columns of numbers, of categories and with gaps"
    return f"{', '.join(OF_ROWS)}; {tables}; for --text also {', '.join(OF_TEXTS)}"


def similarity_in(text: str) -> str:
    """Return the name of a similarity, or of a custom function."""
    place, _, name = text.rpartition(":")
    if text not in (*OF_ROWS, *OF_TABLES, *OF_TEXTS) and not (place and name):
        known = ", ".join([*OF_ROWS, *OF_TABLES, *OF_TEXTS])
        raise ValueError(f"must be one of {known}, or {OWN} for a custom function, got {text!r}.")
    return text


def check_function_file(similarity: str | None) -> None:
    """Refuse a custom function in a file that is not there."""
    place = (similarity or "").rpartition(":")[0]
    if _is_file(place) and not Path(place).is_file():
        raise FileNotFoundError(f"--similarity {similarity}: {place}: no such file.")


def is_in_file(similarity: str) -> bool:
    """Return whether the user has named the file of a custom function."""
    return _is_file(similarity.rpartition(":")[0])


def is_same(similarity: str, other: str) -> bool:
    """Return whether two strings name the same similarity. A file may be named from another folder the second time."""
    return _parts(similarity) == _parts(other)


def module_of(similarity: str) -> ModuleType | None:
    """Return the module of a custom function, if `function_of` has imported it."""
    module, name = _parts(similarity)
    return sys.modules.get(module) if name else None


def function_of(similarity: str) -> Any:
    """Return what the library takes as `similarity`: a name as it is, for a custom function that function.

    The module of that function can be imported by its name afterwards, also in processes that are started for it.
    """
    place, _, name = similarity.rpartition(":")
    if not place:
        return similarity
    with_option = f"--similarity {similarity}:"
    try:
        module = _module_in_file(Path(place)) if _is_file(place) else _module_by_name(place)
    except Exception as error:  # the user's code may raise anything
        remedy = "" if _is_file(place) else "; the module must lie in this folder or be installed"
        raise ValueError(f"{with_option} {_what_was_raised(error)}{remedy}.") from error
    if not hasattr(module, name):
        raise ValueError(f"{with_option} {place} has no function {name!r}.")
    function = getattr(module, name)
    from covey.similarity.similarity import Similarity

    if not callable(function) and not isinstance(function, Similarity):
        raise ValueError(f"{with_option} {name} must be a function of two objects, got {type(function).__name__}.")
    return function


def _is_file(place: str) -> bool:
    """Return whether what stands before the colon is a file, rather than the name of a module."""
    return place.endswith(".py") or "/" in place


def _parts(similarity: str) -> tuple[str, str]:
    """Return the name of a function's module and its own; a similarity that has a name has no second part."""
    place, _, name = similarity.rpartition(":")
    if not place:
        return similarity, ""
    return (Path(place).stem if _is_file(place) else place), name


def _module_by_name(name: str) -> ModuleType:
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    return import_module(name)


def _module_in_file(file: Path) -> ModuleType:
    """Import a file under its own name, by which other processes can import it, too.

    Its folder comes last where Python looks for modules, so that nothing in it hides an installed library.
    """
    if not file.is_file():
        raise FileNotFoundError(f"{file}: no such file")
    folder, name = str(file.resolve().parent), file.stem
    if folder not in sys.path:
        sys.path.append(folder)
    spec = find_spec(name)
    if spec is None or spec.origin is None or Path(spec.origin).resolve() != file.resolve():
        raise ImportError(f"Python has another module that is called {name}; give the file another name")
    return import_module(name)


def _what_was_raised(error: Exception) -> str:
    """Return an error in words, with the line of the user's code that has raised it."""
    if isinstance(error, SyntaxError) and error.lineno is not None:
        return f"{error.filename}, line {error.lineno}: {type(error).__name__}: {error.msg}"
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not _is_ours(frame.filename)]
    where = f"{frames[-1].filename}, line {frames[-1].lineno}: " if frames else ""
    what = str(error).rstrip(".") or "no reason given"
    return f"{where}{type(error).__name__}: {what}"


def _is_ours(file: str) -> bool:
    """Return whether a line of a traceback is about the import itself, rather than about what is imported."""
    return file == __file__ or file.startswith("<frozen importlib") or Path(file).parent.name == "importlib"
