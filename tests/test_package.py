"""The public surface, what importing costs, the examples in docstrings and in the README."""

import ast
import doctest
import importlib
import json
import os
import pkgutil
import platform
import re
import runpy
import subprocess
import sys
from importlib import metadata, resources
from pathlib import Path

import pytest

import covey
from covey.exceptions import MissingDataError
from tests.oldest import PROJECT

HEAVY = ["numba", "pandas", "polars", "matplotlib", "sklearn", "scipy", "dask"]
PUBLIC_MODULES = ["dask", "datasets", "displays", "evaluation", "exceptions", "results", "typing"]
DISTRIBUTIONS = {
    "charset_normalizer": "charset-normalizer",
    "scikit_posthocs": "scikit-posthocs",
    "sklearn": "scikit-learn",
}
"""Distributions whose name is not that of their module."""
MODULES = sorted(module.name for module in pkgutil.walk_packages(covey.__path__, "covey."))


ROOT = Path(__file__).parent.parent
OLDEST = PROJECT["requires-python"].removeprefix(">=")
"""The oldest Python that covey supports."""


def run(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_public_names():
    assert covey.__all__ == [
        "CRS",
        "Cluster",
        "DS3",
        "DeltaMedoids",
        "KeepAll",
        "Measure",
        "NNDescent",
        "NearestPrototypeClassifier",
        "NeighborGraph",
        "PackedBits",
        "Prototype",
        "RandomSelector",
        "Selector",
        "Sharpened",
        "Similarity",
        "batched",
        "cover",
        "cover_lower_bound",
        "find_clusters",
        "from_distance",
        "homogeneity",
        "load",
        "neighbor_graph",
        "register_similarity",
        "save",
        "similarity_names",
        "threshold_graph",
    ]
    assert sorted(dir(covey)) == sorted([*covey.__all__, *PUBLIC_MODULES, "__version__"])
    for name in covey.__all__:
        assert getattr(covey, name).__doc__
    with pytest.raises(AttributeError, match="module 'covey' has no attribute 'crs_'"):
        covey.crs_  # noqa: B018


def test_a_star_import_brings_all_public_names():
    names = run("from covey import *; import json; print(json.dumps(sorted(set(dir()) & set(globals()))))")
    assert set(covey.__all__) <= set(names)


def test_modules_load_when_first_used():
    used = ", ".join(f"covey.{name}.__name__" for name in PUBLIC_MODULES)
    assert run(f"import covey, json; print(json.dumps([{used}]))") == [f"covey.{name}" for name in PUBLIC_MODULES]


def test_type_checkers_are_told_of_all_public_names_and_that_the_package_is_typed():
    for name in ("__init__.pyi", "py.typed"):
        assert resources.files("covey").joinpath(name).is_file()


def test_the_package_has_the_version_of_the_source():
    assert metadata.version("covey") == covey.__version__


def test_every_library_that_is_imported_is_declared():
    """The core may import what the core declares; an optional library belongs to the extra that `require` names."""
    found = {extra: set() for extra in ("core", "plot", "text", "chem", "dask", "cli")}
    for path in Path(covey.__path__[0]).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            extra, names = _libraries(node, "cli" if "cli" in path.parts else "core")
            found[extra] |= {name.split(".")[0] for name in names}
    found["core"] -= {"rich"}  # the bar is left out where rich is not installed
    core = {_normal(line) for line in PROJECT["dependencies"]}
    for extra, modules in found.items():
        declared = core | {_normal(line) for line in PROJECT["optional-dependencies"].get(extra, [])}
        outside = modules - set(sys.stdlib_module_names) - {"covey"}
        assert {DISTRIBUTIONS.get(module, module) for module in outside} <= declared, extra
    assert {DISTRIBUTIONS.get(module, module) for module in found["core"]} >= core  # and nothing more is declared


def _libraries(node, extra):
    """The extra that an import or a call of `require` belongs to, and the modules that it names."""
    if isinstance(node, ast.Import):
        return extra, [name.name for name in node.names]
    if isinstance(node, ast.ImportFrom):
        return extra, [node.module]
    if isinstance(node, ast.Call) and getattr(node.func, "id", None) == "require":
        module, extra = (argument.value for argument in node.args)
        return extra, [module]
    return extra, []


def _normal(requirement):
    """The name of the distribution that a requirement asks for."""
    return re.match(r"[\w.-]+", requirement)[0].lower()


def test_importing_covey_imports_nothing_heavy():
    loaded = run(f"import covey, json, sys; print(json.dumps([m for m in {HEAVY} if m in sys.modules]))")
    assert loaded == []


class Runner(doctest.DocTestRunner):
    """Runs examples, and notes which docstrings need a data set that is not on this machine."""

    def __init__(self):
        super().__init__()
        self.lacking = set()

    def report_unexpected_exception(self, out, test, example, exc_info):
        if issubclass(exc_info[0], MissingDataError):
            self.lacking.add(test.name)
        super().report_unexpected_exception(out, test, example, exc_info)


@pytest.mark.parametrize("module", MODULES)
def test_examples_in_docstrings(module):
    runner = Runner()
    found = doctest.DocTestFinder().find(importlib.import_module(module))
    failed = {test.name for test in found if runner.run(test).failed}
    assert failed <= runner.lacking
    if failed:
        pytest.skip(f"{', '.join(sorted(failed))}: the data set is not on this machine")


def test_examples_in_the_readme():
    readme = Path(__file__).parent.parent / "README.md"
    results = doctest.testfile(str(readme), module_relative=False)
    assert results.attempted > 5
    assert results.failed == 0


def test_examples_in_the_guide_for_contributors():
    """The guide shows a similarity and a selector of one's own; a classifier takes both."""
    guide = (Path(__file__).parent.parent / "CONTRIBUTING.md").read_text()
    names = {}
    for block in re.findall(r"```python\n(.*?)```", guide, re.DOTALL):
        exec(block, names)
    selector = names["Medoid"](similarity="alike in length")
    model = covey.NearestPrototypeClassifier(selector).fit(
        ["a", "bc", "b", "wxyz", "vwxyz", "stuvw"], [0, 0, 0, 1, 1, 1]
    )
    assert model.predict(["i", "pqrst"]).tolist() == [0, 1]
    assert model.selector_.sample_indices_.tolist() == [0, 4]


def test_the_typed_example_runs(capsys):
    runpy.run_path(str(Path(__file__).parent.parent / "examples" / "typed.py"), run_name="__main__")
    assert capsys.readouterr().out


def test_every_module_says_what_it_is():
    for module in ["covey", *MODULES]:
        assert importlib.import_module(module).__doc__


def test_whoever_sets_up_covey_is_told_which_python_it_needs():
    for page in ("README.md", "CONTRIBUTING.md", "Makefile", "docs/start.md"):
        assert f"Python {OLDEST} or later" in (ROOT / page).read_text(encoding="utf-8"), page


def test_the_oldest_python_that_is_supported_is_found_on_the_machine(tmp_path):
    """Nothing that is supported is older than the oldest one, and the first on the path comes before its equals."""
    versions = {"python3": "3.14.0", "python3.10": "3.10.14", "python3.11": OLDEST, "python3.12": "3.12.10"}
    for name, version in versions.items():
        (tmp_path / name).write_text(f"#!/bin/sh\necho {version}\n")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "python3.13").write_text("#!/bin/sh\nexit 1  # it has no venv\n")
    (tmp_path / "python3.13").chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run(["bash", ROOT / ".ci" / "oldest-python"], env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, f"{tmp_path}/python3.11\n")


def test_an_environment_of_another_python_than_the_one_that_is_named_is_made_anew(tmp_path):
    made = tmp_path / ".installed"
    command = ["make", "--dry-run", "--directory", ROOT, f"PYTHON={sys.executable}", f"VENV={tmp_path}", made]
    outer = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    for version, anew in (("3.11.0", True), (platform.python_version(), False)):
        (tmp_path / "pyvenv.cfg").write_text(f"home = /usr/bin\nversion = {version}\n")
        made.touch()
        done = subprocess.run(command, env=outer, capture_output=True, text=True, check=True)
        assert (f"-m venv --clear {tmp_path}" in done.stdout) is anew, done.stdout
