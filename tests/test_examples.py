"""The examples run, and draw or print what the documentation shows."""

import importlib.util
from pathlib import Path

import pytest

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
