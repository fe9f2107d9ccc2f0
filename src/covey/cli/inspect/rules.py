"""The rules about which options of `covey inspect` go together."""

from covey.cli.inspect.options import InspectOptions
from covey.cli.rules import Rule

RULES: tuple[Rule[InspectOptions], ...] = (
    Rule(
        ("--out", "--out-format"),
        lambda o: not o.representatives,
        "--out and --out-format are for --representatives; pass it, too, or leave them out.",
    ),
    Rule(
        ("--json",), lambda o: o.out is not None, "--json prints to standard output; leave it out, or leave out --out."
    ),
)
