"""What a notebook shows of fitted estimators and of maps, and that none of it can run, under any labels."""

import re
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser

import numpy as np
import pytest
from sklearn import config_context
from sklearn.utils import estimator_html_repr

import covey
from covey.displays import PrototypeMapDisplay
from covey.notebook import MOST_CLUSTERS, framed, summary
from tests.browser import requested, started
from tests.displays.test_hostile import HOSTILE

X = np.random.default_rng(0).normal(size=(60, 4)) + 3
y = np.array(["ash", "birch", "cedar"])[np.arange(60) % 3]


class Elements(HTMLParser):
    """The names of all elements and attributes of a piece of HTML, and its text."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.attributes, self.text = [], [], ""
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data):
        self.text += data


def summary_of(estimator):
    """What stands above scikit-learn's diagram."""
    shown, diagram = estimator._repr_html_(), estimator_html_repr(estimator)
    start = diagram.index("<style")
    assert start == 0
    return shown[: shown.index(diagram[:40])]


@pytest.mark.parametrize(
    "make",
    [
        lambda similarity: covey.CRS(5, similarity=similarity),
        lambda similarity: covey.KeepAll(similarity=similarity),
        lambda similarity: covey.Sharpened(covey.CRS(5, similarity=similarity)),
        lambda similarity: covey.NearestPrototypeClassifier(covey.CRS(5, similarity=similarity)),
    ],
    ids=["CRS", "KeepAll", "Sharpened", "classifier"],
)
def test_a_fitted_estimator_shows_sizes_and_coverage_of_its_clusters(make):
    evaluated = []

    def similarity(a, b):
        evaluated.append(1)
        return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))

    estimator = make(similarity).fit(X, y)
    selector = estimator if hasattr(estimator, "prototypes_") else estimator.selector_
    n_evaluated = len(evaluated)
    found = Elements(summary_of(estimator))
    assert len(evaluated) == n_evaluated  # showing evaluates nothing
    assert f"{selector.sample_indices_.size} of 60 objects represent 3 clusters" in found.text
    for label, prototype in selector.prototypes_.items():
        assert f"{label}{prototype.members.size}{prototype.indices.size}{prototype.coverage:.1%}" in found.text
    not_drawn = sum(map(int, re.findall(r"and (\d+) more", found.text)))
    assert found.tags.count("circle") + not_drawn == selector.sample_indices_.size


def test_shares_say_what_they_are_shares_of():
    n_within = 3 * 20 * 19 // 2
    selector = covey.CRS(5, graph="exact").fit(X, y)
    covered = sum(own.stands_for.sum() for own in selector.prototypes_.values()) / 60
    crs = summary_of(selector)
    assert f"represent 3 clusters and stand for {covered:.1%} of all objects." in crs
    assert f"{n_within} similarities were evaluated (100.0% of all pairs within clusters)." in crs
    sharpened = covey.Sharpened(covey.CRS(5), random_state=0).fit(X, y)
    assert re.search(r"evaluated \(\d+\.\d% of all pairs\)\.", summary_of(sharpened))
    assert "of all pairs)." in summary_of(covey.NearestPrototypeClassifier(sharpened).fit(X, y))


def test_what_only_a_dask_cluster_knows_is_left_out():
    """Such prototypes know the sizes of their clusters, but which member is whose would have to be computed."""

    class Lazy:
        size = 60

    selector = covey.CRS(5).fit(X)
    (own,) = selector.prototypes_.values()
    shown = summary("CRS", {0: replace(own, members=Lazy(), covered_by=Lazy())}, "It was free.")
    assert f"{own.indices.size} of 60 objects represent 1 cluster and stand for {own.coverage:.1%}" in shown
    assert "<circle" not in shown


def test_discs_have_areas_by_what_they_stand_for():
    selector = covey.CRS(8).fit(X)
    shown = summary_of(selector)
    radii = np.array([float(value) for value in re.findall(r' r="([\d.]+)"', shown)])
    counts = np.sort(selector.prototypes_[0].stands_for)[::-1]
    np.testing.assert_allclose(radii / radii[0], np.sqrt(counts / counts[0]), atol=0.15)


def test_an_estimator_that_is_not_fitted_keeps_scikit_learns_diagram():
    for estimator in (covey.CRS(5), covey.NearestPrototypeClassifier()):
        shown = estimator._repr_mimebundle_()["text/html"]
        assert "objects represent" not in shown
        assert shown.startswith(estimator_html_repr(estimator)[:200])


def test_the_setting_for_text_is_respected():
    selector = covey.CRS(5).fit(X)
    with config_context(display="text"):
        assert not hasattr(selector, "_repr_html_")
        assert list(selector._repr_mimebundle_()) == ["text/plain"]
    assert "60 objects represent 1 cluster " in selector._repr_mimebundle_()["text/html"]


def test_only_the_largest_of_many_clusters_are_listed():
    labels = np.repeat(np.arange(40), 2)
    selector = covey.KeepAll().fit(np.random.default_rng(0).random((80, 3)), labels)
    found = Elements(summary_of(selector))
    assert found.tags.count("tr") == MOST_CLUSTERS + 1
    assert f"and {40 - MOST_CLUSTERS} smaller clusters." in found.text


def hostile():
    rows = np.random.default_rng(0).random((2 * len(HOSTILE), 4))
    return covey.KeepAll().fit(rows, HOSTILE * 2), rows


def test_hostile_labels_remain_text():
    selector, _ = hostile()
    found = Elements(summary_of(selector))
    assert set(found.tags) <= {"div", "p", "b", "table", "thead", "tbody", "tr", "th", "td", "svg", "circle", "title"}
    names = {name for name, _ in found.attributes}
    assert names <= {"style", "width", "height", "role", "aria-label", "cx", "cy", "r", "fill", "fill-opacity"}
    assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e\ud800-\udfff]", found.text)


def test_a_map_is_shown_in_a_frame_that_can_only_run_its_own_script(tmp_path):
    """The frame stands on a page with hostile names, which must neither run nor reach what is around the frame."""
    selector, rows = hostile()
    display = PrototypeMapDisplay.from_estimator(selector, rows, names=HOSTILE * 2)
    shown = display._repr_html_()
    found = Elements(shown)
    assert found.tags == ["iframe"]
    attributes = dict(found.attributes)
    assert attributes["sandbox"] == "allow-scripts"
    assert attributes["srcdoc"] == unescape(re.search('srcdoc="([^"]*)"', shown)[1]) == display.to_html()
    (tmp_path / "notebook.html").write_text(f"<meta charset='utf-8'><body><h1>notebook</h1>{shown}", encoding="utf-8")
    with started() as browser:
        browser.get((tmp_path / "notebook.html").as_uri())
        requested(browser)
        browser.switch_to.frame(0)
        browser.execute_script("for (let at = 0; at < data.n; at++) choose(at)")
        assert browser.execute_script("return window.ran") is None
        assert browser.execute_script("try { return parent.document.title; } catch (error) { return error.name; }") == (
            "SecurityError"
        )
        assert int(browser.find_element("id", "map").get_attribute("data-points")) == 2 * len(HOSTILE)
        assert browser.get_log("browser") == []


def test_without_jinja_a_notebook_shows_the_text(monkeypatch):
    display = PrototypeMapDisplay.from_estimator(covey.KeepAll().fit(X), X)

    def missing(*_):
        raise ImportError("no jinja2")

    monkeypatch.setattr("covey.displays.page.require", missing)
    assert display._repr_html_() is None


def test_a_frame_cannot_be_left_by_quotes():
    assert Elements(framed('"><script>1</script>', '"><b>')).tags == ["iframe"]
