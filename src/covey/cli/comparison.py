"""Which methods `covey compare` runs, and what it recommends by their results."""

import hashlib
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import file_digest
from inspect import getsourcefile, isfunction
from typing import Any

from covey.cli.chosen import Chosen
from covey.cli.declaration import words
from covey.cli.options import Source
from covey.cli.recommend import Candidate, recommend
from covey.cli.verdict import Advice, judge, sentences
from covey.experiments.methods import BASELINES, crs
from covey.experiments.names import (
    ALL,
    CRS_CURVE,
    DELTA_MEDOIDS,
    RANDOM,
    SHARPENED_CURVE,
    SPARSE,
    crs_name,
    sharpened_name,
)
from covey.experiments.records import Record
from covey.experiments.sharpening import sharpened


@dataclass(frozen=True)
class Curve:
    """Methods that differ only in k.

    Attributes
    ----------
    words : str
        What a sentence calls them.
    name : callable
        What reports call the method with a k.
    options : tuple of str
        The options of `covey select` that use them, beside -k.
    """

    words: str
    name: Callable[[int], str]
    options: tuple[str, ...] = ()

    def candidate(self, k: int) -> Candidate:
        """Return the method with a k as one that can be recommended."""
        return Candidate(f"{self.words} with k = {k}", ("-k", str(k), *self.options), k)


CURVES: dict[str, Curve] = {
    "crs": Curve(CRS_CURVE, crs_name),
    "sharpened": Curve(SHARPENED_CURVE, sharpened_name, ("--sharpen",)),
}
"""The methods that are run with every k, by the user's name for them."""
CHOICES = {"delta-medoids": DELTA_MEDOIDS, "ds3": SPARSE, "random": RANDOM, "all": ALL}
"""What reports call the other methods, by the user's name for them."""


def choose_methods(names: Sequence[str], ks: Sequence[int]) -> Chosen:
    """Return the methods that the user has named; CRS and sharpened CRS are one method for each k."""
    made = {"crs": crs, "sharpened": sharpened}
    tried = [(name, k) for name in CURVES if name in names for k in sorted(ks)]
    methods = {CURVES[name].name(k): made[name](k) for name, k in tried}
    candidates = {CURVES[name].name(k): CURVES[name].candidate(k) for name, k in tried}
    return Chosen(methods | {CHOICES[name]: BASELINES[CHOICES[name]] for name in names if name in CHOICES}, candidates)


def advise(records: Sequence[Record], chosen: Chosen, source: Source, n_similarities: int) -> Advice:
    """Return the method that is recommended, if one is, why, how sure that is, what it costs, and how to select by it.

    The records are under the best of `n_similarities` that were tried, which the options name.
    """
    found = recommend(records, chosen.candidates, n_similarities)
    if found is None:
        return Advice()
    if found.method is None:
        return Advice(None, judge(records, found, None), [found.sentence])
    command = how_to_select(source, chosen.candidates[found.method])
    verdict = judge(records, found, command)
    recommended = found.method if found.is_choice else None
    return Advice(recommended, verdict, [found.sentence, *sentences(verdict), f"To select like this: {command}"])


def how_to_select(source: Source, candidate: Candidate) -> str:
    """Return the command that selects from all of the data by a candidate."""
    return shlex.join(["covey", "select", *words(source), *candidate.options])


def fingerprint(source: Source, function: Any, *settings: Any) -> str:
    """Return a text that differs if the data, the user's code or any setting differs.

    Records of a run that was stopped are only used again for exactly the same comparison.
    """
    content = hashlib.sha256(repr((source, settings)).encode())
    code = getsourcefile(function) if isfunction(function) else None
    for path in (source.path, source.labels, code):
        if path is not None:
            with open(path, "rb") as file:
                content.update(file_digest(file, "sha256").digest())
    return content.hexdigest()[:12]
