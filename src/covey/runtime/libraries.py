"""Optional libraries. They are imported when they are first needed; if one is missing, the error says how to install
it.

The advice never names covey itself: what an index calls covey may be somebody else's package. It names the libraries
that the extra brings, as the metadata of this installation list them, so that it holds wherever covey came from: a
checkout, a wheel or an address.
"""

import re
import shlex
import sys
from collections.abc import Iterator
from importlib import import_module
from typing import Any

DISTRIBUTION = "covey"
"""The name under which covey is installed."""


def require(module: str, extra: str) -> Any:
    """Import a module, or raise an error that names the command which installs it."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not module.startswith(error.name):
            raise  # the module is there, but something that it imports is not
        raise ModuleNotFoundError(
            f"this needs {error.name}, which is not installed; {remedy(extra)}", name=error.name
        ) from error


def remedy(extra: str) -> str:
    """Return what to run so that all libraries of an extra are there.

    Examples
    --------
    >>> import sys
    >>> remedy("text").replace(sys.executable, "python")
    "run: python -m pip install 'rapidfuzz>=3.9'"
    """
    wanted = sorted(set(_requirements(extra)))
    if not wanted:  # covey runs from a folder that was not installed
        return f'install what the extra "{extra}" in its pyproject.toml lists.'
    missing = [requirement for requirement in wanted if not _is_installed(requirement)] or wanted
    return f"run: {shlex.join([sys.executable, '-m', 'pip', 'install', *missing])}"


def _requirements(extra: str) -> Iterator[str]:
    """Yield the requirements of an extra, those of other extras that it includes among them."""
    from importlib import metadata  # takes time, and is needed only for the advice

    try:
        declared = metadata.requires(DISTRIBUTION) or []
    except metadata.PackageNotFoundError:
        declared = []
    for line in declared:
        requirement, _, marker = (part.strip() for part in line.partition(";"))
        if f"extra == '{extra}'" not in marker.replace('"', "'"):
            continue
        included = re.fullmatch(rf"{DISTRIBUTION}\[(.*)\]", requirement)
        if included is None:
            yield requirement
        else:
            for other in included[1].split(","):
                yield from _requirements(other.strip())


def _is_installed(requirement: str) -> bool:
    """Return whether a distribution of this name is installed, in any version."""
    from importlib import metadata

    name = re.match(r"[\w.-]+", requirement)
    try:
        return name is not None and bool(metadata.version(name[0]))
    except metadata.PackageNotFoundError:
        return False
