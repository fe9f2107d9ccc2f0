"""Real data sets for tests and benchmarks, read from the folder named by COVEY_DATA."""

import gzip
import json
import lzma
import os
from pathlib import Path

import numpy as np


def find(*parts):
    home = os.environ.get("COVEY_DATA")
    path = Path(home or ".", *parts)
    if not home or not path.exists():
        raise FileNotFoundError(f"needs {'/'.join(parts)} in the folder named by COVEY_DATA")
    return path


def read_idx(path):
    with gzip.open(path) as file:
        content = file.read()
    n_dimensions = content[3]
    shape = np.frombuffer(content, ">i4", n_dimensions, offset=4)
    return np.frombuffer(content, np.uint8, offset=4 + 4 * n_dimensions).reshape(shape)


def fashion_mnist():
    """(X_train, y_train, X_test, y_test), images as rows of 784 bytes."""
    parts = []
    for split in ("train", "t10k"):
        images = read_idx(find("fashion-mnist", f"{split}-images-idx3-ubyte.gz"))
        parts += [images.reshape(len(images), -1), read_idx(find("fashion-mnist", f"{split}-labels-idx1-ubyte.gz"))]
    return tuple(parts)


def surnames():
    """(names, languages)"""
    with gzip.open(find("names-nationality", "names.tsv.gz"), "rt", encoding="utf-8") as file:
        return tuple(zip(*(line.rstrip("\n").split("\t") for line in file), strict=True))


def globins():
    """The dissimilarity matrix and labels of 213 proteins."""
    with np.load(find("protein213", "protein213.npz")) as content:
        return content["D"], content["y"]


def newsgroups():
    """(texts, labels, splits) of 20 Newsgroups, bydate."""
    with lzma.open(find("20newsgroups", "20news-bydate.jsonl.xz"), "rt", encoding="utf-8") as file:
        posts = [json.loads(line) for line in file]
    return tuple([post[key] for post in posts] for key in ("text", "label", "split"))


def sites():
    """Web sites as dicts {tracker: share of page loads}."""
    with gzip.open(find("whotracksme", "site_trackers_2018-04.jsonl.gz"), "rt", encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    return [next(value for value in record.values() if isinstance(value, dict)) for record in records]


def leaves():
    """The outlines of 442 leaves as time series."""
    with np.load(find("ucr", "OSULeaf.npz")) as content:
        return np.vstack([content["X_train"], content["X_test"]])
