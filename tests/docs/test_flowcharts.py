"""The flowcharts of docs/architecture.md as pictures: everything is drawn, and nothing lies on anything else."""

import importlib.util
import re
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

import pytest

pytest.importorskip("docutils", reason="the extra docs is not installed")
DOCS = Path(__file__).parents[2] / "docs"
CHARTS = re.findall(r"```mermaid\n(.*?)```", (DOCS / "architecture.md").read_text(encoding="utf-8"), re.DOTALL)


@pytest.fixture(scope="module")
def flowcharts():
    spec = importlib.util.spec_from_file_location("flowcharts", DOCS / "extensions" / "flowcharts.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("text", CHARTS, ids=["stages", "map"])
def test_every_node_and_every_arrow_is_drawn(flowcharts, text):
    chart = flowcharts.read(text)
    picture = ElementTree.fromstring(flowcharts.drawn(chart, "a chart"))
    texts = [element.text for element in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert all(line in texts for label in chart.labels.values() for line in label)
    arrows = [path for path in picture.iter("{http://www.w3.org/2000/svg}path") if path.get("class")]
    written = len(re.findall(r"-->|==>|\.->", text))
    assert len(arrows) == len(chart.arrows) == written


@pytest.mark.parametrize("text", CHARTS, ids=["stages", "map"])
def test_boxes_lie_within_the_picture_and_not_on_each_other(flowcharts, text):
    picture = ElementTree.fromstring(flowcharts.drawn(flowcharts.read(text), "a chart"))
    _, _, width, height = map(float, picture.get("viewBox").split())
    boxes = [
        [float(box.get(name)) for name in ("x", "y", "width", "height")] for box in picture.iter() if "rect" in box.tag
    ]
    for x, y, wide, tall in boxes:
        assert x >= 0
        assert y >= 0
        assert x + wide <= width
        assert y + tall <= height
    for (x, y, wide, tall), (x2, y2, wide2, tall2) in combinations(boxes, 2):
        assert x + wide < x2 or x2 + wide2 < x or y + tall < y2 or y2 + tall2 < y


def test_a_line_that_cannot_be_read_is_refused(flowcharts):
    with pytest.raises(ValueError, match="a line that cannot be read"):
        flowcharts.read('flowchart LR\n    a["one"] --> {b}')
