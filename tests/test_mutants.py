"""Small mistakes in the source: which are made, where they are found again, and in which order tests are run."""

import ast

import pytest

from tests.mutants import Site, draw, mistakes, ordered, sites_of

SOURCE = '''
def first(values, least):
    """Return 1 < 2."""
    if not values:
        raise ValueError("none of" + "these")
    for at, value in enumerate(values):
        if value >= least and at < 10:
            return at - 1
    return -1
'''


def sites(source, tmp_path):
    (function,) = ast.parse(source).body
    return dict(sites_of("graph", "first", function, tmp_path / "x.py", source))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a < b", ["(a <= b)"]),
        ("a + b", ["(a - b)"]),
        ("a and b", ["(a or b)"]),
        ("not a", ["(a)"]),
        ("3", ["4"]),
        ("True", ["False"]),
        ("f(a, b)", ["(f(b, a))"]),
        ("'text'", []),
        ("isinstance(a, b)", []),
    ],
)
def test_a_mistake_is_small(before, after):
    assert list(mistakes(ast.parse(before, mode="eval").body)) == after


def test_what_is_refused_and_said_is_left_alone_and_all_else_is_changed_in_its_place(tmp_path):
    found = sites(SOURCE, tmp_path)
    assert {site.before for site in found} == {
        *("not values", "value >= least and at < 10", "value >= least", "at < 10", "10", "at - 1", "1", "-1")
    }
    for site, place in found.items():
        text = SOURCE.encode()[place.start : place.end].decode()
        assert ast.unparse(ast.parse(text)) == site.before
        changed = SOURCE[: place.start] + site.after + SOURCE[place.end :]
        assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse(SOURCE))


def test_a_site_is_found_in_another_tree_whose_function_lies_elsewhere(tmp_path):
    class Tree:
        def __init__(self, source):
            self.sites = sites(source, tmp_path)

    old, new = Tree(SOURCE), Tree("\n# moved\n" + SOURCE.replace("at < 10", "at < 20"))
    both = draw(old, new, 100, seed=0)
    assert both == draw(new, old, 100, seed=0)
    assert {site.before for site in old.sites} - {site.before for site in both} == {
        *("value >= least and at < 10", "at < 10", "10")
    }


def test_the_tests_of_the_module_come_first_and_then_those_that_name_the_function(tmp_path):
    tests = tmp_path / "tests" / "graph"
    tests.mkdir(parents=True)
    for name, text in {"a": "", "b": "first(1)", "c": "covey.graph.lists", "lists": ""}.items():
        (tests / f"test_{name}.py").write_text(text)
    site = Site("graph", "first", "", "", 1)
    files = ordered(tmp_path, site, tmp_path / "src" / "covey" / "graph" / "lists.py")
    assert [file.rpartition("test_")[2] for file in files] == ["lists.py", "b.py", "c.py", "a.py"]
