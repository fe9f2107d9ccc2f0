"""Labelled objects from the file that a user names."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey.cli.files import STANDARD, Block, format_of, has_names, read
from covey.cli.misuse import MisuseError
from covey.cli.recipe import NAMED, Recipe, choose, function_of, labels_of, names_of, require_columns
from covey.cli.values import check_filled
from covey.cli.warnings import warn
from covey.evaluation import Card
from covey.runtime.extras import require
from covey.runtime.progress import progress
from covey.storage.errors import FileFormatError

logger = logging.getLogger("covey")

HOST, PROFILE, LABEL = "host", "profile", "label"
"""Columns of hosts from a log."""
SHOWN_LINES = 6
"""Columns on a card."""


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
    distances: bool = False
    scale: bool = False
    hosts: bool = False
    labels: str | None = None
    id: str | None = None
    columns: Sequence[str] = ()

    def load(self, verbose: int = 0) -> "Loaded":
        self._check()
        block, recipe = self._hosts(verbose) if self.hosts else self._table(verbose)
        function, objects = function_of(recipe.similarity, recipe.kind), recipe.objects(block)
        if recipe.kind == "text" and recipe.similarity in NAMED:
            with progress("weighing words", None, "texts", shown=verbose > 0):
                recipe, objects = recipe.with_vocabulary(objects)
        warn(recipe, objects, asked_for=self.features, scaled=self.scale)
        if self.scale:
            recipe = recipe.scaled(objects)
            objects = recipe.objects(block)
        return Loaded(block, recipe, objects, labels_of(block, recipe), names_of(block, recipe), function)

    def is_table(self) -> bool:
        """Whether its columns have names."""
        return self.hosts or has_names(self.path, self.form)

    def _check(self) -> None:
        """Refuse options that would be ignored."""
        if self.labels is not None and not self.hosts:
            raise MisuseError("--labels is for --hosts; say which column holds the label by --label.")
        others = (
            self.label,
            self.features,
            self.text,
            self.profile,
            self.matrix,
            self.distances,
            self.id,
            self.columns,
        )
        if self.hosts and (any(others) or self.path == STANDARD):
            raise MisuseError(
                "--hosts takes a log file, and labels by --labels; leave out other options about columns."
            )
        if not self.hosts and self.label is not None and format_of(self.path, self.form) == "svmlight":
            raise MisuseError("the labels of an svmlight file are its first values; leave out --label.")

    def _table(self, verbose: int) -> tuple[Block, Recipe]:
        block = read(self.path, self.form, labels=self.label, columns=self.columns, verbose=verbose)
        options: Any = {"features": self.features, "text": self.text, "profile": self.profile}
        options |= {"matrix": self.matrix, "distances": self.distances, "id": self.id}
        return block, choose(block, label=self.label, similarity=self.similarity, **options)

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

    def card(self, row: int) -> Card:
        """What a person can look at of a row: its text, its profile, or its columns."""
        frame, recipe = self.block.frame, self.recipe
        title = f"row {row}" if self.names is None else self.names[row]
        if frame is None:
            return Card(title)
        if recipe.kind == "text":
            return Card.of_text(title, str(frame[recipe.columns[0]].iat[row]).strip().splitlines())
        if recipe.kind == "profile":
            return Card.of_profile(title, self.objects[row])
        shown = [column for column in frame.columns if column not in (recipe.label, recipe.id)][:SHOWN_LINES]
        return Card(title, tuple(f"{column}: {frame[column].iat[row]}"[:90] for column in shown))


def read_hosts_block(path: str, verbose: int = 0) -> Block:
    """The hosts of a log, a row each."""
    from covey.datasets import read_hosts

    hosts = read_hosts(path, verbose=verbose)
    if not len(hosts.data):
        raise FileFormatError(f"{path} holds no contact of a host with a server.")
    if hosts.n_skipped:
        logger.warning("%d lines of %s hold no contact of a host and are left out.", hosts.n_skipped, path)
    return Block(path, frame=require("pandas", "cli").DataFrame({HOST: list(hosts.ids), PROFILE: hosts.data}))


def _labelled(hosts: Any, path: str) -> Any:
    """Hosts with the labels that a table gives them; those without one are left out."""
    block = read(path)
    if block.frame is None:
        raise ValueError(f"{path} must be a table with the columns {HOST} and {LABEL}.")
    require_columns(block.frame, [HOST, LABEL], path)
    found = hosts[HOST].map(_labels_by_host(block))
    kept = np.flatnonzero(found.notna())
    if not kept.size:
        raise ValueError(f"{path} has no label for any host of the log.")
    if kept.size < len(hosts):
        logger.warning("%d of %d hosts have no label in %s and are left out.", len(hosts) - kept.size, len(hosts), path)
    return hosts.iloc[kept].assign(**{LABEL: found.iloc[kept]}).reset_index(drop=True)


def _labels_by_host(block: Block) -> dict[str, str]:
    """The label of each host of a table; a host with two different ones is refused."""
    labels: dict[str, str] = {}
    for column in (HOST, LABEL):
        check_filled(block, column)
    for at, (host, label) in enumerate(
        zip(*(block.frame[column].astype(str) for column in (HOST, LABEL)), strict=True)
    ):
        if labels.setdefault(host, label) != label:
            raise ValueError(f"{block.place(at)}: host {host!r} has the label {labels[host]!r} already, got {label!r}.")
    return labels
