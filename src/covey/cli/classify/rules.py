"""The rules about which options of `covey classify` go together."""

from covey.cli.classify.options import ClassifyOptions
from covey.cli.files.block import STANDARD
from covey.cli.files.formats import Format
from covey.cli.rules import DIALECT, FILE_RULES, INPUT_RULES, Rule, for_columns_with_names

RULES: tuple[Rule[ClassifyOptions], ...] = (
    Rule(
        ("--model -",),
        lambda o: o.path == STANDARD,
        "DATA and --model cannot both be standard input; pass one of them as a file.",
    ),
    *INPUT_RULES,
    Rule(
        ("MORE", *DIALECT),
        lambda o: o.hosts,
        "--hosts takes one log file; leave out options about how tables are read.",
    ),
    Rule(
        ("--label",),
        lambda o: o.format in (None, Format.svmlight),
        "--label names a column or an array of labels, and DATA has none; leave it out.",
    ),
    Rule(("--scores",), lambda o: o.scores == o.out, "--out and --scores must be different files."),
    for_columns_with_names("--keep"),
    *FILE_RULES,
)
