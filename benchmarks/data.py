"""Real data sets, read from the folder named by COVEY_DATA."""

import csv
import gzip
import itertools
import os
from pathlib import Path

import numpy as np

from covey import datasets


def find(*parts):
    home = os.environ.get("COVEY_DATA")
    path = Path(home or ".", *parts)
    if not home or not path.exists():
        raise FileNotFoundError(f"needs {'/'.join(parts)} in the folder named by COVEY_DATA")
    return path


def fashion_mnist():
    """(X_train, y_train, X_test, y_test), images as rows of 784 bytes."""
    parts = (datasets.load_fashion_mnist(subset, return_X_y=True) for subset in ("train", "test"))
    return tuple(itertools.chain.from_iterable(parts))


def surnames():
    """(names, languages)"""
    with gzip.open(find("names-nationality", "names.tsv.gz"), "rt", encoding="utf-8") as file:
        return tuple(zip(*(line.rstrip("\n").split("\t") for line in file), strict=True))


def globins():
    """The dissimilarity matrix and labels of 213 proteins."""
    with np.load(find("protein213", "protein213.npz")) as content:
        return content["D"], content["y"]


def series(name):
    """Time series of the UCR archive and their classes; the official training objects come first."""
    with np.load(find("ucr", f"{name}.npz")) as content:
        X, y = (np.concatenate([content[f"{part}_train"], content[f"{part}_test"]]) for part in "Xy")
    return X, y


def leaves():
    """The outlines of 442 leaves as time series."""
    return series("OSULeaf")[0]


def molecules():
    """(SMILES, labels) of BBBP: whether a molecule passes the blood-brain barrier."""
    with open(find("bbbp", "BBBP.csv"), encoding="utf-8", newline="") as file:
        rows = [(row["smiles"], int(row["label"])) for row in csv.DictReader(file)]
    return tuple(zip(*rows, strict=True))
