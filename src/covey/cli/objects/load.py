"""Labelled objects from the file that a user names."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey.cli.errors import object_errors_of
from covey.cli.files.block import Block
from covey.cli.files.columns import check_filled, column_of, require_columns
from covey.cli.files.formats import Format
from covey.cli.files.parquet import parts_of
from covey.cli.files.reading import read
from covey.cli.objects.infer import infer_recipe
from covey.cli.objects.lint import warn_of_labels
from covey.cli.objects.missing import apply_missing
from covey.cli.objects.recipe import Recipe
from covey.cli.options import Source
from covey.displays.cards import Card
from covey.displays.images import Images
from covey.exceptions import FileFormatError
from covey.runtime.libraries import require
from covey.runtime.wording import agreeing, several

logger = logging.getLogger("covey")

HOST, PROFILE, LABEL = "host", "profile", "label"
"""The columns of a table of the hosts in a log."""
ONE_CLUSTER = "all"
"""The label of all rows if there are no labels."""


class Fields(Sequence[Any]):
    """For each row the values that a map shows of it. They are looked up when they are asked for."""

    def __init__(self, loaded: "LabelledObjects") -> None:
        self._loaded = loaded

    def __len__(self) -> int:
        return len(self._loaded.block)

    def __getitem__(self, row: Any) -> Any:
        loaded = self._loaded
        return loaded.recipe.fields(loaded.block, loaded.objects, row)


@dataclass(frozen=True, eq=False)
class LabelledObjects:
    """The rows of a file, the recipe for them, and the objects, labels and names that it has made.

    If the labels are clusters that were found, `strength` says how strongly each row belongs to its cluster.
    """

    block: Block
    recipe: Recipe
    objects: Any
    labels: NDArray[Any]
    names: list[str] | None
    similarity: Any
    strength: NDArray[np.float64] | None = None

    def card(self, row: int) -> Card:
        """Return what a person can look at of a row."""
        card = self.recipe.card(self.block, self.objects, row, self.title(row))
        return card if self.images is None else replace(card, pixels=self.images.pixels(row))

    def title(self, row: int) -> str:
        """Return what a row is called."""
        return f"row {self.block.row_numbers[row]}" if self.names is None else self.names[row]

    @cached_property
    def images(self) -> Images | None:
        """The rows as images, if they are some."""
        return self.recipe.images(self.block, self.objects)


def load(source: Source, *, verbose: bool, aside: Sequence[str] = ()) -> LabelledObjects:
    """Read the rows that the options name and make labelled objects of them.

    The columns `aside` are only compared if the options name them.
    """
    block, asked = read_rows(source, verbose=verbose)
    return prepare(block, asked, verbose=verbose, aside=aside)


def read_rows(source: Source, *, verbose: bool) -> tuple[Block, Source]:
    """Return the rows that the options name, and the options that name their columns."""
    return _labelled_hosts(source, verbose=verbose) if source.hosts else (_table(source, verbose=verbose), source)


def prepare(
    block: Block, source: Source, *, verbose: bool, aside: Sequence[str] = (), warn: bool = True
) -> LabelledObjects:
    """Make labelled objects of rows, and `warn` of what most likely is not meant about them."""
    recipe = infer_recipe(block, source, aside=aside)
    similarity = recipe.function()
    block, recipe = apply_missing(block, recipe, source.missing)
    with object_errors_of(block.path):
        recipe, objects = recipe.learn(recipe.objects(block), verbose=verbose)
    if warn:
        recipe.warn(objects, asked_for=source.feature_names, scaled=source.scale)
    if source.scale and recipe.must_learn(scale=True):
        recipe = recipe.learn_from([recipe.facts(objects)])
        objects = recipe.objects(block)
    labels = labels_of(block, recipe)
    if warn:
        warn_of_labels(labels)
    return LabelledObjects(block, recipe, objects, labels, row_names(block, recipe), similarity)


def labels_of(block: Block, recipe: Recipe) -> NDArray[Any]:
    """Return the labels as strings; without any, all rows are one cluster."""
    label = recipe.settings.label
    if block.frame is None and block.labels is not None:
        return block.labels.astype(str)
    if block.frame is None or label is None:
        return np.full(len(block), ONE_CLUSTER)
    check_filled(block, label)
    return np.array([str(value) for value in column_of(block.frame, label)])


def row_names(block: Block, recipe: Recipe) -> list[str] | None:
    """Return what the rows are called, if a column says it; a gap is an empty name."""
    name = recipe.settings.id
    column = None if name is None or block.frame is None else column_of(block.frame, name)
    if column is None:
        return None
    return ["" if gap else str(value) for value, gap in zip(column, column.isna(), strict=True)]


def _table(source: Source, *, verbose: bool) -> Block:
    """Return the rows of a table or matrix, which may have several files."""
    path, *more = source.files
    if more and source.format is Format.parquet:
        parts_of(source.files)  # refuses columns whose types differ
    options: Any = {"labels": source.label, "dialect": source.dialect, "verbose": verbose}
    return read(path, source.form, more=more, **options)


def read_hosts_block(path: str, *, verbose: bool) -> Block:
    """Read the hosts of a log, a row for each."""
    from covey.datasets import read_hosts

    hosts = read_hosts(path, verbose=verbose)
    if not len(hosts.data):
        raise FileFormatError(f"{path} holds no contact of a host with a server.")
    if hosts.n_skipped:
        hold = agreeing(hosts.n_skipped, "holds no contact of a host and is", "hold no contact of a host and are")
        logger.warning("%s of %s %s left out.", several(hosts.n_skipped, "line"), path, hold)
    return Block(path, frame=require("pandas", "cli").DataFrame({HOST: list(hosts.ids), PROFILE: hosts.data}))


def _labelled_hosts(source: Source, *, verbose: bool) -> tuple[Block, Source]:
    """Return the hosts of a log with their labels, and the options that name their columns."""
    block = read_hosts_block(source.path, verbose=verbose)
    asked = replace(source, profile=PROFILE, id=HOST)
    if source.labels is None:
        return block, asked
    return Block(source.path, frame=_labelled(block.frame, source.labels)), replace(asked, label=LABEL)


def _labelled(hosts: Any, path: str) -> Any:
    """Return the hosts with the labels that a table gives them; hosts without one are left out."""
    found = hosts[HOST].map(labels_by_name(path, HOST))
    kept = np.flatnonzero(found.notna())
    if not kept.size:
        raise ValueError(f"{path} has no label for any host of the log.")
    if kept.size < len(hosts):
        say_without_labels(len(hosts) - kept.size, several(len(hosts), "host"), path)
    return hosts.iloc[kept].assign(**{LABEL: found.iloc[kept]}).reset_index(drop=True)


def say_without_labels(n: int, things: str, path: str) -> None:
    """Say how many of all things are left out, because a table has no label for them."""
    have, are = agreeing(n, "has", "have"), agreeing(n, "is", "are")
    logger.warning("%s of %s %s no label in %s and %s left out.", f"{n:,}", things, have, path, are)


def labels_by_name(path: str, names: str) -> dict[str, str]:
    """Return the labels that a table gives to what its column `names` names; two different labels are refused."""
    block = read(path)
    if block.frame is None:
        raise ValueError(f"{path} must be a table with the columns {names} and {LABEL}.")
    require_columns(block.frame, [names, LABEL], path)
    labels: dict[str, str] = {}
    for column in (names, LABEL):
        check_filled(block, column, remedy="fill it.")
    columns = (block.frame[column].astype(str) for column in (names, LABEL))
    for at, (name, label) in enumerate(zip(*columns, strict=True)):
        if labels.setdefault(name, label) != label:
            raise ValueError(
                f"{block.place(at)}: {names} {name!r} has the label {labels[name]!r} already, got {label!r}."
            )
    return labels
