"""The options of `covey select` for work that takes long: what happens if it is stopped, or if a function fails."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, ClassVar

from covey.cli.declaration import option
from covey.cli.misuse import MisuseError
from covey.cli.selection import CARE, Method


class OnError(StrEnum):
    raise_ = "raise"
    lowest = "lowest"


NO_CARE = {"checkpoint": None, "on_error": "raise", "timeout": None}
"""The parameters of a selector without precautions."""


@dataclass(frozen=True)
class Precautions:
    """What happens if the work is stopped, or if a similarity function fails or hangs."""

    PANEL: ClassVar[str] = CARE

    checkpoint: Annotated[
        str | None,
        option(
            "--checkpoint",
            what="Keep in this file what was evaluated, so that the same command goes on where it was stopped. What a "
            "function has evaluated also serves other options, and more rows. With --dask it is a folder for finished "
            "work, which all workers must see.",
        ),
    ] = None
    on_error: Annotated[
        OnError,
        option(
            "--on-error",
            what="What to do if a similarity function fails for two rows: end with an error, or take them for the "
            "least similar ones and say how many there were.",
        ),
    ] = OnError.raise_
    timeout: Annotated[
        float | None,
        option("--timeout", what="How many seconds a similarity function may take for two rows. Longer is a failure."),
    ] = None

    def check(self) -> None:
        """Refuse a time that cannot be."""
        if self.timeout is not None and not 0 < self.timeout < float("inf"):
            raise MisuseError(f"--timeout must be a number of seconds above 0, got {self.timeout:g}.")

    def parameters(self, method: Method) -> dict[str, Any]:
        """Return the parameters of the selector. A method that evaluates nothing takes none."""
        used = {"checkpoint": self.checkpoint, "on_error": self.on_error.value, "timeout": self.timeout}
        if method not in (Method.random, Method.all):
            return used
        if used != NO_CARE:
            raise MisuseError(
                f"--checkpoint, --on-error and --timeout are for methods that evaluate similarities, and {method} does "
                "not; leave them out."
            )
        return {}
