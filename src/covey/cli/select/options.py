"""The options of `covey select`."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, ClassVar

from covey.cli.files.block import STANDARD
from covey.cli.files.dialect import listed
from covey.cli.files.formats import Format
from covey.cli.options import OBJECTS, RUN, ManyFiles, Output, Replacing, Running, Source, at_least_one, finite
from covey.cli.typer_dataclasses import option

CHOICE, BESIDE = "How rows are selected", "What else is written"
"""The panels of the help about the selection, and about files beside the selected rows."""
LONG = "Work that takes long"
"""The panel of the help for options about work that is stopped, or that fails."""
CLUSTER = "On a cluster of machines"
"""The panel of the help for options about Dask."""
PAGE = ".html"
"""The suffix of a page with the map of all clusters."""
PICTURES = (PAGE, ".png", ".svg", ".pdf")
"""The suffixes of pictures: such a page, or an image of the coverage of all clusters."""
LOCAL = "local"
"""The word for a cluster of workers on this machine."""
ALL_NEIGHBORS = "all"
"""The word for every neighbor that the threshold allows."""


class Graph(StrEnum):
    auto = "auto"
    exact = "exact"
    nn_descent = "nn-descent"
    groups = "groups"


class SelectionMethod(StrEnum):
    crs = "crs"
    sharpened = "sharpened"
    delta_medoids = "delta-medoids"
    ds3 = "ds3"
    random = "random"
    all = "all"


class OnError(StrEnum):
    raise_ = "raise"
    lowest = "lowest"


def pairs_in(text: str) -> list[str]:
    """Return the columns of the two objects and of the score."""
    names = listed(text)
    if len(names) != 3 or len(set(names)) < 3:
        raise ValueError(f"must name three columns, such as query,target,score or 1,2,3, got {text!r}.")
    return names


def n_neighbors_in(text: str) -> int | str:
    """Return a number of neighbors, or a word for it."""
    return text if text in ("auto", ALL_NEIGHBORS) else at_least_one(text)


def threshold_in(text: str) -> float | str:
    """Return the least similarity that counts, or a word for it."""
    return finite(text, "homogeneity", "none")


def budget_in(text: str) -> float:
    """Return a number of rows, which is whole, or a share of all rows."""
    try:
        budget = float(text)
    except ValueError:
        budget = math.nan
    if text.isdecimal() and budget >= 1:
        return int(budget)
    if not 0 < budget < 1:  # nor is a nan
        raise ValueError(f"must be a whole number of rows or a share between 0 and 1, got {text!r}.")
    return budget


def clusters_in(text: str) -> int | str:
    """Return how many clusters are to be found, or a word for it."""
    if text in ("auto", "hdbscan"):
        return text
    if not text.isdecimal() or int(text) < 1:
        raise ValueError(
            f"must be auto, hdbscan or a number of clusters, got {text!r}. (Which cluster a picture shows is said by "
            "--show.)"
        )
    return int(text)


def share_in(share: float, remedy: str = "") -> float:
    """Return a share that is neither nothing nor all; `remedy` ends the sentence about another number."""
    if not 0 < share < 1:
        raise ValueError(f"must be between 0 and 1, got {share}{remedy}.")
    return share


def recall_in(recall: float) -> float:
    """Return a share of neighbors to find."""
    return share_in(recall, "; --graph exact finds all of them")


def picture_in(path: str) -> str:
    """Return the path of a picture."""
    if Path(path).suffix not in PICTURES:
        raise ValueError(f"must end in one of {', '.join(PICTURES)}, got {path!r}.")
    return path


def seconds_in(seconds: float) -> float:
    """Return a time that can pass."""
    if not 0 < seconds < math.inf:
        raise ValueError(f"must be a number of seconds above 0, got {seconds:g}.")
    return seconds


@dataclass(frozen=True)
class SelectorOptions:
    """How representatives are selected. What the user has not passed is None, so that methods can differ in it."""

    PANEL: ClassVar[str] = CHOICE

    n_neighbors: Annotated[
        int | str | None,
        option(
            "-k",
            read=n_neighbors_in,
            what="How many neighbors of each object are looked at, 10 by default. More neighbors give fewer "
            "representatives; auto lets the number grow with the cluster, and all takes every neighbor above the "
            "threshold (the default with --pairs).",
        ),
    ] = None
    size: Annotated[
        float | None,
        option(
            "--budget",
            "-n",
            read=budget_in,
            what="How many rows are selected in all, as a number or as a share such as 0.02, but at least one of each "
            "cluster. Those come first that cover most. By default, --coverage decides.",
        ),
    ] = None
    coverage: Annotated[
        float | None,
        option(
            "--coverage",
            what="The share of each cluster that its representatives must cover, 0.95 by default; less than 1 leaves "
            "out outliers.",
            min=0.0,
            max=1.0,
        ),
    ] = None
    threshold: Annotated[
        float | str | None,
        option(
            "--threshold",
            read=threshold_in,
            what="How similar an object must be to a representative that covers it: homogeneity (the mean similarity "
            "of its cluster, the default), a number, or none (the default with --pairs).",
        ),
    ] = None
    method: Annotated[
        SelectionMethod | None,
        option(
            "--method",
            what="How rows are selected: crs covers each cluster with few rows and is the default; sharpened is "
            "--sharpen; delta-medoids and ds3 are known from the literature and compare all pairs; random draws, and "
            "all takes every row.",
        ),
    ] = None
    sharpen: Annotated[
        bool,
        option(
            "--sharpen",
            what="Exchange representatives for rows that tell the clusters apart, so that covey classify errs less. "
            "This evaluates more similarities.",
        ),
    ] = False
    include: Annotated[
        str | None,
        option(
            "--include",
            what="Rows that must be selected: a column that marks them by true, yes, x or 1; or a file with a row "
            "number (from 0) or a name of --id on each line, or what covey select has written before.",
        ),
    ] = None
    weight: Annotated[
        str | None,
        option("--weight", what="The column that says how much each row counts, as a number of at least 0."),
    ] = None
    refine: Annotated[bool, option("--refine", what="Look for a smaller selection with the same coverage.")] = False
    graph: Annotated[
        Graph,
        option(
            "--graph",
            what="How neighbors are found: exact compares all pairs, nn-descent few, groups those of similar rows.",
        ),
    ] = Graph.auto
    recall: Annotated[
        float | None,
        option(
            "--recall",
            read=recall_in,
            what="The share of the true neighbors that a graph which is not exact should hold, 0.95 by default. More "
            "of them take longer to find.",
        ),
    ] = None
    random_state: Annotated[
        int, option("--seed", what="The seed of all random choices. The same seed gives the same answer.", panel=RUN)
    ] = 0

    @property
    def used_method(self) -> SelectionMethod:
        """The method that --method and --sharpen name together."""
        return SelectionMethod.sharpened if self.sharpen else self.method or SelectionMethod.crs

    def crs_parameters(self, n_neighbors: int | str = 10, threshold: str = "homogeneity") -> dict[str, Any]:
        """Return the parameters of `covey.CRS`, where `n_neighbors` and `threshold` hold if the user passes none."""
        k = n_neighbors if self.n_neighbors is None else self.n_neighbors
        return {
            "n_neighbors": None if k == ALL_NEIGHBORS else k,
            "coverage": 0.95 if self.coverage is None else self.coverage,
            "threshold": self.threshold_or(threshold),
            "refine": self.refine,
            "graph": str(self.graph),
            "recall": 0.95 if self.recall is None else self.recall,
            "random_state": self.random_state,
        }

    def threshold_or(self, default: str) -> float | str | None:
        """Return the parameter `threshold`: a number, "homogeneity" or None."""
        threshold = default if self.threshold is None else self.threshold
        return None if threshold == "none" else threshold


@dataclass(frozen=True)
class ClusterOptions:
    """How rows without labels are grouped."""

    PANEL: ClassVar[str] = CHOICE

    n_clusters: Annotated[
        int | str | None,
        option(
            "--cluster",
            read=clusters_in,
            what="Find clusters, if no column holds labels: auto decides how many, a number asks for that many, and "
            "hdbscan finds dense places and calls what lies between them noise.",
        ),
    ] = None
    min_cluster_size: Annotated[
        int | None,
        option(
            "--min-cluster-size",
            what="With --cluster: the fewest rows of a cluster, 5 by default with hdbscan and 1 otherwise. Smaller "
            "groups join the cluster that they are linked to most closely. Those without a link are noise, and with "
            "hdbscan all of them are.",
            min=1,
        ),
    ] = None


@dataclass(frozen=True)
class PairOptions:
    """Pairs that another program has compared already."""

    pairs: Annotated[
        list[str] | None,
        option(
            "--pairs",
            read=pairs_in,
            what="Each row of DATA is a scored pair: the columns of the first object, the second and the score, "
            "separated by commas; or their numbers from 1, if the file has no header. A .m8 file has none; its columns "
            "are query, target and so on up to bits. Pairs that are not listed are not similar. With --distances, "
            "smaller scores are closer.",
            panel=OBJECTS,
        ),
    ] = None
    symmetric: Annotated[
        bool | None,
        option(
            "--symmetric/--directed",
            what="With --pairs: whether a pair counts both ways, or only the second object can represent the first. By "
            "default, pairs count both ways if none is listed both ways.",
            panel=OBJECTS,
        ),
    ] = None


@dataclass(frozen=True)
class OutputOptions(Output):
    """Where the selected rows are written to, and what is written beside them."""

    PANEL: ClassVar[str] = BESIDE

    model: Annotated[
        str | None, option("--model", "-m", what="Write a model for covey classify to this file; - is standard output.")
    ] = None
    rejection_rate: Annotated[
        float | None,
        option(
            "--rejection-rate",
            read=share_in,
            what="Let covey classify --reject calibrated answer unknown for about this share of rows of known "
            "clusters, such as 0.05. A higher share catches more rows of unknown ones. A share of 1 / n takes "
            "about n different rows; with fewer, no bars are set, which is said.",
        ),
    ] = None
    picture: Annotated[
        str | None,
        option(
            "--picture",
            read=picture_in,
            what="Draw to this file: a name in .html gives a map of all clusters to explore, .png, .svg or .pdf the "
            "coverage of all clusters.",
        ),
    ] = None
    show: Annotated[
        str | None,
        option("--show", what="The cluster that an .html picture shows first; by default it shows all of them."),
    ] = None
    members: Annotated[
        str | None,
        option(
            "--members",
            what="Write a table to this file that says of every row which representative is the most similar one, as "
            "covey classify would name it, how similar they are, and which one of its cluster covers it "
            "(covey_covered_by: if several do, the one that was selected first). With --pairs, nothing can be "
            "classified, and the one that covers it is named. With --cluster, it also says how strongly the row "
            "belongs to its cluster, from 0 to 1.",
        ),
    ] = None

    @property
    def draws_page(self) -> bool:
        """Whether the picture is a page to explore."""
        return self.picture is not None and self.picture.endswith(PAGE)

    @property
    def outputs(self) -> Sequence[str]:
        """The names of all that is written."""
        return [path for path in (self.out, self.model, self.picture, self.members) if path is not None]


@dataclass(frozen=True)
class DaskOptions:
    """The cluster of machines that does the work."""

    PANEL: ClassVar[str] = CLUSTER

    dask: Annotated[
        str | None,
        option(
            "--dask",
            what="Let the workers of a Dask cluster read the Parquet files and do the work: the address of its "
            "scheduler, such as tcp://host:8786, or local, which starts a worker for each core of this machine.",
        ),
    ] = None
    shard_size: Annotated[
        int | None,
        option(
            "--shard-size",
            what="With --dask: the most rows of a cluster that one task works on, 250000 by default. Larger "
            "clusters are cut into shards. Fewer and larger shards need fewer evaluations, but more memory.",
            min=1,
        ),
    ] = None


@dataclass(frozen=True)
class FailureOptions:
    """What happens if the work is stopped, or if a similarity function fails or hangs."""

    PANEL: ClassVar[str] = LONG

    checkpoint: Annotated[
        str | None,
        option(
            "--checkpoint",
            what="Keep in this file what was evaluated, so that the same command goes on where it was stopped. What a "
            "function has evaluated also serves other options, and more rows. With --dask it is a folder for finished "
            "work, which all workers must see.",
        ),
    ] = None
    on_error: Annotated[
        OnError,
        option(
            "--on-error",
            what="What to do if a similarity function fails for two rows: end with an error, or take them for the "
            "least similar ones and say how many there were.",
        ),
    ] = OnError.raise_
    timeout: Annotated[
        float | None,
        option(
            "--timeout",
            read=seconds_in,
            what="How many seconds a similarity function may take for two rows. Longer is a failure.",
        ),
    ] = None

    def failure_parameters(self) -> dict[str, Any]:
        """Return the parameters of a selector that evaluates similarities."""
        return {"checkpoint": self.checkpoint, "on_error": self.on_error.value, "timeout": self.timeout}


@dataclass(frozen=True)
class SelectOptions(
    Running,
    Replacing,
    FailureOptions,
    SelectorOptions,
    ClusterOptions,
    OutputOptions,
    DaskOptions,
    PairOptions,
    ManyFiles,
    Source,
):
    """All options of the command. The help shows those of the last base first."""

    @property
    def is_square(self) -> bool:
        """Whether rows hold similarities or distances of all objects; with --pairs, only the scores are distances."""
        return super().is_square and self.pairs is None

    @property
    def is_all_parquet(self) -> bool:
        """Whether all rows lie in Parquet files, which workers can read."""
        return STANDARD not in self.files and self.format is Format.parquet
