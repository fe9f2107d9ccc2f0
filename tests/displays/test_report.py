"""Reports: what is on the page, what is in the files, and how a browser shows it."""

import csv
import re
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from covey import displays
from covey.displays import colors
from covey.evaluation import Card, Column, Gallery, Picture, Report, Section, Table
from tests.browser import assert_renders


def line():
    figure = Figure()
    figure.subplots().plot([1, 2, 3])
    return Picture("a-line", figure, "Three points on a line.")


@pytest.fixture
def report():
    wide = Table(
        "numbers",
        [Column("name"), *(Column(f"a rather long title {at}", ".2f") for at in range(12))],
        [("<b>x & y</b>", *np.arange(12) / 7), ("empty", *[None] * 12)],
        caption="Many columns.",
    )
    pixels = np.arange(784, dtype=np.uint8).reshape(28, 28)
    cards = {
        "images": [Card(pixels=pixels, stands_for=5)],
        "texts": [
            Card("A_title_without_any_place_to_break" * 5, ("first", "second <script>alert(1)</script>"), None, 1)
        ],
    }
    sections = [Section("Tables", "Some words.", [wide]), Section("The rest", "More.", [line(), Gallery("All", cards)])]
    return Report("A report", ["Words & more."], sections)


def test_the_page_stands_alone(report):
    page = report.html()
    assert not re.search(r'(src|href)="(?!data:|#)', page)
    assert "<script" not in page
    assert "&lt;b&gt;x &amp; y&lt;/b&gt;" in page
    assert "stands for 5" in page


def test_tables_and_pictures_are_also_files_of_their_own(report, tmp_path):
    page = report.write(tmp_path / "new")
    assert page.read_text() == report.html()
    with (tmp_path / "new" / "numbers.csv").open(newline="") as file:
        rows = list(csv.reader(file))
    assert [float(value) for value in rows[1][1:]] == (np.arange(12) / 7).tolist()  # as exact as they were
    assert rows[2] == ["empty", *[""] * 12]
    names = {path.name for path in (tmp_path / "new").iterdir()}
    assert names == {"report.html", "numbers.csv", "a-line.svg", "a-line.png"}


def test_the_same_report_is_the_same_file(report):
    assert report.html() == report.html()
    assert line().drawn("svg") == line().drawn("svg")


@pytest.mark.parametrize("phone", [False, True])
def test_a_browser_shows_the_whole_page(report, tmp_path, phone):
    shown = assert_renders(report.write(tmp_path), phone=phone)
    assert "A report" in shown
    assert "stands for 5" in shown


def test_colors_stand_in_one_file():
    """Style sheets and templates name colors by variables, which `colors.py` defines."""
    folder = Path(displays.__file__).parent
    used = set()
    for path in (path for ending in ("css", "html", "js") for path in folder.glob(f"*.{ending}")):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"[:\s]#[0-9a-f]{3,8}\b(?! \{)", text), path
        used |= set(re.findall(r"var\(--(\w+)\)", text))
    assert used == set(colors.MAP_PAGE) | set(colors.REPORT_PAGE)
