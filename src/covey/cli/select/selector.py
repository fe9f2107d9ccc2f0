"""The selector that the options of `covey select` ask for, and the rejection of the classifier around it."""

import logging
from collections import Counter
from collections.abc import Set
from typing import Any

import covey
from covey.cli.objects.load import LabelledObjects
from covey.cli.select.options import ALL_NEIGHBORS, SelectionMethod, SelectOptions
from covey.cli.select.pairs import PairRecipe
from covey.selectors.request import size_in_rows

logger = logging.getLogger("covey")


def selector_of(options: SelectOptions, loaded: LabelledObjects) -> Any:
    """Return the selector for these rows; refuse a budget that is too small for their clusters before the work."""
    method, sizes = options.used_method, Counter(loaded.labels.tolist())
    if method is SelectionMethod.sharpened and not _can_be_sharpened(sizes):
        method = SelectionMethod.crs
    _check_size(options.size, sizes)
    similarity: Any = loaded.similarity
    if method is SelectionMethod.random:
        n = None if options.size is None else proportional_sizes(_rows(options.size, sizes), sizes)
        return covey.RandomSelector(
            n=n, similarity=similarity, random_state=options.random_state, verbose=options.verbose
        )
    if method is SelectionMethod.all:
        return covey.KeepAll(similarity=similarity, verbose=options.verbose)
    running = {"n_jobs": options.n_jobs, "verbose": options.verbose, **options.failure_parameters()}
    if method is SelectionMethod.delta_medoids:
        delta: Any = options.threshold_or("homogeneity")
        return covey.DeltaMedoids(delta, similarity=similarity, random_state=options.random_state, **running)
    if method is SelectionMethod.ds3:
        return covey.DS3(similarity=similarity, **running)
    size = options.size if method is SelectionMethod.crs else None
    crs = covey.CRS(similarity=similarity, size=size, **_of_crs(options, loaded), **running)
    if method is SelectionMethod.crs:
        return crs
    return covey.Sharpened(crs, size=options.size, random_state=options.random_state, **running)


def _of_crs(options: SelectOptions, loaded: LabelledObjects) -> dict[str, Any]:
    """Return the parameters of `covey.CRS`; listed pairs are its graph."""
    if not isinstance(loaded.recipe, PairRecipe):
        return options.crs_parameters()
    return options.crs_parameters(ALL_NEIGHBORS, "none") | {"graph": loaded.objects}


def _rows(size: float, sizes: Counter[str]) -> int:
    """Return how many rows a size allows for, which is at least one of each cluster if it is a share."""
    return size_in_rows(size, sizes.total(), len(sizes))


def _check_size(size: float | None, sizes: Counter[str]) -> None:
    """Refuse a size that is too small for the clusters, or larger than the table."""
    if size is None:
        return
    rows, n_rows = _rows(size, sizes), sizes.total()
    if rows < len(sizes):
        raise ValueError(f"-n (--budget) must allow for one row of each of the {len(sizes)} clusters, got {size}.")
    if rows > n_rows:
        raise ValueError(f"-n (--budget) must be at most {n_rows}, the number of rows, got {size}.")


def _can_be_sharpened(sizes: Counter[str]) -> bool:
    """Return whether there are clusters to tell apart; say so if not."""
    if len(sizes) == 1:
        logger.warning(
            "--sharpen needs at least two clusters to tell apart, but all labels are %r; is --label right? Rows are "
            "selected without it.",
            next(iter(sizes)),
        )
    return len(sizes) > 1


def rejection_of(options: SelectOptions, labels: Set[str]) -> dict[str, Any]:
    """Return the parameters of rejection, if a rate is asked for."""
    if options.rejection_rate is None:
        return {}
    # No label comes after the last one in the order of strings, so that this one is free.
    unknown = f"{max(labels)}?" if "unknown" in labels else "unknown"
    return {"reject": "calibrated", "rejection_rate": options.rejection_rate, "unknown_label": unknown}


def proportional_sizes(rows: int, sizes: Counter[str]) -> dict[str, int]:
    """Return how many of this many rows each cluster gets: at least one, no more than it has, and else by its size.

    The rows that are left over after rounding down go to the clusters that lost most by it; of clusters that lost
    equally, to those that come first in the order of their labels.
    """
    labels, n_rows = sorted(sizes), sizes.total()
    exact = {label: rows * sizes[label] / n_rows for label in labels}
    shares = {label: min(max(int(exact[label]), 1), sizes[label]) for label in labels}
    while (left := rows - sum(shares.values())) != 0:
        step = 1 if left > 0 else -1
        candidates = [label for label in labels if (shares[label] < sizes[label] if step > 0 else shares[label] > 1)]
        label = max(candidates, key=lambda label: step * (exact[label] - shares[label]))
        shares[label] += step
    return shares
