"""The pages of the site: their examples run, their commands exist, and the API leaves out no public name."""

import doctest
import importlib
import re
import shlex
from pathlib import Path

import pytest
import typer

import covey
from covey.cli.app import app
from tests.docs import links
from tests.test_package import PUBLIC_MODULES

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([*DOCS.glob("*.md"), *DOCS.glob("commands/*.md")])
COMMANDS = typer.main.get_command(app).commands


def blocks(page, language):
    """The contents of all code blocks in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


def commands(page):
    """The lines of shell blocks that call covey, as lists of words."""
    lines = [line for block in blocks(page, "sh") for line in block.splitlines() if line.startswith("covey ")]
    return [shlex.split(line, comments=True)[1:] for line in lines]


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "pycon")], ids=lambda page: page.stem)
def test_examples_of_a_page_run_and_print_what_it_says(page):
    results = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert results.attempted > 0
    assert results.failed == 0


@pytest.mark.parametrize(
    "page", [page for page in [*PAGES, ROOT / "README.md"] if commands(page)], ids=lambda page: page.stem
)
def test_commands_of_a_page_have_the_options_that_it_names(page):
    for name, *words in commands(page):
        if not name.startswith("-"):
            COMMANDS[name].make_context(name, words)  # raises an error for an option that there is not


def test_an_option_that_does_not_exist_is_noticed():
    with pytest.raises(Exception, match="No such option"):
        COMMANDS["select"].make_context("select", ["flowers.csv", "--lable", "species"])


def test_the_commands_of_the_first_page_work_one_after_the_other(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = next(block for block in blocks(DOCS / "start.md", "sh") if block.startswith("python -c"))
    exec(shlex.split(table)[2], {})
    for words in commands(DOCS / "start.md"):
        if words[0] != "compare":  # takes longest, and has tests of its own
            with pytest.raises(SystemExit) as ended:
                app(words)
            assert not ended.value.code
    assert {"few.csv", "flowers.covey", "map.html", "answers.csv"} <= {path.name for path in tmp_path.iterdir()}


def test_every_command_has_a_page():
    assert {page.stem for page in DOCS.glob("commands/*.md")} == set(COMMANDS)
    for name in COMMANDS:
        assert f"```{{command}} {name}\n" in (DOCS / "commands" / f"{name}.md").read_text()
        assert f"commands/{name}\n" in (DOCS / "command-line.md").read_text()


def test_the_api_has_every_public_name_once():
    """`api.rst` groups the names; this fails if a new one is forgotten, or an old one has gone."""
    text, module, listed = (DOCS / "api.rst").read_text(), "covey", []
    for line in text.splitlines():
        if match := re.fullmatch(r"\.\. currentmodule:: (\S+)", line):
            module = match[1]
        elif match := re.fullmatch(r"   ([A-Za-z]\w*)|\.\. py:data:: (\w+)", line):
            listed.append(f"{module}.{match[1] or match[2]}")
    public = {f"covey.{name}" for name in covey.__all__}
    for name in PUBLIC_MODULES:
        module = importlib.import_module(f"covey.{name}")
        public |= {f"covey.{name}.{each}" for each in module.__all__}
    assert sorted(listed) == sorted(public)


def test_every_picture_that_a_page_draws_has_a_description():
    drawn = [(page, block) for page in PAGES for block in blocks(page, r"{eval-rst}")]
    assert drawn
    for page, block in drawn:
        script = re.match(r"\.\. plot:: (\S+)\n", block)
        if not script:
            continue
        assert (page.parent / script[1]).is_file()
        assert re.search(r"^   :alt: \S.{20,}$", block, re.MULTILINE), (page, script[1])


def test_every_page_can_be_reached():
    listed = {"index"}
    for page in [*DOCS.rglob("*.md"), *DOCS.rglob("*.rst")]:
        if "_build" not in page.parts:
            for block in blocks(page, r"{toctree}"):
                names = [line.split("<")[-1].rstrip(">") for line in block.splitlines() if line and line[0] != ":"]
                listed |= {str((page.parent / name).relative_to(DOCS)) for name in names}
    sources = [*DOCS.glob("*.md"), *DOCS.glob("commands/*.md"), *DOCS.glob("measurements/*.md"), DOCS / "api.rst"]
    assert {str(page.relative_to(DOCS).with_suffix("")) for page in sources} - listed == set()


def test_every_table_of_measurements_has_a_page():
    shown = {re.search(r"\{repository-file\} (\S+)", page.read_text()) for page in DOCS.glob("measurements/*.md")}
    assert {match[1] for match in shown if match} == {
        f"benchmarks/{path.name}" for path in ROOT.glob("benchmarks/*.md")
    }


def test_a_link_that_leads_nowhere_is_found(tmp_path):
    (tmp_path / "a.html").write_text('<p id="here"></p><a href="b.html#there">b</a><a href="c.html">c</a>')
    (tmp_path / "b.html").write_text('<a href="a.html#here">a</a><a href="https://example.org">out</a>')
    (tmp_path / "d.html").write_text('<script src="https://example.org/x.js"></script>')
    (tmp_path / "e.css").write_text("@import '//example.org/e.css'; a { background: url(data:image/png;base64,) }")
    assert links.faults(tmp_path) == [
        "a.html links to b.html#there, but there is no such place on that page",
        "a.html links to c.html, which does not exist",
        "d.html loads https://example.org/x.js from elsewhere",
        f"{tmp_path / 'e.css'} loads //example.org/e.css",
    ]
