"""The page of a map in a real browser: what is drawn, and what the pointer, fingers, keys and words do."""

import base64
import json
import re

import numpy as np
import pandas as pd
import pytest
from selenium.webdriver import ActionChains, Keys
from selenium.webdriver.support.ui import Select
from sklearn.datasets import make_blobs

import covey
from covey.displays import PrototypeMapDisplay, colors
from covey.displays.map import as_base64
from tests.browser import assert_renders
from tests.displays.test_colors import contrast

LABELS = np.array(["ash", "birch", "cedar"])
LONG = "A_name_without_any_place_to_break" * 5


IN_SIGHT = """
    const inside = (place, end) => place >= 0 && place < end;
    const within = at => inside(view.left(at), view.width) && inside(view.top(at), view.height);
    return data.representatives.filter(within).length"""
ELEMENT_AT = """
    const box = canvas.getBoundingClientRect(), at = arguments[0];
    return document.elementFromPoint(box.left + view.left(at), box.top + view.top(at)).id"""
WHEEL_AT = """
    const box = canvas.getBoundingClientRect(), [left, top] = [view.left(arguments[0]) + 1, view.top(arguments[0]) + 1];
    const turn = {deltaY: -900, clientX: box.left + left, clientY: box.top + top, cancelable: true};
    canvas.dispatchEvent(new WheelEvent("wheel", turn))"""


def data_of(page):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)[1])


def unpacked(text):
    return np.frombuffer(base64.b64decode(text[1:]), dtype=f"<u{text[0]}").astype(int)


def display_of(n=90, k=8, **options):
    X, y = make_blobs(n, n_features=4, centers=3, cluster_std=1.0, center_box=(2, 9), random_state=0)
    return PrototypeMapDisplay.from_estimator(covey.CRS(k).fit(X, LABELS[y]), X, **options)


@pytest.fixture(scope="module")
def shown():
    """Three clusters, with a name that would like to be a script and a long one."""
    names = [f"tree {row}" for row in range(90)]
    names[0], names[1] = "</script><script>alert(1)</script><!-- & \"'", LONG
    values = pd.DataFrame({"height": np.arange(90) / 4, "remark": [f"found in plot-{row % 7}" for row in range(90)]})
    return display_of(names=names, values=values)


@pytest.fixture(scope="module")
def path(shown, tmp_path_factory):
    path = tmp_path_factory.mktemp("map") / "map.html"
    shown.write_html(path)
    return path


@pytest.fixture
def page(desk, path):
    """The page of `shown`, opened anew. Nothing that a test does may write to the console."""
    desk.get(path.as_uri())
    settled(desk)
    yield desk
    assert desk.get_log("browser") == []


def settled(browser):
    """Wait until what was asked for is drawn."""
    browser.execute_async_script("const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(done))")


def panel_of(browser):
    return browser.find_element("id", "panel").text.split("\n")


def drawn(browser):
    """How many objects are within sight, and how many representatives are drawn large."""
    settled(browser)
    canvas = browser.find_element("id", "map")
    return int(canvas.get_attribute("data-points")), int(canvas.get_attribute("data-large"))


def place_of(browser, at):
    """Where an object lies, seen from the middle of the canvas."""
    return browser.execute_script("const at = arguments[0]; return [Math.round(view.left(at) - view.width / 2),"
                                  " Math.round(view.top(at) - view.height / 2)]", int(at))  # fmt: skip


def click(browser, at):
    canvas = browser.find_element("id", "map")
    ActionChains(browser).move_to_element_with_offset(canvas, *place_of(browser, at)).click().perform()
    settled(browser)


def largest(display):
    return int(np.argmax(display.stands_for))


class TestData:
    def test_a_page_stands_alone(self, shown, path):
        text = path.read_text(encoding="utf-8")
        assert text == shown.to_html()
        assert not re.search(r'(src|href)="(?!data:|#)', text)
        assert text.count("</script>") == 2  # of the data and of the code
        assert "alert(1)" not in re.sub(r'<script type="application/json".*?</script>', "", text, flags=re.DOTALL)
        assert [one.name for one in path.parent.iterdir()] == ["map.html"]
        with pytest.raises(FileNotFoundError, match="existing folder"):
            shown.write_html(path.parent / "missing" / "map.html")

    def test_it_holds_what_the_display_holds(self, shown):
        data = data_of(shown.to_html())
        assert data["names"] == shown.names
        assert (unpacked(data["coveredBy"]) - 1).tolist() == shown.covered_by.tolist()
        assert unpacked(data["representatives"]).tolist() == np.flatnonzero(shown.is_representative).tolist()
        assert unpacked(data["standsFor"]).tolist() == shown.stands_for[shown.is_representative].tolist()
        assert [data["clusters"][at] for at in unpacked(data["clusterOf"])] == shown.labels
        assert (unpacked(data["neighbors"]) - 1).tolist() == shown.neighbors.ravel().tolist()
        shares = unpacked(data["similarities"]).reshape(shown.similarities.shape) / 65535
        spread = data["highest"] - data["lowest"]
        np.testing.assert_allclose(data["lowest"] + spread * shares, shown.similarities, atol=spread / 65535)
        x, y = shown.positions.T
        span = max(np.ptp(x), np.ptp(y))
        np.testing.assert_allclose(unpacked(data["x"]) / 65535 * data["wide"], (x - x.min()) / span, atol=1e-4)
        np.testing.assert_allclose(unpacked(data["y"]) / 65535 * data["high"], (y.max() - y) / span, atol=1e-4)

    @pytest.mark.parametrize("largest", [0, 255, 256, 65535, 65536, 2**32 - 1])
    def test_numbers_take_no_more_bytes_than_they_need(self, largest):
        text = as_base64([0, largest])
        assert unpacked(text).tolist() == [0, largest]
        assert int(text[0]) == (1 if largest < 256 else 2 if largest < 65536 else 4)
        assert unpacked(as_base64(np.empty(0))).size == 0

    def test_fields_that_do_not_fit_are_left_out_and_counted(self, monkeypatch):
        monkeypatch.setattr("covey.displays.map.MOST_TEXT", 150)
        display = display_of(
            values=["ten signs!"] * 90, names=["日本"] * 90
        )  # 18, 14, and 12 for the name of the field
        data = data_of(display.to_html())
        assert sum(map(bool, data["fields"])) == 4
        most = np.argsort(-display.stands_for, kind="stable")[:4]
        assert all(data["fields"][at] for at in most)
        assert [at for at, name in enumerate(data["names"]) if name == "日本"] == sorted(most)
        assert data["nWithoutText"] == 86
        assert "Of 86 of them the page has no names and values" in display.to_html()

    def test_a_label_is_text(self):
        selector = covey.KeepAll().fit(np.eye(2), ["<b>", "c"])
        display = PrototypeMapDisplay.from_estimator(selector, np.eye(2), label="<b>")
        assert "<h1>Cluster &lt;b&gt;</h1>" in display.to_html()
        assert "<h1>&lt;i&gt;</h1>" in display.to_html(title="<i>")
        with pytest.raises(ValueError, match="label must be one of the labels on the map, got 'c'"):
            display.to_html("c")

    @pytest.mark.parametrize("n", [1, 3, 10, 60])
    def test_clusters_have_colors_of_their_own_that_stand_out_from_the_paper(self, n):
        found = colors.of_clusters(n)
        for mode in (0, 1):
            assert len({color[mode] for color in found}) == n
            for color in found:
                assert contrast(color[mode], colors.PAGE["paper"][mode]) >= 3, color


class TestShowing:
    @pytest.mark.parametrize("phone", [False, True])
    def test_it_renders(self, shown, path, phone):
        words = assert_renders(path, phone=phone)
        assert f"{shown.n_representatives} of 90 objects represent 3 clusters" in words

    def test_the_overview_names_the_representatives_that_stand_for_most(self, page, shown):
        assert drawn(page)[0] == 90
        lines = panel_of(page)
        assert lines[0] == "3 clusters"
        assert lines[1].startswith(f"{shown.n_representatives} representatives for 90 objects.")
        items = page.find_elements("css selector", "#panel .item")
        assert len(items) == shown.n_representatives
        assert items[0].get_attribute("data-at") == str(largest(shown))

    def test_the_switcher_shows_one_cluster_and_all_again(self, page, shown):
        switcher = Select(page.find_element("id", "switcher"))
        for label, (n_members, _) in shown.sizes.items():
            switcher.select_by_visible_text(f"cluster {label}")
            assert drawn(page)[0] == n_members
            assert panel_of(page)[0] == f"Cluster {label}"
        switcher.select_by_visible_text("all clusters")
        assert drawn(page)[0] == 90

    def test_a_page_can_open_with_one_cluster(self, shown, desk, tmp_path):
        shown.write_html(tmp_path / "map.html", "birch")
        desk.get((tmp_path / "map.html").as_uri())
        assert drawn(desk)[0] == shown.sizes["birch"][0]
        assert desk.execute_script("return switcher.selectedOptions[0].text") == "cluster birch"

    def test_the_legend_hides_and_shows_clusters(self, page, shown):
        ash, birch, _ = page.find_elements("css selector", "#legend button")
        assert ash.text.split() == ["ash", str(shown.sizes["ash"][0])]
        ash.click()
        assert ash.get_attribute("aria-pressed") == "false"
        assert drawn(page)[0] == 90 - shown.sizes["ash"][0]
        assert page.execute_script("return switcher.value") == "some"
        birch.click()
        assert page.execute_script("return switcher.selectedOptions[0].text") == "cluster cedar"
        birch.click()
        ash.click()
        assert drawn(page)[0] == 90

    def test_zooming_in_reveals_representatives(self, desk, tmp_path):
        """At first only those that stand for most are large. The closer one looks, the more of them are."""
        display = display_of(600, k=3)
        display.write_html(tmp_path / "many.html")
        desk.get((tmp_path / "many.html").as_uri())
        shares = []
        for _ in range(4):
            _, n_large = drawn(desk)
            in_sight = desk.execute_script(IN_SIGHT)
            shares.append(n_large / in_sight)
            for _ in range(3):
                desk.find_element("id", "closer").click()
            desk.execute_script("view.reveal(data.representatives[0])")
        assert shares[0] < 0.5
        assert shares[-1] > 0.9
        order = desk.execute_script("view.fit(); view.draw(); return view.marks.map(mark => data.standsFor[mark.at])")
        assert order == sorted(order, reverse=True)
        assert order[0] == display.stands_for.max()

    def test_the_mode_changes_colors_at_once(self, page, shown):
        for mode, name in enumerate(("light", "dark")):
            features = [{"name": "prefers-color-scheme", "value": name}]
            page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
            settled(page)
            swatch = page.find_element("css selector", "#legend .swatch").value_of_css_property("background-color")
            expected = colors.CLUSTERS[0][mode]
            assert [int(part) for part in re.findall(r"\d+", swatch)[:3]] == [
                int(expected[at : at + 2], 16) for at in (1, 3, 5)
            ]
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


class TestChoosing:
    def test_a_representative_shows_its_values_members_and_neighbors(self, page, shown):
        at = largest(shown)
        page.execute_script("view.zoom(3); view.reveal(arguments[0])", at)
        settled(page)
        click(page, at)
        lines = panel_of(page)
        assert lines[0] == shown.names[at]
        assert lines[1] == f"representative of cluster {shown.labels[at]}"
        fields = page.execute_script("return [...document.querySelectorAll('#panel dl > *')].map(e => e.textContent)")
        assert fields == [part for pair in shown.fields[at].items() for part in pair]
        assert any(line.startswith(f"It stands for {shown.stands_for[at]} of the") for line in lines)
        members, near = page.find_elements("css selector", "#panel ul")
        listed = [int(item.get_attribute("data-at")) for item in members.find_elements("class name", "item")]
        assert listed == [other for other in np.flatnonzero(shown.covered_by == at) if other != at]
        assert_lists_neighbors(near, shown, at)
        lit = set(page.execute_script("return [...view.lit]"))
        assert lit == {at, *listed, *shown.neighbors[at].tolist()}

    def test_a_member_shows_its_representative_and_leads_to_it(self, page, shown):
        at = free_of_others(shown, np.flatnonzero(~shown.is_representative & (shown.covered_by >= 0)))
        page.execute_script("view.zoom(40, view.left(arguments[0]), view.top(arguments[0]))", at)
        settled(page)
        page.execute_script("view.reveal(arguments[0])", at)
        settled(page)
        click(page, at)
        assert panel_of(page)[:2] == [shown.names[at], f"member of cluster {shown.labels[at]}"]
        owner, near = page.find_elements("css selector", "#panel ul")
        assert_lists_neighbors(near, shown, at)
        owner.find_element("class name", "item").click()
        assert panel_of(page)[0] == shown.names[shown.covered_by[at]]

    def test_what_is_pointed_at_is_named_below_the_map_and_nothing_covers_it(self, page, shown):
        at = largest(shown)
        canvas = page.find_element("id", "map")
        ActionChains(page).move_to_element_with_offset(canvas, *place_of(page, at)).perform()
        settled(page)
        status = page.find_element("id", "status")
        assert status.text.startswith(f"{shown.names[at]} · cluster {shown.labels[at]} · stands for")
        assert status.rect["y"] >= canvas.rect["y"] + canvas.rect["height"]
        box = page.execute_script(ELEMENT_AT, at)
        assert box == "map"
        ActionChains(page).move_to_element(page.find_element("tag name", "h1")).perform()
        assert status.text == ""

    def test_words_find_objects_by_name_and_by_value(self, page, shown):
        search = page.find_element("id", "search")
        search.send_keys("plot-3 FOUND")
        expected = [at for at, card in enumerate(shown.fields) if card["remark"] == "found in plot-3"]
        assert panel_of(page)[0] == f"{len(expected)} objects found"
        found = page.find_elements("css selector", "#panel .item")
        assert {int(item.get_attribute("data-at")) for item in found} == set(expected)
        search.clear()
        search.send_keys("Tree 7", Keys.ENTER)
        settled(page)
        assert panel_of(page)[0] == "tree 7"
        search.send_keys("nonsense")
        assert panel_of(page) == ["Nothing is found", "No name, no cluster and no value holds “Tree 7nonsense”."]
        search.send_keys(Keys.ESCAPE)
        assert panel_of(page)[0] == "3 clusters"

    def test_words_find_clusters_and_say_what_is_hidden(self, page, shown):
        n = shown.labels.count("cedar")
        search = page.find_element("id", "search")
        search.send_keys("cedar")
        assert panel_of(page)[0] == f"{n} objects found"
        Select(page.find_element("id", "switcher")).select_by_visible_text("cluster ash")
        assert panel_of(page)[1] == f"{n} of them are in clusters that are hidden."

    def test_a_map_without_any_cluster_says_what_to_do(self, page):
        for button in page.find_elements("css selector", "#legend button"):
            button.click()
        assert panel_of(page) == ["No cluster is shown", "Choose one above the map."]

    def test_an_object_of_a_hidden_cluster_is_shown_again_when_it_is_chosen(self, page, shown):
        at = shown.labels.index("cedar")
        Select(page.find_element("id", "switcher")).select_by_visible_text("cluster ash")
        page.find_element("id", "search").send_keys(shown.names[at], Keys.ENTER)
        assert panel_of(page)[1].endswith("of cluster cedar")
        assert drawn(page)[0] > shown.sizes["ash"][0]

    def test_keys_move_zoom_and_choose(self, page, shown):
        order = page.execute_script("return data.representatives")
        canvas = page.find_element("id", "map")
        page.execute_script("canvas.focus()")
        outline = canvas.value_of_css_property("outline-style")
        where = "return [view.shiftX, view.shiftY, view.scale]"
        before = page.execute_script(where)
        for key in (Keys.ARROW_RIGHT, Keys.ARROW_DOWN, "+"):
            ActionChains(page).send_keys(key).perform()
        after = page.execute_script(where)
        assert after[2] == pytest.approx(1.5 * before[2])
        ActionChains(page).send_keys("0").perform()
        assert page.execute_script(where) == pytest.approx(before)
        for key, at in [("n", order[0]), ("N", order[1]), ("p", order[0]), ("p", order[-1])]:
            ActionChains(page).send_keys(key).perform()
            assert panel_of(page)[0] == page.execute_script("return data.name(arguments[0])", at)
        assert outline == "solid"
        ActionChains(page).send_keys(Keys.ESCAPE).perform()
        assert panel_of(page)[0] == "3 clusters"

    def test_the_wheel_zooms_where_the_pointer_is_and_dragging_moves(self, page, shown):
        at = largest(shown)
        canvas = page.find_element("id", "map")
        before, (x, y) = drawn(page)[0], place_of(page, at)
        origin = ActionChains(page).move_to_element_with_offset(canvas, x, y)
        origin.perform()
        page.execute_script(WHEEL_AT, at)
        assert drawn(page)[0] < before
        assert place_of(page, at) == pytest.approx([x, y], abs=2)
        ActionChains(page).click_and_hold().move_by_offset(50, 30).release().perform()
        assert place_of(page, at) == pytest.approx([x + 50, y + 30], abs=3)
        assert panel_of(page)[0] == "3 clusters"  # who drags chooses nothing
        ActionChains(page).move_to_element_with_offset(canvas, x + 50, y + 30).context_click().perform()
        assert panel_of(page)[0] == "3 clusters"  # nor who opens a menu

    def test_a_mark_is_as_large_as_before_when_the_window_is_narrowed_and_widened(self, desk, path, shown):
        desk.get(path.as_uri())
        half = "return view.half(arguments[0])"
        before = desk.execute_script(half, largest(shown))
        for width in (700, 1200):
            desk.set_window_size(width, 900)
            settled(desk)
        assert desk.execute_script(half, largest(shown)) == before


class TestPhone:
    def test_the_panel_stands_below_and_a_tap_chooses(self, phone, path, shown):
        phone.get(path.as_uri())
        settled(phone)
        at = largest(shown)
        canvas, panel = phone.find_element("id", "map"), phone.find_element("id", "panel")
        assert panel.rect["y"] >= canvas.rect["y"] + canvas.rect["height"]
        phone.execute_script("view.zoom(3); view.reveal(arguments[0]); canvas.scrollIntoView()", at)
        settled(phone)
        x, y = place_of(phone, at)
        box = phone.execute_script("const box = canvas.getBoundingClientRect(); return [box.left + box.width / 2,"
                                   " box.top + box.height / 2]")  # fmt: skip
        touch = {"x": box[0] + x, "y": box[1] + y}
        phone.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [touch]})
        phone.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        assert panel_of(phone)[0] == shown.names[at]
        assert phone.execute_script("return document.documentElement.scrollWidth <= innerWidth")

    def test_two_fingers_zoom(self, phone, path):
        phone.get(path.as_uri())
        settled(phone)
        before = phone.execute_script("canvas.scrollIntoView(); return view.scale")
        left, top = phone.execute_script("const box = canvas.getBoundingClientRect(); return [box.left, box.top]")
        for kind, gap in (("touchStart", 30), ("touchMove", 45), ("touchMove", 60)):
            points = [{"x": left + 180 + side * gap, "y": top + 150, "id": side + 1} for side in (-1, 1)]
            phone.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        phone.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        assert phone.execute_script("return view.scale") > 1.5 * before
        assert panel_of(phone)[0] == "3 clusters"
        assert phone.get_log("browser") == []


def assert_lists_neighbors(element, display, at):
    """The neighbors are listed best first, with how similar they are."""
    items = element.find_elements("class name", "item")
    assert [int(item.get_attribute("data-at")) for item in items] == display.neighbors[at].tolist()
    notes = [float(item.find_element("class name", "note").text) for item in items]
    np.testing.assert_allclose(notes, display.similarities[at], atol=0.002)


def free_of_others(display, candidates):
    """The one of these that is farthest from any other object, so that nothing lies above it."""
    far = np.linalg.norm(display.positions[:, None] - display.positions, axis=2)
    np.fill_diagonal(far, np.inf)
    return int(candidates[np.argmax(far.min(axis=1)[candidates])])
