"""How options are declared: dataclasses become parameters, shared options are the same, and starting is quick."""

import inspect
import json
import re
import subprocess
import sys
from dataclasses import dataclass, fields
from typing import Annotated

import pytest

from covey.cli.app import app
from covey.cli.errors import MisuseError
from covey.cli.files.formats import Format
from covey.cli.files.reading import READERS
from covey.cli.files.writing import FILE_WRITERS, MATRIX_WRITERS, TEXT_WRITERS
from covey.cli.options import Source
from covey.cli.typer_dataclasses import argument, command, option, part, typer, words
from covey.similarity.measures import similarity_names


@dataclass(frozen=True)
class Given:
    path: Annotated[str, argument("PATH", "The file.")]
    often: Annotated[int, option("--often", what="How often.")] = 3


@dataclass(frozen=True)
class More(Given):
    loud: Annotated[bool, option("--loud", what="Whether it is loud.")] = False


def test_the_fields_of_a_dataclass_become_parameters_and_come_back_as_one():
    seen, checked = [], []

    def greet(options: More) -> None:
        """Greet."""
        seen.append(options)

    run = command(greet, checked.append)
    parameters = inspect.signature(run).parameters
    assert list(parameters) == ["path", "often", "loud"]
    assert parameters["path"].default is inspect.Parameter.empty
    assert parameters["often"].default == 3
    assert run.__doc__ == "Greet."
    run(path="a", often=2, loud=True)
    assert seen == checked == [More("a", 2, True)]


def test_values_are_turned_back_into_what_the_user_has_typed():
    assert words(More("a b", 3, False)) == ["a b"]
    assert words(More("a", 2, True)) == ["a", "--often", "2", "--loud"]
    assert words(Source("x.txt", form=Format.csv, label="kind")) == ["x.txt", "--format", "csv", "--label", "kind"]


def test_a_part_of_the_options_is_that_of_a_base_class():
    assert part(More("a", 2, True), Given) == Given("a", 2)


def test_a_value_is_read_before_the_command_sees_it_and_refused_by_the_name_of_its_option():
    def even(number: int) -> str:
        if number % 2:
            raise ValueError(f"must be even, got {number}.")
        return "even"

    @dataclass(frozen=True)
    class Read:
        number: Annotated[str | None, option("--number", "-n", what="A number.", read=even)] = None

    seen = []

    def take(options: Read) -> None:
        seen.append(options)

    take.__annotations__["options"] = Read
    [parameter] = inspect.signature(command(take, lambda options: None)).parameters.values()
    declared = parameter.annotation.__metadata__[0]
    assert parameter.annotation.__origin__ == int | None
    assert declared.metavar == "<number>"
    assert [declared.callback(value) for value in (None, 4)] == [None, "even"]
    with pytest.raises(MisuseError, match="--number must be even, got 3"):
        declared.callback(3)


def test_commands_show_shared_options_with_the_same_words_and_defaults():
    commands = typer.main.get_command(app).commands
    shared = [field.name for field in fields(Source)]
    select, compare = ({p.name: p for p in commands[name].params} for name in ("select", "compare"))
    for name in shared:
        assert select[name].help == compare[name].help
        assert select[name].default == compare[name].default
        assert select[name].opts == compare[name].opts


@pytest.mark.parametrize("name", ["select", "compare"])
def test_help_lists_every_similarity_of_the_registry(run, monkeypatch, name):
    monkeypatch.setenv("COLUMNS", "200")
    code, out, _ = run(name, "--help")
    assert code == 0
    listed = set(re.findall(r"[a-z-]+", out))
    assert set(similarity_names()) - {"precomputed"} <= listed
    assert "{similarities}" not in out


def test_the_application_starts_without_libraries_that_compute():
    code = (
        "import json, sys; import covey.cli.app; "
        "print(json.dumps([name for name in ('numpy', 'scipy', 'pandas', 'sklearn', 'numba') if name in sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == []


def test_every_format_has_a_reader_and_a_writer():
    assert set(READERS) == set(Format)
    written = {kind for kind in Format if kind.traits.is_written}
    assert {*TEXT_WRITERS, *FILE_WRITERS, *MATRIX_WRITERS} == written
    assert {*TEXT_WRITERS, *FILE_WRITERS} == {kind for kind in written if kind.traits.is_table}
