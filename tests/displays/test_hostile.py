"""Pages of data that would like to be a script: every page that covey can write, opened in a real browser."""

import os
import re
import shutil
from html import unescape
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from markupsafe import Markup

import covey
from covey import displays
from covey.displays import page as page_maker
from covey.displays.cards import Card
from covey.displays.chart import Axis, Chart, Level, Point, Series
from covey.displays.confusion import Confusion, ConfusionMatrix, Confusions, Example
from covey.displays.drawing import figure, plain
from covey.displays.page import UnsafePageError, render
from covey.displays.picture import Picture
from covey.displays.report import Gallery, Report, Section, Verdict
from covey.displays.table import Table, TableColumn
from covey.experiments import figures, tables
from covey.experiments.paper.report import METHODS
from covey.experiments.runner import report
from covey.experiments.specs import Problem, Spec, Split
from covey.runtime.wording import legible
from tests.browser import requested, shared

HOSTILE = [
    "<script>window.ran = 1</script>",
    "\"><img src=x onerror='window.ran = 2'>",
    "</script><script>window.ran = 3</script><!--",
    "--><svg onload=window.ran=4>",
    "javascript:window.ran=5",
    "{{7*7}} ${7*7} {% raw %}",
    "</style><style>*{background:url(//example.invalid)}</style>",
    "<link rel=stylesheet href=//example.invalid/x.css>",
    "</title></textarea><base href=//example.invalid>",
    "&lt;b&gt; &amp;quot; &#60;",
    "' autofocus onfocus=window.ran=6 x='",
    "a\u2028b\u2029c",
    "\u202etxt.exe\u2066",
    "nul \0 escape \x1b[2J",
    "half \ud83d of a pair \udcff",
    "$\\frac{1}{0}$ and $",
]
"""Texts that would run, load or hide something if a page took them for more than text. `ran` tells which has run."""
SOURCE = Path(covey.__file__).parent


def display_of(label="cluster"):
    n = len(HOSTILE)
    X = np.random.default_rng(0).normal(size=(n, 4))
    selector = covey.KeepAll().fit(X, [label] * n)
    values = {HOSTILE[0]: [HOSTILE[1]] * n, HOSTILE[2]: HOSTILE}
    return covey.displays.PrototypeMapDisplay.from_estimator(selector, X, names=HOSTILE, values=values), X


def write_map(folder):
    display, _ = display_of("".join(HOSTILE))
    display.write_html(folder / "map.html")
    return folder / "map.html"


def write_map_of_images(folder):
    display, X = display_of()
    display.show_images(X, (2, 2)).write_html(folder / "images.html")
    return folder / "images.html"


def drawing():
    drawn = figure(6, 8)
    axes = drawn.subplots()
    for at, text in enumerate(HOSTILE):
        axes.plot([0, 1], [at, at], label=plain(text))
    axes.set(title=plain(HOSTILE[0]), xlabel=plain(HOSTILE[1]))
    axes.set_yticks(range(len(HOSTILE)), list(map(plain, HOSTILE)))
    axes.legend()
    return drawn


def write_report(folder):
    table = Table(
        "numbers", [TableColumn(text) for text in HOSTILE], [HOSTILE, [None] * len(HOSTILE)], caption=HOSTILE[0]
    )
    pixels = np.arange(64, dtype=np.uint8).reshape(8, 8)
    cards = {text: [Card(text, (text, *HOSTILE)), Card(text, pixels=pixels, stands_for=3)] for text in HOSTILE}
    points = [Point(at + 1, at / 9, at / 9, at / 9, text, text) for at, text in enumerate(HOSTILE)]
    series = [Series(text, points) for text in HOSTILE]
    chart = Chart(HOSTILE[0], HOSTILE[1], Axis(HOSTILE[0], "{:g}"), Axis(HOSTILE[1], "{:g}"), series,
                  [Level(text, 0.5) for text in HOSTILE], points[0], HOSTILE[3])  # fmt: skip
    n = len(HOSTILE)
    matrix = ConfusionMatrix(HOSTILE[0], HOSTILE[1], HOSTILE, np.ones((n, n), dtype=np.int64))
    example = [Example(Card(text, HOSTILE), Card(text)) for text in HOSTILE]
    confused = Confusions([Confusion(text, text, 1, 2, example) for text in HOSTILE])
    picture = Picture("drawing", drawing(), "".join(HOSTILE))
    parts = [table, picture, Gallery(HOSTILE[1], cards, HOSTILE[2]), chart, matrix, confused]
    sections = [Section(text, text, parts if text == HOSTILE[0] else []) for text in HOSTILE]
    verdict = Verdict(HOSTILE[0], [(text, text) for text in HOSTILE], "".join(HOSTILE))
    Report("".join(HOSTILE), HOSTILE, sections, verdict).write_page(folder / "page.html")
    return folder / "page.html"


def write_experiments(folder):
    """What `covey reproduce` writes, of a data set whose clusters, methods and objects have hostile names."""
    rng = np.random.default_rng(0)
    clusters = [HOSTILE[at] for at in (0, 1, 13, 14)]
    y = np.repeat(clusters, 6)
    X = rng.normal(size=(y.size, 2)) + 9 * np.repeat(rng.normal(size=(len(clusters), 2)), 6, axis=0)
    split = Split(X, y, X, y, shown=list(y))
    problem = Problem(lambda seed, data_home: split, drawn=False, card=lambda text: Card(text, (text,)))
    names = dict(zip(HOSTILE[:3], ("random-5%", "full-100%", "CRS-k5"), strict=True))
    methods = {name: METHODS[known] for name, known in names.items()}
    shows = (tables.methods_table, tables.by_cluster, figures.bar_charts, figures.points, figures.galleries,
             figures.critical_differences, figures.quality_against_size, figures.confusion_matrices,
             figures.largest_confusions)  # fmt: skip
    specs = [Spec(text, text, show, (HOSTILE[4],), tuple(methods)) for text, show in zip(HOSTILE, shows, strict=False)]
    made = report(folder / "records", specs, title=HOSTILE[3], summary=HOSTILE, problems={HOSTILE[4]: problem},
                  methods=methods, seeds=1)  # fmt: skip
    made.write_page(folder / "experiments.html")
    return folder / "experiments.html"


def hostile_table(folder):
    """A table whose name, columns, labels and texts are hostile. Signs that CSV cannot hold are left out."""
    texts = [text.replace("\0", "").encode("utf-8", "ignore").decode() for text in HOSTILE]
    frame = pd.DataFrame({
        texts[0]: np.repeat(texts[:2], 16),
        texts[1]: [f"{text} {texts[at % 7]}" for at, text in enumerate(texts * 2)],
        texts[2]: [f"{text} {at}" for at, text in enumerate(texts * 2)],
    })  # fmt: skip
    path = folder / "\"><img src=x onerror='window.ran = 7'>\udcff\u202e{{7*7}}.csv"
    frame.to_csv(path, index=False)
    return [os.fspath(path), "--label", texts[0], "--id", texts[2], "--text", texts[1]]


def write_selected(folder, run):
    given = ["select", *hostile_table(folder), "-k", 2, "-o", folder / "few.csv", "--picture", folder / "select.html"]
    assert run(*given)[0] == 0
    return folder / "select.html"


def write_compared(folder, run):
    given = ["compare", *hostile_table(folder), "--methods", "crs,random,all", "-k", "2,3", "--folds", 2]
    code, _, err = run(*given, "-s", "cosine", "--html", folder / "compare.html")
    assert code == 0, err
    return folder / "compare.html"


PAGES = {
    "map": lambda folder, run: write_map(folder),
    "map of images": lambda folder, run: write_map_of_images(folder),
    "report": lambda folder, run: write_report(folder),
    "experiments": lambda folder, run: write_experiments(folder),
    "covey select": write_selected,
    "covey compare": write_compared,
}
"""Every way to write a page. `test_every_template_is_among_these_pages` tells if a new template is missing."""


@pytest.fixture
def browser():
    return shared()


def opened(browser, path):
    """Open a page, and return its text. Nothing may have run, been asked for or been complained about."""
    requested(browser)
    browser.get_log("browser")
    browser.get(path.resolve().as_uri())
    return browser.execute_script("return document.body.textContent")


def assert_quiet(browser, path):
    """No script of the data ran, nothing was requested but the page, and its policy had nothing to forbid."""
    assert browser.execute_script("return window.ran") is None
    assert browser.get_log("browser") == []
    asked = [address for address in requested(browser) if not address.startswith("data:")]
    assert asked == [path.resolve().as_uri()]
    # What is on the page came from the templates: the elements that a hostile text names are not there.
    assert browser.find_elements("css selector", "base, [onload], [onerror], [onfocus], [style*=url], textarea") == []
    assert len(browser.find_elements("css selector", "style")) == 1


def flat(text):
    return re.sub(r"\s+", " ", text)


@pytest.mark.parametrize("name", PAGES)
def test_nothing_of_the_data_runs_and_nothing_is_requested(name, browser, tmp_path, run):
    path = PAGES[name](tmp_path, run)
    opened(browser, path)
    for summary in browser.find_elements("css selector", "details:not([open]) > summary"):
        summary.click()
    if browser.find_elements("id", "map"):
        browser.execute_script("for (let at = 0; at < data.n; at++) choose(at)")
    assert browser.execute_script("return [...document.images].every(i => i.complete && i.naturalWidth > 0)")
    assert_quiet(browser, path)
    assert_has_a_policy_that_allows_only_its_own_files(path.read_text(encoding="utf-8"))


def assert_has_a_policy_that_allows_only_its_own_files(page):
    policies = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', page)
    assert len(policies) == 1
    parts = dict(part.split(" ", 1) for part in policies[0].split("; "))
    assert parts.pop("default-src") == parts.pop("base-uri") == parts.pop("form-action") == "'none'"
    assert parts.pop("img-src") == "data:"
    has_script = "<script>" in page
    assert re.fullmatch(r"'sha256-[\w+/]{43}='" if has_script else "'none'", parts.pop("script-src"))
    assert re.fullmatch(r"'sha256-[\w+/]{43}='", parts.pop("style-src"))
    assert parts == {"require-trusted-types-for": "'script'", "trusted-types": "'none'"}


def test_a_report_shows_hostile_texts_as_they_are(browser, tmp_path):
    path = write_report(tmp_path)
    shown = flat(opened(browser, path))
    for text in HOSTILE:
        # It is in the contents, the heading and the note of a section, a column, a cell, and on cards.
        assert shown.count(flat(legible(text))) >= 20, text
    captions = browser.execute_script("return [...document.images].map(i => i.alt)")
    assert captions[0] == legible("".join(HOSTILE))
    assert captions[1:] == [f"a representative of {legible(text)}" for text in HOSTILE]
    assert flat(browser.title) == flat(legible("".join(HOSTILE))).strip()
    assert_quiet(browser, path)


@pytest.mark.parametrize("write", [write_map, write_map_of_images])
def test_a_map_shows_hostile_names_as_they_are_and_still_works(write, browser, tmp_path):
    path = write(tmp_path)
    opened(browser, path)
    canvas = browser.find_element("id", "map")
    assert canvas.get_attribute("data-points") == str(len(HOSTILE))
    places = browser.execute_script("return [...data.x].map((x, at) => [x, data.y[at]])")
    assert len({tuple(place) for place in places}) == len(HOSTILE)  # all are drawn, each in its own place
    for at, name in enumerate(HOSTILE):
        browser.execute_script("choose(arguments[0])", at)
        assert browser.execute_script("return document.querySelector('#panel h2').textContent") == legible(name)
        for image in browser.find_elements("css selector", "#panel img.large"):
            assert image.get_attribute("alt") == legible(name)
    fields = browser.execute_script("return [...document.querySelectorAll('#panel dl > *')].map(e => e.textContent)")
    assert fields == [legible(HOSTILE[at]) for at in (0, 1, 2, -1)]
    if write is write_map:
        assert flat(browser.find_element("tag name", "h1").text) == f"Cluster {flat(legible(''.join(HOSTILE)))}"
    assert_quiet(browser, path)


INJECTED = (
    "<script>window.ran = 1</script><img src=x onerror='window.ran = 2'><p style='color: red'></p>"
    "<style>p { color: red }</style><img src='http://127.0.0.1:9/x.png'><a href='javascript:window.ran=3' id=link></a>"
)


def test_the_policy_stops_what_escaping_would_let_through(browser, tmp_path):
    """The same page runs the script if it has no policy, so that the other tests would notice one that runs."""
    page = write_map(tmp_path).read_text(encoding="utf-8").replace("<main>", f"<main>{INJECTED}")
    path = tmp_path / "injected.html"
    path.write_text(page, encoding="utf-8")
    opened(browser, path)
    browser.execute_script("document.getElementById('link').click()")
    assert browser.execute_script("return window.ran") is None
    complaints = [entry["message"] for entry in browser.get_log("browser")]
    for directive in ("script-src", "style-src", "img-src"):
        assert any(directive in message for message in complaints), complaints
    unguarded = re.sub(r"<meta http-equiv=[^>]*>", "", page)
    assert unguarded != page
    path.write_text(unguarded, encoding="utf-8")
    opened(browser, path)
    assert browser.execute_script("return window.ran") in (1, 2)


def test_every_template_is_among_these_pages():
    """Whoever adds a page finds that this test fails until the page is among `PAGES`."""
    folder = Path(displays.__file__).parent
    templates = {path.name for path in folder.glob("*.html")} - {"page.html"}
    assert templates == {"map.html", "report.html"}
    for name in templates:
        assert (folder / name).read_text(encoding="utf-8").startswith('{% extends "page.html" %}')


def test_pages_are_made_in_one_place():
    """No other module makes HTML, no template inserts anything unescaped, and no script turns text into HTML."""
    for path in SOURCE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if path.name != "page.py":
            assert not re.search(r"<html|<!doctype|import jinja2|markupsafe", text, re.IGNORECASE), path
        if path.name != "notebook.py":  # test_notebook.py is about this one
            assert not re.search(r"<(table|div|svg|iframe|p)\b", text), path
    for path in SOURCE.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"\|\s*safe\b|autoescape|\sstyle=|\son\w+=|javascript:", text), path
    for path in SOURCE.rglob("*.js"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|Function\(", text), path
        assert "</script" not in text.lower()


@pytest.fixture
def template(tmp_path, monkeypatch):
    """Make a page of a template that a careless person has written."""
    for name in ("page.html", "page.css"):
        shutil.copy(page_maker.FOLDER / name, tmp_path)
    monkeypatch.setattr(page_maker, "FOLDER", tmp_path)
    (tmp_path / "careless.css").write_text("p { margin: 0 }", encoding="utf-8")

    def made(body, **values):
        text = f'{{% extends "page.html" %}}{{% block body %}}{body}{{% endblock %}}'
        (tmp_path / "careless.html").write_text(text, encoding="utf-8")
        return render("careless", {"paper": ("#fff", "#000")}, **values)

    return made


@pytest.mark.parametrize(
    "body",
    [
        "<script>1</script>",
        "<style>p { margin: 1px }</style>",
        "<p onclick='1'>x</p>",
        "<p style='margin: 0'>x</p>",
        "<img src='x.png'>",
        "<a href='javascript:1'>x</a>",
        "<a href=' javascript:1'>x</a>",
        "<a href='https://example.invalid'>x</a>",
        "<form></form>",
        "<iframe srcdoc='x'></iframe>",
        "<base href='#'>",
        "<meta http-equiv='refresh' content='0'>",
        "<script type='application/json'>{}</script><script>1",
    ],
)
def test_a_template_that_could_run_or_load_something_is_refused(template, body):
    with pytest.raises(UnsafePageError):
        template(body)
    assert "<p>" in template("<p>x</p>")


@pytest.mark.parametrize(
    "inserted", ["{{ value }}", "{{ value | safe }}", "{{ value | e }}", "{% set x = value %}{{ x }}"]
)
def test_text_is_escaped_even_if_it_claims_to_be_html(template, inserted):
    page = template(f"<p>{inserted}</p>", value=Markup("<script>1</script>"))
    assert "<script>1" not in page
    assert "<script>1</script>" in unescape(unescape(page))


def test_a_template_that_does_not_extend_the_page_is_refused(template, tmp_path):
    template("<p>x</p>")
    (tmp_path / "careless.html").write_text("<!doctype html><p>x</p>", encoding="utf-8")
    with pytest.raises(UnsafePageError, match=r"extend page\.html"):
        render("careless", {"paper": ("#fff", "#000")})


def test_numbers_that_json_cannot_hold_are_refused(template):
    with pytest.raises(ValueError, match="JSON"):
        template("<p>{{ value | tojson }}</p>", value=[float("nan")])


def test_drawings_of_hostile_texts_are_images_without_scripts():
    """Matplotlib puts texts into comments as well. A control character there would make the file no XML."""
    content = Picture("drawing", drawing(), "").drawn("svg")
    names = set()
    for element in ElementTree.fromstring(content).iter():
        names.add(element.tag.rpartition("}")[2])
        for attribute, value in element.attrib.items():
            assert not attribute.rpartition("}")[2].startswith("on")
            if attribute.endswith("href"):
                assert value.startswith("#")
            assert "url(http" not in value.replace(" ", "")
    assert names <= {"svg", "metadata", "RDF", "Work", "type", "format", "creator", "Agent", "title", "defs", "style",
                     "g", "path", "use", "clipPath", "rect", "text"}  # fmt: skip
    drawn = (element for element in ElementTree.fromstring(content).iter() if element.tag.endswith("}text"))
    texts = {"".join(element.itertext()) for element in drawn}
    assert {legible(text) for text in HOSTILE} <= texts
