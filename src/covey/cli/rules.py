"""Rules about options: which go together, what is refused, and in what words.

Each command has one table of rules, which is checked once, before any work. A rule is a row of up to four parts:

1. `options`: it is only looked at if one of these has been passed. ``"--missing drop"`` means the option with that
   value.
2. `when`: the condition under which they are refused. It sees the options, and the names and formats of files, but not
   their content: what only the data can tell is refused where they are read.
3. `sentence`: what is said. ``{named}`` is the first of `options` that has been passed, ``{o.method}`` a value. What
   follows ", got" quotes values.
4. `general`: the rule in words that hold for all values, if `sentence` has others before ", got". Rules may share it.

The help of a command and its page in the documentation list the rules that are about several options, those that share
a general sentence once.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import MISSING, dataclass
from typing import Any, Generic, TypeVar

from covey.cli.errors import MisuseError
from covey.cli.files.block import STANDARD
from covey.cli.files.formats import Format
from covey.cli.options import Input, Missing, Source
from covey.cli.similarity_option import OF_MOLECULES, OF_TABLES, OF_TEXTS
from covey.cli.typer_dataclasses import fields_by_option

TITLE = "Options that need or exclude each other"
"""The title above rules."""
Options = TypeVar("Options", contravariant=True)


@dataclass(frozen=True)
class Rule(Generic[Options]):
    """A row of a table of rules."""

    options: tuple[str, ...]
    when: Callable[[Options], object]
    sentence: str
    general: str | None = None

    def broken_by(self, options: Options) -> str | None:
        """Return what is said about these options; None if they keep the rule."""
        named = next((name for name in self.options if is_passed(options, name)), None)
        return self.sentence.format(named=named, o=options) if named is not None and self.when(options) else None

    @property
    def stated(self) -> str:
        """The rule without values that a user has passed."""
        named = self.options[0] if len(self.options) == 1 else f"each of {joined(self.options)}"
        sentence = self.general or re.sub(r", got [^;]+?(?=;|\.$)", "", self.sentence).replace("{named}", named)
        return sentence[:1].upper() + sentence[1:]

    @property
    def is_about_several(self) -> bool:
        """Whether the rule is about more than one option."""
        return len({*self.options, *re.findall(r"(?<![\w-])--?[a-z][\w-]*", self.sentence)}) > 1


def joined(names: Sequence[str]) -> str:
    """Return names for a sentence: a, b and c."""
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def check(options: Any, rules: Sequence[Rule[Any]]) -> None:
    """Refuse options that break one of the rules; the first one is named."""
    for rule in rules:
        sentence = rule.broken_by(options)
        if sentence is not None:
            raise MisuseError(sentence)


def is_passed(options: Any, name: str) -> bool:
    """Return whether the user has passed an option, or an argument, or an option with a value such as -k all."""
    name, _, value = name.partition(" ")
    group: Any = type(options)
    field = fields_by_option(group)[name]
    passed = getattr(options, field.name)
    return str(passed) == value if value else field.default is MISSING or passed != field.default


def stated(rules: Sequence[Rule[Any]]) -> list[str]:
    """Return the rules that are about several options, in words."""
    return list(dict.fromkeys(rule.stated for rule in rules if rule.is_about_several))


def as_list(rules: Sequence[Rule[Any]]) -> str | None:
    """Return the same as Markdown under a title; None without rules."""
    sentences = stated(rules)
    return "\n\n".join([f"{TITLE}:", *(f"- {sentence}" for sentence in sentences)]) if sentences else None


def _has_no_names(options: Input) -> bool:
    """Return whether the columns of the rows have no names, going by their format."""
    return options.format is not None and not options.format.traits.is_table


def for_columns_with_names(*options: str) -> Rule[Input]:
    """Return the rule that these options name columns, so that the columns must have names."""
    one, general = options[0], None
    if len(options) > 1:
        one, general = "{named}", f"Each of {joined(options)} is for columns with names."
    sentence = f"{one} is for columns with names, and {{o.path}} has none; leave it out."
    return Rule(options, _has_no_names, sentence, general)


def _only_for_formats(name: str) -> Rule[Input]:
    """Return the rule that an option about how tables are read says something about some formats only."""
    return Rule(
        (f"--{name}",),
        lambda o: o.format is not None and name not in o.format.traits.options,
        f"--{name} says nothing about {{o.format}} files; leave it out.",
    )


DIALECT = ("--columns", "--delimiter", "--decimal", "--encoding", "--sheet", "--missing")
"""The options about how tables are read, which logs are not."""
INPUT_RULES: tuple[Rule[Input], ...] = (
    Rule(
        ("--delimiter", "--decimal"),
        lambda o: o.delimiter is not None and o.delimiter == o.decimal,
        "--delimiter and --decimal must be different characters, got {o.decimal!r} as both.",
    ),
    Rule(("--hosts",), lambda o: o.path == STANDARD, "--hosts takes the name of a log file, not standard input."),
)
"""The rules about rows, for every command that reads some."""
STYLE_RULES: tuple[Rule[Input], ...] = tuple(
    map(_only_for_formats, ("columns", "delimiter", "decimal", "encoding", "sheet"))
)
"""The rules about how a file is read, for every command that reads rows. They and those below come last, because they
look for the files: those that are not there are refused on the way."""
FILE_RULES: tuple[Rule[Input], ...] = (
    Rule(
        ("DATA",),
        lambda o: STANDARD in o.files and len(o.files) > 1,
        "standard input cannot be one of several files; pass it alone, or pass files only.",
    ),
    Rule(
        ("DATA",),
        lambda o: len(o.formats) > 1,
        "all files of one table must have the same format, got {o.differing}.",
    ),
    Rule(
        ("DATA",),
        lambda o: _has_no_names(o) and len(o.files) > 1,
        "{o.format} files cannot be parts of one table; pass one file.",
    ),
    *STYLE_RULES,
)
"""The rules about files, for commands that may read several as one table."""
SOURCE_RULES: tuple[Rule[Source], ...] = (
    *INPUT_RULES,
    Rule(
        (
            "--label", "--features", "--text", "--profile", "--smiles", "--matrix", "--distances", "--id", "--image",
            "--scale", *DIALECT,
        ),
        lambda o: o.hosts,
        "--hosts takes a log file, and labels by --labels; leave out other options about columns.",
    ),
    Rule(
        tuple(f"--similarity {name}" for name in OF_TABLES),
        lambda o: o.hosts,
        "{named} compares columns, and --hosts compares profiles; leave out one of them.",
    ),
    Rule(
        ("--features", "--text", "--profile"),
        lambda o: sum(map(bool, (o.features, o.text, o.profile))) > 1,
        "--features, --text and --profile exclude each other; pass one of them.",
    ),
    Rule(
        tuple(f"--similarity {name}" for name in OF_TEXTS),
        lambda o: not o.text,
        "{named} compares texts; say which column by --text.",
    ),
    Rule(
        ("--features", "--text", "--profile", "--scale", "--matrix", "--distances"),
        lambda o: o.smiles,
        "--smiles compares one column of molecules; leave out other options about what is compared.",
    ),
    Rule(
        ("--similarity",),
        lambda o: o.smiles and o.similarity != OF_MOLECULES,
        f"--smiles compares fingerprints by {OF_MOLECULES}, got --similarity {{o.similarity}}; leave it out, or pass "
        "--text in place of --smiles to compare SMILES as texts.",
    ),
    Rule(
        tuple(f"--similarity {name}" for name in OF_TABLES),
        lambda o: o.text or o.profile,
        "{named} compares columns; leave out --text and --profile.",
    ),
    Rule(("--matrix",), lambda o: o.distances, "--matrix and --distances exclude each other; pass one of them."),
    Rule(
        ("--text", "--profile", "--similarity", "--scale", "--image", "--missing drop", "--missing mean"),
        lambda o: o.is_square,
        "{named} is for objects to compare, and --matrix and --distances say that they have been compared; leave out "
        "one of them.",
    ),
    Rule(
        ("--scale",),
        lambda o: o.text or o.profile,
        "--scale is for columns of numbers; leave it out, or leave out --text and --profile.",
    ),
    Rule(
        tuple(f"--similarity {name}" for name in OF_TABLES),
        lambda o: o.scale,
        "{named} divides each column of numbers by its range itself; leave out --scale.",
    ),
    Rule(
        tuple(f"--similarity {name}" for name in OF_TABLES),
        lambda o: o.missing is Missing.mean,
        "{named} skips missing values; leave out --missing mean.",
    ),
    Rule(
        ("--missing mean",),
        lambda o: o.text or o.profile or o.smiles,
        "--missing mean is for columns of numbers; pass --missing drop with --text, --profile and --smiles.",
    ),
    Rule(
        ("--image",),
        lambda o: o.text or o.profile or o.smiles or o.similarity in OF_TABLES,
        "--image is for objects that are rows of numbers; leave it out.",
    ),
    for_columns_with_names("--features", "--text", "--profile", "--smiles", "--id"),
    Rule(
        ("--label",),
        lambda o: o.format is Format.svmlight,
        "the labels of an svmlight file are its first values; leave out --label.",
    ),
)  # fmt: skip
"""The rules about labelled objects, for `select` and `compare`."""
