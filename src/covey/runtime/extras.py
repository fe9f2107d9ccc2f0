"""Optional libraries. They are imported when they are first needed; if one is missing, the error says how to install
it.
"""

from importlib import import_module
from typing import Any


def require(module: str, extra: str) -> Any:
    """Import a module, or raise an error that names the command which installs it."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not module.startswith(error.name):
            raise  # the module is there, but something that it imports is not
        raise ModuleNotFoundError(
            f'this needs {error.name}, which is not installed; run: pip install "covey[{extra}]"', name=error.name
        ) from error
