"""The examples run, and draw or print what the documentation shows."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

import covey

EXAMPLES = Path(__file__).parents[1] / "examples"


def load(name):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("picture", ["boundary", "margins"])
def test_pictures_of_sharpening_are_drawn(picture, tmp_path):
    load("sharpening").__dict__[picture](tmp_path)
    (drawn,) = tmp_path.iterdir()
    assert drawn.name == f"sharpening-{picture}.png"
    assert drawn.read_bytes().startswith(b"\x89PNG")


def test_every_picture_of_the_page_on_sharpening_is_there():
    page = (EXAMPLES.parent / "docs" / "sharpening.md").read_text(encoding="utf-8")
    drawn = {path.name for path in (EXAMPLES.parent / "docs" / "pictures").iterdir()}
    assert {name for name in drawn if f"(pictures/{name})" in page} == drawn


def test_the_example_on_a_cluster_runs(tmp_path):
    pytest.importorskip("distributed", reason="needs the extra dask")
    done = subprocess.run(
        [sys.executable, EXAMPLES / "cluster.py"], cwd=tmp_path, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert "of the rows get their own label back" in done.stdout
    assert covey.load(tmp_path / "cluster-model.covey").classes_.tolist() == ["left", "right"]
