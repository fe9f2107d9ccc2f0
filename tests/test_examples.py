"""The examples have the form that the gallery needs.

`make docs` runs every page of the gallery, and fails if one of them does. Here only their form is checked.
"""

import ast
import re
import sys
from pathlib import Path

import pytest

import covey
from tests.oldest import requirements

EXAMPLES = Path(__file__).parents[1] / "examples"
PAGES = sorted(EXAMPLES.glob("*/plot_*.py"))
CALLED = {"sklearn": "scikit-learn"}
"""What a package is called in pyproject.toml, where that is not the name it is imported by."""


def imports(tree):
    """The modules that a page imports, and the names that it takes from them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((name.name, None) for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((node.module, name.name) for name in node.names)


def reached(tree):
    """The names that a page reads from covey, such as "CRS" or "datasets.read_hosts"."""
    text = {ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    return {name.removeprefix("covey.") for name in text if re.fullmatch(r"covey(\.\w+)+", name)}


@pytest.fixture(params=PAGES, ids=lambda page: page.stem)
def page(request):
    return request.param.read_text(encoding="utf-8")


def test_a_page_has_a_title_a_story_cells_and_a_way_on(page):
    title, line, *story = ast.get_docstring(ast.parse(page)).splitlines()
    assert line == "=" * len(title)
    assert len(" ".join(story)) > 200
    assert page.count("\n# %%\n") >= 3
    assert "\n# What to try next\n# ----------------\n" in page
    assert "plt.show()" in page or "print(" in page


def test_a_page_uses_only_public_names(page):
    tree = ast.parse(page)
    taken = {module for module, _ in imports(tree) if module.split(".")[0] == "covey"}
    assert "covey" in taken
    assert taken <= {"covey", "covey.dask"}
    for name in reached(tree):
        assert not any(part.startswith("_") for part in name.split("."))
        first, *rest = name.split(".")
        assert first in dir(covey)
        if rest and first == "datasets":
            assert rest[0] in covey.datasets.__all__


def test_a_page_imports_only_packages_that_covey_declares(page):
    declared = {re.match(r"[\w.-]+", line)[0] for line in requirements()}
    packages = {module.split(".")[0] for module, _ in imports(ast.parse(page))} - {"covey"}
    foreign = {CALLED.get(name, name) for name in packages - sys.stdlib_module_names}
    assert foreign <= declared


def test_a_page_that_a_page_refers_to_is_there(page):
    here = next(path.parent for path in PAGES if path.read_text(encoding="utf-8") == page)
    for target in re.findall(r":doc:`([^`]+)`", page):
        assert (here / f"{target}.py").is_file()


def test_a_page_needs_no_data_of_others(page):
    assert not re.search(r"COVEY_DATA|download=True|datasets\.load_(20news|email|who|fashion)|\bfetch_\w+\(", page)


@pytest.mark.parametrize("folder", sorted({page.parent for page in PAGES}), ids=lambda folder: folder.name)
def test_a_folder_of_pages_says_what_it_is_about(folder):
    title, line, *_ = (folder / "GALLERY_HEADER.rst").read_text(encoding="utf-8").splitlines()
    assert line == "-" * len(title)


def test_the_readme_shows_every_picture_that_is_a_file():
    root = EXAMPLES.parent
    text = (root / "README.md").read_text(encoding="utf-8")
    shown = {(root / name).resolve() for name in re.findall(r"!\[[^]]*\]\(([^)]*)\)", text)}
    assert shown == set((root / "docs" / "pictures").glob("*.png"))
