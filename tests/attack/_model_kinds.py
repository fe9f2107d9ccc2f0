"""A small file of every kind of model, for the attack on model files."""

import io
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

import covey
from covey.persistence.loading import ModelFile

FILES = Path(__file__).parents[1] / "files"
"""Where the files of format 1, and files that the command line has written, are kept."""
WORDS = [
    *("cat", "cart", "care", "cast", "car"),
    *("dog", "dodge", "lodge", "doe", "do"),
    *("bird", "brd", "bride", "b", "bd"),
]


@dataclass(frozen=True)
class Kind:
    """The bytes of a file, the similarity that is passed to load it, and objects of the kind that it was fitted to.

    The queries are None if the file holds a selector, or if only the file itself knows what its objects were.
    """

    name: str
    content: bytes
    similarity: Any = None
    queries: Any = None


class FirstOfAll(covey.Selector):
    """A selector of the user's own: the first member of each cluster represents it."""

    _fitted_state: ClassVar = {"n_clusters_": int}

    def __init__(self, similarity="cosine"):
        self.similarity = similarity

    def fit(self, X, y=None):
        super().fit(X, y)
        self.n_clusters_ = len(self.prototypes_)
        return self

    def select(self, cluster, rng):
        n = cluster.rows.size
        return cluster.prototype(indices=np.array([0]), gains=np.array([n]), covered_by=np.zeros(n, dtype=int))


def alike(a, b):
    """A similarity of any two objects, whatever a file has made of them."""
    return 1 / (1 + abs(_length(a) - _length(b)))


def _length(value):
    """A number that any object has. Showing an array would take long, so its size must do."""
    return value.size if hasattr(value, "size") else len(repr(value)[:1000])


def alike_in_batches(left, right):
    return [alike(a, b) for a, b in zip(left, right, strict=True)]


@cache
def kinds():
    """All kinds: models in the present format, their selectors, and the files that are kept in the repository."""
    return [*_rows(), *_objects(), *_selectors(), *_kept()]


def _data():
    y = np.repeat([0, 1, 2], 5)
    X = np.abs(np.random.default_rng(0).normal(y[:, None], 0.3, (15, 4))) + 0.1
    return X, y


def _rows():
    """Models of rows of numbers, of each type and each way to reject."""
    X, y = _data()
    sparse, bits = sp.csr_array(np.where(X > 1, X, 0.0)), (X > 1).astype(np.uint8)
    texts, fixed = np.array(["a", "b", "c"])[y], {"reject": 0.5, "unknown_label": "none"}
    frame = _frame(X)
    packed = covey.PackedBits(np.packbits(np.tile(bits, (1, 20)), axis=1))
    words = covey.PackedBits(np.random.default_rng(1).integers(2**63, size=(15, 2)).astype(np.uint64))
    yield from _made("threshold", covey.CRS(2), X, y, reject="threshold")
    yield from _made("calibrated", covey.CRS(2), X, y, reject="calibrated", rejection_rate=0.3)
    yield from _made("fixed bar", covey.CRS(2, similarity="euclidean"), X.astype(np.float32), texts, **fixed)
    yield from _made("CSR", covey.CRS(2, similarity="ruzicka"), sparse, y)
    yield from _made("CSR under cosine", covey.CRS(2, size=6), sparse, y, reject=0.1)
    yield from _made("integers", covey.KeepAll(similarity="hamming"), (X > 1).astype(np.int8), y)
    yield from _made("bits", covey.CRS(2, similarity="jaccard"), bits, y)
    yield from _made("packed bytes", covey.CRS(2, similarity="jaccard"), packed, y)
    yield from _made("packed words", covey.CRS(2, similarity="jaccard"), words, y)
    yield from _made("frame", covey.CRS(2, similarity=covey.from_distance("manhattan", "exponential")), frame, y)
    yield from _made("matrix", covey.CRS(2, similarity="precomputed"), X @ X.T, y)
    distances = np.abs(X[:, :1] - X[:, 0])
    yield from _made("distances", covey.CRS(2, similarity=covey.from_distance("precomputed")), distances, y)
    yield from _made("graph", covey.CRS(2, graph=covey.neighbor_graph(X, 14)), X, y)
    yield from _made("sparse graph", covey.CRS(2, graph=covey.neighbor_graph(X, 14).to_csr().tocsc()), X, y)


def _frame(X):
    try:
        import pandas
    except ImportError:
        return X
    return pandas.DataFrame(X, columns=list("abcd"))


def _objects():
    """Models of objects that are no rows of numbers."""
    X, y = _data()
    sparse = sp.csr_array(np.where(X > 1, X, 0.0))
    profiles = [{letter: float(len(word)) for letter in word} for word in WORDS]
    nested = [(1, {"a": [word]}, word.encode()) for word in WORDS]
    mixed = [[len(word), word[0], None if word == "do" else word[-1]] for word in WORDS]
    records = [{"length": len(word), "first": word[0]} for word in WORDS]
    one_way = covey.from_distance(alike, symmetric=False)
    many = covey.batched(alike_in_batches)
    yield from _made("sets", covey.CRS(2, similarity="jaccard"), [set(word) for word in WORDS], y)
    yield from _made("dicts", covey.CRS(2), profiles, y)
    yield from _made("mixed rows", covey.CRS(2, similarity="gower"), mixed, y)
    yield from _made("mixed dicts", covey.CRS(2, similarity="gower"), records, y, reject="threshold")
    yield from _made("strings", covey.CRS(2, similarity=alike), WORDS, y)
    yield from _made("strings by name", covey.CRS(2, similarity="levenshtein"), WORDS, y)
    yield from _made("nested objects", covey.CRS(2, similarity=one_way), nested, y)
    yield from _made("batches", covey.CRS(2, similarity=many), WORDS, y)
    yield from _made("arrays", covey.KeepAll(similarity=alike), [np.arange(len(word)) for word in WORDS], y)
    yield from _made("CSR rows under a function", covey.KeepAll(similarity=alike), sparse, y)
    yield from _made("rows under a function", covey.KeepAll(similarity=alike), X, y)
    yield from _made("dates", covey.KeepAll(similarity=alike), y.astype("M8[D]"), y)


def _selectors():
    """Models of each selector, with labels of each type."""
    X, y = _data()
    yield from _made("all neighbors", covey.CRS(None, threshold=0.9, on_orphan="outlier", refine=True), X, y)
    yield from _made("medoids", covey.DeltaMedoids(similarity="dot"), X, y.astype("M8[D]"))
    yield from _made("DS3", covey.DS3(2, outliers=True), X, y == 1)
    yield from _made("sharpened", covey.Sharpened(covey.CRS(2), size=6, random_state=0), X, y)
    by_function = covey.Sharpened(covey.CRS(2, similarity=alike), size=6, random_state=0)
    yield from _made("sharpened by a function", by_function, WORDS, y)
    yield from _made("random", covey.RandomSelector(n={0: 1, 1: 2, 2: 3}, random_state=0), X, y)
    yield from _made("all", covey.KeepAll(), X, y.astype(float))
    yield from _made("tuples as labels", covey.CRS(2), X, _of_objects([(label, "x") for label in y.tolist()]))
    yield from _made("one class", covey.CRS(2), X, np.zeros(15, dtype=int))
    yield from _made("of the user", FirstOfAll(), X, y)


def _of_objects(values):
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _made(name, selector, objects, labels, **options):
    """The file of a classifier and the file of its selector."""
    model = covey.NearestPrototypeClassifier(selector, **options).fit(objects, labels)
    for estimator, title in ((model, name), (model.selector_, f"{name}, selector")):
        buffer = io.BytesIO()
        covey.save(estimator, buffer, {"columns": ["a"], "weights": np.arange(3.0), "sparse": sp.eye_array(3)})
        needed = {"alike": alike, "alike_in_batches": alike_in_batches}.get(_missing(buffer.getvalue()))
        yield Kind(title, buffer.getvalue(), needed, objects if estimator is model else None)


def _missing(content):
    return ModelFile(io.BytesIO(content)).missing_callable


def _kept():
    """The files that are kept in the repository: those of format 1, and those that the command line has written."""
    for path in sorted(FILES.glob("*/*.covey")):
        content = path.read_bytes()
        notes = ModelFile(io.BytesIO(content)).notes()
        queries = notes.get("queries") if path.parent.name == "format-1" else None
        yield Kind(f"{path.parent.name}/{path.stem}", content, None if _missing(content) is None else alike, queries)
