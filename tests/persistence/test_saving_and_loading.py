"""Save and load: the same answers, no pickle, no half-written file."""

import os
import pickle
import zipfile
from collections import Counter
from contextlib import suppress

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits

import covey
from covey.persistence.loading import ModelFile
from covey.similarity.measures import resolve
from tests.damage import change_file


def letters(a, b):
    return len(set(a) & set(b)) / max(len(set(a) | set(b)), 1)


def shortest(a, b):
    return 1.0 / (1 + abs(len(a) - len(b)))


def apart(a, b):
    return abs(len(a) - len(b)) + float(a[0] != b[0])


WORDS = ["cat", "cart", "care", "dog", "dodge", "lodge", "bird", "brd", "bride"]
LABELS = [0, 0, 0, 1, 1, 1, 2, 2, 2]
X, Y = load_digits(return_X_y=True)
X, Y = X[:200], Y[:200]
DISTANCES = np.abs(X[:, None] - X).sum(axis=2)
HOSTS = [{"dns": 1, "web": i % 3} for i in range(9)]

CASES = {
    "dense": (covey.CRS(5), X, Y, X[:20]),
    "float32": (covey.CRS(5, similarity="euclidean"), X.astype(np.float32), Y, X[:20]),
    "csr": (covey.CRS(5, similarity=covey.from_distance("manhattan", "exponential")), sp.csr_array(X), Y, X[:20]),
    "strings": (covey.CRS(2, similarity=letters), WORDS, LABELS, ["carton"]),
    "text labels": (covey.RandomSelector(0.5, random_state=0), X, np.array(["a", "b"] * 100), X[:20]),
    "boolean labels": (covey.KeepAll(), X, Y == 3, X[:20]),
    "hosts": (covey.CRS(2), HOSTS, LABELS, [{"web": 2, "new": 1}]),
    "sets": (covey.CRS(2, similarity="jaccard"), [set(word) for word in WORDS], LABELS, [set("carton")]),
    "tuples": (covey.CRS(2, similarity=letters), [tuple(word) for word in WORDS], LABELS, [tuple("carton")]),
    "bytes": (covey.CRS(2, similarity=letters), [word.encode() for word in WORDS], LABELS, [b"carton"]),
    "ragged arrays": (covey.CRS(2, similarity=shortest), [np.arange(i) for i in range(1, 10)], LABELS, [np.arange(3)]),
    "object array": (covey.CRS(2, similarity=letters), np.array(WORDS, dtype=object), LABELS, ["carton"]),
    "precomputed": (covey.CRS(3, similarity="precomputed"), X @ X.T, Y, X[:20] @ X.T),
    "distances": (covey.CRS(3, similarity=covey.from_distance("precomputed")), DISTANCES, Y, DISTANCES[:20]),
    "wrapped distance": (covey.CRS(2, similarity=covey.from_distance(apart, symmetric=False)), WORDS, LABELS, ["dog"]),
    "given graph": (covey.CRS(3, graph=covey.neighbor_graph(X, 5)), X, Y, X[:20]),
    "sparse graph": (covey.CRS(3, graph=covey.neighbor_graph(X, 5).to_csr().tocsc()), X, Y, X[:20]),
    "sharpened": (covey.Sharpened(covey.CRS(5), size=30, random_state=0), X, Y, X[:20]),
    "sharpened csr": (covey.Sharpened(covey.CRS(5), random_state=0), sp.csr_array(X), Y, X[:20]),
    "sharpened strings": (covey.Sharpened(covey.CRS(2, similarity=letters), size=5), WORDS, LABELS, ["carton"]),
    "sharpened matrix": (covey.Sharpened(covey.CRS(3, similarity="precomputed"), size=20), X @ X.T, Y, X[:20] @ X.T),
    "batched": (covey.CRS(3, similarity=covey.batched(lambda A, B: (A * B).sum(axis=1))), X, Y, X[:20]),
}


@pytest.mark.parametrize("case", CASES)
def test_a_loaded_classifier_answers_the_same(case, tmp_path):
    selector, objects, y, queries = CASES[case]
    model = covey.NearestPrototypeClassifier(selector).fit(objects, y)
    covey.save(model, tmp_path / "model.covey")
    named = isinstance(selector.similarity, str) or case in ("csr", "distances")
    function = getattr(selector.similarity, "function", selector.similarity)  # how it was wrapped is in the file
    again = covey.load(tmp_path / "model.covey", similarity=None if named else function)
    assert repr(again.selector_.similarity) == repr(resolve(selector.similarity)) or named
    np.testing.assert_array_equal(again.predict(queries), model.predict(queries))
    np.testing.assert_array_equal(again.decision_function(queries), model.decision_function(queries))
    for a, b in zip(again.nearest_prototypes(queries), model.nearest_prototypes(queries), strict=True):
        np.testing.assert_array_equal(a, b)
    assert again.classes_.dtype == model.classes_.dtype


@pytest.mark.parametrize(
    "selector",
    [
        covey.CRS(4, random_state=3),
        covey.RandomSelector(n={0: 1, 1: 2}),
        covey.KeepAll(),
        covey.Sharpened(random_state=0),
    ],
)
def test_a_loaded_selector_holds_the_same(selector, tmp_path):
    selector.fit(X, Y % 2)
    covey.save(selector, tmp_path / "selector.covey")
    again = covey.load(tmp_path / "selector.covey")
    assert type(again) is type(selector)
    assert again.get_params() == selector.get_params()
    assert again.n_features_in_ == 64
    np.testing.assert_array_equal(again.sample_indices_, selector.sample_indices_)
    assert (again.n_evaluations_, again.scan_rate_) == (selector.n_evaluations_, selector.scan_rate_)
    for label, prototype in selector.prototypes_.items():
        for name, value in vars(prototype).items():
            np.testing.assert_array_equal(getattr(again.prototypes_[label], name), value)
    assert again.fit(X, Y % 2).sample_indices_.size == selector.sample_indices_.size


@pytest.mark.parametrize(
    ("selector", "objects", "y"),
    [
        (covey.Sharpened(covey.CRS(4), size=40, margins="listed", random_state=0), X, Y),
        (covey.Sharpened(covey.CRS(4), random_state=0), np.eye(4) + 1, [0, 1, 2, 3]),  # there is nothing to exchange
        (covey.Sharpened(covey.CRS(2, similarity=letters), size=5, random_state=0), WORDS, LABELS),
        (covey.Sharpened(covey.CRS(4, similarity="precomputed"), random_state=0), X @ X.T, Y),
    ],
)
def test_a_loaded_sharpened_selector_also_holds_how_it_was_sharpened(selector, objects, y, tmp_path):
    covey.save(selector.fit(objects, y), tmp_path / "s")
    again = covey.load(tmp_path / "s", similarity=letters if selector.similarity is letters else None)
    for name in ("sharpened_", "temperature_", "losses_", "n_evaluations_", "scan_rate_", "sample_indices_"):
        np.testing.assert_array_equal(getattr(again, name), getattr(selector, name))
    assert type(again.selector_) is covey.CRS
    np.testing.assert_array_equal(again.selector_.sample_indices_, selector.selector_.sample_indices_)
    assert again.selector.get_params().keys() == selector.selector.get_params().keys()
    assert again.fit(objects, y).sample_indices_.tolist() == selector.sample_indices_.tolist()


def test_a_graph_of_any_format_comes_back_the_same_way_round(tmp_path):
    graph = covey.neighbor_graph(X, 5).to_csr()
    for form in (graph, graph.tocsc(), graph.tocoo()):
        selector = covey.CRS(3, graph=form).fit(X)
        covey.save(selector, tmp_path / "s")
        again = covey.load(tmp_path / "s")
        assert (again.graph != graph).nnz == 0
        assert again.fit(X).sample_indices_.tolist() == selector.sample_indices_.tolist()


def test_a_callable_must_be_passed_again_and_a_name_must_not(tmp_path):
    path = tmp_path / "m"
    covey.save(covey.CRS(2, similarity=letters).fit(WORDS), path)
    with pytest.raises(ValueError, match=r"similarity must be passed to load: .* callable 'letters'"):
        covey.load(path)
    covey.save(covey.CRS(2).fit(X), path)
    with pytest.raises(ValueError, match="similarity must not be passed to load"):
        covey.load(path, similarity=letters)


def test_what_cannot_be_saved_is_refused_and_leaves_no_file(tmp_path):
    class Thing:
        pass

    model = covey.NearestPrototypeClassifier(covey.KeepAll(similarity=lambda a, b: 1.0)).fit([Thing(), Thing()], [0, 1])
    counters = covey.NearestPrototypeClassifier(covey.KeepAll()).fit([Counter("ab"), Counter("bc")], [0, 1])
    for estimator, error, message in [
        (model, TypeError, "Cannot save representatives of type Thing"),
        (covey.CRS(random_state=np.random.RandomState(0)).fit(X), TypeError, "Cannot save parameter random_state"),
        (counters, TypeError, "Cannot save representatives of type Counter"),
        (covey.CRS(), ValueError, "must be fitted before it is saved"),
        (Thing(), TypeError, "estimator must be one of covey's .* got Thing of module"),
    ]:
        with pytest.raises(error, match=message):
            covey.save(estimator, tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_a_failed_save_keeps_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "model"
    covey.save(covey.CRS(2).fit(X), path)
    before = path.read_bytes()
    monkeypatch.setattr(zipfile.ZipFile, "writestr", lambda *args: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        covey.save(covey.CRS(3).fit(X), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_may_be_read_as_any_other(tmp_path):
    """Its mode follows the umask, so that a service may read what an analyst has saved."""
    (tmp_path / "other").write_bytes(b"")
    covey.save(covey.CRS(2).fit(X), tmp_path / "model")
    assert os.stat(tmp_path / "model").st_mode == os.stat(tmp_path / "other").st_mode


def test_damaged_files_are_refused_in_one_line(tmp_path):
    path = tmp_path / "model"
    covey.save(covey.NearestPrototypeClassifier(covey.CRS(2)).fit(X, Y), path)
    whole = path.read_bytes()
    damaged = []
    for at in np.random.default_rng(0).choice(len(whole), 300, replace=False):
        flipped = bytearray(whole)
        flipped[at] ^= 255
        damaged.append(bytes(flipped))
    answers = covey.load(path).predict(X)
    for content in damaged:  # most damage is found out; what goes unnoticed (a time stamp, say) does no harm
        path.write_bytes(content)
        with suppress(ValueError):
            np.testing.assert_array_equal(covey.load(path).predict(X), answers)
    for content, message in {
        whole[: len(whole) // 2]: "was not written by covey.save, or is damaged",
        whole[:-10]: "was not written by covey.save, or is damaged",
        b"": "is empty; pass what covey.save or covey select --model has written",
        b"not a zip": "is not a model, but another kind of file; pass what covey.save",
    }.items():
        path.write_bytes(content)
        with pytest.raises(ValueError, match=message) as caught:
            covey.load(path)
        assert "\n" not in str(caught.value)
    with pytest.raises(FileNotFoundError):
        covey.load(tmp_path / "absent")
    with pytest.raises(FileNotFoundError, match="path must lie in an existing folder"):
        covey.save(covey.CRS(2).fit(X), tmp_path / "absent" / "model")


def test_other_formats_and_unknown_content_are_refused(tmp_path):
    path = tmp_path / "model"
    for change in (
        lambda content: content.update(format=99),
        lambda content: content.update(content={"system": "rm"}),
        lambda content: content.update(content={"__class__": []}),
        lambda content: content["content"]["CRS"]["parameters"].update(surprise=1),
    ):
        covey.save(covey.CRS(2).fit(X), path)
        change_file(path, lambda content, _, change=change: change(content))
        with pytest.raises(ValueError, match=r"was not written by covey.save, or is damaged"):
            covey.load(path)


def test_no_pickle_is_read(tmp_path):
    """An array of pickled objects in place of a plain one is refused, not run."""

    class Bomb:
        def __reduce__(self):
            return (pytest.fail, ("code from the file was run",))

    path = tmp_path / "model"
    covey.save(covey.CRS(2).fit(X), path)
    with zipfile.ZipFile(path) as archive:
        content = archive.read("covey.json")
        n_arrays = len(archive.namelist()) - 1
    header = b"\x93NUMPY\x01\x00v\x00{'descr': '|O', 'fortran_order': False, 'shape': (1,), }".ljust(127) + b"\n"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("covey.json", content)
        for number in range(n_arrays):
            archive.writestr(f"{number}.npy", header + pickle.dumps([Bomb()]))
    with pytest.raises(ValueError, match="damaged"):
        covey.load(path)


def test_notes_are_kept_beside(tmp_path):
    path = tmp_path / "model"
    model = covey.NearestPrototypeClassifier(covey.CRS(1, similarity=lambda a, b: 1.0)).fit([[1.0], [2.0]], [0, 1])
    notes = {"columns": ["a", "ž"], "weights": np.arange(3.0), "nothing": None}
    covey.save(model, path, notes)
    found = ModelFile(path).notes()
    assert found["columns"] == notes["columns"]
    np.testing.assert_array_equal(found["weights"], notes["weights"])
    assert ModelFile(path).missing_callable == "<lambda>"
    covey.save(covey.CRS(1).fit(np.eye(3)), path)
    assert ModelFile(path).notes() is None
    assert ModelFile(path).missing_callable is None


def test_a_file_behind_a_link_is_replaced_and_nothing_else(tmp_path):
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"old")
    link.symlink_to(target)
    covey.save(covey.CRS(1).fit(np.eye(3)), link)
    assert link.is_symlink()
    assert isinstance(covey.load(target), covey.CRS)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileExistsError, match="regular file"):
        covey.save(covey.CRS(1).fit(np.eye(3)), tmp_path / "pipe")
