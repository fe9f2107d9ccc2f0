"""Which recipe the user's options ask for: columns of numbers are compared, unless the options say otherwise."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from covey.cli.files.block import Block
from covey.cli.files.standard import name_of
from covey.cli.misuse import MisuseError
from covey.cli.options import Source
from covey.cli.recipes.kinds import recipe_of
from covey.cli.recipes.recipe import Recipe
from covey.cli.recipes.settings import Settings
from covey.cli.similarities import OF_ROWS, check_similarity
from covey.cli.values import Evidence, evidence_of, require_columns

OURS = "covey_"
"""How the names of columns begin that covey has added: these are answers, never features."""
Survey = Callable[[Sequence[str]], dict[str, Evidence]]
"""A function that returns, for each of the named columns, whether it holds numbers."""


def choose(block: Block, source: Source, survey: Survey | None = None) -> Recipe:
    """Return the recipe for the rows of a block.

    If the block holds only the first of many rows, `survey` must look at the columns of all rows.
    """
    if sum(map(bool, (source.feature_names, source.text, source.profile))) > 1:
        raise MisuseError("--features, --text and --profile exclude each other; pass one of them.")
    check_similarity(source.similarity, source.text)
    if block.frame is None:
        return recipe_of(_without_names(block, source))
    return recipe_of(_with_names(block, source, survey or partial(evidence_of, block.frame)))


def _without_names(block: Block, source: Source) -> Settings:
    """Choose for rows whose columns have no names."""
    if source.feature_names or source.text or source.profile or source.id:
        raise MisuseError(f"{block.path} has no named columns; leave out --features, --text, --profile and --id.")
    return Settings(_square_kind(source) or "numbers", [], source.similarity, base=block.base)


def _with_names(block: Block, source: Source, survey: Survey) -> Settings:
    """Choose for a table."""
    frame, similarity = block.frame, source.similarity
    require_columns(frame, [name for name in (source.label, source.id) if name], block.path)
    kept: Any = {"label": source.label, "id": source.id}
    one = source.text or source.profile
    if one:
        require_columns(frame, [one], block.path)
        return Settings("text" if source.text else "profile", [one], similarity, **kept)
    columns = list(dict.fromkeys(source.feature_names)) or _numeric(block, (source.label, source.id), survey)
    require_columns(frame, columns, block.path)
    square = _square_kind(source)
    if square or similarity in OF_ROWS:
        return Settings(square or "numbers", columns, similarity, columns, **kept)
    return Settings("mixed", columns, similarity, _of_numbers(columns, survey), **kept)


def _square_kind(source: Source) -> str | None:
    """Return the kind of a matrix of all objects against all objects, if the user says that the rows are one."""
    return "distances" if source.distances else "matrix" if source.matrix else None


def _numeric(block: Block, without: Sequence[str | None], survey: Survey) -> list[str]:
    """Return the columns of numbers, except the label, the names of rows, covey's own and those without a title."""
    frame = block.frame
    found = _of_numbers(
        [name for name in frame.columns if name and name not in without and not name.startswith(OURS)], survey
    )
    if not found:
        there = ", ".join(map(str, frame.columns))
        comma = any(frame[name].astype(str).str.fullmatch(r"-?\d+,\d+").any() for name in frame.columns)
        raise ValueError(
            f"{name_of(block.path)} has no columns of numbers beside the label; say what to compare by --text, "
            f"--profile or --features; its columns are {there}."
            + (" Numbers must be written with a point, not with a comma." if comma else "")
        )
    return found


def _of_numbers(names: Sequence[str], survey: Survey) -> list[str]:
    """Return those of the columns that hold numbers."""
    return [name for name, evidence in survey(names).items() if evidence.is_numeric]
