"""What the error about a missing library advises: a command that works for this installation, wherever it came from."""

import shlex
import sys
from importlib import metadata

import pytest

from covey.runtime.libraries import remedy, require

DECLARED = {
    "resolved": ["numpy>=2", "typer>=0.26; extra == 'cli'", "rich>=13.8; extra == 'cli'", "rdkit; extra == 'chem'"],
    "by other extras": [
        'covey[plot, text]; extra == "cli"',
        'typer>=0.26; extra == "plot"',
        'rich>=13.8; extra == "text"',
    ],
    "with other markers": ["typer>=0.26; (python_version > '3') and extra == 'cli'", "rich>=13.8 ; extra == 'cli'"],
}


def installed(monkeypatch, declared, *there):
    """Let covey declare these requirements, and let only some distributions be there."""

    def version(name):
        if name not in there:
            raise metadata.PackageNotFoundError(name)
        return "1"

    monkeypatch.setattr(metadata, "requires", lambda name: declared)
    monkeypatch.setattr(metadata, "version", version)


def advised(extra):
    words = remedy(extra)
    assert words.startswith("run: ")
    return shlex.split(words.removeprefix("run: "))


@pytest.mark.parametrize("how", DECLARED)
def test_the_missing_libraries_of_an_extra_are_installed_by_name_into_this_python(monkeypatch, how):
    installed(monkeypatch, DECLARED[how], "rich")
    assert advised("cli") == [sys.executable, "-m", "pip", "install", "typer>=0.26"]
    installed(monkeypatch, DECLARED[how])
    assert advised("cli")[4:] == ["rich>=13.8", "typer>=0.26"]


def test_a_library_that_is_installed_but_cannot_be_found_is_installed_with_all_of_its_extra(monkeypatch):
    installed(monkeypatch, DECLARED["resolved"], "rich", "typer")
    assert advised("cli")[4:] == ["rich>=13.8", "typer>=0.26"]


def test_a_covey_that_was_not_installed_points_to_its_own_list(monkeypatch):
    def requires(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "requires", requires)
    assert remedy("cli") == 'install what the extra "cli" in its pyproject.toml lists.'


@pytest.mark.parametrize("extra", ["chem", "cli", "dask", "paper", "plot", "text"])
def test_no_extra_of_this_installation_is_advised_under_a_name_that_an_index_may_give_to_others(extra):
    wanted = advised(extra)
    assert len(wanted) > 4
    assert not any("covey" in word for word in wanted[4:])


def test_the_error_names_the_module_and_the_remedy():
    with pytest.raises(ModuleNotFoundError) as caught:
        require("no_such_library.part", "text")
    assert str(caught.value) == f"this needs no_such_library, which is not installed; {remedy('text')}"
