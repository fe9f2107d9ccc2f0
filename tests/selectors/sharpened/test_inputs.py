"""`Sharpened` takes every kind of input and similarity, and evaluates no pair twice."""

from contextlib import nullcontext

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import covey
from covey.similarity.calls import pool
from covey.similarity.calls.spot_check import CHECKED_AGAIN, CHECKED_PAIRS
from tests.forms import COSINES, Counted
from tests.selectors.sharpened.cases import ENGINES, INNER, X, check_prototypes, check_sizes, overlapping, table

CALLABLES = {
    "symmetric": (True, None, None),
    "asymmetric": (False, None, None),
    "symmetric, batched": (True, 7, None),
    "asymmetric, batched": (False, 7, None),
    "copies": (True, None, 50),
    "asymmetric copies": (False, None, 50),
}


@pytest.mark.parametrize(("size", "margins"), [(None, "exact"), (12, "exact"), (12, "listed")])
@pytest.mark.parametrize("form", CALLABLES)
@pytest.mark.parametrize("inner", INNER)
def test_a_function_is_called_once_for_each_evaluation_and_never_twice_for_a_pair(inner, form, size, margins):
    """The inner selector's evaluations are part of the count, and are not made again."""
    symmetric, batch_size, n_kinds = CALLABLES[form]
    s, y = table(60, symmetric)
    counted = Counted(s, symmetric)
    similarity = covey.Similarity(counted, symmetric=symmetric, trusted=True)
    if batch_size:

        def batch(A, B):
            return [counted(a, b) for a, b in zip(A, B, strict=True)]

        batch.trusted = True
        similarity = covey.batched(batch, symmetric=symmetric, batch_size=batch_size)
    objects = np.arange(60) if n_kinds is None else np.sort(np.random.default_rng(0).integers(0, n_kinds, 60))
    objects, y = objects.tolist(), y[objects]  # copies are of one class; in two classes they would be two objects
    options = {"size": size, "margins": margins, "n_neighbors": 4, "random_state": 0}
    selector = covey.Sharpened(INNER[inner](similarity=similarity), **options)
    selector.fit(objects, y)
    calls = counted.pairs
    assert len(calls) == selector.n_evaluations_
    assert len(set(calls)) == len(calls)
    assert selector.n_evaluations_ >= selector.selector_.n_evaluations_


@pytest.mark.processes
def test_two_processes_evaluate_as_many_pairs_as_one(monkeypatch):
    monkeypatch.setattr(pool, "WORTH_IT", 0.0)
    objects, y, inner = ENGINES["callable"]()
    one, two = (
        covey.Sharpened(inner, n_neighbors=4, random_state=0, n_jobs=n_jobs).fit(objects, y) for n_jobs in (1, 2)
    )
    n_spaces = 1 + np.unique(y).size  # that of each class and that of all classes are checked
    n_checks = int((2 + CHECKED_AGAIN) * CHECKED_PAIRS)
    assert one.n_evaluations_ == two.n_evaluations_ <= 90 * 89 // 2 + n_spaces * n_checks


def test_listed_margins_take_a_part_of_the_evaluations_that_exact_ones_take():
    s, y = table(600)
    selectors = [
        covey.Sharpened(
            covey.CRS(5, graph="nn-descent", similarity=Counted(s), random_state=0),
            n_neighbors=5,
            margins=margins,
            random_state=0,
        ).fit(list(range(600)), y)
        for margins in ("listed", "exact")
    ]
    listed, every = (selector.n_evaluations_ for selector in selectors)
    assert selectors[0].selector_.n_evaluations_ < listed < every
    for selector in selectors:
        assert 0 < selector.scan_rate_ <= 1


@pytest.mark.parametrize("symmetric", [True, False])
def test_the_scan_rate_is_the_share_of_all_pairs_of_all_classes(symmetric):
    s, y = table(50, symmetric)
    n_pairs = 50 * 49 // (1 + symmetric)
    forms = [
        (list(range(50)), covey.Similarity(Counted(s, symmetric), symmetric=symmetric, trusted=True)),
        (s, "precomputed"),
    ]
    for objects, similarity in forms:
        selector = covey.Sharpened(covey.CRS(4, similarity=similarity), random_state=0).fit(objects, y)
        assert selector.scan_rate_ == pytest.approx(selector.n_evaluations_ / n_pairs)


REMEMBERED = [form for form in COSINES if "compiled" in form or "callable" in form or "batched" in form]


@pytest.mark.parametrize("forms", [REMEMBERED, [form for form in COSINES if form not in REMEMBERED]])
def test_every_form_of_a_similarity_gives_the_same_choice(forms):
    """The lists of a function of the user's own also hold pairs that the inner selector has evaluated."""
    rows, y = overlapping(120)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    first = np.unique(np.round(rows / lengths, 9), axis=0, return_index=True)[
        1
    ]  # multiples are equal under cosine only
    rows, y = rows[first], y[first]
    choices = []
    for form in forms:
        objects, similarity = COSINES[form](rows)
        inner = covey.CRS(4, similarity=similarity)
        selector = covey.Sharpened(inner, size=15, n_neighbors=6, random_state=0).fit(objects, y)
        assert selector.sharpened_
        choices.append((selector.sample_indices_.tolist(), np.round(selector.losses_, 9).tolist()))
    assert all(choice == choices[0] for choice in choices)


def _frame(kind):
    rows, y = overlapping(80)
    return kind({f"column {c}": rows[:, c] for c in range(rows.shape[1])}), y


INPUTS = {
    "pandas": lambda: (*_frame(pd.DataFrame), covey.CRS(4)),
    "polars": lambda: (*_frame(pl.DataFrame), covey.CRS(4)),
    "CSR matrix": lambda: (sp.csr_matrix(overlapping(80)[0]), overlapping(80)[1], covey.CRS(4, similarity="ruzicka")),
    "float32": lambda: (overlapping(80)[0].astype(np.float32), overlapping(80)[1], covey.CRS(4)),
    "integers": lambda: (overlapping(80)[0].astype(int), overlapping(80)[1], covey.CRS(4, similarity="hamming")),
    "lists": lambda: (overlapping(80)[0].tolist(), overlapping(80)[1].tolist(), covey.CRS(4)),
    "dicts": lambda: (
        [{f"key {c}": v for c, v in enumerate(row) if v} for row in overlapping(80)[0].tolist()],
        overlapping(80)[1],
        covey.CRS(4),
    ),
    "sets": lambda: ([set(word) for word in _words()[0]], _words()[1], covey.CRS(4, similarity="jaccard")),
    "strings": lambda: (*_words(), covey.CRS(4, similarity="levenshtein")),
    "strings, callable": lambda: (
        *_words(),
        covey.CRS(4, similarity=lambda a, b: len(set(a) & set(b)) / len(set(a) | set(b))),
    ),
    "distance": lambda: (*overlapping(80), covey.CRS(4, similarity=covey.from_distance("manhattan", "exponential"))),
    "distances": lambda: (
        np.abs(overlapping(80)[0][:, None] - overlapping(80)[0]).sum(axis=2),
        overlapping(80)[1],
        covey.CRS(4, similarity=covey.from_distance("precomputed", "negative"), gain="count"),
    ),
    "sparse matrix": lambda: (
        sp.csr_array(np.where(table(80)[0] > 0.5, table(80)[0], 0)),
        table(80)[1],
        covey.CRS(4, similarity="precomputed"),
    ),
    "texts as labels": lambda: (
        overlapping(80)[0],
        np.array(["one", "two", "three"])[overlapping(80)[1]],
        covey.CRS(4),
    ),
    "two labels": lambda: (overlapping(80)[0], overlapping(80)[1] == 1, covey.CRS(4)),
    "negative similarities": lambda: (
        overlapping(80)[0] - 2.0,
        overlapping(80)[1],
        covey.CRS(4, similarity="dot", gain="count"),
    ),
}


def _words():
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("abcdefgh"), rng.integers(2, 7))) for _ in range(90)]
    return words, ["early" if min(word) == "a" else "late" if "c" not in word else "middle" for word in words]


@pytest.mark.parametrize("margins", ["exact", "listed"])
@pytest.mark.parametrize("kind", INPUTS)
def test_every_kind_of_input_is_taken(kind, margins):
    objects, y, inner = INPUTS[kind]()
    selector = covey.Sharpened(inner, n_neighbors=10, margins=margins, random_state=0)
    few, labels = selector.fit_resample(objects, y)
    assert type(few) is type(objects)
    assert list(labels) == [y[row] for row in selector.sample_indices_]
    check_sizes(selector, y)
    assert (np.diff(selector.losses_) < 0).all()
    columns = isinstance(objects, np.ndarray | pd.DataFrame | pl.DataFrame) or sp.issparse(objects)
    if columns:
        assert selector.n_features_in_ == selector.selector_.n_features_in_ == objects.shape[1]
    if kind in ("pandas", "polars"):
        assert selector.feature_names_in_.tolist() == list(objects.columns)
    model = covey.NearestPrototypeClassifier(clone(selector)).fit(objects, y)
    assert model.selector_.sample_indices_.tolist() == selector.sample_indices_.tolist()
    if "matrix" not in kind and kind not in ("distances", "negative similarities"):
        assert (model.predict(few) == np.asarray(labels)).mean() > 0.5


def test_equal_objects_of_a_class_are_one_and_those_of_several_classes_are_not():
    """Copies add to the weight of an object; in another class they are objects that cannot be told apart from it."""
    rows, y = overlapping(60, seed=3)
    objects, labels = np.concatenate([rows, rows[:40], rows[:20]]), np.concatenate([y, y[:40], (y[:20] + 1) % 3])
    similarity = covey.from_distance("euclidean")
    selector = covey.Sharpened(covey.CRS(4, similarity=similarity), random_state=0).fit(objects, labels)
    s = 1 / (1 + np.sqrt(((objects[:, None] - objects) ** 2).sum(axis=2)))
    kinds = np.unique(objects, axis=0, return_inverse=True)[1].ravel()
    assert selector.sharpened_
    check_prototypes(selector, s, labels, kinds)
    for prototype in selector.prototypes_.values():
        assert len(set(kinds[prototype.indices])) == prototype.indices.size


@pytest.mark.parametrize("symmetric", [True, False])
def test_objects_of_a_matrix_that_differ_only_towards_other_classes_are_two_objects(symmetric):
    """Within their class they are equal. To merge them would give one of them the margin of the other."""
    s = np.full((6, 6), 0.2)
    s[:3, :3] = s[3:, 3:] = 1.0
    s[0, 3:] = s[3:, 0] = 0.9  # object 0 is near the other class, objects 1 and 2 are not
    if not symmetric:
        s[4, 1] = 0.3
    np.fill_diagonal(s, 1.0)
    y = np.array([0, 0, 0, 1, 1, 1])
    size = 3 if symmetric else 4  # there are so many objects that differ towards any class
    selector = covey.Sharpened(covey.CRS(1, similarity="precomputed"), size=size, random_state=0).fit(s, y)
    assert selector.sample_indices_.size == size
    assert {0, 1} <= set(selector.sample_indices_.tolist())


@pytest.mark.parametrize("margins", ["exact", "listed"])
@pytest.mark.parametrize("size", [None, 2, 5, 0.9])
def test_objects_that_are_all_equal_are_one_of_each_class(size, margins):
    objects, y = np.ones((20, 3)), np.arange(20) % 2
    selector = covey.Sharpened(covey.CRS(3), size=size, margins=margins, random_state=0)
    with pytest.warns(UserWarning, match="size asks for") if size in (5, 0.9) else nullcontext():
        selector.fit(objects, y)
    assert sorted(selector.sample_indices_.tolist()) == [0, 1]
    assert not selector.sharpened_


def test_classes_of_a_single_object_keep_it():
    rows, y = overlapping(60)
    objects, labels = np.vstack([rows, [[9, 9, 9, 9], [0, 9, 0, 9]]]), np.concatenate([y, [7, 8]])
    selector = covey.Sharpened(covey.CRS(4), size=10, random_state=0).fit(objects, labels)
    assert selector.prototypes_[7].indices.tolist() == [60]
    assert selector.prototypes_[8].indices.tolist() == [61]


def test_if_every_class_has_one_object_there_is_nothing_to_exchange():
    selector = covey.Sharpened(covey.CRS(2), random_state=0).fit(np.eye(4) + 1, list("abcd"))
    assert selector.sample_indices_.tolist() == [0, 1, 2, 3]
    assert (selector.sharpened_, selector.losses_.size) == (False, 0)
    assert np.isnan(selector.temperature_)


@pytest.mark.parametrize("y", [None, [5] * 400])
def test_one_class_is_left_as_the_inner_selector_has_it_with_a_warning(y):
    selector = covey.Sharpened(covey.CRS(5), random_state=0)
    with pytest.warns(UserWarning, match="at least two classes to tell apart, got one"):
        selector.fit(X, y)
    plain = covey.CRS(5, random_state=selector.selector_.random_state).fit(X, y)
    assert selector.sample_indices_.tolist() == plain.sample_indices_.tolist()
    assert not selector.sharpened_
    assert selector.n_evaluations_ == plain.n_evaluations_
    assert selector.scan_rate_ == pytest.approx(plain.scan_rate_)


def test_an_error_of_the_similarity_leaves_no_half_fitted_selector():
    s, y = table(60)
    counted = Counted(s)

    def fails_late(a, b):
        if len(counted.calls) > 900:
            raise ZeroDivisionError
        return counted(a, b)

    selector = covey.Sharpened(covey.CRS(4, similarity=fails_late), random_state=0)
    with pytest.raises(RuntimeError, match=r"The similarity of object \d+ and object \d+ raised ZeroDivisionError"):
        selector.fit(list(range(60)), y)
    assert not [name for name in vars(selector) if name.endswith("_")]
