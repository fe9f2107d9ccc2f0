"""The rules about which options of `covey compare` go together."""

from covey.cli.compare.options import CompareOptions
from covey.cli.files.block import STANDARD
from covey.cli.files.paths import names_one_file_twice
from covey.cli.rules import SOURCE_RULES, STYLE_RULES, Rule

RULES: tuple[Rule[CompareOptions], ...] = (
    *SOURCE_RULES,
    Rule(("DATA",), lambda o: o.path == STANDARD, "comparing reads the data more than once; pass a file."),
    Rule(
        ("--labels",),
        lambda o: not o.hosts,
        "--labels is for --hosts; say which column holds the label by --label.",
    ),
    Rule(
        ("--html", "--csv", "--json"),
        lambda o: STANDARD in o.outputs or names_one_file_twice(o.outputs),
        "--html, --csv and --json must be different files.",
    ),
    *STYLE_RULES,
)
