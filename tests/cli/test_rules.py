"""The rules about options: each is reached by a command line, and answered before the work by its sentence."""

import re
import sys
from pathlib import Path

import pytest

from covey.cli.app import RULES, app
from covey.cli.rules import TITLE, stated
from covey.cli.typer_dataclasses import fields_by_option, typer
from covey.runtime.wording import visible
from tests.cli.commands import one_line

STYLES = ("--columns a", "--delimiter ,", "--decimal ,", "--encoding utf-8", "--sheet a")
"""Options about how tables are read."""
BROKEN = {
    "select": [
        "x.csv --delimiter , --decimal comma",
        "- --hosts",
        "x.csv --hosts --label y",
        "x.csv --hosts --missing drop",
        "x.csv --hosts --similarity gower",
        "x.csv --features a --text b",
        "x.csv --similarity osa",
        "x.csv --smiles a --scale",
        "x.csv --smiles a --similarity cosine",
        "x.csv --profile a --similarity gower",
        "x.csv --matrix --distances",
        "x.csv --matrix --similarity euclidean",
        "x.csv --text a --scale",
        "x.csv --similarity gower --scale",
        "x.csv --similarity gower --missing mean",
        "x.csv --profile a --missing mean",
        "x.csv --smiles a --image 2x2",
        "x.svm --features a",
        "x.svm --label y",
        "x.csv x.csv --hosts",
        "x.csv --labels y.csv",
        "x.csv --directed",
        "x.csv --pairs a,b,c --label y",
        "x.csv --pairs a,b,c --missing mean",
        "x.csv --sharpen --method ds3",
        "x.csv --method all -k 3",
        "x.csv --method ds3 --coverage 1",
        "x.csv --method random --threshold none",
        "x.csv --method ds3 --recall 0.9",
        "x.csv --graph exact --recall 0.9",
        "x.csv --pairs a,b,c --recall 0.9",
        "x.csv --method delta-medoids -n 3",
        "x.csv --method sharpened --include a",
        "x.csv --sharpen --weight a",
        "x.csv --budget 3 --refine",
        "x.csv --method delta-medoids --threshold none",
        "x.csv --method all --timeout 1",
        "x.csv --sharpen --pairs a,b,c",
        "x.csv --threshold homogeneity --pairs a,b,c",
        "x.csv --min-cluster-size 2",
        "x.csv --cluster 2 --on-error lowest",
        "x.csv --cluster auto --labels x.csv --hosts",
        "x.csv --out few.csv --model ./few.csv",
        "x.csv --members -",
        "x.csv --pairs a,b,c --model m",
        "x.csv --model -",
        "x.csv --model - --out few.csv",
        "x.csv --picture p.png --show a",
        "x.csv --rejection-rate 0.1",
        "x.csv --shard-size 5",
        "x.csv --dask local --timeout 1",
        "x.csv --dask local -k all",
        "x.csv --dask local --method ds3",
        "x.csv --dask local --picture p.html",
        "x.csv --dask tcp://host:1 --jobs 2",
        "x.svm --weight w",
        "x.svm --pairs a,b,c",
        "x.csv -",
        "x.csv x.svm",
        "x.svm x.svm",
        *(f"x.npy {option}" for option in STYLES),
        "x.csv --dask local",
    ],
    "classify": [
        "- --model -",
        "x.csv --model x.csv --delimiter . --decimal .",
        "- --model x.csv --hosts",
        "x.csv --model x.csv --hosts --sheet a",
        "x.svm --model x.csv --label y",
        "x.csv --model x.csv --scores a --out a",
        "x.svm --model x.csv --keep",
        "x.csv - --model x.csv",
        "x.csv x.svm --model x.csv",
        "x.svm x.svm --model x.csv",
        *(f"x.npy --model x.csv {option}" for option in STYLES),
    ],
    "compare": [
        "x.csv --delimiter , --decimal ,",
        "- --hosts",
        "x.csv --hosts --id y",
        "x.csv --hosts --similarity gower",
        "x.csv --profile a --text b",
        "x.csv --similarity indel",
        "x.csv --smiles a --matrix",
        "x.csv --smiles a --similarity dot",
        "x.csv --text a --similarity gower",
        "x.csv --distances --matrix",
        "x.csv --distances --missing drop",
        "x.csv --profile a --scale",
        "x.csv --scale --similarity gower",
        "x.csv --similarity gower --missing mean",
        "x.csv --text a --missing mean",
        "x.csv --similarity gower --image 2x2",
        "x.svm --id a",
        "x.svm --label y",
        "-",
        "x.csv --labels y.csv",
        "x.csv --html r --csv ./r",
        *(f"x.npy {option}" for option in STYLES),
    ],
    "inspect": ["x.csv --out-format csv", "x.csv --representatives --json --out a"],
}
"""Command lines that break one rule after the other, in the order of the tables."""


def rules_of(name):
    return next(rules for function, rules in RULES.items() if function.__name__ == name)


@pytest.fixture
def files(run):
    Path("x.csv").write_text("a,b\n1,2\n")
    Path("x.svm").write_text("1 1:1\n")
    Path("x.npy").touch()
    return run


def sentence_of(rule):
    """A pattern for all that the rule can say."""
    return re.compile(re.sub(r"\\\{.*?\}", ".+?", re.escape(rule.sentence)))


@pytest.mark.parametrize("name", BROKEN)
def test_every_rule_is_reached_and_said_in_its_words_before_the_work(name, files, monkeypatch):
    monkeypatch.setattr("covey.cli.files.input.open_input", None)
    monkeypatch.setattr("covey.cli.files.reading.blocks", None)
    said = []
    for line in BROKEN[name]:
        with monkeypatch.context() as patch:
            patch.setattr(sys.stdout, "isatty", lambda line=line: "--model - --out" in line, raising=False)
            code, out, err = files(name, *line.split())
        assert (code, out) == (2, ""), line
        message = one_line(err).removeprefix("covey: ").strip()
        matching = [rule for rule in rules_of(name) if sentence_of(rule).fullmatch(message)]
        assert matching, message
        said.append(max(matching, key=lambda rule: len(rule.sentence)))  # others have a placeholder for more of it
    reached = list(dict.fromkeys(said))
    assert [rule.sentence for rule in rules_of(name) if rule not in reached] == []


@pytest.mark.parametrize("name", BROKEN)
def test_every_option_of_a_rule_exists(name):
    command = typer.main.get_command(app).commands[name]
    names = {option for param in command.params for option in (*param.opts, *param.secondary_opts, param.metavar)}
    mentioned = {option for rule in rules_of(name) for option in re.findall(r"(?<![\w-])--[a-z][\w-]*", rule.sentence)}
    assert {option.partition(" ")[0] for rule in rules_of(name) for option in rule.options} <= names
    if name == "select":  # others mention options of `select`
        assert mentioned <= names


@pytest.mark.parametrize("name", BROKEN)
def test_the_help_lists_the_rules_about_several_options(name, run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "1000")
    out = run(name, "--help")[1]
    assert TITLE in out
    listed = stated(rules_of(name))
    assert listed
    for sentence in listed:
        assert visible(sentence) in out
        assert not re.search(r"[{}]", sentence)


SPELLED = {"DATA", "OUT", "TF", "IDF", "SMILES"}
"""The words of rules that are spelled in capitals: arguments, and what is always spelled so."""


@pytest.mark.parametrize("name", BROKEN)
def test_rules_in_general_hold_no_placeholders(name):
    for sentence in stated(rules_of(name)):
        assert set(re.findall(r"\b[A-Z]{2,}\b", sentence)) <= SPELLED, sentence


def test_commands_without_rules_list_none(run):
    for name in ("demo", "reproduce"):
        assert TITLE not in run(name, "--help")[1]


@pytest.mark.parametrize(
    ("option", "values", "sentence"),
    [
        ("-k", ["0", "1.5", "few"], "-k must be a whole number of at least 1"),
        ("--budget", ["0", "1.5", "-3", "nan", "few"], "--budget must be a whole number of rows or a share between"),
        ("--threshold", ["high", "inf"], "--threshold must be homogeneity, none or a finite number"),
        ("--cluster", ["0", "-2", "few"], "--cluster must be auto, hdbscan or a number of clusters"),
        ("--pairs", ["a,b", "a,b,a", "a,b,c,d"], "--pairs must name three columns"),
        ("--picture", ["p.doc", "p"], "--picture must end in one of .html, .png, .svg, .pdf"),
        ("--rejection-rate", ["0", "1", "-0.1"], "--rejection-rate must be between 0 and 1"),
        ("--timeout", ["0", "-1", "inf"], "--timeout must be a number of seconds above 0"),
        ("--jobs", ["0"], "--jobs must not be 0; -1 is for all cores."),
        ("--similarity", ["cosin", ":near", "mine:"], "--similarity must be one of cosine, "),
        ("--delimiter", ["ab", "a", '"'], "--delimiter must be one character, or one of comma, semicolon,"),
        ("--decimal", ["dot", ";"], "--decimal must be a comma or a point"),
        ("--encoding", ["klingon", "rot13"], "--encoding must be the name of an encoding, such as utf-8"),
        ("--max-unpacked", ["0", "much", "5XB"], "--max-unpacked must be a size such as 500MB, 20GB or 64MiB"),
    ],
)
def test_values_that_cannot_be_meant_are_refused_by_the_name_of_their_option(option, values, sentence, files):
    for value in values:
        code, out, err = files("select", "x.csv", option, value)
        assert (code, out) == (2, "")
        assert one_line(err).startswith(f"covey: {sentence}")


@pytest.mark.parametrize(("text", "shape"), [("28x28", [28, 28]), ("32X32x3", [32, 32, 3]), ("8x9x1", [8, 9, 1])])
def test_shapes_of_images_are_read(text, shape):
    from covey.cli.options import Source, image_in

    assert Source("x.npy", image=image_in(text)).image_shape == shape


def test_options_are_found_by_all_their_names():
    from covey.cli.select.options import SelectOptions

    found = fields_by_option(SelectOptions)
    assert found["-n"] is found["--budget"]
    assert found["--symmetric"] is found["--directed"]
    assert found["MORE"].name == "more"
