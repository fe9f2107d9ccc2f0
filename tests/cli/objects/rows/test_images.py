"""Rows of numbers that are images: maps and reports of the command line show them."""

import base64
import json
import re
from io import BytesIO
from pathlib import Path

import matplotlib.image
import numpy as np
import pandas as pd
import pytest

from tests.browser import assert_renders
from tests.cli.commands import one_line


def images(n=40, shape=(6, 5)):
    """Images of two kinds, as bytes, and their kinds."""
    rng = np.random.default_rng(0)
    patterns = rng.integers(0, 200, (2, *shape))
    kinds = rng.integers(0, 2, n)
    noise = rng.integers(0, 50, (n, *shape))
    return (patterns[kinds] + noise).astype(np.uint8), np.array(["boot", "coat"])[kinds]


def as_array(shape):
    X, y = images(shape=shape)
    np.savez("i.npz", X=X, y=y)
    return "i.npz"


def as_npy(shape):
    X, y = images(shape=shape)
    np.save("i.npy", X)
    np.save("y.npy", y)
    return "i.npy", "--label", "y.npy"


def flat(shape):
    X, y = images(shape=shape)
    np.savez("i.npz", X=X.reshape(len(X), -1), y=y)
    return "i.npz", "--image", "x".join(map(str, shape))


def table(shape):
    X, y = images(shape=shape)
    frame = pd.DataFrame(X.reshape(len(X), -1)).add_prefix("p")
    frame.assign(kind=y, caption=[f"caption {row}" for row in range(len(X))]).to_csv("i.csv", index=False)
    return "i.csv", "--label", "kind", "--image", "x".join(map(str, shape))


def lists(shape):
    X, y = images(shape=shape)
    rows = [{"kind": kind, "v": row} for kind, row in zip(y.tolist(), X.reshape(len(X), -1).tolist(), strict=True)]
    Path("i.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return "i.jsonl", "--label", "kind", "--image", "x".join(map(str, shape))


FORMS = {"npz": lambda shape: (as_array(shape),), "npy": as_npy, "flat": flat, "table": table, "lists": lists}


def pixels_on(page):
    """The bytes of all images on a page of a report."""
    found = re.findall(r'src="data:image/png;base64,([^"]*)"', Path(page).read_text())
    read = [matplotlib.image.imread(BytesIO(base64.b64decode(content)), format="png") for content in found]
    return [np.rint(image * 255).astype(np.uint8) for image in read]


@pytest.mark.parametrize("shape", [(6, 5), (6, 5, 3)], ids=["gray", "color"])
@pytest.mark.parametrize("form", FORMS)
def test_a_map_shows_the_images(run, form, shape):
    data = FORMS[form](shape)
    code, _, err = run("select", *data, "-k", 5, "-o", "few.npz" if "i.np" in data[0] else "few.csv", "-m", "m",
                       "--picture", "map.html")  # fmt: skip
    assert code == 0, err
    words = f"images of 6 x 5 pixels{' in color' if len(shape) == 3 else ''}"
    assert words in err
    assert words in run("inspect", "m")[1]
    held = re.search(r'id="data">(.*?)</script>', Path("map.html").read_text(), re.DOTALL)
    shown = json.loads(held[1])["images"]
    X, _ = images(shape=shape)
    assert len(shown) == len(X)
    first = matplotlib.image.imread(BytesIO(base64.b64decode(shown["0"])), format="png")
    lowest, highest = (0, 255) if "i.np" in data[0] else (int(X.min()), int(X.max()))  # other files have no bytes
    expected = (X[0].astype(float) - lowest) / (highest - lowest)
    np.testing.assert_allclose(first, expected, atol=0.003)
    assert run("classify", data[0], "-m", "m", "-o", "answers.csv")[0] == 0


def test_a_report_shows_the_images(run):
    data = FORMS["npz"]((6, 5))
    options = ("--methods", "crs", "-k", "5", "--folds", "2", "--html", "report.html")
    assert run("compare", *data, *options)[0] == 0
    shown, (X, _) = pixels_on("report.html"), images()
    assert shown
    assert all((image == X).all(axis=(1, 2)).any() for image in shown)
    assert_renders(Path("report.html").resolve(), phone=False)


def test_a_card_of_a_table_shows_the_image_and_not_the_pixels(run):
    data = FORMS["table"]((6, 5))
    options = ("-s", "cosine", "--methods", "crs", "-k", "5", "--folds", "2", "--html", "report.html")
    code, out, _ = run("compare", *data, *options)
    assert code == 0
    assert "covey select i.csv --label kind --image 6x5 --similarity cosine -k 5" in out
    page = Path("report.html").read_text()
    assert "caption: caption" in page
    assert "p0: " not in page
    assert pixels_on("report.html")


def test_scaled_columns_are_shown_as_they_were(run):
    data = FORMS["flat"]((6, 5))
    options = ("--scale", "--methods", "crs", "-k", "5", "--folds", "2", "--html", "report.html")
    assert run("compare", *data, *options)[0] == 0
    (X, _), shown = images(), pixels_on("report.html")
    assert shown
    assert all((image == X).all(axis=(1, 2)).any() for image in shown)


@pytest.mark.parametrize(
    "value", ["28", "28x", "0x28", "ax28", "14x14x4", "14x14x10", "14x14x2", "14x14x0", "1x2x3x4", "-2x5"]
)
def test_an_image_that_has_no_height_and_width_is_refused(run, value):
    data = FORMS["flat"]((6, 5))[0]
    code, _, err = run("select", data, f"--image={value}", "-o", "few.npz")
    assert code == 2
    assert "--image must be like 28x28" in " ".join(err.split())


def test_an_image_that_does_not_fit_the_rows_is_refused(run):
    data = FORMS["flat"]((6, 5))[0]
    code, _, err = run("select", data, "--image", "7x5", "-o", "few.npz")
    assert code == 1
    assert "--image 7x5 is 35 numbers, but a row has 30." in one_line(err)


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (("--text", "caption"), 2, "--image is for objects that are rows of numbers"),
        (("--features", "p1,caption", "-s", "gower"), 2, "--image is for objects that are rows of numbers"),
        (("--features", "p1,caption", "-s", "own.py:alike"), 1, "--image is for objects that are rows of numbers"),
        (("--matrix",), 2, "--image is for objects to compare"),
    ],
)
def test_objects_that_are_no_rows_of_numbers_are_no_images(run, options, code, message):
    Path("own.py").write_text("def alike(a, b):\n    return 1.0\n")
    data = FORMS["table"]((6, 5))
    found, _, err = run("select", *data, *options, "-o", "few.csv")
    assert (found, message in one_line(err)) == (code, True)


def test_fashion_mnist_is_shown(run, fashion, tmp_path):
    X, y = fashion[0][:300], fashion[1][:300]
    np.savez("clothes.npz", X=X.reshape(-1, 28, 28), y=y)
    assert run("select", "clothes.npz", "-o", "few.npz", "--picture", "map.html")[0] == 0
    assert_renders(Path("map.html").resolve(), phone=False)
    assert Path("map.html").stat().st_size < 1_000_000
