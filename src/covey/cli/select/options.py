"""The options of `covey select`: how rows are grouped and selected, what is written, and the cluster that does it.

The options of `covey select` for work that takes long: what happens if it is stopped, or if a function fails.
"""

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, ClassVar

from covey.cli.errors import MisuseError
from covey.cli.files.paths import check_there
from covey.cli.options import OBJECTS, RUN, Missing, Source, at_least_one, finite
from covey.cli.similarity_option import OF_TABLES
from covey.cli.terminal import listed
from covey.cli.typer_dataclasses import argument, option

CHOICE, BESIDE = "How rows are selected", "What else is written"
"""The panels of the help about the selection, and about files beside the selected rows."""
CARE = "Work that takes long"
"""The panel of the help for options about work that is stopped, or that fails."""
CLUSTER = "On a cluster of machines"
"""The panel of the help for options about Dask."""


class Graph(StrEnum):
    auto = "auto"
    exact = "exact"
    nn_descent = "nn-descent"


class Method(StrEnum):
    crs = "crs"
    sharpened = "sharpened"
    delta_medoids = "delta-medoids"
    ds3 = "ds3"
    random = "random"
    all = "all"


OF_CRS = ("-k", "--coverage", "--threshold", "--refine", "--graph", "--budget")
"""The options that CRS and what is made of it take."""
OPTIONS_OF: dict[Method, tuple[str, ...]] = {
    Method.crs: (*OF_CRS, "--include", "--weight"),
    Method.sharpened: OF_CRS,
    Method.delta_medoids: ("--threshold",),
    Method.ds3: (),
    Method.random: ("--budget",),
    Method.all: (),
}
"""The options about the selection that each method takes."""
OF_PAIRS = (Method.crs, Method.random, Method.all)
"""The methods that need no other similarities than those of the pairs that are listed."""
ALL_NEIGHBORS = "all"
"""The word for every neighbor that the threshold allows."""


@dataclass(frozen=True)
class Selection:
    """How representatives are selected. What the user has not passed is None, so that methods can differ in it."""

    PANEL: ClassVar[str] = CHOICE

    k: Annotated[
        str | None,
        option(
            "-k",
            what="How many neighbors of each object are looked at, 10 by default. More neighbors give fewer "
            "representatives; auto lets the number grow with the cluster, and all takes every neighbor above the "
            "threshold (the default with --pairs).",
        ),
    ] = None
    budget: Annotated[
        str | None,
        option(
            "--budget",
            "-n",
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
        str | None,
        option(
            "--threshold",
            what="How similar an object must be to a representative that covers it: homogeneity (the mean similarity "
            "of its cluster, the default), a number, or none (the default with --pairs).",
        ),
    ] = None
    method: Annotated[
        Method | None,
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
        option("--graph", what="How neighbors are found: exact compares all pairs, nn-descent only a few of them."),
    ] = Graph.auto
    seed: Annotated[
        int, option("--seed", what="The seed of all random choices. The same seed gives the same answer.", panel=RUN)
    ] = 0

    @property
    def used_method(self) -> Method:
        """The method that the options name together."""
        if self.sharpen and self.method not in (None, Method.sharpened):
            raise MisuseError(f"--sharpen is the method sharpened, got --method {self.method}; leave out one of them.")
        return Method.sharpened if self.sharpen else self.method or Method.crs

    def check(self) -> None:
        """Refuse options that the method would ignore, and values that cannot be."""
        method = self.used_method
        passed = {
            "-k": self.k is not None,
            "--coverage": self.coverage is not None,
            "--threshold": self.threshold is not None,
            "--refine": self.refine,
            "--graph": self.graph is not Graph.auto,
            "--budget": self.budget is not None,
            "--include": self.include is not None,
            "--weight": self.weight is not None,
        }
        for name, is_there in passed.items():
            if is_there and name not in OPTIONS_OF[method]:
                *others, last = [str(other) for other, names in OPTIONS_OF.items() if name in names]
                takers = f"{', '.join(others)} and {last}" if others else last
                raise MisuseError(f"{name} is for --method {takers}, got --method {method}; leave out one of them.")
        for name in ("--coverage", "--refine"):
            if method is Method.crs and self.budget is not None and passed[name]:
                raise MisuseError(f"--budget says how many rows there are, and {name} would change it; leave out one.")
        if method is Method.delta_medoids and self.threshold == "none":
            raise MisuseError("--method delta-medoids needs a --threshold: homogeneity or a number.")
        self.parameters()
        self.total()

    def parameters(self, k: str = "10", threshold: str = "homogeneity") -> dict[str, Any]:
        """Return the parameters of `covey.CRS`; `k` and `threshold` are those that hold if the user passes none."""
        return {
            "n_neighbors": _n_neighbors(self.k or k),
            "coverage": 0.95 if self.coverage is None else self.coverage,
            "threshold": self.least_similarity(threshold),
            "refine": self.refine,
            "graph": str(self.graph),
            "random_state": self.seed,
        }

    def least_similarity(self, default: str = "homogeneity") -> float | str | None:
        """Return the threshold: a number, "homogeneity" or None."""
        threshold = self.threshold or default
        if threshold in ("homogeneity", "none"):
            return None if threshold == "none" else threshold
        return finite(threshold, "--threshold", "homogeneity, none")

    def total(self) -> float | None:
        """Return how many rows are selected in all, a number or a share; None leaves it to the method."""
        if self.budget is None:
            return None
        try:
            budget = float(self.budget)
        except ValueError:
            budget = math.nan
        if self.budget.isdecimal() and budget >= 1:
            return int(budget)
        if not 0 < budget < 1:  # nor is a nan
            raise MisuseError(
                f"--budget must be a whole number of rows or a share between 0 and 1, got {self.budget!r}."
            )
        return budget


def _n_neighbors(k: str) -> int | str | None:
    """Return the parameter `n_neighbors` of `covey.CRS`."""
    if k == ALL_NEIGHBORS:
        return None
    return k if k == "auto" else at_least_one(k)


@dataclass(frozen=True)
class Grouping:
    """How rows without labels are grouped."""

    PANEL: ClassVar[str] = CHOICE

    cluster: Annotated[
        str | None,
        option(
            "--cluster",
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

    def check(self) -> None:
        """Refuse what is no number of clusters, and a size of clusters where none are found."""
        if self.asked is None and self.min_cluster_size is not None:
            raise MisuseError("--min-cluster-size is for --cluster; pass that, too, or leave it out.")

    @property
    def asked(self) -> int | str | None:
        """The parameter `n_clusters` of `covey.find_clusters`, or None if no clusters are asked for."""
        if self.cluster is None or self.cluster in ("auto", "hdbscan"):
            return self.cluster
        if not self.cluster.isdecimal() or int(self.cluster) < 1:
            raise MisuseError(
                f"--cluster must be auto, hdbscan or a number of clusters, got {self.cluster!r}. (Which cluster a "
                "picture shows is said by --show.)"
            )
        return int(self.cluster)


@dataclass(frozen=True)
class Compared:
    """Pairs that another program has compared already."""

    pairs: Annotated[
        str | None,
        option(
            "--pairs",
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

    def check(self) -> None:
        """Refuse what does not name three columns."""
        _ = self.columns

    @property
    def columns(self) -> list[str]:
        """The columns of the two objects and of the score; none if the rows are no pairs."""
        if self.pairs is None:
            if self.symmetric is not None:
                raise MisuseError("--symmetric and --directed are for --pairs; pass it, too, or leave them out.")
            return []
        names = listed(self.pairs)
        if len(names) != 3 or len(set(names)) < 3:
            raise MisuseError(
                f"--pairs must name three columns, such as query,target,score or 1,2,3, got {self.pairs!r}."
            )
        return names


@dataclass(frozen=True)
class MoreFiles:
    """What is written beside the selected rows."""

    PANEL: ClassVar[str] = BESIDE

    model: Annotated[
        str | None, option("--model", "-m", what="Write a model for covey classify to this file; - is standard output.")
    ] = None
    rejection_rate: Annotated[
        float | None,
        option(
            "--rejection-rate",
            what="Let covey classify --reject calibrated answer unknown for about this share of rows of known "
            "clusters, such as 0.05. A higher share catches more rows of unknown ones. A share of 1 / n takes "
            "about n different rows; with fewer, no bars are set, which is said.",
        ),
    ] = None
    picture: Annotated[
        str | None,
        option(
            "--picture",
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


@dataclass(frozen=True)
class Parts:
    """More files of the same table, and the cluster that works on them."""

    more: Annotated[
        list[str] | None,
        argument(
            "MORE",
            "More files of the same table. Rows are counted through all files, in the order given. A folder stands for "
            "the tables in it, in the order of their names.",
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

    def check(self) -> None:
        """Refuse files that are not there, and options of a cluster without one."""
        self.parameters()
        for path in self.more or ():
            check_there(path)

    def parameters(self) -> dict[str, Any]:
        """Return the parameters that `covey.dask.CRS` has beside those of `covey.CRS`."""
        if self.dask is None and self.shard_size is not None:
            raise MisuseError("--shard-size is for --dask; pass that, too, or leave it out.")
        return {} if self.shard_size is None else {"shard_size": self.shard_size}


def check_pairs(selection: Selection) -> None:
    """Refuse what needs more similarities than those of the pairs that are listed."""
    if selection.used_method not in OF_PAIRS:
        raise MisuseError(
            f"--method {selection.used_method} needs the similarities of all pairs; with --pairs, the method is one of "
            f"{', '.join(OF_PAIRS)}."
        )
    if selection.threshold == "homogeneity":
        raise MisuseError(
            "--threshold homogeneity is the mean similarity of all pairs; with --pairs, pass a number or none."
        )


def not_on_a_cluster(
    source: Source, compared: Compared, grouping: Grouping, selection: Selection, files: MoreFiles
) -> None:
    """Refuse options that need all objects in one process."""
    method = selection.used_method
    refused = {
        "--hosts": source.hosts,
        "--matrix": source.matrix,
        "--distances": source.distances,
        f"--similarity {source.similarity}": source.similarity in OF_TABLES,
        "--missing drop": source.missing is Missing.drop,
        "--pairs": compared.pairs,
        "--cluster": grouping.cluster,
        "--sharpen": method is Method.sharpened,
        f"--method {method}": method is not Method.crs,
        "--budget": selection.budget,
        "--include": selection.include,
        "--weight": selection.weight,
        f"-k {ALL_NEIGHBORS}": selection.k == ALL_NEIGHBORS,
        "--members": files.members,
        "--picture with a name in .html": files.picture is not None and files.picture.endswith(".html"),
    }
    for named, is_there in refused.items():
        if is_there:
            raise MisuseError(f"{named} needs all data in one process; leave it out, or leave out --dask.")


class OnError(StrEnum):
    raise_ = "raise"
    lowest = "lowest"


NO_CARE = {"checkpoint": None, "on_error": "raise", "timeout": None}
"""The parameters of a selector without precautions."""


@dataclass(frozen=True)
class Precautions:
    """What happens if the work is stopped, or if a similarity function fails or hangs."""

    PANEL: ClassVar[str] = CARE

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
        option("--timeout", what="How many seconds a similarity function may take for two rows. Longer is a failure."),
    ] = None

    def check(self) -> None:
        """Refuse a time that cannot be."""
        if self.timeout is not None and not 0 < self.timeout < float("inf"):
            raise MisuseError(f"--timeout must be a number of seconds above 0, got {self.timeout:g}.")

    def parameters(self, method: Method) -> dict[str, Any]:
        """Return the parameters of the selector. A method that evaluates nothing takes none."""
        used = {"checkpoint": self.checkpoint, "on_error": self.on_error.value, "timeout": self.timeout}
        if method not in (Method.random, Method.all):
            return used
        if used != NO_CARE:
            raise MisuseError(
                f"--checkpoint, --on-error and --timeout are for methods that evaluate similarities, and {method} does "
                "not; leave them out."
            )
        return {}
