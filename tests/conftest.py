"""Shared fixtures. Tests on real data sets read them from COVEY_DATA and are skipped where it is not set."""

import gzip
import os
from pathlib import Path

os.environ.setdefault("SCIPY_ARRAY_API", "1")  # before SciPy is imported: one of scikit-learn's checks needs it

import numpy as np
import pytest
from hypothesis import settings

settings.register_profile("covey", deadline=None, max_examples=60, derandomize=True)
settings.load_profile("covey")


def data_file(*parts):
    home = os.environ.get("COVEY_DATA")
    path = Path(home, *parts) if home else None
    if path is None or not path.exists():
        pytest.skip(f"needs {'/'.join(parts)} in the folder named by COVEY_DATA")
    return path


def read_idx(path):
    with gzip.open(path) as file:
        content = file.read()
    n_dimensions = content[3]
    shape = np.frombuffer(content, ">i4", n_dimensions, offset=4)
    return np.frombuffer(content, np.uint8, offset=4 + 4 * n_dimensions).reshape(shape)


@pytest.fixture(scope="session")
def fashion():
    """(X_train, y_train, X_test, y_test) of Fashion-MNIST, images as rows of 784 bytes."""
    parts = []
    for split in ("train", "t10k"):
        images = read_idx(data_file("fashion-mnist", f"{split}-images-idx3-ubyte.gz"))
        parts += [
            images.reshape(len(images), -1),
            read_idx(data_file("fashion-mnist", f"{split}-labels-idx1-ubyte.gz")),
        ]
    return tuple(parts)


@pytest.fixture(scope="session")
def surnames():
    with gzip.open(data_file("names-nationality", "names.tsv.gz"), "rt", encoding="utf-8") as file:
        return [line.rstrip("\n").split("\t")[0] for line in file]


@pytest.fixture(scope="session")
def globins():
    """The dissimilarity matrix and labels of 213 proteins."""
    with np.load(data_file("protein213", "protein213.npz")) as content:
        return content["D"], content["y"]
