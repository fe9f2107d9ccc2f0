"""Displays: the values they hold, what they draw, and how a browser shows the map."""

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
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from threadpoolctl import threadpool_limits

import covey
from covey.displays import CoverageDisplay, PrototypeMapDisplay
from covey.displays.layout import N_SHOWN, distances_of
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
    """With any kept objects, the map says what the prototype says."""
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
    @pytest.mark.parametrize("core", [9, 4])
    @pytest.mark.parametrize("name", KINDS)
    def test_every_kind_of_objects(self, name, core, monkeypatch):
        monkeypatch.setattr("covey.displays.map.LARGEST_CORE", core)
        X, selector = KINDS[name]
        if not hasattr(selector, "fit"):
            selector = covey.CRS(2, similarity=selector)
        display = map_of(selector.fit(X), X)
        assert display.rows.tolist() == list(range(9))
        assert display.names is None
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
        assert f"of {n} objects represent the cluster" in display.to_html()

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
            (r"label must be one of 0, 1, 2, got 3", X, {"label": 3}),
            ("X must hold the 60 objects that were passed to fit, got 59", X[1:], {"label": 0}),
            ("names must hold one name for each of the 60 objects of X, got 2", X, {"label": 0, "names": ["a", "b"]}),
            ("values must hold one value for each of the 60 objects of X, got 2", X, {"values": ["a", "b"]}),
            ("values must hold one value for each of the 60 objects of X, got 1", X, {"values": {"a": y, "b": [1]}}),
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

    def test_drawing_several_clusters(self):
        X, y = blobs(90)
        labels = np.array(["$a", "b", "c"])[y]
        display = map_of(covey.CRS(5).fit(X, labels), X, ax=Figure().subplots())
        covered, uncovered, chosen, *_ = display.ax_.collections
        assert sum(len(points.get_offsets()) for points in (covered, uncovered, chosen)) == 90
        colors = {tuple(color[:3]) for color in chosen.get_facecolors()}
        assert len(colors) == 3
        assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == [
            r"cluster \$a",
            "cluster b",
            "cluster c",
        ]
        assert display.ax_.get_title() == f"3 clusters: {len(chosen.get_offsets())} of 90 objects represent them"
        display.figure_.savefig(BytesIO())

    def test_all_clusters_at_once_say_what_each_alone_says(self):
        X, y = blobs(90)
        model = covey.NearestPrototypeClassifier(covey.CRS(5)).fit(X, np.array(["a", "b", "c"])[y])
        display = map_of(model, X)
        assert (display.label, display.title) == (None, "3 clusters")
        assert display.rows.tolist() == list(range(90))
        assert display.labels == np.array(["a", "b", "c"])[y].tolist()
        for label, prototype in model.selector_.prototypes_.items():
            assert display.sizes[label] == (prototype.members.size, prototype.indices.size)
            alone = map_of(model, X, label=label)
            assert_follows(alone, prototype)
            own = np.array(display.labels) == label
            np.testing.assert_array_equal(display.rows[own], alone.rows)
            np.testing.assert_array_equal(display.stands_for[own], alone.stands_for)
            np.testing.assert_array_equal(display.is_representative[own], alone.is_representative)
            coverers = [-1 if at < 0 else display.rows[at] for at in display.covered_by[own]]
            assert coverers == [-1 if at < 0 else alone.rows[at] for at in alone.covered_by]
        assert display.n_members == 90
        assert display.n_representatives == model.selector_.sample_indices_.size

    def test_each_cluster_keeps_its_first_representatives_if_there_is_no_room_for_all(self):
        X, y = blobs(60)
        selector = covey.KeepAll().fit(X, y)
        display = map_of(selector, X, max_objects=9)
        firsts = [prototype.indices[:3] for prototype in selector.prototypes_.values()]
        assert display.rows.tolist() == sorted(np.concatenate(firsts).tolist())

    @pytest.mark.parametrize("core", [2000, 40])
    def test_neighbors_are_the_most_similar_objects_of_the_core(self, core, monkeypatch):
        monkeypatch.setattr("covey.displays.map.LARGEST_CORE", core)
        X, y = blobs(120)
        selector = covey.CRS(5, similarity="euclidean").fit(X, y)
        display = map_of(selector, X)
        looked_at = np.arange(120) if core > 120 else np.unique(display.neighbors)
        assert looked_at.size <= core
        assert np.isin(np.flatnonzero(display.is_representative)[:core], looked_at).mean() > 0.9
        distances = np.linalg.norm(X[:, None] - X, axis=2)
        similarity = 1 / (1 + distances)
        for at in range(120):
            others = looked_at[looked_at != at]
            best = others[np.argsort(-similarity[at][others], kind="stable")][:N_SHOWN]
            np.testing.assert_allclose(display.similarities[at], similarity[at][display.neighbors[at]])
            if core > 120:
                assert display.neighbors[at].tolist() == best.tolist()
            np.testing.assert_allclose(display.similarities[at, 0], similarity[at][best[0]])

    def test_objects_outside_the_core_lie_beside_those_they_are_similar_to(self, monkeypatch):
        monkeypatch.setattr("covey.displays.map.LARGEST_CORE", 50)
        X, group = make_blobs(400, centers=[[0, 1, 9], [9, 1, 0]], cluster_std=0.5, random_state=0)
        display = map_of(covey.CRS(5, similarity="euclidean").fit(X), X)
        assert display.rows.tolist() == list(range(400))
        far = np.linalg.norm(display.positions[:, None] - display.positions, axis=2)
        same = group[:, None] == group
        assert far[same].max() < far[~same].min()
        assert len(np.unique(display.positions, axis=0)) == 400

    def test_a_large_map_does_not_depend_on_the_number_of_threads(self, monkeypatch):
        monkeypatch.setattr("covey.displays.map.LARGEST_CORE", 50)
        X, y = blobs(300)
        maps = []
        for n_jobs in (1, 2):
            with threadpool_limits(n_jobs, "openmp"):
                maps.append(map_of(covey.CRS(5, n_jobs=n_jobs).fit(X, y), X))
        for name in ("positions", "neighbors", "similarities"):
            np.testing.assert_array_equal(*(getattr(display, name) for display in maps))

    def test_objects_that_can_be_read_are_their_own_cards(self):
        shown = {name: map_of(selector.fit(X), X).fields[0] for name, (X, selector) in KINDS.items()
                 if hasattr(selector, "fit") and name != "matrix of distances"}  # fmt: skip
        assert shown["strings"] == shown["array of strings"] == {"text": "cat"}
        assert shown["profiles"] == {"a": "1", "c": "1", "t": "1"}
        assert shown["sets"] == {"items": "a, c, t"}
        assert shown["frame"] == {"word": "cat"}
        assert shown["euclidean"] == {"column 0": "0", "column 1": "1"}
        assert shown["csr"] == {}
        matrix = np.eye(3)
        assert map_of(covey.CRS(1, similarity="precomputed").fit(matrix), matrix).fields == [{}] * 3

    def test_distances_of_an_asymmetric_graph(self):
        rng = np.random.default_rng(0)
        values = similarity_matrix(20, rng, symmetric=False, levels=4)
        graph = covey.neighbor_graph(values, 4, "precomputed")
        edges = {
            (i, int(j)): s for i in range(20) for j, s in zip(graph.indices[i], graph.similarities[i], strict=True)
        }
        largest, smallest = max(edges.values()), min(edges.values())
        found = distances_of(graph)
        for i in range(20):
            part = slice(found.indptr[i], found.indptr[i + 1])
            others, distances = found.indices[part].tolist(), found.data[part].tolist()
            assert (others[0], distances[0]) == (i, 0)
            assert distances == sorted(distances)
            assert set(others[1:]) == {j for j in range(20) if (i, j) in edges or (j, i) in edges}
            for j, distance in zip(others[1:], distances[1:], strict=True):
                best = max(edges.get((i, j), -np.inf), edges.get((j, i), -np.inf))
                assert distance == pytest.approx((largest - best) / (largest - smallest))


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
