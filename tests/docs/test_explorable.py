"""The explorable page "How covey picks": it computes what covey computes, and can be used."""

import runpy

import numpy as np
import pytest
from selenium.webdriver import ActionChains, Keys
from selenium.webdriver.support.wait import WebDriverWait

import covey
from tests import browser
from tests.test_architecture import ROOT

ASSEMBLE = ROOT / "docs" / "explorable" / "assemble.py"

COMPUTE = """
const [problems] = arguments;
return problems.map(({ points, queries, settings }) => {
  const prototypes = select(points, settings);
  const chosen = prototypes.flatMap(({ indices }) => indices).sort((a, b) => a - b);
  const { regions } = partition(points, chosen, FIELD);
  return {
    prototypes: prototypes.map((prototype) => ({
      ...prototype,
      neighbors: prototype.neighbors.map((list) => list.map(({ to }) => to)),
      similarities: prototype.neighbors.map((list) => list.map(({ s }) => s)),
      picks: null,
    })),
    predicted: queries.map((query) => points[nearest(points, chosen, query)].label),
    regions,
  };
});
"""
"""What the page computes for problems: the prototypes, the labels of queries, and the regions."""

BARS = "return [...document.querySelectorAll('.bar span:last-child')].map((bar) => bar.textContent.split(' ')[0])"
"""How many points of each class are covered, as the bars say."""

PLACE = "const { left, top, width } = figure.getBoundingClientRect(); return [left, top, width / FIELD.width]"
"""Where the figure is in the window, and how many pixels the unit of the points has."""

SHADES = """
const found = [], { width, height } = figure, scale = width / FIELD.width;
const { data } = figure.getContext("2d").getImageData(0, 0, width, height);
const colorAt = (x, y) => {
  const at = 4 * (Math.floor(y * scale) * width + Math.floor(x * scale));
  return [...data.slice(at, at + 4)];
};
for (let x = 0.5; x < FIELD.width; x += 0.5) for (let y = 0.5; y < FIELD.height; y += 0.5) {
  const at = { x, y }, similar = (rows) => similarity(model.points[nearest(model.points, rows, at)], at);
  const best = model.prototypes.map(({ indices }) => similar([...indices].sort((a, b) => a - b)));
  const isFree = similar(model.points.map((_, row) => row)) < 0.75 && Math.abs(best[0] - best[1]) > 0.03;
  const { label } = model.points[nearest(model.points, model.chosen, at)];
  if (isFree) found.push([label, colorAt(x, y)]);
}
return found;
"""
"""At places that are far from all points and from the boundary: the class that wins there, and the color drawn."""


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    """The page, made of its parts, in a browser that all tests of this file share."""
    path = runpy.run_path(str(ASSEMBLE))["write"](tmp_path_factory.mktemp("page"))
    with browser.page(path) as page:
        assert page.get_log("browser") == []
        yield page


def _equal_on_paper():
    """Points of which the first and the fourth have the same gain, 1/3 + 1/6 + 1 and 1/2 + 1, but for rounding."""
    X = np.array([[50.0, 1], [52, 1], [45, 1], [1, 1], [2, 1]])
    return X, np.zeros(5, dtype=int), X, {"k": 1, "coverage": 1.0, "threshold": None}


def _problem(seed):
    """Random points and settings that the page can have. Of four problems, one has points on a coarse grid and one on a
    line, with equal points, equal similarities, and sums of similarities that are equal on paper.
    """
    rng = np.random.default_rng(seed)
    n, n_labels = int(rng.choice([1, 2, 5, 20, 50, rng.integers(3, 70)])), int(rng.integers(1, 5))
    X = rng.integers(10, [758, 566], size=(n, 2)) / 64
    thresholds = [None, "homogeneity", float(rng.integers(0, 100) / 100)]
    if seed % 4 < 2:
        X = rng.integers(1, [12, 6 if seed % 4 else 2], size=(n, 2)).astype(float)
        thresholds.append(float(rng.choice([0.5, 0.25, 0.2])))  # similarities of points at distances 1, 3 and 4
    settings = {
        "k": int(rng.choice([1, 2, 3, 6, 10, 20])),
        "coverage": float(rng.integers(5, 101) / 100),
        "threshold": thresholds[int(rng.integers(len(thresholds)))],
    }
    if n == 50:  # coverage * n exceeds a whole number by rounding
        n_labels, settings["coverage"] = 1, float(rng.choice([0.14, 0.28, 0.56]))
    queries = rng.integers(0, [24, 18], size=(40, 2)) / 2
    return X, rng.integers(n_labels, size=n), queries, settings


def _as_points(X, y):
    return [{"x": float(a), "y": float(b), "label": int(label)} for (a, b), label in zip(X, y, strict=True)]


def _by_covey(X, y, queries, settings):
    """What covey answers, in the form of the page; NaN and infinity, which JSON lacks, are None there."""
    selector = covey.CRS(
        settings["k"], coverage=settings["coverage"], threshold=settings["threshold"], similarity="euclidean"
    )
    model = covey.NearestPrototypeClassifier(selector).fit(X, y)
    return {
        "prototypes": [
            _one_by_covey(X, prototype, settings["k"]) for prototype in model.selector_.prototypes_.values()
        ],
        "predicted": model.predict(queries).tolist(),
    }


def _one_by_covey(X, prototype, k):
    members = X[prototype.members]
    _, first = np.unique(members, axis=0, return_index=True)
    graph = covey.neighbor_graph(members[np.sort(first)], k, "euclidean", "exact")
    return {
        "label": int(prototype.label),
        "neighbors": graph.indices.tolist(),
        "similarities": graph.similarities.tolist(),
        "homogeneity": prototype.homogeneity if np.isfinite(prototype.homogeneity) else None,
        "threshold": prototype.threshold if np.isfinite(prototype.threshold) else None,
        "indices": prototype.indices.tolist(),
        "gains": prototype.gains.tolist(),
        "coveredBy": prototype.covered_by.tolist(),
        "coverage": prototype.coverage,
        "nOrphans": prototype.n_orphans,
    }


def test_the_page_computes_what_covey_computes(opened):
    problems = [_equal_on_paper(), *map(_problem, range(240))]
    sent = [
        {"points": _as_points(X, y), "queries": _as_points(queries, np.zeros(len(queries))), "settings": settings}
        for X, y, queries, settings in problems
    ]
    for number, (problem, answer) in enumerate(zip(problems, opened.execute_script(COMPUTE, sent), strict=True)):
        expected = _by_covey(*problem)
        for found, wanted in zip(answer["prototypes"], expected["prototypes"], strict=True):
            for name, value in wanted.items():
                assert found[name] == value, (number, name)
        assert answer["predicted"] == expected["predicted"], number


def test_a_region_holds_the_places_that_are_closest_to_its_representative(opened):
    for seed in range(0, 60, 2):
        X, y, _, settings = _problem(seed)
        sent = [{"points": _as_points(X, y), "queries": [], "settings": settings}]
        regions = opened.execute_script(COMPUTE, sent)[0]["regions"]
        rows = np.array([region["row"] for region in regions])
        for region in regions:
            if _area(region["polygon"]) < 1e-9:
                continue
            corners = np.array([[corner["x"], corner["y"]] for corner in region["polygon"]])
            inside = corners.mean(axis=0) * 0.5 + corners[0] * 0.5  # a convex polygon holds it
            distances = ((X[rows] - inside) ** 2).sum(axis=1)
            assert region["row"] == rows[np.argmin(distances)]  # of equal points, the first
        assert sum(_area(region["polygon"]) for region in regions) == pytest.approx(12 * 9)


def _area(polygon):
    x, y = (np.array([corner[name] for corner in polygon]) for name in "xy")
    return abs(np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1))) / 2


@pytest.mark.parametrize("mode", ["homogeneity", "number", "none"])
def test_the_python_code_on_the_page_selects_the_points_that_the_figure_shows(opened, mode):
    opened.execute_script("byId('mode').value = arguments[0]; byId('tau').value = 60;", mode)
    for name in opened.execute_script("return Object.keys(DATASETS)"):
        opened.execute_script("load(arguments[0], 3)", name)
        code, shown = opened.execute_script("return [byId('code').textContent, model.sequence.map(({ row }) => row)]")
        names = {}
        exec(code, names)
        assert names["selector"].sample_indices_.tolist() == shown, name


def test_a_seed_gives_points_of_its_own_on_the_grid(opened):
    first, again, other = opened.execute_script("return [1, 1, 2].map((seed) => dataset('spirals', seed))")
    assert first == again != other
    assert all(64 * point["x"] == int(64 * point["x"]) and 64 * point["y"] == int(64 * point["y"]) for point in first)


@pytest.fixture
def fresh(opened):
    """The page as a reader finds it, with its first data set."""
    opened.refresh()
    opened.execute_script("scrollTo(0, 0)")
    yield opened
    assert opened.get_log("browser") == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1200])
def test_each_step_is_told_and_drawn_in_the_width_of_the_window(fresh, width, scheme):
    calm = [{"name": "prefers-reduced-motion", "value": "reduce"}, {"name": "prefers-color-scheme", "value": scheme}]
    size = {"width": width, "height": 844, "deviceScaleFactor": 2, "mobile": width < 500}
    fresh.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": calm})
    fresh.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    captions, figures = set(), set()
    for step in range(1, 6):
        fresh.find_element("css selector", f".steps button[data-step='{step}']").click()
        wait(fresh, f"state.step === {step}")
        captions.add(fresh.find_element("id", "caption").text)
        figures.add(fresh.execute_script("return figure.toDataURL()"))
        assert fresh.execute_script("return document.documentElement.scrollWidth <= innerWidth")
        box = fresh.find_element("id", "figure").rect
        assert box["width"] == pytest.approx(box["height"] * 4 / 3, rel=0.02)
    fresh.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert len(captions) == len(figures) == 5


def test_the_figure_is_shaded_by_the_class_of_the_nearest_representative(fresh):
    light = [{"name": "prefers-reduced-motion", "value": "reduce"}, {"name": "prefers-color-scheme", "value": "light"}]
    fresh.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": light})
    fresh.find_element("css selector", ".steps button[data-step='5']").click()
    wait(fresh, "state.step === 5")
    sampled = fresh.execute_script(SHADES)
    assert {label for label, _ in sampled} == {0, 1}
    assert [label for label, _ in sampled] == [0 if blue > red else 1 for _, (red, _, blue, _) in sampled]


def wait(page, condition="true"):
    """Wait until the page is drawn and a condition is true."""
    WebDriverWait(page, 10).until(lambda page: page.execute_script(f"return !asked && {condition}"))


def at(page, row):
    """Where a point is drawn, from the middle of the figure, as `ActionChains` counts."""
    x, y, scale = page.execute_script(
        "const { x, y } = state.points[arguments[0]];"
        "return [x - FIELD.width / 2, y - FIELD.height / 2, figure.getBoundingClientRect().width / FIELD.width]",
        row,
    )
    return round(x * scale), round(y * scale)


def points(page):
    return page.execute_script("return state.points.map(({ x, y, label }) => [x, y, label])")


def most_alone(points):
    """The point that is farthest from any other one, so that nobody can mean another by pointing at it."""
    places = np.array([point[:2] for point in points])
    far = np.linalg.norm(places[:, None] - places, axis=2)
    np.fill_diagonal(far, np.inf)
    return int(np.argmax(far.min(axis=1)))


def test_points_are_moved_added_and_removed_by_mouse(fresh):
    figure, before = fresh.find_element("id", "figure"), points(fresh)
    fresh.find_element("css selector", "#classes button[value='2']").click()
    chosen = most_alone(before)
    x, y = at(fresh, chosen)
    ActionChains(fresh).move_to_element_with_offset(figure, x, y).click_and_hold().move_by_offset(
        40, -30
    ).release().perform()
    moved = points(fresh)
    assert [row for row in range(len(before)) if moved[row] != before[row]] == [chosen]
    ActionChains(fresh).move_to_element_with_offset(figure, -230, -160).click().perform()
    added = points(fresh)
    assert added[:-1] == moved
    assert added[-1][2] == 2
    assert len(fresh.execute_script("return model.prototypes.map(({ label }) => label)")) == 3
    x, y = at(fresh, len(added) - 1)
    ActionChains(fresh).move_to_element_with_offset(figure, x, y).double_click().perform()
    assert points(fresh) == moved


def test_points_are_moved_added_and_removed_by_keys(fresh):
    figure, before = fresh.find_element("id", "figure"), points(fresh)
    chosen = fresh.execute_script("figure.focus(); return state.followed")
    figure.send_keys(Keys.ARROW_UP, Keys.ARROW_UP, Keys.ARROW_LEFT)
    x, y, label = before[chosen]
    assert points(fresh)[chosen] == [x - 0.125, y - 0.25, label]
    figure.send_keys("n")
    assert fresh.execute_script("return state.followed") == (chosen + 1) % len(before)
    figure.send_keys("p", Keys.ENTER)
    assert len(points(fresh)) == len(before) + 1
    figure.send_keys(Keys.DELETE)
    assert len(points(fresh)) == len(before)


def test_a_finger_moves_the_point_under_it_and_not_the_page(fresh):
    chosen, (left, top, scale) = fresh.execute_script("return strayOf(model)"), fresh.execute_script(PLACE)
    x, y, label = points(fresh)[chosen]
    fresh.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": True})
    for kind, up in [("touchStart", 0), *(("touchMove", step / 4) for step in range(1, 13)), ("touchEnd", None)]:
        touches = [] if up is None else [{"x": left + x * scale, "y": top + (y - up) * scale}]
        fresh.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": touches})
    fresh.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": False})
    assert points(fresh)[chosen] == [pytest.approx(x, abs=0.05), pytest.approx(y - 3, abs=0.05), label]
    assert fresh.execute_script("return scrollY") == 0


def test_sliders_and_buttons_work_by_keyboard(fresh):
    fresh.find_element("id", "k").send_keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    assert fresh.execute_script("return [state.settings.k, model.prototypes[0].neighbors[0].length]") == [8, 8]
    fresh.find_element("id", "tau").send_keys(Keys.ARROW_RIGHT)
    assert fresh.execute_script("return state.settings.mode") == "number"
    thresholds = fresh.execute_script("return model.prototypes.map(({ threshold }) => threshold)")
    assert thresholds == [fresh.execute_script("return state.settings.tau")] * 2
    total = fresh.execute_script("return model.sequence.length")
    for button, shown in [("next", 2), ("back", 1), ("all", total)]:
        fresh.find_element("id", button).send_keys(Keys.ENTER)
        assert fresh.execute_script("return state.shown") == shown
        covered = fresh.execute_script("return progressOf(model, state.shown).coveredBy.size")
        assert sum(map(int, fresh.execute_script(BARS))) == covered


def test_an_empty_figure_says_so_and_takes_the_first_point(fresh):
    fresh.find_element("id", "clear").click()
    wait(fresh)
    assert "no point" in fresh.find_element("id", "caption").text
    assert "NaN" not in fresh.find_element("tag name", "body").text
    fresh.find_element("id", "figure").send_keys(Keys.ENTER)
    assert fresh.execute_script("return model.chosen") == [0]


def test_the_page_loads_nothing_but_itself(fresh):
    browser.requested(fresh)
    fresh.refresh()
    assert set(browser.requested(fresh)) <= {fresh.current_url, "data:,"}
