"""The public surface, what importing costs, the examples in docstrings and in the README."""

import doctest
import importlib
import json
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import covey

HEAVY = ["numba", "pandas", "polars", "matplotlib", "sklearn", "scipy", "dask"]
MODULES = sorted(module.name for module in pkgutil.walk_packages(covey.__path__, "covey."))


def run(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_public_names():
    assert covey.__all__ == [
        "CRS",
        "DS3",
        "Cover",
        "CoverageDisplay",
        "DeltaMedoids",
        "Explanation",
        "FileFormatError",
        "Homogeneity",
        "KeepAll",
        "NearestPrototypeClassifier",
        "NeighborGraph",
        "OneProcessWarning",
        "Prototype",
        "PrototypeMapDisplay",
        "RandomSelector",
        "Recall",
        "Similarity",
        "batched",
        "cover",
        "cover_lower_bound",
        "from_distance",
        "homogeneity",
        "load",
        "neighbor_graph",
        "save",
    ]
    assert set(covey.__all__) == set(covey._HOME)
    for name in covey.__all__:
        assert getattr(covey, name).__doc__
        assert name in dir(covey)
    with pytest.raises(AttributeError, match="module 'covey' has no attribute 'crs_'"):
        covey.crs_  # noqa: B018


@pytest.mark.parametrize("name", covey._MODULES)
def test_modules_load_when_first_used(name):
    assert run(f"import covey, json; print(json.dumps(covey.{name}.__name__))") == f"covey.{name}"


def test_importing_covey_imports_nothing_heavy():
    loaded = run(f"import covey, json, sys; print(json.dumps([m for m in {HEAVY} if m in sys.modules]))")
    assert loaded == []


def test_stages_import_only_to_their_left():
    """objects + similarity -> graph -> coverage -> selectors -> classifier -> persistence."""
    stages = [
        "covey.similarity.collect",
        "covey.graph.graph",
        "covey.coverage.greedy",
        "covey.selectors.crs",
        "covey.classifier",
    ]
    for at, stage in enumerate(stages):
        code = f"import json, sys, {stage}; print(json.dumps([m for m in {stages} if m in sys.modules]))"
        assert run(code) == stages[: at + 1]


@pytest.mark.parametrize("module", MODULES)
def test_examples_in_docstrings(module):
    assert doctest.testmod(importlib.import_module(module)).failed == 0


def test_examples_in_the_readme():
    readme = Path(__file__).parent.parent / "README.md"
    results = doctest.testfile(str(readme), module_relative=False)
    assert results.attempted > 5
    assert results.failed == 0


def test_every_module_says_what_it_is():
    for module in ["covey", *MODULES]:
        assert importlib.import_module(module).__doc__


def test_demo_prints_its_tables(capsys):
    from covey import demo

    demo.main()
    lines = capsys.readouterr().out.splitlines()
    assert sum(line.split()[:2] == ["cluster", "size"] for line in lines) == 3
    for name in ("prototypes", "random", "all objects"):
        rows = [line.split() for line in lines if line.strip().startswith(name)]
        assert all(0 < float(value) <= 1 for row in rows for value in row[-2:])
        assert len(rows) == 2
