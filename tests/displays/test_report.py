"""Reports: what is on the page, what is in the files, and how a browser shows it."""

import csv
import re
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from covey import displays
from covey.displays import colors
from covey.displays.cards import Card
from covey.displays.chart import Axis, Chart, Level, Point, Series
from covey.displays.confusion import STEPS, Confusion, ConfusionMatrix, Confusions, Example
from covey.displays.picture import Picture
from covey.displays.report import Gallery, Report, Section, Verdict
from covey.displays.table import Table, TableColumn
from tests.browser import assert_renders, page
from tests.displays.test_colors import contrast


def line():
    figure = Figure()
    figure.subplots().plot([1, 2, 3])
    return Picture("a-line", figure, "Three points on a line.")


@pytest.fixture
def report():
    wide = Table(
        "numbers",
        [TableColumn("name"), *(TableColumn(f"a rather long title {at}", ".2f") for at in range(12))],
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


LABELS = ["日本酒", "🍷 赤葡萄酒", "عربي", "a label that is much longer than any column of a matrix can be wide"]


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    """A page like that of `covey compare`."""
    points = [
        Point(x, y, y - 0.02, y + 0.02, str(k), f"k = {k}") for x, y, k in ((1, 0.7, 50), (9, 0.8, 5), (30, 0.9, 2))
    ]
    levels = [Level("all", 0.93), Level("chance", 0.25)]
    axes = Axis("selected, % of all objects (log)", "{:g} %"), Axis("F1", "{:.3f}")
    chart = Chart("curve", "F1 against size.", *axes, [Series("CRS", points)], levels, points[2], "recommended")
    columns = [TableColumn("method"), TableColumn("F1", ".2f", spread=True)]
    table = Table("methods", columns, [("a", (0.7, 0.1)), ("b", None)], marked=1)
    matrix = ConfusionMatrix(
        "matrix", "Shares.", LABELS, np.array([[9, 1, 0, 0], [5, 5, 0, 0], [0, 2, 8, 0], [0, 0, 0, 3]])
    )
    example = Example(Card("row 7", ("alcohol: 12",)), Card("row 9", ("alcohol: 13",)))
    confused = Confusions([Confusion(LABELS[3], LABELS[0], 5, 10, [example, example])])
    drawing = Figure()
    drawing.subplots().set_title("".join(LABELS))
    sections = [
        Section("Curve", "How to read it.", [chart]),
        Section("Table", "", [table]),
        Section("Confused", "", [confused, matrix]),
        Section("Folded", "", [Picture("drawing", drawing, "Any language.")], folded=True),
    ]
    verdict = Verdict("Use it.", [("Why", "It is best.")], "covey select 'my data.csv' -k 5")
    path = tmp_path_factory.mktemp("compared") / "page.html"
    Report("Compared", ["Four clusters."], sections, verdict).write_page(path)
    return path


@pytest.mark.parametrize(("width", "shown", "hidden"), [(1200, "desktop", "phone"), (390, "phone", "desktop")])
def test_a_chart_is_laid_out_for_the_window_and_its_words_can_be_read(compared, width, shown, hidden):
    assert_renders(compared, phone=width == 390)
    with page(compared, width, 844, phone=width == 390) as browser:
        assert browser.find_element("css selector", f"svg.{shown}").is_displayed()
        assert not browser.find_element("css selector", f"svg.{hidden}").is_displayed()
        places = browser.execute_script(
            """
            const svg = document.querySelector(arguments[0]), frame = svg.getBoundingClientRect();
            return [...svg.querySelectorAll('text')].map(text => {
                const place = text.getBoundingClientRect();
                return [text.textContent, place.height, place.left >= frame.left - 1 && place.right <= frame.right + 1];
            });""",
            f"svg.{shown}",
        )
        assert {"all: 0.930", "chance: 0.250", "recommended", "5", "10 %"} <= {text for text, _, _ in places}
        legend = [entry.text for entry in browser.find_elements("css selector", ".legend li")]
        assert legend == ["CRS", "all: 0.930", "chance: 0.250", "recommended"]
        for text, height, inside in places:
            assert height >= 12, text  # letters of at least 10 pixels
            assert inside, text


def test_the_verdict_stands_on_top_and_a_click_marks_the_whole_command(compared):
    with page(compared, 390, 844, phone=True) as browser:
        tops = browser.execute_script("return [...document.querySelectorAll('h2')].map(h => h.textContent)")
        assert tops == ["Use it.", "Contents", "Curve", "Table", "Confused", "Folded"]
        code = browser.find_element("css selector", ".verdict code")
        code.click()
        assert browser.execute_script("return getSelection().toString()") == "covey select 'my data.csv' -k 5"


def test_the_recommended_row_stands_out_in_the_table_and_in_the_chart(compared):
    with page(compared) as browser:
        (row,) = browser.find_elements("css selector", "tr.marked")
        assert row.text == "b"
        plain = browser.find_element("css selector", "tbody tr:not(.marked) td").value_of_css_property(
            "background-color"
        )
        assert row.find_element("tag name", "td").value_of_css_property("background-color") != plain
        ring, mark = browser.execute_script("""
            const ring = document.querySelector('svg.desktop .ring'), mark = ring.parentNode.querySelector('use');
            const places = [ring, mark].map(own => own.getBoundingClientRect());
            return places.map(place => [place.x + place.width / 2, place.y + place.height / 2]);
        """)
        np.testing.assert_allclose(ring, mark, atol=1)
        assert "k = 2" in browser.execute_script("return document.querySelector('.ring').parentNode.textContent")


@pytest.mark.parametrize("width", [1200, 390])
def test_both_cards_of_an_example_begin_and_end_at_the_same_height(compared, width):
    """What one card is takes more lines than what the other is."""
    with page(compared, width, 844, phone=width == 390) as browser:
        places = browser.execute_script("""
            const places = what => [...document.querySelectorAll(`.example:first-child ${what}`)].map(own => {
                const place = own.getBoundingClientRect(); return [place.top, place.bottom]; });
            return [places('.role'), places('.card')];""")
        (one, other), (asked, decided) = places
        assert one[1] - one[0] > other[1] - other[0] + 5
        np.testing.assert_allclose(asked, decided, atol=0.01)
        assert one[1] <= asked[0]


def test_a_verdict_that_recommends_nothing_is_not_green(tmp_path):
    colors = []
    for recommends in (True, False):
        path = tmp_path / f"{recommends}.html"
        Report("r", [], verdict=Verdict("Hm.", [], recommends=recommends)).write_page(path)
        with page(path) as browser:
            color = browser.find_element("css selector", ".verdict").value_of_css_property("border-left-color")
            good = browser.execute_script(
                "return getComputedStyle(document.documentElement).getPropertyValue('--good')"
            )
            red, green, blue = (int(good.strip()[at : at + 2], 16) for at in (1, 3, 5))
            colors.append(f"({red}, {green}, {blue}" in color)
    assert colors == [True, False]


def test_a_line_of_a_card_that_is_cut_says_so():
    card = Card.of_text("", ["x" * 200, "short"])
    assert card.lines == (f"{'x' * 89}…", "short")
    assert Card.of_fields("", {"name": "y" * 200}).lines[0].endswith("y…")


def test_a_link_of_the_contents_unfolds_what_it_leads_to(compared):
    with page(compared) as browser:
        details = browser.find_element("css selector", "details.section")
        assert not details.get_property("open")
        browser.find_element("link text", "Folded").click()
        assert details.get_property("open")
        image = browser.find_element("css selector", "details img")
        assert image.is_displayed()


def test_words_on_all_steps_of_a_confusion_matrix_can_be_read_in_both_modes(compared):
    """WCAG 2 asks for a contrast of 4.5."""
    with page(compared) as browser:
        cells = browser.find_elements("css selector", ".heat td")
        assert [cell.get_attribute("class") for cell in cells[:2]] == ["heat9", "heat1"]
        for mode in ("light", "dark"):
            media = {"features": [{"name": "prefers-color-scheme", "value": mode}]}
            browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
            drawn = browser.execute_script("""
                const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
                const hex = color => { canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1);
                    return '#' + [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3)
                        .map(part => part.toString(16).padStart(2, '0')).join(''); };
                return [...Array(arguments[1]).keys()].map(step => {
                    arguments[0].className = `heat${step}`;
                    const style = getComputedStyle(arguments[0]);
                    return [hex(style.color), hex(style.backgroundColor)]; });""", cells[0], STEPS + 1)  # fmt: skip
            assert len({ground for _, ground in drawn}) == STEPS + 1
            for step, shown in enumerate(drawn):
                assert contrast(*shown) >= 4.5, (mode, step)


@pytest.mark.parametrize("mode", [0, 1], ids=["light", "dark"])
def test_colors_of_charts_and_of_what_is_recommended_can_be_read(mode):
    shown = {name: color[mode] for name, color in colors.REPORT_PAGE.items()}
    for name in shown:
        if name.startswith("series") or name == "good":
            assert contrast(shown[name], shown["paper"]) >= 4.5, name
    assert contrast(shown["ink"], shown["marked"]) >= 4.5


def test_labels_in_any_language_are_text_on_the_page_and_in_drawings(compared):
    with page(compared) as browser:
        rows = [row.text for row in browser.find_elements("css selector", ".heat th[scope=row]")]
        assert rows == LABELS
        columns = browser.find_elements("css selector", ".heat th[scope=col] span")
        assert [column.get_property("textContent") for column in columns] == LABELS
        assert max(column.size["height"] for column in columns) <= 150
    drawing = Figure()
    drawing.subplots().set_title("日本酒 🍷")
    assert "日本酒 🍷</text>" in Picture("drawing", drawing, "").drawn("svg").decode()


def test_a_png_writes_chinese_where_a_font_for_it_is_installed():
    from matplotlib.font_manager import fontManager

    if not any("CJK" in font.name for font in fontManager.ttflist):
        pytest.skip("needs a font for Chinese: Debian's package fonts-noto-cjk")
    drawn = []
    for text in ("日", "本"):  # if no font has them, both are the same box
        drawing = Figure(figsize=(1, 1))
        drawing.text(0.5, 0.5, text)
        drawn.append(Picture("drawing", drawing, "").drawn("png"))
    assert drawn[0] != drawn[1]


def test_colors_stand_in_one_file():
    """Style sheets and templates name colors by variables, which `colors.py` defines."""
    folder = Path(displays.__file__).parent
    used = set()
    for path in (path for ending in ("css", "html", "js") for path in folder.rglob(f"*.{ending}")):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"[:\s]#[0-9a-f]{3,8}\b(?! \{)", text), path
        used |= set(re.findall(r"var\(--(\w+)\)", text))
    assert used == set(colors.MAP_PAGE) | set(colors.REPORT_PAGE)
