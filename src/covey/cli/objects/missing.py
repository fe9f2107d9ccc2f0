"""`--missing`: rows in which a value is missing are refused, left out, or filled."""

import logging
from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from covey.cli.errors import MisuseError
from covey.cli.files.block import Block, name_of
from covey.cli.files.columns import column_sums, gaps_of, strings_missing
from covey.cli.objects.recipe import Recipe
from covey.cli.options import Missing
from covey.runtime.wording import agreeing, several

logger = logging.getLogger("covey")


def apply_missing(block: Block, recipe: Recipe, missing: Missing | None) -> tuple[Block, Recipe]:
    """Apply `--missing` to rows to select from: return the rows that are left, and the recipe that fills their gaps."""
    if missing is Missing.drop:
        return _drop_gaps(block, recipe), recipe
    if missing is Missing.mean:
        filled = recipe.with_means(column_sums(block, recipe.settings.numbers))
        gaps = gaps_of(block, recipe.settings.numbers)
        if gaps.where.any():
            logger.warning("%s; they are filled with the mean of their column.", gaps.described())
        return block, filled
    return block, recipe


def _drop_gaps(block: Block, recipe: Recipe) -> Block:
    """Return the rows in which nothing is missing, not even the label."""
    gaps = recipe.gaps(block)
    label = recipe.settings.label
    if label is not None and block.frame is not None:
        gaps = gaps.with_column(label, strings_missing(block, label, empty=False))
    if not gaps.rows.any():
        return block
    if gaps.rows.all():
        raise ValueError(
            f"{name_of(block.path)}: a value is missing in every row ({gaps.counted()}), so --missing drop leaves none."
        )
    n = int(gaps.rows.sum())
    logger.warning(
        "%s of %s %s left out, because a value is missing: %s.",
        f"{n:,}",
        several(len(block), "row"),
        agreeing(n, "is", "are"),
        gaps.counted(),
    )
    return block.take(np.flatnonzero(~gaps.rows))


def without_gaps(blocks: Iterable[Block], recipe: Recipe, missing: Missing | None) -> Iterator[Block]:
    """Yield the rows to classify: with `--missing drop` those without gaps, and a warning counts the others."""
    n_left_out = 0
    for block in blocks:
        if missing is not Missing.drop:
            yield block
            continue
        lacking = recipe.gaps(block).rows
        n_left_out += int(lacking.sum())
        if not lacking.any():
            yield block
        elif not lacking.all():
            yield block.take(np.flatnonzero(~lacking))
    if n_left_out:
        logger.warning(
            "%s %s no answer, because a value is missing in %s.",
            several(n_left_out, "row"),
            agreeing(n_left_out, "is left out and has", "are left out and have"),
            agreeing(n_left_out, "it", "them"),
        )


def with_missing(recipe: Recipe, missing: Missing | None, path: str) -> Recipe:
    """Apply `--missing` to the recipe of a model: keep its fill values (default, mean) or drop them (error, drop)."""
    if missing is Missing.mean and recipe.settings.means is None:
        raise MisuseError(f"{path} knows no means to fill in; make it by covey select --missing mean.")
    if missing in (None, Missing.mean) or recipe.settings.means is None:
        return recipe
    return type(recipe)(replace(recipe.settings, means=None))
