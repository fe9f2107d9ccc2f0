"""Rows of numbers as images: their bytes, the pages that show them, and how large these become."""

import base64
import re
from io import BytesIO

import matplotlib.image
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import covey
from covey.displays.cards import Card
from covey.displays.images import LARGEST_SIDE, MOST_BYTES, Images, png, png_address
from tests.browser import assert_renders, page


def pixels_in(address):
    """The bytes of an image at a data address, as matplotlib reads them."""
    head, _, content = address.partition(",")
    assert head == "data:image/png;base64"
    shown = matplotlib.image.imread(BytesIO(base64.b64decode(content)), format="png")
    return np.rint(shown * 255).astype(np.uint8)


SHAPES = st.tuples(st.integers(1, 40), st.integers(1, 40)) | st.tuples(st.integers(1, 9), st.integers(1, 9), st.just(3))


@given(SHAPES.flatmap(lambda shape: arrays(np.uint8, shape)))
def test_a_png_file_holds_the_pixels(pixels):
    np.testing.assert_array_equal(pixels_in(png_address(pixels)), pixels)
    assert png(pixels) == png(pixels)


def test_a_card_shows_its_pixels():
    for shape in ((28, 28), (5, 7, 3)):
        pixels = np.random.default_rng(0).integers(0, 256, shape).astype(np.uint8)
        np.testing.assert_array_equal(pixels_in(Card(pixels=pixels).address()), pixels)


def test_bytes_are_shown_as_they_are_and_other_numbers_between_black_and_white():
    X = np.array([[0, 100, 50, 20], [30, 40, 60, 80]])
    np.testing.assert_array_equal(Images.of(X.astype(np.uint8), (2, 2)).pixels(0), X[0].reshape(2, 2))
    scaled = np.rint(X / 100 * 255).astype(np.uint8)
    for form in (X, X / 7 - 3, X.astype(np.float32), pd.DataFrame(X), sp.csr_array(X)):
        images = Images.of(form, (2, 2))
        for row in range(2):
            np.testing.assert_array_equal(images.pixels(row), scaled[row].reshape(2, 2))
    assert not Images.of(np.full((2, 4), 7), (2, 2)).pixels(0).any()


def test_a_third_axis_of_one_is_gray():
    assert Images.of(np.zeros((1, 6), np.uint8), (2, 3, 1)).pixels(0).shape == (2, 3)
    assert Images.of(np.zeros((1, 18), np.uint8), [2, 3, 3]).pixels(0).shape == (2, 3, 3)


@pytest.mark.parametrize("shape", [(300, 200), (65, 64), (129, 10, 3)])
def test_large_images_are_made_smaller(shape):
    rows = np.indices(shape)[0].ravel()[None] % 256
    small = Images.of(rows.astype(np.uint8), shape).pixels(0)
    assert max(small.shape[:2]) <= LARGEST_SIDE
    assert small.shape[2:] == shape[2:]
    step = -(-max(shape[:2]) // LARGEST_SIDE)
    first = rows.reshape(shape)[:step, :step]
    np.testing.assert_array_equal(small[0, 0], np.rint(first.mean(axis=(0, 1))))


@pytest.mark.parametrize("shape", [3, (2,), (2, 2, 2), (2, 0), (2.0, 2), "22", (1, 2, 3, 4)])
def test_what_is_no_shape_of_an_image_is_refused(shape):
    with pytest.raises(ValueError, match="image_shape must be the height and the width"):
        Images.of(np.zeros((3, 4)), shape)


def test_rows_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="images of 2 x 3 pixels are 6 numbers, and a row of X has 4 columns"):
        Images.of(np.zeros((3, 4)), (2, 3))
    with pytest.raises(TypeError, match="must hold numbers"):
        Images.of(np.array([["a", "b"]]), (1, 2))


def squares(n=60, side=8, seed=0):
    """Images of noise around one of three patterns."""
    rng = np.random.default_rng(seed)
    patterns = rng.integers(0, 200, (3, side * side))
    return (patterns[rng.integers(0, 3, n)] + rng.integers(0, 50, (n, side * side))).astype(np.uint8)


def map_of(X, shape, **options):
    selector = covey.CRS(5, random_state=0).fit(X)
    return covey.displays.PrototypeMapDisplay.from_estimator(selector, X, image_shape=shape, **options)


def test_a_map_has_the_image_of_each_object():
    X = squares()
    display = map_of(X, (8, 8), max_objects=40)
    assert display.rows.size == len(display.images) == 40
    for row, address in zip(display.rows.tolist(), display.images, strict=True):
        np.testing.assert_array_equal(pixels_in(address).ravel(), X[row])
    assert "no image" not in display.to_html()
    assert map_of(X, None).images is None
    assert map_of(pd.DataFrame(X), (8, 8)).fields == [{}] * 60  # pixels are not for reading
    assert len(map_of(pd.DataFrame(X), None).fields[0]) == 13  # twelve, and how many more there are


NOISE = np.random.default_rng(0).integers(0, 256, (600, 64 * 64 * 3)).astype(np.uint8)
"""Images that no compression makes smaller: 16 000 bytes each on a page."""


@pytest.mark.parametrize(("n_neighbors", "are_few"), [(30, True), (1, False)])
def test_a_page_stays_small_and_has_the_images_of_representatives_first(n_neighbors, are_few):
    X = squares(600)
    selector = covey.CRS(n_neighbors, random_state=0, coverage=1.0).fit(X)
    display = covey.displays.PrototypeMapDisplay.from_estimator(selector, X).show_images(NOISE, (64, 64, 3))
    there, chosen = np.array([address is not None for address in display.images]), display.is_representative
    assert 0 < there.sum() < 600
    assert sum(len(address) for address in display.images if address) <= MOST_BYTES
    assert len(display.to_html()) < 1.2 * MOST_BYTES
    assert f"Of {(~there).sum()} of them the page has no image" in " ".join(display.to_html().split())
    assert there[chosen].all() == there[~chosen].any() == are_few
    if not are_few:
        assert display.stands_for[there].min() >= display.stands_for[chosen & ~there].max()


@pytest.mark.parametrize("phone", [False, True])
def test_a_browser_shows_the_images(tmp_path, phone):
    display = map_of(squares(), (8, 8))
    display.write_html(tmp_path / "map.html")
    assert not re.search(r'(src|href)="(?!data:|#)', display.to_html())
    assert_renders(tmp_path / "map.html", phone=phone)


def test_choosing_an_image_shows_it_with_those_that_it_stands_for(tmp_path):
    display = map_of(squares(), (8, 8))
    first = int(np.argmax(display.stands_for))
    covered = np.flatnonzero((display.covered_by == first) & (np.arange(60) != first))
    display.images[covered[0]] = None
    display.write_html(tmp_path / "map.html")
    with page(tmp_path / "map.html") as browser:
        listed = browser.find_elements("css selector", "#panel .item")
        assert len(listed) == display.n_representatives
        assert listed[0].get_attribute("data-at") == str(first)  # the one that stands for most comes first
        listed[0].click()
        large = browser.find_element("css selector", "#panel .large")
        members = browser.find_elements("css selector", "#panel .pictures img")
        assert browser.get_log("browser") == []
        assert large.get_attribute("src") == display.images[first]
        sources = [image.get_attribute("src") for image in members]
        assert sources == [display.images[at] for at in covered[1:]]
        panel = browser.find_element("id", "panel").text
        assert f"Without an image on this page\nrow {covered[0]}\n" in panel
