"""The rules about which options of `covey select` go together."""

import sys
from collections.abc import Iterator, Sequence
from functools import partial

from covey.cli.files.block import STANDARD
from covey.cli.files.paths import names_one_file_twice
from covey.cli.rules import FILE_RULES, SOURCE_RULES, Rule, for_columns_with_names, joined
from covey.cli.select.options import ALL_NEIGHBORS, LOCAL, Graph, SelectionMethod, SelectOptions
from covey.cli.similarity_option import OF_TABLES

OF_CRS = ("-k", "--coverage", "--threshold", "--refine", "--graph", "--recall", "--budget")
"""The options that CRS and what is made of it take."""
OPTIONS_OF: dict[SelectionMethod, tuple[str, ...]] = {
    SelectionMethod.crs: (*OF_CRS, "--include", "--weight"),
    SelectionMethod.sharpened: OF_CRS,
    SelectionMethod.delta_medoids: ("--threshold",),
    SelectionMethod.ds3: (),
    SelectionMethod.random: ("--budget",),
    SelectionMethod.all: (),
}
"""The options about the selection that each method takes."""
OF_PAIRS = (SelectionMethod.crs, SelectionMethod.random, SelectionMethod.all)
"""The methods that need no other similarities than those of the pairs that are listed."""
FAILURES = ("--checkpoint", "--on-error", "--timeout")
"""The options about work that is stopped, or that fails."""


def _only_for_methods() -> Iterator[Rule[SelectOptions]]:
    """Yield the rules that options are for some methods, one for all options of the same methods."""
    takers = {
        option: tuple(method for method, options in OPTIONS_OF.items() if option in options)
        for option in OPTIONS_OF[SelectionMethod.crs]
    }
    for methods in dict.fromkeys(takers.values()):
        options = tuple(option for option, taking in takers.items() if taking == methods)
        taken = f"{{named}} is for --method {joined(methods)}"
        sentence = f"{taken}, got --method {{o.used_method}}; leave out one of them."
        yield Rule(options, partial(_has_other_method, methods=methods), sentence)


def _has_other_method(options: SelectOptions, methods: Sequence[SelectionMethod]) -> bool:
    return options.used_method not in methods


ONE_PROCESS = (
    "--hosts", "--matrix", "--distances", *(f"--similarity {name}" for name in OF_TABLES), "--missing drop",
    "--pairs", "--cluster", "--sharpen", "--budget", "--include", "--weight", f"-k {ALL_NEIGHBORS}",
    "--members",
)  # fmt: skip
"""The options that a cluster of machines does not know, because they need all data in one process."""
NEEDS_ONE_PROCESS = (
    f"With --dask, what needs all data in one process is left out: {', '.join(ONE_PROCESS)}, --on-error, --timeout, "
    "--picture with a name in .html, and any --method but crs."
)
"""The rules about --dask in general."""


RULES: tuple[Rule[SelectOptions], ...] = (
    *SOURCE_RULES,
    # What is read
    Rule(("MORE",), lambda o: o.hosts, "--hosts takes one log file."),
    Rule(
        ("--labels",),
        lambda o: not o.hosts and o.pairs is None,
        "--labels is for --hosts and --pairs; say which column holds the label by --label.",
    ),
    Rule(
        ("--symmetric",),
        lambda o: o.pairs is None,
        "--symmetric and --directed are for --pairs; pass it, too, or leave them out.",
    ),
    Rule(
        ("--label",),
        lambda o: o.pairs,
        "{named} says what objects are, and of --pairs only their scores are known; leave it out. Labels come from a "
        "table, by --labels.",
    ),
    Rule(
        (
            "--hosts", "--features", "--text", "--profile", "--smiles", "--matrix", "--id", "--scale", "--similarity",
            "--image", "--missing mean",
        ),
        lambda o: o.pairs,
        "{named} says what objects are, and of --pairs only their scores are known; leave it out.",
    ),
    # Methods
    Rule(
        ("--method",),
        lambda o: o.sharpen and o.method is not SelectionMethod.sharpened,
        "--sharpen is the method sharpened, got --method {o.method}; leave out one of them.",
        "--sharpen is the method sharpened; leave it out with any other --method.",
    ),
    *_only_for_methods(),
    Rule(
        ("--coverage", "--refine"),
        lambda o: o.used_method is SelectionMethod.crs and o.size is not None,
        "--budget says how many rows there are, and {named} would change it; leave out one.",
    ),
    Rule(
        ("--recall",),
        lambda o: o.graph is Graph.exact,
        "--graph exact finds all neighbors, and --recall is for other graphs; leave out one of them.",
    ),
    Rule(
        ("--recall",),
        lambda o: bool(o.pairs),
        "--recall is for a graph that is searched, and --pairs says what it holds; leave it out.",
    ),
    Rule(
        ("--threshold none",),
        lambda o: o.used_method is SelectionMethod.delta_medoids,
        "--method delta-medoids needs a --threshold: homogeneity or a number.",
    ),
    Rule(
        FAILURES,
        lambda o: o.used_method in (SelectionMethod.random, SelectionMethod.all),
        "--checkpoint, --on-error and --timeout are for methods that evaluate similarities, and {o.used_method} does "
        "not; leave them out.",
        "--checkpoint, --on-error and --timeout are for methods that evaluate similarities; leave them out with "
        f"--method {SelectionMethod.random} and {SelectionMethod.all}.",
    ),
    Rule(
        ("--method", "--sharpen"),
        lambda o: o.pairs and o.used_method not in OF_PAIRS,
        "--method {o.used_method} needs the similarities of all pairs; with --pairs, the method is one of "
        f"{', '.join(OF_PAIRS)}.",
        f"With --pairs, --method is one of {joined(OF_PAIRS)}; others need the similarities of all pairs.",
    ),
    Rule(
        ("--threshold homogeneity",),
        lambda o: o.pairs,
        "--threshold homogeneity is the mean similarity of all pairs; with --pairs, pass a number or none.",
    ),
    # Clusters
    Rule(
        ("--min-cluster-size",),
        lambda o: o.n_clusters is None,
        "--min-cluster-size is for --cluster; pass that, too, or leave it out.",
    ),
    Rule(
        FAILURES,
        lambda o: o.n_clusters is not None,
        "--checkpoint, --on-error and --timeout are about the selection and not about --cluster; find clusters first, "
        "and pass them as --label.",
    ),
    Rule(
        ("--label", "--labels"),
        lambda o: o.n_clusters is not None,
        "--cluster finds labels for rows that have none; leave out --label and --labels, or it.",
    ),
    # What is written
    Rule(
        ("--out", "--model", "--picture", "--members"),
        lambda o: names_one_file_twice(o.outputs),
        "--out, --model, --picture and --members must be different files.",
    ),
    Rule(
        ("--members",),
        lambda o: STANDARD == o.members == o.out,
        "--out and --members cannot both go to standard output; pass a file for one of them.",
    ),
    Rule(
        ("--model",),
        lambda o: o.pairs,
        "--model needs objects that can be compared with new ones, and --pairs has only scores.",
    ),
    Rule(
        ("--model -",),
        lambda o: o.out == STANDARD,
        "--model - takes all of standard output; write the rows to a file by --out.",
    ),
    Rule(
        ("--model -",),
        lambda o: sys.stdout.isatty(),
        "a model is not a text to look at; send standard output to a file or to another command.",
    ),
    Rule(
        ("--show",),
        lambda o: not o.draws_page,
        "--show says what an .html picture shows; pass --picture with such a name, too.",
    ),
    Rule(
        ("--rejection-rate",), lambda o: o.model is None, "--rejection-rate is kept in the model; pass --model, too."
    ),
    # A cluster of machines
    Rule(("--shard-size",), lambda o: o.dask is None, "--shard-size is for --dask; pass that, too, or leave it out."),
    Rule(
        ("--on-error", "--timeout"),
        lambda o: o.dask,
        "--on-error and --timeout need one process; leave them out, or leave out --dask.",
        NEEDS_ONE_PROCESS,
    ),
    Rule(
        ONE_PROCESS,
        lambda o: o.dask,
        "{named} needs all data in one process; leave it out, or leave out --dask.",
        NEEDS_ONE_PROCESS,
    ),
    Rule(
        ("--method",),
        lambda o: o.dask and o.method is not SelectionMethod.crs,
        "--method {o.method} needs all data in one process; leave it out, or leave out --dask.",
        NEEDS_ONE_PROCESS,
    ),
    Rule(
        ("--picture",),
        lambda o: o.dask and o.draws_page,
        "--picture with a name in .html needs all data in one process; leave it out, or leave out --dask.",
        NEEDS_ONE_PROCESS,
    ),
    Rule(
        ("--jobs",),
        lambda o: o.dask not in (None, LOCAL),
        "--jobs says how many workers --dask local starts; those of a running cluster are all used.",
    ),
    # Files
    for_columns_with_names("--weight"),
    Rule(
        ("--pairs",),
        lambda o: o.format is not None and not o.format.traits.is_table,
        "--pairs takes a table, and {o.path} is not one.",
    ),
    *FILE_RULES,
    Rule(
        ("--dask",),
        lambda o: o.dask and not o.is_all_parquet,
        "only Parquet files can be read by --dask, got {o.path}; leave out --dask.",
    ),
)  # fmt: skip
