"""Labels for rows that have none: the clusters that `covey.find_clusters` finds, for `covey select --cluster`."""

import logging
from dataclasses import replace
from typing import Any

import numpy as np

import covey
from covey.cli.recipes.pairs import ScoredPairs
from covey.cli.source import Loaded
from covey.runtime.wording import agreeing, several, some_of
from covey.similarity.collect import collect
from covey.similarity.named import resolve

logger = logging.getLogger("covey")

NOISE = "noise"
"""The label of rows that belong to no cluster. They are a cluster of their own, so that they are represented, too."""


def clustered(loaded: Loaded, asked: int | str, threshold: Any, **options: Any) -> tuple[Loaded, str]:
    """Return the rows with the clusters that were found as their labels, and what is to be said about them.

    `threshold` is the least similarity of pairs that another program has scored, if there is one.
    """
    if isinstance(loaded.recipe, ScoredPairs):
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


def _told(found: covey.Clusters) -> str:
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
