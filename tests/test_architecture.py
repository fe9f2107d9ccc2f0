"""The shape of the source tree: who imports whom.

Everything is read by `ast` from the source of the package that Python finds: no module is imported. Imports inside
functions and those for type checkers count like any other, and a name that a module takes from `covey` itself counts as
an import of the module that defines it. The same reading draws the map in `docs/architecture.md`. To draw it again
after a change, run ``make map``, which calls ``python -m tests.test_architecture``.
"""

import ast
import re
from collections import defaultdict
from functools import cache
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = Path(find_spec("covey").origin).parent
PAGE = ROOT / "docs" / "architecture.md"
BEGIN, END = "<!-- The map begins here; make map draws it. -->\n", "<!-- The map ends here. -->\n"

STAGES = [
    "exceptions",
    "arrays",
    "runtime",
    "storage",
    "similarity",
    "graph",
    "typing",
    "coverage",
    "prototype",
    "notebook",
    "selectors",
    "rejection",
    "classifier",
    "evaluation",
    "results",
    "dask",
    "persistence",
    "displays",
    "datasets",
    "experiments",
    "demo",
    "cli",
    "__main__",
]
"""The folders and modules directly under covey, in the order in which data passes through them. Each may import only
those before it."""


@cache
def modules():
    """{dotted name: parsed source} of every module of the package."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = ast.parse(path.read_text())
    return found


@cache
def exports():
    """{public name: the module that covey takes it from}."""
    stub = ast.parse((PACKAGE / "__init__.pyi").read_text())
    lines = [line for line in stub.body if isinstance(line, ast.ImportFrom)]
    return {name.name: _module_of(line.module, name.name) for line in lines for name in line.names}


@cache
def graph():
    """{module: the modules that it imports}. No module imports itself, and `covey` alone imports nothing."""
    return {module: sorted(_imports(tree) - {module, "covey"}) for module, tree in modules().items()}


def _imports(tree):
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names if name.name in modules()}
        elif isinstance(node, ast.ImportFrom) and node.module == "covey":
            found |= {_module_of("covey", name.name) for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("covey."):
            found |= {_module_of(node.module, name.name) for name in node.names}
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "covey":
            found.add(exports().get(node.attr, "covey"))
    return found


def _module_of(module, name):
    """The module that ``from module import name`` reads."""
    if f"{module}.{name}" in modules():
        return f"{module}.{name}"
    return exports().get(name, "covey") if module == "covey" else module


def stage_of(module):
    """The folder or module directly under covey that a module belongs to."""
    return module.split(".")[1]


def cycle():
    """Some modules that import each other in a circle, or an empty list."""
    done = set()

    def visit(module, path):
        if module in path:
            return [*path[path.index(module) :], module]
        if module in done:
            return []
        found = next(filter(None, (visit(imported, [*path, module]) for imported in graph()[module])), [])
        done.add(module)
        return found

    return next(filter(None, (visit(module, []) for module in graph())), [])


def stage_graph():
    """{stage: the other stages that it imports}, both in the order of the stages."""
    pairs = {(stage_of(a), stage_of(b)) for a, imported in graph().items() for b in imported if a != "covey"}
    present = [stage for stage in STAGES if any(stage_of(module) == stage for module in graph() if module != "covey")]
    return {a: [b for b in present if b != a and (a, b) in pairs] for a in present}


def draw():
    """The stages as a diagram and as a table, in Markdown."""
    return "\n".join([*_diagram(), "", *_table(), ""])


def _diagram():
    """An arrow leads from what is imported to what imports it. Arrows that others imply are left out."""
    stages = stage_graph()
    behind = {}  # all that a stage imports, directly or through others
    for stage, imported in stages.items():
        behind[stage] = set(imported).union(*(behind[other] for other in imported))
    yield "```mermaid"
    yield "flowchart LR"
    for stage in stages:
        yield f'    {stage}["{_title(stage)}"]'
    for stage, imported in stages.items():
        implied = set().union(*(behind[other] for other in imported))
        for other in imported:
            if other not in implied:
                yield f"    {other} --> {stage}"
    yield "```"


def _table():
    yield "| where | what it is |"
    yield "|---|---|"
    for stage in stage_graph():
        paragraph = " ".join(ast.get_docstring(modules()[f"covey.{stage}"]).partition("\n\n")[0].split())
        what = paragraph.partition(". ")[0].rstrip(".")
        yield f"| `{_title(stage)}` | {what}. |"


def _title(stage):
    return f"{stage}/" if (PACKAGE / stage).is_dir() else f"{stage}.py"


def redraw():
    before, _, rest = PAGE.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}{draw()}{END}{after}")


# The tests


def test_every_stage_has_its_place_in_the_order():
    assert {stage_of(module) for module in graph() if module != "covey"} <= set(STAGES)


def test_stages_import_only_stages_to_their_left():
    place = {stage: number for number, stage in enumerate(STAGES)}
    wrong = [
        f"{module} imports {imported}"
        for module, all_imported in graph().items()
        for imported in all_imported
        if place[stage_of(imported)] > place[stage_of(module)]
    ]
    assert wrong == []


def test_no_modules_import_each_other_in_a_circle():
    assert cycle() == []


def test_no_import_of_covey_is_hidden_in_a_string():
    called = ("import_module", "__import__", "require")
    hidden = [
        f"{module}, line {node.lineno}"
        for module, tree in modules().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and (getattr(node.func, "id", None) in called or getattr(node.func, "attr", None) in called)
        and any(isinstance(a, ast.Constant) and str(a.value).split(".")[0] == "covey" for a in node.args)
    ]
    assert hidden == []


def test_internal_folders_export_nothing():
    """Only public packages re-export names. The `__init__.py` of any other folder holds a docstring, or defines the
    thing that the folder is named after."""
    public = tuple(f"covey.{name}" for name, home in exports().items() if home == f"covey.{name}")
    packages = [".".join(path.parent.relative_to(PACKAGE.parent).parts) for path in PACKAGE.rglob("__init__.py")]
    internal = [name for name in packages if name != "covey" and not name.startswith(public)]
    definitions = (ast.ClassDef, ast.FunctionDef)
    bodies = {name: modules()[name].body for name in internal}
    filled = [name for name, body in bodies.items() if len(body) > 1]
    assert [name for name in filled if not any(isinstance(node, definitions) for node in bodies[name])] == []


def test_no_two_classes_have_the_same_name():
    """A name in an error, in a pickle or in a search of the source means one class. The estimators of `covey.dask` are
    the exception: they are called like the local ones that they stand for, as `dask.array` is like NumPy."""
    homes = defaultdict(list)
    for module, tree in modules().items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                homes[node.name].append(module)
    assert {name: found for name, found in homes.items() if len(found) > 1} == {
        "CRS": ["covey.dask.crs", "covey.selectors.crs"],
        "NearestPrototypeClassifier": ["covey.classifier", "covey.dask.classifier"],
    }


def test_the_docstring_of_a_folder_names_only_files_that_it_has():
    """A path that begins with covey/ is one of the package."""
    wrong = []
    for path in sorted(PACKAGE.rglob("__init__.py")):
        named = re.findall(r"`([\w/]+\.py)`", ast.get_docstring(ast.parse(path.read_text())) or "")
        wrong += [
            f"{path.parent.relative_to(PACKAGE.parent)} has no {name}"
            for name in named
            if not list(path.parent.rglob(name)) and not (PACKAGE.parent / name).exists()
        ]
    assert wrong == []


def test_the_page_shows_the_map_of_this_tree():
    shown = PAGE.read_text().partition(BEGIN)[2].partition(END)[0]
    assert shown == draw(), "the imports have changed since the map was drawn; run: make map"


if __name__ == "__main__":
    redraw()
