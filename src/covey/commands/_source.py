"""Labelled objects from the file that a user names."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey._extras import require
from covey.commands import MisuseError
from covey.commands._recipe import NAMED, Recipe, choose, function_of, labels_of, names_of, require_columns
from covey.files import STANDARD, Block, format_of, read

HOST, PROFILE, LABEL = "host", "profile", "label"
"""Columns of hosts from a log."""


@dataclass(frozen=True)
class Source:
    """What the options say about the input; see `covey select --help`."""

    path: str
    form: str | None = None
    label: str | None = None
    similarity: str = "cosine"
    features: Sequence[str] = ()
    text: str | None = None
    profile: str | None = None
    matrix: bool = False
    hosts: bool = False
    labels: str | None = None
    id: str | None = None

    def load(self, verbose: int = 0) -> "Loaded":
        self._check()
        block, recipe = self._hosts(verbose) if self.hosts else self._table(verbose)
        function = function_of(recipe.similarity, recipe.kind)
        if recipe.kind == "text" and recipe.similarity in NAMED:
            recipe = recipe.with_vocabulary(recipe.objects(block))
        return Loaded(block, recipe, recipe.objects(block), labels_of(block, recipe), names_of(block, recipe), function)

    def _check(self) -> None:
        """Refuse options that would be ignored."""
        if self.labels is not None and not self.hosts:
            raise MisuseError("--labels is for --hosts; say which column holds the label by --label.")
        others = (self.label, self.features, self.text, self.profile, self.matrix, self.id)
        if self.hosts and (any(others) or self.path == STANDARD):
            raise MisuseError(
                "--hosts takes a log file, and labels by --labels; leave out other options about columns."
            )
        if not self.hosts and self.label is not None and format_of(self.path, self.form) == "svmlight":
            raise MisuseError("the labels of an svmlight file are its first values; leave out --label.")

    def _table(self, verbose: int) -> tuple[Block, Recipe]:
        block = read(self.path, self.form, labels=self.label, verbose=verbose)
        options: Any = {"features": self.features, "text": self.text, "profile": self.profile, "matrix": self.matrix}
        return block, choose(block, label=self.label, id=self.id, similarity=self.similarity, **options)

    def _hosts(self, verbose: int) -> tuple[Block, Recipe]:
        block = read_hosts_block(self.path, verbose)
        if self.labels is not None:
            block = Block(self.path, frame=_labelled(block.frame, self.labels))
        label = LABEL if self.labels is not None else None
        return block, choose(block, similarity=self.similarity, profile=PROFILE, label=label, id=HOST)


@dataclass(frozen=True, eq=False)
class Loaded:
    """The rows, what is done with them, and the objects, labels and names that come of it."""

    block: Block
    recipe: Recipe
    objects: Any
    labels: NDArray[Any]
    names: list[str] | None
    similarity: Any


def read_hosts_block(path: str, verbose: int = 0) -> Block:
    """The hosts of a log, a row each."""
    from covey.datasets import read_hosts

    hosts = read_hosts(path, verbose=verbose)
    if not len(hosts.data):
        raise ValueError(f"{path} holds no contact of a host with a server.")
    return Block(path, frame=require("pandas", "cli").DataFrame({HOST: list(hosts.ids), PROFILE: hosts.data}))


def _labelled(hosts: Any, path: str) -> Any:
    """Hosts with the labels that a table gives them; those without one are left out."""
    table = read(path).frame
    if table is None:
        raise ValueError(f"{path} must be a table with the columns {HOST} and {LABEL}.")
    require_columns(table, [HOST, LABEL], path)
    labels = dict(zip(table[HOST].astype(str), table[LABEL].astype(str), strict=True))
    found = hosts[HOST].map(labels)
    if not found.notna().any():
        raise ValueError(f"{path} has no label for any host of the log.")
    kept = np.flatnonzero(found.notna())
    return hosts.iloc[kept].assign(**{LABEL: found.iloc[kept]}).reset_index(drop=True)
