"""The selector that the options of `covey select` ask for.

Labels for rows that have none: the clusters that `covey.find_clusters` finds, for `covey select --cluster`.
"""

import logging
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np

import covey
from covey.cli.objects.load import Loaded
from covey.cli.objects.scored_pairs import PairRecipe
from covey.cli.select.options import ALL_NEIGHBORS, Method, Selection
from covey.runtime.wording import agreeing, several, some_of
from covey.selectors.request import size_in_rows
from covey.similarity.kinds.dispatch import collect
from covey.similarity.measures import resolve

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
    if not isinstance(loaded.recipe, PairRecipe):
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


logger = logging.getLogger("covey")

NOISE = "noise"
"""The label of rows that belong to no cluster. They are a cluster of their own, so that they are represented, too."""


def clustered(loaded: Loaded, asked: int | str, threshold: Any, **options: Any) -> tuple[Loaded, str]:
    """Return the rows with the clusters that were found as their labels, and what is to be said about them.

    `threshold` is the least similarity of pairs that another program has scored, if there is one.
    """
    if isinstance(loaded.recipe, PairRecipe):
        edges = loaded.objects.copy()
        if threshold is not None:
            edges.data, edges.indices, edges.indptr = _at_least(edges, threshold)
        options["graph"] = edges
    try:
        found = covey.find_clusters(loaded.objects, asked, loaded.similarity, **options)
    except ValueError as error:
        raise ValueError(_in_options(str(error))) from error
    n_digits = len(str(found.sizes.size))
    names = np.array([*(f"c{number:0{n_digits}d}" for number in range(1, found.sizes.size + 1)), NOISE])
    return replace(loaded, labels=names[found.labels], strength=found.strength), _told(found)


def _in_options(message: str) -> str:
    """Return what an error says with the names of options in place of those of parameters."""
    return message.replace("n_clusters must be", "--cluster must be").replace("min_cluster_size", "--min-cluster-size")


def warn_of_strangers(selector: Any, loaded: Loaded) -> None:
    """Log in which clusters that were found rows have nothing in common with the representative that stands for them.

    Such rows are linked to the representative only through others.
    """
    nothing = collect(loaded.objects, resolve(loaded.similarity)).nothing_in_common
    if nothing is None:
        return
    found = selector.members(loaded.objects)
    strangers = found[(found["similarity"] <= nothing) & (found["label"] != NOISE)]
    if len(strangers):
        logger.warning(
            "some rows have nothing in common with the representative that stands for them: %s of %s; ask for more "
            "clusters, or for more representatives.",
            several(len(strangers), "row"),
            some_of(sorted(set(strangers["label"]))),
        )


def _at_least(edges: Any, threshold: float) -> Any:
    """Return the data, indices and starts of a CSR array without the entries below a threshold."""
    kept = edges.data >= threshold
    starts = np.append(0, np.cumsum(kept))[edges.indptr]
    return edges.data[kept], edges.indices[kept], starts


def _told(found: covey.results.Clustering) -> str:
    """Return in words what was found."""
    belong = agreeing(found.n_noise, "belongs to none and is", "belong to none and are")
    noise = f"; {several(found.n_noise, 'row')} {belong} labelled {NOISE}" if found.n_noise else ""
    evaluated = f" {found.n_evaluations:,} similarities were evaluated to find them." if found.n_evaluations else ""
    if not found.sizes.size:
        return f"no clusters were found{noise}.{evaluated}"
    smallest, largest = found.sizes.min(), found.sizes.max()
    sizes = f"of {several(largest, 'row')}" if smallest == largest else f"from {smallest:,} to {largest:,} rows"
    apart = ""
    if found.sizes.size > 1:
        scale = "where 1 means that nothing links them and 0 that nothing divides them"
        apart = f" They are separate by {found.separation:.2f}, {scale}."
    return f"{several(found.sizes.size, 'cluster')} found, {sizes}{noise}.{apart}{evaluated}"
