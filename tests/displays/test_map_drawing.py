"""What the page of a map draws on its canvas, of few objects and of 50 000."""

import numpy as np
import pytest

import covey
from covey.displays import PrototypeMapDisplay
from tests.displays.test_map_page import drawn, largest, settled

STROKES = """
    // Draws once more, and notes what is drawn: the name of the method, its first value, the width of lines, dashes.
    const noted = [], pen = view.pen, plain = {};
    for (const name of ["stroke", "fillText", "drawImage", "arc"]) {
      plain[name] = pen[name];
      pen[name] = (...values) => {
        noted.push([name, name === "fillText" ? values[0] : "", pen.lineWidth, pen.getLineDash().length]);
        return plain[name].apply(pen, values);
      };
    }
    view.draw();
    Object.keys(plain).forEach(name => { delete pen[name]; });
    return noted"""
LOOKED_AT = "let count = 0; view.grid.forEach(.5, .5, .51, .51, () => { count++; }); return count"


def test_texts_stand_below_their_marks(desk, tmp_path):
    """Nothing else is near, so that each of them has room."""
    texts = ["the quick brown fox", "🎉" * 40, "日本酒"]
    display = PrototypeMapDisplay.from_estimator(covey.KeepAll().fit(np.eye(3)), np.eye(3), values=texts)
    display.write_html(tmp_path / "map.html")
    desk.get((tmp_path / "map.html").as_uri())
    words = [text for name, text, *_ in desk.execute_script(STROKES) if name == "fillText"]
    assert sorted(words) == sorted(["the quick brown fox", "🎉" * 23 + "…", "日本酒"])


def test_no_ring_of_a_neighbor_lies_on_the_image_of_what_is_chosen(desk, tmp_path):
    X = np.random.default_rng(0).integers(0, 255, (60, 64)).astype(np.uint8)
    display = PrototypeMapDisplay.from_estimator(covey.CRS(5).fit(X), X, image_shape=(8, 8))
    display.write_html(tmp_path / "map.html")
    desk.get((tmp_path / "map.html").as_uri())
    settled(desk)
    desk.execute_script("choose(arguments[0])", largest(display))
    settled(desk)
    noted = desk.execute_script(STROKES)
    rings = [place for place, (name, _, _, dashes) in enumerate(noted) if name == "arc" and dashes]
    assert len(rings) == 6
    assert max(rings) < max(place for place, (name, *_) in enumerate(noted) if name == "drawImage")


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """50 000 objects of 12 clusters at random places, with long names and cards of eight numbers.

    What is tested is the page, not the layout.
    """
    rng, n = np.random.default_rng(0), 50_000
    chosen = np.zeros(n, dtype=bool)
    chosen[:653] = True
    covered_by = np.concatenate([np.arange(653), rng.integers(0, 653, n - 653)])
    cluster_of = covered_by % 12
    stands_for = np.where(chosen, np.bincount(covered_by, minlength=n), 0)
    covered_by[-1000:] = -1
    card = {f"column {at}": f"{at / 7:.5f}" for at in range(8)}
    counts = zip(np.bincount(cluster_of).tolist(), np.bincount(cluster_of[:653]).tolist(), strict=True)
    display = PrototypeMapDisplay(
        positions=rng.normal(size=(n, 2)) + 3 * rng.normal(size=(12, 2))[cluster_of],
        rows=np.arange(n),
        covered_by=covered_by,
        is_representative=chosen,
        stands_for=stands_for,
        names=["長い名前" * 50] * n,
        label=None,
        n_members=n,
        n_representatives=653,
        sizes={f"kind {at}": sizes for at, sizes in enumerate(counts)},
        cluster_of=cluster_of,
        neighbors=rng.integers(0, n, (n, 6)),
        similarities=rng.random((n, 6)),
        fields=[card] * n,
    )
    path = tmp_path_factory.mktemp("large") / "map.html"
    display.write_html(path)
    return path


def test_a_page_of_50_000_objects_is_small_and_draws_no_more_than_is_asked_for(large, desk):
    assert large.stat().st_size < 5_000_000
    desk.get(large.as_uri())
    assert desk.execute_script("return document.getElementsByTagName('*').length") < 1500  # no element a point
    points, n_large = drawn(desk)
    assert points == 50_000
    assert 5 < n_large < 200  # 653 representatives are no confetti
    rings = {width for name, _, width, _ in desk.execute_script(STROKES) if name == "arc"}
    assert rings == {1}  # what is not covered is a ring, and no disc
    frames = "return Number(canvas.dataset.frames)"
    before = desk.execute_script(frames)
    desk.execute_script("for (let i = 0; i < 100; i++) { view.pan(1, 0); view.zoom(1.01); }")
    settled(desk)
    assert desk.execute_script(frames) - before <= 2  # many movements between two frames are drawn once
    desk.execute_script("view.fit(); view.zoom(30)")
    assert 0 < drawn(desk)[0] < 10_000  # what is out of sight costs nothing
    looked_at = desk.execute_script(LOOKED_AT)
    assert looked_at < 500  # nor does picking look at all objects
    assert desk.get_log("browser") == []
