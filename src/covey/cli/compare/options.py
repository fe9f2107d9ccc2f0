"""The options of `covey compare`."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from covey.cli.files.dialect import listed
from covey.cli.options import Replacing, Running, Source, at_least_one
from covey.cli.typer_dataclasses import option

TIME = re.compile(r"(\d+(?:\.\d+)?)\s*([smh]?)")
"""A duration: a number and its unit."""
UNITS = {"": 1, "s": 1, "m": 60, "h": 3600}
"""How many seconds a unit has."""
METHODS = ("crs", "sharpened", "delta-medoids", "ds3", "random", "all")
"""The names of the methods. `methods.py` says what each of them is."""


def methods_in(text: str) -> str:
    """Return the names of methods, if all of them are known."""
    names = listed(text)
    unknown = [name for name in names if name not in METHODS]
    if unknown or not names:
        raise ValueError(f"must be some of {', '.join(METHODS)}, got {', '.join(unknown) or 'none'}.")
    return text


def ks_in(text: str) -> str:
    """Return numbers of neighbors."""
    if not [at_least_one(value) for value in listed(text)]:
        raise ValueError("must be numbers of at least 1, by commas.")
    return text


def time_limit_in(text: str) -> str:
    """Return a duration."""
    match = TIME.fullmatch(text.strip())
    if match is None or float(match[1]) == 0:
        raise ValueError(f"must be a number of seconds, minutes or hours such as 90s, 10m or 1h, got {text!r}.")
    return text


@dataclass(frozen=True)
class CompareOptions(Running, Replacing, Source):
    """What is compared, how long, and where the results go."""

    methods: Annotated[
        str,
        option(
            "--methods",
            read=methods_in,
            what="The methods to compare, separated by commas: crs, sharpened, delta-medoids, ds3, random, all. "
            "Sharpened is CRS with --sharpen; it takes most of the time.",
        ),
    ] = "crs,sharpened,delta-medoids,ds3,random,all"
    html: Annotated[str, option("--html", what="The file to write the report to.")] = "covey-report.html"
    csv: Annotated[str | None, option("--csv", what="Write the results to this CSV file, too, not rounded.")] = None
    json: Annotated[str | None, option("--json", what="Write the results to this JSON file, too, not rounded.")] = None
    k: Annotated[str, option("-k", read=ks_in, what="The numbers of neighbors to try, separated by commas.")] = (
        "2,3,5,7,10,15,20,30,50"
    )
    folds: Annotated[int, option("--folds", what="The number of folds of the cross-validation.", min=2)] = 5
    time_limit: Annotated[
        str | None,
        option(
            "--time-limit",
            read=time_limit_in,
            what="How long the methods may take, such as 90s, 10m or 1h; the report comes after that. Every method is "
            "tried with one k before any is tried with another, those first that are expected to cost least. What "
            "takes longer is left out, and it is said what that is.",
        ),
    ] = None

    @property
    def method_names(self) -> list[str]:
        return listed(self.methods)

    @property
    def ks(self) -> list[int]:
        """The numbers of neighbors to try."""
        return [at_least_one(value) for value in listed(self.k)]

    @property
    def seconds(self) -> float | None:
        """The time limit in seconds."""
        match = TIME.fullmatch((self.time_limit or "").strip())
        return None if match is None else float(match[1]) * UNITS[match[2]]

    @property
    def outputs(self) -> Sequence[str]:
        """The files that are written."""
        return [path for path in (self.html, self.csv, self.json) if path is not None]
