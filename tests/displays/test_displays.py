"""Displays: the values they hold, what they draw, and how a browser shows the map."""

import json
import re
import subprocess
import sys
from io import BytesIO

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from selenium.webdriver import ActionChains, Keys
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from threadpoolctl import threadpool_limits

import covey
from covey.displays import CoverageDisplay, PrototypeMapDisplay
from covey.displays.map import _distances
from tests.browser import assert_renders, page
from tests.forms import COSINES, similarity_matrix

SELECTORS = {
    "CRS": covey.CRS(5),
    "CRS, refined": covey.CRS(5, refine=True),
    "CRS, outliers": covey.CRS(2, on_orphan="outlier", threshold=0.999),
    "DeltaMedoids": covey.DeltaMedoids(),
    "DeltaMedoids, not strict": covey.DeltaMedoids(strict=False),
    "DS3": covey.DS3(budget=3),
    "DS3, outliers": covey.DS3(budget=3, outliers=True, beta=0.1),
    "RandomSelector": covey.RandomSelector(0.2, random_state=0),
    "KeepAll": covey.KeepAll(),
    "Sharpened": covey.Sharpened(covey.CRS(5), random_state=0),
}


def shared_letters(a, b):
    return len(set(a) & set(b)) / len(set(a) | set(b))


def nearness(a, b):
    return -abs(a - b)


def share_of(a, b):
    """How much of a is in b: not symmetric."""
    return len(set(a) & set(b)) / len(set(a))


WORDS = ["cat", "cart", "care", "scare", "dog", "dodge", "lodge", "log", "care"]
KINDS = {
    "strings": (WORDS, covey.CRS(2, similarity=shared_letters)),
    "array of strings": (np.array(WORDS), covey.CRS(2, similarity=shared_letters)),
    "asymmetric": (WORDS, covey.CRS(2, similarity=covey.Similarity(share_of, symmetric=False))),
    "negative": ([1, 2, 3, 10, 11, 12, 13, 20, 20], covey.DeltaMedoids(-2, similarity=nearness)),
    "profiles": ([{letter: word.count(letter) for letter in word} for word in WORDS], covey.CRS(2)),
    "sets": ([set(word) for word in WORDS], covey.CRS(2, similarity="jaccard")),
    "csr": (sp.csr_array(np.eye(9)[[0, 0, 1, 1, 2, 2, 2, 3, 3]]), covey.CRS(2)),
    "csr matrix of similarities": (sp.csr_matrix(np.kron(np.eye(3), np.ones((3, 3)))), "precomputed"),
    "asymmetric matrix": (similarity_matrix(9, np.random.default_rng(0), symmetric=False), "precomputed"),
    "matrix of distances": (np.abs(np.subtract.outer(*[np.arange(9.0)] * 2)), covey.from_distance("precomputed")),
    "frame": (
        pd.DataFrame({"word": WORDS}),
        covey.KeepAll(similarity=lambda a, b: shared_letters(a["word"], b["word"])),
    ),
    "euclidean": (np.arange(18.0).reshape(9, 2), covey.CRS(2, similarity="euclidean")),
    "huge": (np.arange(18.0).reshape(9, 2) * 1e30, covey.CRS(2, similarity="dot")),
    "duplicates": (np.ones((9, 2)), covey.CRS(2)),
}


def blobs(n=60, centers=3, seed=0):
    return make_blobs(n, n_features=4, centers=centers, cluster_std=1.0, center_box=(2, 9), random_state=seed)


def map_of(selector, X, **options):
    return PrototypeMapDisplay.from_estimator(selector, X, **options)


def assert_follows(display, prototype):
    """Whatever is kept, the map says what the prototype says."""
    n = display.rows.size
    assert display.positions.shape == (n, 2)
    assert np.isfinite(display.positions).all()
    assert (np.diff(display.rows) > 0).all()
    by_row = dict(zip(prototype.members.tolist(), prototype.covered_by.tolist(), strict=True))
    kept = display.rows.tolist()
    for at, row in enumerate(kept):
        coverer = display.covered_by[at]
        assert (-1 if coverer < 0 else kept[coverer]) == (by_row[row] if by_row[row] in kept else -1)
        assert display.is_representative[at] == (row in prototype.indices)
        assert display.stands_for[at] == list(by_row.values()).count(row)
    assert display.label == prototype.label
    assert (display.n_members, display.n_representatives) == (prototype.members.size, prototype.indices.size)


class TestCoverage:
    @pytest.mark.parametrize("name", SELECTORS)
    def test_curves_are_recounted(self, name):
        X, y = blobs()
        selector = SELECTORS[name].fit(X, y)
        display = CoverageDisplay.from_estimator(selector)
        assert list(display.curves) == list(display.n_members) == [0, 1, 2]
        for label, prototype in selector.prototypes_.items():
            curve = display.curves[label]
            picked = [prototype.indices[:count] for count in range(prototype.indices.size + 1)]
            assert curve.tolist() == [
                np.isin(prototype.covered_by, few).sum() / prototype.members.size for few in picked
            ]
            assert curve[0] == 0
            assert curve[-1] == prototype.coverage
            assert display.n_members[label] == prototype.members.size

    def test_some_clusters_of_a_classifier(self):
        X, y = blobs()
        model = covey.NearestPrototypeClassifier(covey.CRS(5)).fit(X, np.array(["a", "b", "c"])[y])
        display = CoverageDisplay.from_estimator(model, labels=["c", "a"])
        assert list(display.curves) == ["c", "a"]
        with pytest.raises(ValueError, match=re.escape("label must be one of 'a', 'b', 'c', got 'd'")):
            CoverageDisplay.from_estimator(model, labels=["d"])

    @pytest.mark.parametrize("relative", [False, True])
    def test_drawing(self, relative):
        X, y = blobs()
        display = CoverageDisplay.from_estimator(covey.CRS(5).fit(X, y))
        ax = Figure().subplots()
        assert display.plot(ax, relative=relative) is display
        assert display.ax_ is ax
        assert display.figure_ is ax.figure
        for line, (label, curve) in zip(ax.lines, display.curves.items(), strict=True):
            counts = np.arange(curve.size)
            np.testing.assert_array_equal(line.get_xdata(), counts / display.n_members[label] if relative else counts)
            np.testing.assert_array_equal(line.get_ydata(), curve)
        assert [text.get_text() for text in ax.get_legend().get_texts()] == ["cluster 0", "cluster 1", "cluster 2"]

    def test_no_legend_for_many_clusters(self):
        for n, legend in ((11, True), (41, False)):
            X, y = np.random.default_rng(0).random((2 * n, 2)), np.arange(2 * n) % n
            display = CoverageDisplay.from_estimator(covey.KeepAll().fit(X, y), ax=Figure().subplots())
            assert len({line.get_color() for line in display.ax_.lines}) == n
            assert (display.ax_.get_legend() is not None) == legend

    def test_a_label_is_no_formula(self):
        figure = Figure()
        selector = covey.KeepAll().fit(np.eye(2), [r"$\no$ $", "_b"])
        display = CoverageDisplay.from_estimator(selector, ax=figure.subplots())
        figure.savefig(BytesIO())
        assert display.ax_.lines[0].get_label() == r"cluster \$\no\$ \$"


class TestMap:
    @pytest.mark.parametrize("name", KINDS)
    def test_every_kind_of_objects(self, name):
        X, selector = KINDS[name]
        if not hasattr(selector, "fit"):
            selector = covey.CRS(2, similarity=selector)
        display = map_of(selector.fit(X), X)
        assert display.rows.tolist() == list(range(9))
        assert display.names[8] == "row 8"
        assert_follows(display, selector.prototypes_[0])

    def test_one_similarity_in_every_form_gives_one_map(self):
        X, y = np.random.default_rng(0).integers(1, 9, (24, 5)).astype(float), np.arange(24) % 2
        maps = []
        for form in COSINES.values():
            objects, similarity = form(X)
            selector = covey.KeepAll(similarity=similarity).fit(objects, y)
            maps.append(map_of(selector, objects, label=1, n_neighbors=3).positions)
        for positions in maps[1:]:
            np.testing.assert_array_equal(positions, maps[0])

    @pytest.mark.parametrize("n", [1, 2, 3, 5])
    @pytest.mark.parametrize("same", [False, True])
    def test_few_objects(self, n, same):
        X = np.ones((n, 2)) if same else np.random.default_rng(n).random((n, 2))
        selector = covey.CRS().fit(X)
        display = map_of(selector, X)
        assert_follows(display, selector.prototypes_[0])
        assert len(np.unique(display.positions, axis=0)) == n  # side by side, not upon each other
        display.plot(Figure().subplots())
        assert f"of {n} objects represent it" in display.to_html()

    def test_three_objects_in_order(self):
        display = map_of(covey.KeepAll(similarity=nearness).fit([0, 9, 1]), [0, 9, 1])
        far = np.linalg.norm(display.positions[:, None] - display.positions, axis=2)
        assert far[0, 2] < far[1, 2] < far[0, 1]

    @pytest.mark.parametrize("similarity", ["euclidean", "cosine", covey.from_distance("manhattan", "negative")])
    def test_similar_objects_are_nearer(self, similarity):
        X, group = make_blobs(60, centers=[[0, 1, 9], [9, 1, 0]], cluster_std=0.5, random_state=0)
        display = map_of(covey.KeepAll(similarity=similarity).fit(X), X)
        far = np.linalg.norm(display.positions[:, None] - display.positions, axis=2)
        same = group[:, None] == group
        assert far[same].max() < far[~same].min()

    def test_wider_than_high(self):
        X, _ = make_blobs(60, centers=[[0, 9], [9, 0]], random_state=1)
        x, y = map_of(covey.KeepAll(similarity="euclidean").fit(X), X).positions.T
        assert x.var() > y.var()
        assert abs((x * y).mean()) < 1e-9 * x.var()

    def test_the_same_seed_gives_the_same_map(self):
        X, _ = blobs(100)
        selector = covey.CRS(5).fit(X)
        maps = [map_of(selector, X, max_objects=40, random_state=state) for state in (7, 7, 8)]
        for name in ("positions", "rows", "covered_by", "stands_for"):
            np.testing.assert_array_equal(getattr(maps[0], name), getattr(maps[1], name))
        assert not np.array_equal(maps[0].rows, maps[2].rows)
        drawn = [map_of(selector, X, max_objects=40, random_state=np.random.RandomState(7)) for _ in range(2)]
        np.testing.assert_array_equal(drawn[0].positions, drawn[1].positions)

    def test_the_number_of_threads_does_not_matter(self):
        X, _ = blobs(150)
        selector = covey.KeepAll().fit(X)
        maps = []
        for n_threads in (1, 2):
            with threadpool_limits(n_threads, "openmp"):
                maps.append(map_of(selector, X).positions)
        np.testing.assert_array_equal(*maps)

    def test_a_sample_keeps_the_representatives(self):
        X, y = blobs(200, 2)
        selector = covey.CRS(5).fit(X, y)
        prototype = selector.prototypes_[1]
        display = map_of(selector, X, label=1, max_objects=40)
        assert display.rows.size == 40
        assert np.isin(prototype.indices, display.rows).all()
        assert display.stands_for.sum() == np.sum(prototype.covered_by >= 0)  # of all, kept or not
        assert_follows(display, prototype)
        assert "The map shows 40 objects" in display.to_html()

    def test_more_representatives_than_room(self):
        X, _ = blobs(50)
        selector = covey.RandomSelector(0.5, random_state=0).fit(X)
        display = map_of(selector, X, max_objects=10)
        assert display.rows.tolist() == sorted(selector.sample_indices_[:10].tolist())
        assert display.is_representative.all()
        assert_follows(display, selector.prototypes_[0])

    def test_names_are_those_of_the_kept(self):
        X, y = blobs(40, 2)
        names = pd.Series([f"object {row}" for row in range(40)], index=range(40, 0, -1))
        model = covey.NearestPrototypeClassifier(covey.CRS(5)).fit(X, y)
        display = map_of(model, X, label=np.int64(1), names=names, max_objects=10)
        assert display.names == [f"object {row}" for row in display.rows]

    def test_a_part_of_a_matrix_without_its_diagonal(self):
        """A cluster's part may look like distances where the whole does not."""
        matrix = 1.0 - np.eye(12)
        matrix[0, 0] = 2
        y = [0] * 6 + [1] * 6
        selector = covey.CRS(2, similarity="precomputed").fit(matrix, y)
        assert map_of(selector, matrix, label=1).rows.tolist() == [6, 7, 8, 9, 10, 11]

    def test_what_cannot_be_drawn(self):
        X, y = blobs()
        selector = covey.CRS(5).fit(X, y)
        for match, X_given, options in [
            (r"label must be one of 0, 1, 2, got None", X, {}),
            (r"label must be one of 0, 1, 2, got 3", X, {"label": 3}),
            ("X must hold the 60 objects that were passed to fit, got 59", X[1:], {"label": 0}),
            ("names must hold one name for each of the 60 objects of X, got 2", X, {"label": 0, "names": ["a", "b"]}),
            ("n_neighbors must be an int of at least 1, got 0", X, {"label": 0, "n_neighbors": 0}),
            ("max_objects must be an int of at least 1, got 2.5", X, {"label": 0, "max_objects": 2.5}),
        ]:
            with pytest.raises(ValueError, match=match):
                map_of(selector, X_given, **options)
        with pytest.raises(NotFittedError):
            map_of(covey.CRS(), X)
        with pytest.raises(TypeError, match=r"estimator must be a fitted selector .*, got LinearRegression"):
            map_of(LinearRegression().fit(X, y), X)

    def test_drawing(self):
        X, _ = blobs(100)
        display = map_of(covey.CRS(5).fit(X), X)
        assert not hasattr(display, "ax_")
        ax = Figure().subplots()
        assert display.plot(ax) is display
        assert (display.ax_, display.figure_) == (ax, ax.figure)
        covered, uncovered, chosen = (np.asarray(points.get_offsets()) for points in ax.collections)
        np.testing.assert_array_equal(chosen, display.positions[display.is_representative])
        np.testing.assert_array_equal(uncovered, display.positions[display.covered_by < 0])
        assert len(covered) + len(uncovered) + len(chosen) == 100
        areas = ax.collections[-1].get_sizes()
        assert np.argmax(areas) == np.argmax(display.stands_for[display.is_representative])
        assert ax.get_title() == f"Cluster 0: {len(chosen)} of 100 objects represent it"
        ax.figure.savefig(BytesIO())

    def test_distances_of_an_asymmetric_graph(self):
        rng = np.random.default_rng(0)
        values = similarity_matrix(20, rng, symmetric=False, levels=4)
        graph = covey.neighbor_graph(values, 4, "precomputed")
        edges = {
            (i, int(j)): s for i in range(20) for j, s in zip(graph.indices[i], graph.similarities[i], strict=True)
        }
        largest, smallest = max(edges.values()), min(edges.values())
        found = _distances(graph)
        for i in range(20):
            part = slice(found.indptr[i], found.indptr[i + 1])
            others, distances = found.indices[part].tolist(), found.data[part].tolist()
            assert (others[0], distances[0]) == (i, 0)
            assert distances == sorted(distances)
            assert set(others[1:]) == {j for j in range(20) if (i, j) in edges or (j, i) in edges}
            for j, distance in zip(others[1:], distances[1:], strict=True):
                best = max(edges.get((i, j), -np.inf), edges.get((j, i), -np.inf))
                assert distance == pytest.approx((largest - best) / (largest - smallest))


@pytest.fixture(scope="module")
def shown():
    """Three groups, one of them with a long name and one that would like to be a script."""
    X, _ = blobs(80)
    names = [f"object number {row} with a name" for row in range(80)]
    selector = covey.CRS(8).fit(X)
    first, second = selector.sample_indices_[:2]
    names[first] = "</script><script>alert(1)</script><!-- & \"'"
    names[second] = "A_name_without_any_place_to_break" * 5
    return map_of(selector, X, names=names)


class TestPage:
    def test_it_stands_alone(self, shown, tmp_path):
        text = shown.to_html()
        assert not re.search(r'(src|href)="(?!data:|#)', text)
        assert text.count("</script>") == 2  # of the data and of the code
        assert "alert(1)" not in re.sub(r'<script type="application/json".*?</script>', "", text, flags=re.DOTALL)
        shown.write_html(tmp_path / "map.html")
        assert (tmp_path / "map.html").read_text(encoding="utf-8") == text
        assert [path.name for path in tmp_path.iterdir()] == ["map.html"]
        with pytest.raises(FileNotFoundError, match="existing folder"):
            shown.write_html(tmp_path / "missing" / "map.html")

    def test_its_data(self, shown):
        held = re.search(r'<script type="application/json" id="data">(.*?)</script>', shown.to_html(), re.DOTALL)
        data = json.loads(held[1])
        assert data["names"] == shown.names
        assert data["coveredBy"] == shown.covered_by.tolist()
        assert data["standsFor"] == shown.stands_for.tolist()
        x, y = shown.positions.T
        span = np.ptp(x)
        np.testing.assert_allclose(data["x"], (x - x.min()) / span, atol=1e-3)
        np.testing.assert_allclose(data["y"], (y.max() - y) / span, atol=1e-3)

    def test_a_label_is_text(self):
        selector = covey.KeepAll().fit(np.eye(2), ["<b>", "c"])
        assert "<h1>Cluster &lt;b&gt;</h1>" in map_of(selector, np.eye(2), label="<b>").to_html()

    @pytest.mark.parametrize("phone", [False, True])
    def test_in_a_browser(self, shown, tmp_path, phone):
        shown.write_html(tmp_path / "map.html")
        words = assert_renders(tmp_path / "map.html", phone=phone)
        assert f"{shown.n_representatives} of 80 objects represent it" in words

    def test_pointing(self, shown, tmp_path):
        shown.write_html(tmp_path / "map.html")
        with page(tmp_path / "map.html") as browser:
            tip = browser.find_element("id", "tip")
            assert not tip.is_displayed()
            for at in np.flatnonzero(shown.is_representative)[:4]:
                ActionChains(browser).move_to_element(dot_of(browser, at)).perform()
                assert_describes(tip.text, shown, at)
                lit = {int(dot.get_attribute("data-at")) for dot in browser.find_elements("css selector", "circle.lit")}
                assert lit == set(np.flatnonzero(shown.covered_by == at))
            covered = free_of_others(shown, np.flatnonzero(~shown.is_representative & (shown.covered_by >= 0)))
            ActionChains(browser).move_to_element(dot_of(browser, covered)).perform()
            assert tip.text.split("\n")[0] == shown.names[covered]
            assert tip.text.split("\n")[1].startswith(f"represented by {shown.names[shown.covered_by[covered]]}"[:60])
            ActionChains(browser).move_to_element(browser.find_element("tag name", "h1")).perform()
            assert not tip.is_displayed()
            assert browser.get_log("browser") == []

    def test_by_keyboard(self, shown, tmp_path):
        shown.write_html(tmp_path / "map.html")
        order = [at for at in np.argsort(-shown.stands_for, kind="stable") if shown.is_representative[at]]
        with page(tmp_path / "map.html") as browser:
            tip = browser.find_element("id", "tip")
            for key, at in [
                (Keys.TAB, order[0]),
                (Keys.ARROW_RIGHT, order[1]),
                (Keys.ARROW_LEFT, order[0]),
                (Keys.ARROW_UP, order[-1]),
            ]:
                ActionChains(browser).send_keys(key).perform()
                assert_describes(tip.text, shown, at)
            ActionChains(browser).send_keys(Keys.ESCAPE).perform()
            assert not tip.is_displayed()

    def test_tapping(self, shown, tmp_path):
        shown.write_html(tmp_path / "map.html")
        with page(tmp_path / "map.html", 390, 844, phone=True) as browser:
            at = int(np.argmax(shown.stands_for))
            dot_of(browser, at).click()
            assert_describes(browser.find_element("id", "tip").text, shown, at)
            wide, window = browser.execute_script("return [document.documentElement.scrollWidth, innerWidth]")
            assert wide <= window


def dot_of(browser, at):
    return browser.find_element("css selector", f'circle[data-at="{at}"]')


def free_of_others(display, candidates):
    """The one of these that is farthest from any other object, so that nothing lies above it."""
    far = np.linalg.norm(display.positions[:, None] - display.positions, axis=2)
    np.fill_diagonal(far, np.inf)
    return int(candidates[np.argmax(far.min(axis=1)[candidates])])


def assert_describes(text, display, at):
    """The name, how many it stands for, and some of them."""
    name, stands_for, *covered = text.split("\n")
    assert name.rstrip("…") == display.names[at][:79] if len(display.names[at]) > 80 else name == display.names[at]
    assert stands_for == f"stands for {display.stands_for[at]} of {display.n_members}"
    others = [display.names[other] for other in np.flatnonzero(display.covered_by == at) if other != at]
    more = display.stands_for[at] - 1 - 5
    assert covered == [other[:80] for other in others[:5]] + ([f"and {more} more"] if more > 0 else [])


def test_a_figure_of_its_own():
    plt.switch_backend("Agg")
    selector = covey.KeepAll().fit(np.eye(3))
    for display in (CoverageDisplay.from_estimator(selector), map_of(selector, np.eye(3))):
        try:
            assert plt.fignum_exists(display.plot().figure_.number)
            display.figure_.savefig(BytesIO())
        finally:
            plt.close(display.figure_)


def test_importing_needs_no_matplotlib():
    code = "import sys, covey.displays; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_scikit_learns_confusion_matrix():
    from matplotlib.figure import Figure
    from sklearn.datasets import load_digits
    from sklearn.metrics import ConfusionMatrixDisplay

    X, y = load_digits(return_X_y=True)
    model = covey.NearestPrototypeClassifier().fit(X[:1000], y[:1000])
    shown = ConfusionMatrixDisplay.from_estimator(model, X[1000:], y[1000:], ax=Figure().subplots())
    assert shown.confusion_matrix.sum() == len(X) - 1000
    assert np.trace(shown.confusion_matrix) / shown.confusion_matrix.sum() == model.score(X[1000:], y[1000:])
