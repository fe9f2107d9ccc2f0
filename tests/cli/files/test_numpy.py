"""Arrays in .npy and .npz files: what goes into the commands, what comes out, and what is refused in words."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from covey.cli.files.reading import blocks, read
from covey.exceptions import FileFormatError
from tests.cli.commands import expected, one_line

TYPES = ["float64", "float32", "float16", ">f8", "int64", "uint8", "bool", ">i4"]


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("order", ["C", "F"])
def test_an_npy_file_comes_back_equal_whole_and_in_blocks(folder, kind, order):
    array = np.asarray(np.random.default_rng(0).integers(0, 2, (50, 7)), dtype=kind, order=order)
    np.save("x.npy", array)
    np.testing.assert_array_equal(read("x.npy").matrix, array)
    parts = list(blocks("x.npy", most_rows=8))
    assert [len(part) for part in parts] == [8] * 6 + [2]
    assert [part.first for part in parts] == list(range(0, 50, 8))
    np.testing.assert_array_equal(np.concatenate([part.matrix for part in parts]), array)
    assert parts[-1].share == 1


def test_a_large_npy_file_is_mapped_and_not_read(folder):
    """A file with a hole of 64 GiB takes no room on the disk, and could not be read into memory."""
    with open("x.npy", "wb") as file:
        np.lib.format.write_array_header_1_0(file, {"shape": (2**27, 64), "fortran_order": False, "descr": "<f8"})
        file.truncate(file.tell() + 2**36)
    assert read("x.npy").matrix.shape == (2**27, 64)
    assert next(blocks("x.npy")).matrix.sum() == 0


@pytest.mark.parametrize("shape", [(28, 28), (4, 5, 3)])
@pytest.mark.parametrize("name", ["x.npy", "x.npz"])
def test_images_are_flattened_and_their_shape_is_kept(folder, shape, name):
    images = np.random.default_rng(0).integers(0, 255, (20, *shape), dtype=np.uint8)
    np.save(name, images) if name == "x.npy" else np.savez(name, X=images)
    block = read(name)
    assert block.shape == shape
    np.testing.assert_array_equal(block.matrix, images.reshape(20, -1))
    some = block.take(np.array([3, 1]))
    assert some.shape == shape
    np.testing.assert_array_equal(some.matrix.reshape(-1, *shape), images[[3, 1]])
    np.save("flat.npy", images.reshape(20, -1))
    assert read("flat.npy").shape is None


def test_the_only_array_of_images_in_an_npz_file_is_taken_if_there_is_no_table(folder):
    images = np.ones((5, 4, 4))
    np.savez("x.npz", digits=images, y=np.arange(5))
    assert read("x.npz").shape == (4, 4)
    np.savez("x.npz", digits=images, table=np.ones((5, 2)))
    assert read("x.npz").matrix.shape == (5, 2)


def test_npy_files_give_what_the_library_selects_and_answers(run):
    fitted, X, y = expected()
    np.save("iris.npy", X.to_numpy())
    np.save("species.npy", y)
    assert run("select", "iris.npy", "--label", "species.npy", "-k", 5, "-o", "few.npz", "-m", "m")[0] == 0
    with np.load("few.npz") as few:
        np.testing.assert_array_equal(few["covey_row"], fitted.selector_.sample_indices_)
        np.testing.assert_array_equal(few["X"], X.to_numpy()[few["covey_row"]])
        np.testing.assert_array_equal(few["covey_cluster"], y[few["covey_row"]])
    assert run("classify", "iris.npy", "-m", "m", "-o", "answers.csv")[0] == 0
    np.testing.assert_array_equal(pd.read_csv("answers.csv")["covey_label"], fitted.predict(X))


def test_selected_images_are_written_as_images(run):
    images = np.random.default_rng(0).integers(0, 255, (40, 4, 5), dtype=np.uint8)
    np.savez("x.npz", X=images, y=np.arange(40) % 2)
    assert run("select", "x.npz", "-o", "few.npz")[0] == 0
    with np.load("few.npz") as few:
        np.testing.assert_array_equal(few["X"], images[few["covey_row"]])


WRONG = {
    "one axis": (np.ones(5), r"x\.npy must have rows and columns, .* it has the shape \(5,\)"),
    "five axes": (np.ones((2, 1, 1, 1, 1)), r"it has the shape \(2, 1, 1, 1, 1\)"),
    "no rows": (np.ones((0, 3)), r"it has the shape \(0, 3\)"),
    "no columns": (np.ones((3, 0)), r"it has the shape \(3, 0\)"),
    "texts": (np.array([["a"]]), "must hold numbers, it holds the type <U1"),
    "complex": (np.ones((2, 2), dtype=complex), "must hold numbers, it holds the type complex128"),
    "objects": (np.array([[None]], dtype=object), "could run code"),
}


@pytest.mark.parametrize("what", WRONG)
def test_other_arrays_are_refused_in_words(folder, what):
    array, message = WRONG[what]
    np.save("x.npy", array)
    for reader in (read, lambda path: list(blocks(path))):
        with pytest.raises(FileFormatError, match=message) as caught:
            reader("x.npy")
        caught.match(r"^x\.npy")


def test_a_damaged_npy_file_is_refused_by_name(folder):
    np.save("x.npy", np.ones((30, 4)))
    content = Path("x.npy").read_bytes()
    for damaged in (content[:-1], content + b"0", content[:50], b"", b"\x93NUMPY\x09\x09" + content[8:]):
        Path("x.npy").write_bytes(damaged)
        with pytest.raises(FileFormatError, match=r"^x\.npy (is not an \.npy file, or damaged|declares)"):
            read("x.npy")


def test_what_npy_files_cannot_hold_is_said(run):
    np.save("x.npy", np.eye(6))
    np.save("y.npy", np.arange(5))
    for options, message in {
        ("--label", "kind"): "so --label must be another .npy file with a label for each row, got 'kind'",
        ("--label", "y.npy"): "the labels in y.npy must have one value for each of 6 rows, the shape is (5,)",
        ("--label", "absent.npy"): "absent.npy: no such file",
        ("-o", "few.npy"): "npy files are read, but not written",
        ("--features", "a"): "--features is for columns with names, and x.npy has none",
    }.items():
        code, _, err = run("select", "x.npy", "-f", *(() if "-o" in options else ("-o", "few.npz")), *options)
        assert code in (1, 2)
        assert message in one_line(err)
    assert sorted(os.listdir()) == ["x.npy", "y.npy"]
