"""Labelled objects from the file that a user names."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey.cli.choosing import choose
from covey.cli.files.block import Block
from covey.cli.files.formats import Format, format_of
from covey.cli.files.parts import parts_of, read_parts
from covey.cli.files.reading import read
from covey.cli.files.standard import STANDARD
from covey.cli.misuse import MisuseError
from covey.cli.options import Source
from covey.cli.recipes.recipe import Recipe
from covey.cli.values import check_filled, require_columns
from covey.evaluation import Card
from covey.runtime.extras import require
from covey.storage.errors import FileFormatError

logger = logging.getLogger("covey")

HOST, PROFILE, LABEL = "host", "profile", "label"
"""The columns of a table of the hosts in a log."""
ONE_CLUSTER = "all"
"""The label of all rows if there are no labels."""


@dataclass(frozen=True, eq=False)
class Loaded:
    """The rows of a file, the recipe for them, and the objects, labels and names that it has made."""

    block: Block
    recipe: Recipe
    objects: Any
    labels: NDArray[Any]
    names: list[str] | None
    similarity: Any

    def card(self, row: int) -> Card:
        """Return what a person can look at of a row."""
        title = f"row {row}" if self.names is None else self.names[row]
        return self.recipe.card(self.block, self.objects, row, title)


def load(source: Source, verbose: bool, more: Sequence[str] = ()) -> Loaded:
    """Read the rows that the options name and make labelled objects of them. `more` are files of the same table."""
    check_options(source)
    if more:
        block, asked = read_parts(parts_of([source.path, *more], source.form), verbose), source
    else:
        block, asked = (_labelled_hosts if source.hosts else _table)(source, verbose)
    recipe = choose(block, asked)
    similarity = recipe.function()
    recipe, objects = recipe.learn(recipe.objects(block), verbose)
    recipe.warn(objects, asked_for=source.feature_names, scaled=source.scale)
    if source.scale:
        recipe = recipe.scaled(objects)
        objects = recipe.objects(block)
    return Loaded(block, recipe, objects, labels_of(block, recipe), row_names(block, recipe), similarity)


def check_options(source: Source) -> None:
    """Refuse options that would be ignored."""
    if source.labels is not None and not source.hosts:
        raise MisuseError("--labels is for --hosts; say which column holds the label by --label.")
    about_columns = (
        source.label,
        source.feature_names,
        source.text,
        source.profile,
        source.matrix,
        source.distances,
        source.id,
        source.column_names,
    )
    if source.hosts and (any(about_columns) or source.path == STANDARD):
        raise MisuseError("--hosts takes a log file, and labels by --labels; leave out other options about columns.")
    if not source.hosts and source.label is not None and format_of(source.path, source.form) is Format.svmlight:
        raise MisuseError("the labels of an svmlight file are its first values; leave out --label.")


def labels_of(block: Block, recipe: Recipe) -> NDArray[Any]:
    """Return the labels as texts; without any, all rows are one cluster."""
    label = recipe.settings.label
    if block.frame is None and block.labels is not None:
        return block.labels.astype(str)
    if block.frame is None or label is None:
        return np.full(len(block), ONE_CLUSTER)
    check_filled(block, label)
    return np.array([str(value) for value in block.frame[label]])


def row_names(block: Block, recipe: Recipe) -> list[str] | None:
    """Return what the rows are called, if a column says it; a gap is an empty name."""
    name = recipe.settings.id
    if name is None or block.frame is None or name not in block.frame.columns:
        return None
    column = block.frame[name]
    return ["" if gap else str(value) for value, gap in zip(column, column.isna(), strict=True)]


def _table(source: Source, verbose: bool) -> tuple[Block, Source]:
    """Return the rows of a table or matrix, and the options that name its columns."""
    options: Any = {"labels": source.label, "columns": source.column_names, "verbose": verbose}
    return read(source.path, source.form, **options), source


def read_hosts_block(path: str, verbose: bool = False) -> Block:
    """Read the hosts of a log, a row for each."""
    from covey.datasets import read_hosts

    hosts = read_hosts(path, verbose=verbose)
    if not len(hosts.data):
        raise FileFormatError(f"{path} holds no contact of a host with a server.")
    if hosts.n_skipped:
        logger.warning("%d lines of %s hold no contact of a host and are left out.", hosts.n_skipped, path)
    return Block(path, frame=require("pandas", "cli").DataFrame({HOST: list(hosts.ids), PROFILE: hosts.data}))


def _labelled_hosts(source: Source, verbose: bool) -> tuple[Block, Source]:
    """Return the hosts of a log with their labels, and the options that name their columns."""
    block = read_hosts_block(source.path, verbose)
    asked = replace(source, profile=PROFILE, id=HOST)
    if source.labels is None:
        return block, asked
    return Block(source.path, frame=_labelled(block.frame, source.labels)), replace(asked, label=LABEL)


def _labelled(hosts: Any, path: str) -> Any:
    """Return the hosts with the labels that a table gives them; hosts without one are left out."""
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
    """Return the label of each host of a table; a host with two different labels is refused."""
    labels: dict[str, str] = {}
    for column in (HOST, LABEL):
        check_filled(block, column)
    for at, (host, label) in enumerate(
        zip(*(block.frame[column].astype(str) for column in (HOST, LABEL)), strict=True)
    ):
        if labels.setdefault(host, label) != label:
            raise ValueError(f"{block.place(at)}: host {host!r} has the label {labels[host]!r} already, got {label!r}.")
    return labels
