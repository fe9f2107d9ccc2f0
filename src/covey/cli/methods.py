"""The selector that the options of `covey select` ask for."""

import logging
from collections import Counter
from typing import Any

import covey
from covey.cli.recipes.pairs import ScoredPairs
from covey.cli.selection import ALL_NEIGHBORS, Method, Selection
from covey.cli.source import Loaded
from covey.selectors.wishes import size_in_rows

logger = logging.getLogger("covey")


def selector_of(selection: Selection, loaded: Loaded, running: dict[str, Any]) -> Any:
    """Return the selector for these rows; refuse a budget that is too small for their clusters before the work.

    `running` are the parameters about how it works, which all methods that evaluate similarities have.
    """
    method, sizes = selection.used_method, Counter(loaded.labels.tolist())
    budget, seed = selection.total(), selection.seed
    similarity: Any = loaded.similarity
    if method is Method.sharpened and not _can_be_sharpened(sizes):
        method = Method.crs
    _check_budget(budget, sizes)
    if method is Method.delta_medoids:
        delta: Any = selection.least_similarity()
        return covey.DeltaMedoids(delta, similarity=similarity, random_state=seed, **running)
    if method is Method.ds3:
        return covey.DS3(similarity=similarity, **running)
    if method is Method.random:
        n = None if budget is None else shared_out(_rows(budget, sizes), sizes)
        return covey.RandomSelector(n=n, similarity=similarity, random_state=seed, verbose=running["verbose"])
    if method is Method.all:
        return covey.KeepAll(similarity=similarity, verbose=running["verbose"])
    size: Any = {} if budget is None or method is Method.sharpened else {"size": budget}
    crs = covey.CRS(similarity=similarity, **_of_crs(selection, loaded), **size, **running)
    if method is Method.crs:
        return crs
    return covey.Sharpened(crs, size=budget, random_state=seed, **running)


def _of_crs(selection: Selection, loaded: Loaded) -> dict[str, Any]:
    """Return the parameters of `covey.CRS`."""
    if not isinstance(loaded.recipe, ScoredPairs):
        return selection.parameters()
    return selection.parameters(ALL_NEIGHBORS, "none") | {"graph": loaded.objects}


def _rows(budget: float, sizes: Counter[str]) -> int:
    """Return how many rows a budget allows for, which is at least one of each cluster if it is a share."""
    return size_in_rows(budget, sizes.total(), len(sizes))


def _check_budget(budget: float | None, sizes: Counter[str]) -> None:
    """Refuse a budget that is too small for the clusters, or larger than the table."""
    if budget is None:
        return
    rows, n_rows = _rows(budget, sizes), sizes.total()
    if rows < len(sizes):
        raise ValueError(f"-n (--budget) must allow for one row of each of the {len(sizes)} clusters, got {budget}.")
    if rows > n_rows:
        raise ValueError(f"-n (--budget) must be at most {n_rows}, the number of rows, got {budget}.")


def _can_be_sharpened(sizes: Counter[str]) -> bool:
    """Return whether there are clusters to tell apart; say so if not."""
    if len(sizes) == 1:
        logger.warning(
            "--sharpen needs at least two clusters to tell apart, but all labels are %r; is --label right? Rows are "
            "selected without it.",
            next(iter(sizes)),
        )
    return len(sizes) > 1


def shared_out(rows: int, sizes: Counter[str]) -> dict[str, int]:
    """Return how many of this many rows each cluster gets: at least one, no more than it has, and else by its size.

    The rows that are left over after rounding down go to the clusters that lost most by it; of clusters that lost
    equally, to those that come first in the order of their labels.
    """
    labels, n_rows = sorted(sizes), sizes.total()
    exact = {label: rows * sizes[label] / n_rows for label in labels}
    given = {label: min(max(int(exact[label]), 1), sizes[label]) for label in labels}
    while (left := rows - sum(given.values())) != 0:
        step = 1 if left > 0 else -1
        able = [label for label in labels if (given[label] < sizes[label] if step > 0 else given[label] > 1)]
        label = max(able, key=lambda label: step * (exact[label] - given[label]))
        given[label] += step
    return given
