"""Libraries that only some parts need: imported when needed, and asked for in one clear line when they are missing."""

from importlib import import_module
from typing import Any


def require(module: str, extra: str) -> Any:
    """The module, or an error that names the command that installs it."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not module.startswith(error.name):  # something else is wrong with it
            raise
        raise ModuleNotFoundError(
            f'this needs {error.name}, which is not installed; run: pip install "covey[{extra}]"', name=error.name
        ) from error
