"""Which recipe the user's options ask for: columns of numbers are compared, unless the options say otherwise."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from covey.cli.files.block import Block, name_of
from covey.cli.files.columns import Evidence, evidence_of, require_columns, vector_columns
from covey.cli.objects.recipe import Recipe, Settings
from covey.cli.objects.registry import recipe_of
from covey.cli.options import Source
from covey.cli.similarity_option import OF_MOLECULES, OF_ROWS, OF_TABLES
from covey.displays.images import is_image
from covey.runtime.wording import some_of

logger = logging.getLogger("covey")

OURS = "covey_"
"""How the names of columns begin that covey has added: these are answers, never features."""
PICTURED = ("numbers", "vectors")
"""The kinds of recipes whose objects can be images."""
Survey = Callable[[Sequence[str]], dict[str, Evidence]]
"""A function that returns, for each of the named columns, whether it holds numbers."""


DEFAULT = "cosine"
"""The similarity of objects if the user names none."""


def similarity_of(source: Source) -> str:
    """Return the similarity that the user has named, or the one that fits the objects that the options describe."""
    default = OF_MOLECULES if source.smiles else DEFAULT
    return default if source.similarity is None else source.similarity


def infer_recipe(block: Block, source: Source, survey: Survey | None = None, aside: Sequence[str] = ()) -> Recipe:
    """Return the recipe for the rows of a block.

    If the block holds only the first of many rows, `survey` must look at the columns of all rows. The columns `aside`
    are only compared if the options name them.
    """
    if block.frame is None:
        chosen = _without_names(block, source)
    else:
        survey = survey or partial(evidence_of, block.frame, decimal=block.decimal)
        chosen = _with_names(block, source, survey, aside)
    return recipe_of(replace(chosen, image=_image(block, source, chosen.kind)))


def _image(block: Block, source: Source, kind: str) -> list[int] | None:
    """Return the shape of the images that the rows are, if the user or the file says that they are some."""
    if source.image is not None and kind not in PICTURED:
        raise ValueError("--image is for objects that are rows of numbers; leave it out.")
    if source.image is not None or kind not in PICTURED or block.shape is None:
        return source.image_shape
    return list(block.shape) if is_image(block.shape) else None


def _without_names(block: Block, source: Source) -> Settings:
    """Choose for rows whose columns have no names."""
    similarity = similarity_of(source)
    kind = _square_kind(source) or ("gower" if similarity in OF_TABLES else "numbers")
    return Settings(kind, [], similarity, base=block.base)


def _with_names(block: Block, source: Source, survey: Survey, aside: Sequence[str]) -> Settings:
    """Choose for a table."""
    frame, similarity = block.frame, similarity_of(source)
    require_columns(frame, [name for name in (source.label, source.id) if name], block.path)
    kept: Any = {"label": source.label, "id": source.id}
    if source.smiles:
        return _molecules(block, source, source.smiles, kept)
    one, square = source.text or source.profile, _square_kind(source)
    if one:
        require_columns(frame, [one], block.path)
        return Settings("text" if source.text else "profile", [one], similarity, **kept)
    asked = list(dict.fromkeys(source.feature_names))
    require_columns(frame, asked, block.path)
    others = _candidate_columns(frame, (source.label, source.id, *aside))
    if similarity in OF_TABLES and not square:
        columns = asked or others
        return Settings("gower", columns, similarity, _of_numbers(columns, survey), **kept)
    columns = asked or _numeric(block, others, survey)
    vectors = vector_columns(frame, columns)
    if vectors and len(columns) > 1:
        raise ValueError(f"column {vectors[0]!r} holds lists of numbers; name it alone as --features, or leave it out.")
    if vectors and not square:
        return Settings("vectors", columns, similarity, **kept)
    if square or similarity in OF_ROWS:
        return Settings(square or "numbers", columns, similarity, columns, **kept)
    return Settings("mixed", columns, similarity, _of_numbers(columns, survey), **kept)


def _molecules(block: Block, source: Source, column: str, kept: Any) -> Settings:
    """Choose for a column of molecules."""
    require_columns(block.frame, [column], block.path)
    return Settings("molecules", [column], OF_MOLECULES, **kept)


def _square_kind(source: Source) -> str | None:
    """Return the kind of a matrix of all objects against all objects, if the user says that the rows are one."""
    return "distances" if source.distances else "matrix" if source.matrix else None


def _candidate_columns(frame: Any, without: Sequence[str | None]) -> list[str]:
    """Return all columns except those to go `without`, covey's own and those without a title."""
    return [name for name in frame.columns if name and name not in without and not name.startswith(OURS)]


def _numeric(block: Block, names: Sequence[str], survey: Survey) -> list[str]:
    """Return those of the columns that hold numbers. If none does, return the only one that holds lists of numbers."""
    frame = block.frame
    found = _of_numbers(names, survey)
    vectors = vector_columns(frame, [name for name in names if name not in found])
    if found and vectors:
        logger.warning(
            "column %r holds lists of numbers, which are not compared; to compare them, pass --features %s.",
            vectors[0],
            vectors[0],
        )
    if not found and len(vectors) == 1:
        return vectors
    if not found:
        comma = any(frame[name].astype(str).str.fullmatch(r"-?\d+,\d+").any() for name in frame.columns)
        raise ValueError(
            f"{name_of(block.path)} has no columns of numbers beside the label; say what to compare by --text, "
            f"--profile or --features, or compare all by --similarity {OF_TABLES[0]}; its columns are "
            f"{some_of(frame.columns)}."
            + (" If its numbers are written with a comma before the fraction, pass --decimal comma." if comma else "")
        )
    return found


def _of_numbers(names: Sequence[str], survey: Survey) -> list[str]:
    """Return those of the columns that hold numbers."""
    return [name for name, evidence in survey(names).items() if evidence.is_numeric]
