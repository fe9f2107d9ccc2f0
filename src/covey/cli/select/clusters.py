"""Labels for rows that have none: the clusters that `covey.find_clusters` finds, for `covey select --cluster`."""

import logging
from dataclasses import replace
from typing import Any

import numpy as np

import covey
from covey.cli.errors import object_errors_of
from covey.cli.objects.load import LabelledObjects
from covey.cli.select.options import SelectOptions
from covey.cli.select.pairs import PairRecipe
from covey.cli.terminal import say
from covey.runtime.wording import agreeing, several, some_of
from covey.similarity.kinds import collect
from covey.similarity.measures import resolve

logger = logging.getLogger("covey")

NOISE = "noise"
"""The label of rows that belong to no cluster. They are a cluster of their own, so that they are represented, too."""


def with_clusters(options: SelectOptions, loaded: LabelledObjects) -> LabelledObjects:
    """Return the rows with the clusters that were found as their labels, and say what was found."""
    parameters: dict[str, Any] = {
        "min_cluster_size": options.min_cluster_size,
        "random_state": options.random_state,
        "n_jobs": options.n_jobs,
        "verbose": options.verbose,
    }
    n_clusters: Any = options.n_clusters
    threshold: Any = options.threshold_or("none")
    if isinstance(loaded.recipe, PairRecipe):
        edges = loaded.objects.copy()
        if threshold is not None:
            edges.data, edges.indices, edges.indptr = _at_least(edges, threshold)
        parameters["graph"] = edges
    try:
        with object_errors_of(loaded.block.path):
            clusters = covey.find_clusters(loaded.objects, n_clusters, loaded.similarity, **parameters)
    except ValueError as error:
        raise ValueError(_in_options(str(error))) from error
    if options.verbose:
        say(_described(clusters))
    n_digits = len(str(clusters.sizes.size))
    names = np.array([*(f"c{number:0{n_digits}d}" for number in range(1, clusters.sizes.size + 1)), NOISE])
    return replace(loaded, labels=names[clusters.labels], strength=clusters.strength)


def _in_options(message: str) -> str:
    """Return what an error says with the names of options in place of those of parameters."""
    return message.replace("n_clusters must be", "--cluster must be").replace("min_cluster_size", "--min-cluster-size")


def warn_of_strangers(selector: Any, loaded: LabelledObjects) -> None:
    """Log in which clusters that were found rows have nothing in common with the representative that stands for them.

    Such rows are linked to the representative only through others.
    """
    nothing = collect(loaded.objects, resolve(loaded.similarity)).nothing_in_common
    if nothing is None:
        return
    members = selector.members(loaded.objects)
    strangers = members[(members["similarity"] <= nothing) & (members["label"] != NOISE)]
    if len(strangers):
        logger.warning(
            "some rows have nothing in common with the representative that stands for them: %s of %s; ask for more "
            "clusters, or for more representatives.",
            several(len(strangers), "row"),
            some_of(sorted(set(strangers["label"]))),
        )


def _at_least(edges: Any, threshold: float) -> Any:
    """Return the data, indices and starts of a CSR array without the entries below a threshold."""
    is_enough = edges.data >= threshold
    starts = np.append(0, np.cumsum(is_enough))[edges.indptr]
    return edges.data[is_enough], edges.indices[is_enough], starts


def _described(clusters: covey.results.Clustering) -> str:
    """Return in words which clusters were found."""
    belong = agreeing(clusters.n_noise, "belongs to none and is", "belong to none and are")
    noise = f"; {several(clusters.n_noise, 'row')} {belong} labelled {NOISE}" if clusters.n_noise else ""
    n_evaluations = clusters.n_evaluations
    evaluated = f" {n_evaluations:,} similarities were evaluated to find them." if n_evaluations else ""
    if not clusters.sizes.size:
        return f"no clusters were found{noise}.{evaluated}"
    smallest, largest = clusters.sizes.min(), clusters.sizes.max()
    sizes = f"of {several(largest, 'row')}" if smallest == largest else f"from {smallest:,} to {largest:,} rows"
    apart = ""
    if clusters.sizes.size > 1:
        scale = "where 1 means that nothing links them and 0 that nothing divides them"
        apart = f" They are separate by {clusters.separation:.2f}, {scale}."
    return f"{several(clusters.sizes.size, 'cluster')} found, {sizes}{noise}.{apart}{evaluated}"
