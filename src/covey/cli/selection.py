"""The options of `covey select`: how rows are selected, what is written, and the cluster that works on them."""

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any

from covey.cli.declaration import argument, option
from covey.cli.misuse import MisuseError
from covey.cli.options import RUN, at_least_one, finite

CLUSTER = "On a cluster of machines"
"""The panel of the help for options about Dask."""


class Graph(StrEnum):
    auto = "auto"
    exact = "exact"
    nn_descent = "nn-descent"


@dataclass(frozen=True)
class Selection:
    """How representatives are selected."""

    k: Annotated[
        str,
        option(
            "-k",
            what="How many neighbors of each object are looked at. More neighbors give fewer representatives; auto "
            "lets the number grow with the cluster.",
        ),
    ] = "10"
    coverage: Annotated[
        float,
        option(
            "--coverage",
            what="The share of each cluster that its representatives must cover; less than 1 leaves out outliers.",
            min=0.0,
            max=1.0,
        ),
    ] = 0.95
    threshold: Annotated[
        str,
        option(
            "--threshold",
            what="How similar an object must be to a representative that covers it: homogeneity (the mean similarity "
            "of its cluster), a number, or none.",
        ),
    ] = "homogeneity"
    sharpen: Annotated[
        bool,
        option(
            "--sharpen",
            what="Exchange representatives for rows that tell the clusters apart, so that covey classify errs less. "
            "This evaluates more similarities.",
        ),
    ] = False
    size: Annotated[
        str | None,
        option(
            "--size",
            what="With --sharpen: how many rows are selected in all, as a number or as a share such as 0.02. By "
            "default as many as without --sharpen.",
        ),
    ] = None
    refine: Annotated[bool, option("--refine", what="Look for a smaller selection with the same coverage.")] = False
    graph: Annotated[
        Graph,
        option("--graph", what="How neighbors are found: exact compares all pairs, nn-descent only a few of them."),
    ] = Graph.auto
    seed: Annotated[
        int, option("--seed", what="The seed of all random choices. The same seed gives the same answer.", panel=RUN)
    ] = 0

    def parameters(self) -> dict[str, Any]:
        """Return the parameters of `covey.CRS`."""
        words: dict[str, Any] = {"homogeneity": "homogeneity", "none": None}
        threshold = self.threshold
        number = None if threshold in words else finite(threshold, "--threshold", "homogeneity, none")
        return {
            "n_neighbors": self.k if self.k == "auto" else at_least_one(self.k),
            "coverage": self.coverage,
            "threshold": words.get(threshold, number),
            "refine": self.refine,
            "graph": str(self.graph),
            "random_state": self.seed,
        }

    def total(self) -> float | None:
        """Return how many rows are selected in all, a number or a share; None leaves it to CRS."""
        if self.size is None:
            return None
        if not self.sharpen:
            raise MisuseError("--size is for --sharpen; without it, -k and --coverage decide how many rows there are.")
        try:
            size = float(self.size)
        except ValueError:
            size = math.nan
        if self.size.isdecimal() and size >= 1:
            return int(size)
        if not 0 < size < 1:  # nor is a nan
            raise MisuseError(f"--size must be a whole number of rows or a share between 0 and 1, got {self.size!r}.")
        return size


@dataclass(frozen=True)
class MoreFiles:
    """What is written beside the selected rows."""

    model: Annotated[str | None, option("--model", "-m", what="Write a model for covey classify to this file.")] = None
    rejection_rate: Annotated[
        float | None,
        option(
            "--rejection-rate",
            what="Let covey classify --reject calibrated answer unknown for about this share of rows of known "
            "clusters, such as 0.05. A higher share catches more rows of unknown ones.",
        ),
    ] = None
    picture: Annotated[
        str | None,
        option(
            "--picture",
            what="Draw to this file: a name in .html gives a map of one cluster to explore, .png, .svg or .pdf the "
            "coverage of all clusters.",
        ),
    ] = None
    cluster: Annotated[
        str | None,
        option("--cluster", what="The cluster that an .html picture shows; by default the largest."),
    ] = None


@dataclass(frozen=True)
class Parts:
    """More files of the same table, and the cluster that works on them."""

    more: Annotated[
        list[str] | None,
        argument(
            "MORE",
            "More Parquet files of the same table. Rows are counted through all files, in the order given. A folder "
            "stands for its Parquet files, in the order of their names.",
        ),
    ] = None
    dask: Annotated[
        str | None,
        option(
            "--dask",
            what="Let the workers of a Dask cluster read the Parquet files and do the work: the address of its "
            "scheduler, such as tcp://host:8786, or local, which starts a worker for each core of this machine.",
            panel=CLUSTER,
        ),
    ] = None
    shard_size: Annotated[
        int | None,
        option(
            "--shard-size",
            what="With --dask: the most rows of a cluster that one task works on, 250000 by default. Larger "
            "clusters are cut into shards. Fewer and larger shards need fewer evaluations, but more memory.",
            panel=CLUSTER,
            min=1,
        ),
    ] = None
    checkpoint: Annotated[
        str | None,
        option(
            "--checkpoint",
            what="With --dask: a folder in which finished work is kept, so that the same command goes on where it was "
            "stopped. All workers must see it.",
            panel=CLUSTER,
        ),
    ] = None

    def parameters(self) -> dict[str, Any]:
        """Return the parameters that `covey.dask.CRS` has beside those of `covey.CRS`."""
        if self.dask is None and (self.shard_size is not None or self.checkpoint is not None):
            raise MisuseError("--shard-size and --checkpoint are for --dask; pass it, too, or leave them out.")
        shard_size = {} if self.shard_size is None else {"shard_size": self.shard_size}
        return {"checkpoint": self.checkpoint, **shard_size}
