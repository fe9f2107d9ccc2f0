"""Labelled objects from the file that a user names."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from covey._extras import require
from covey._progress import progress
from covey.commands import MisuseError
from covey.commands._recipe import NAMED, Recipe, choose, function_of, labels_of, names_of, require_columns
from covey.evaluation import Card
from covey.files import STANDARD, Block, format_of, read

logger = logging.getLogger("covey")

HOST, PROFILE, LABEL = "host", "profile", "label"
"""Columns of hosts from a log."""
SHOWN_LINES = 6
"""Columns on a card."""
UNEVEN = 20
"""A column this many times larger than the median one leaves the others little to say."""


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
        if self.scale:
            recipe = recipe.scaled(objects)
            objects = recipe.objects(block)
        _warn(recipe, objects)
        return Loaded(block, recipe, objects, labels_of(block, recipe), names_of(block, recipe), function)

    def is_table(self) -> bool:
        """Whether its columns have names."""
        return self.hosts or format_of(self.path, self.form) not in ("npz", "svmlight")

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


def _warn(recipe: Recipe, objects: Any) -> None:
    """Say what most likely is not meant."""
    if recipe.kind != "numbers" or recipe.similarity == "hamming" or sp.issparse(objects):
        return
    values = np.asarray(objects, dtype=np.float64)
    if values.shape[1] == 1 and recipe.similarity == "cosine":
        logger.warning("cosine tells nothing about a single column; try --similarity euclidean, or --text.")
    sizes = np.abs(values).mean(axis=0)
    if recipe.spread is None and recipe.columns and sizes.max() > UNEVEN * max(np.median(sizes), 1e-300):
        largest = recipe.columns[int(np.argmax(sizes))]
        logger.warning("column %r is far larger than the others and decides nearly alone; try --scale.", largest)


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
