"""`Sharpened` as its users see it: true prototypes, exact counts, the same answer for any cut of the work."""

import os
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils.validation import check_is_fitted

import covey
from covey.graph import exact, sides
from covey.runtime import executor
from covey.selectors import sharpened_representatives
from covey.selectors.base import Selector
from covey.selectors.simple import standing_for_themselves
from covey.similarity import pool
from tests.forms import COSINES, Counted, similarity_matrix

DIGITS, TRUTH = load_digits(return_X_y=True)
X, Y = DIGITS[:400], TRUTH[:400]
INNER = {
    "CRS, exact": lambda **o: covey.CRS(5, graph="exact", **o),
    "CRS, nn-descent": lambda **o: covey.CRS(3, graph="nn-descent", **o),
    "DeltaMedoids": lambda **o: covey.DeltaMedoids(**o),
    "DS3": lambda **o: covey.DS3(2, **o),
    "RandomSelector": lambda **o: covey.RandomSelector(0.2, **o),
    "KeepAll": lambda **o: covey.KeepAll(**o),
}


def overlapping(n=120, n_classes=3, width=4, seed=0):
    """Rows of small whole numbers in classes that overlap, so that there is something to sharpen; some rows are equal."""
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n - n_classes)])
    return rng.poisson(1.0 + 2.5 * np.eye(n_classes, width)[y]).astype(float) + np.eye(width)[0], y


def table(n=90, symmetric=True, seed=0, levels=None):
    """Similarities of the objects 0 to n - 1 under which classes overlap, and the labels."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    s = similarity_matrix(n, rng, symmetric, levels) * 0.6 + 0.4 * (y[:, None] == y)
    np.fill_diagonal(s, 1.0)
    return s, y


def check_prototypes(selector, s, y, kinds=None):
    """Prototypes are true: s[x, r] decides who covers whom, and of equally similar representatives the lowest row does.

    `kinds` says which objects are equal; one of several equal members of a class stands for all of them.
    """
    y = np.asarray(y)
    assert list(selector.prototypes_) == sorted(set(y.tolist()))
    for label, prototype in selector.prototypes_.items():
        np.testing.assert_array_equal(prototype.members, np.flatnonzero(y == label))
        assert prototype.indices.size >= 1
        assert len(set(prototype.indices.tolist())) == prototype.indices.size
        assert (y[prototype.indices] == label).all()
        chosen = np.sort(prototype.indices)
        for x, by in zip(prototype.members, prototype.covered_by, strict=True):
            equal = [r for r in chosen if x == r or (kinds is not None and kinds[x] == kinds[r])]
            assert by == (equal[0] if equal else chosen[np.argmax(s[x, chosen])])
        assert prototype.coverage == 1
        assert prototype.gains.sum() == prototype.members.size
        np.testing.assert_array_equal(prototype.gains, prototype.stands_for)
        assert (np.diff(prototype.gains) <= 0).all()
    indices = np.concatenate([prototype.indices for prototype in selector.prototypes_.values()])
    np.testing.assert_array_equal(selector.sample_indices_, indices)


def state(selector):
    """All that a fit has found, in a form that can be compared."""
    return {
        "rows": selector.sample_indices_.tolist(),
        "losses": selector.losses_.tolist(),
        "temperature": repr(selector.temperature_),
        "sharpened": selector.sharpened_,
        "evaluations": selector.n_evaluations_,
        "covered by": [prototype.covered_by.tolist() for prototype in selector.prototypes_.values()],
        "inner": selector.selector_.sample_indices_.tolist(),
    }


@pytest.mark.parametrize("margins", ["exact", "listed"])
@pytest.mark.parametrize("n_neighbors", [2, 20, "auto"])
@pytest.mark.parametrize("seed", range(3))
def test_the_loss_falls_from_round_to_round(n_neighbors, margins, seed):
    """A round after which the loss is not lower is undone."""
    objects, y = overlapping(150, seed=seed)
    options = {"n_neighbors": n_neighbors, "margins": margins, "max_rounds": 8}
    selector = covey.Sharpened(covey.CRS(4, similarity="euclidean"), **options, random_state=seed).fit(objects, y)
    assert 1 <= selector.losses_.size <= 9
    assert (np.diff(selector.losses_) < 0).all()
    assert 0 <= selector.losses_.min() <= selector.losses_.max() <= 1
    assert selector.temperature_ > 0
    fewer = clone(selector).set_params(max_rounds=1).fit(objects, y)
    assert fewer.losses_.tolist() == selector.losses_[:2].tolist()


def test_a_round_that_raises_the_loss_is_undone(monkeypatch):
    """The representatives are then those from before it, and so are the prototypes."""
    objects, y = overlapping()
    selector = covey.Sharpened(covey.CRS(4, similarity="euclidean"), random_state=0, max_rounds=1).fit(objects, y)
    assert selector.sharpened_

    def worse(self, temperature, rng):
        chosen = self.indices
        self.replace_all(np.concatenate([chosen[np.unique(y[rows][chosen], return_index=True)[1]], chosen[-1:]]))
        return chosen.size

    rows = np.unique(np.column_stack([objects, y]), axis=0, return_index=True)[1]
    rows.sort()
    monkeypatch.setattr(sharpened_representatives.RepresentativeSet, "sweep", worse)
    undone = clone(selector).fit(objects, y)
    assert undone.losses_.size == 1
    assert not undone.sharpened_
    assert undone.sample_indices_.tolist() == undone.selector_.sample_indices_.tolist()


@pytest.mark.parametrize("margins", ["exact", "listed"])
@pytest.mark.parametrize("size", [None, 3, 4, 30])
def test_every_class_keeps_at_least_one(size, margins):
    """A class without a representative could never be the answer, whatever the loss says."""
    rng = np.random.default_rng(0)
    y = np.array([0] * 100 + [1] * 15 + [2])
    objects = rng.normal(size=(116, 2))  # the classes cannot be told apart, so that the large one wants everything
    inner = covey.CRS(8, similarity="euclidean")
    selector = covey.Sharpened(inner, size=size, margins=margins, random_state=0).fit(objects, y)
    assert all(prototype.indices.size >= 1 for prototype in selector.prototypes_.values())
    assert selector.sample_indices_.size == (selector.selector_.sample_indices_.size if size is None else size)


ENGINES = {
    "dense": lambda: (*overlapping(200), covey.CRS(4, similarity="euclidean")),
    "csr, nn-descent": lambda: (
        sp.csr_array(overlapping(200)[0]),
        overlapping(200)[1],
        covey.CRS(4, graph="nn-descent"),
    ),
    "callable": lambda: (list(range(90)), table()[1], covey.CRS(4, similarity=_table_of_90)),
    "asymmetric": lambda: (
        list(range(90)),
        table(symmetric=False)[1],
        covey.CRS(4, similarity=covey.Similarity(_asymmetric_table_of_90, symmetric=False)),
    ),
    "matrix": lambda: (*table(), covey.CRS(4, similarity="precomputed")),
}


def _table_of_90(a, b, s=table()[0]):
    return float(s[a, b])


def _asymmetric_table_of_90(a, b, s=table(symmetric=False)[0]):
    return float(s[a, b])


@pytest.mark.parametrize("engine", ENGINES)
def test_the_answer_does_not_depend_on_how_the_work_is_shared(engine, monkeypatch):
    """One total order decides every list and every tie; sums are made in one order by one thread."""
    objects, y, inner = ENGINES[engine]()
    selector = covey.Sharpened(inner, n_neighbors=6, random_state=0)
    expected = state(selector.fit(objects, y))
    assert selector.sharpened_
    monkeypatch.setattr(pool, "WORTH_IT", 0.0)  # processes share however little work there is
    for n_jobs in (2, -1):
        assert state(clone(selector).set_params(n_jobs=n_jobs).fit(objects, y)) == expected
    for module in (sides, exact):
        monkeypatch.setattr(module, "TILE", 13)
    monkeypatch.setattr(executor, "BATCH", 17)
    for n_jobs in (1, 2):
        assert state(clone(selector).set_params(n_jobs=n_jobs).fit(objects, y)) == expected


def sets_of_letters():
    """What is chosen of sets, whose order depends on the hashes of their elements."""
    words = [a + b + c for a in "abcd" for b in "abcd" for c in "abcd"]
    selector = covey.Sharpened(covey.CRS(3, similarity="jaccard"), size=15, n_neighbors=5, random_state=0)
    selector.fit([set(word) for word in words], [min(word[:2]) for word in words])
    return selector.sample_indices_.tolist(), selector.losses_.tolist()


def test_the_order_of_python_sets_plays_no_part():
    """Strings have other hashes in another process."""
    command = [sys.executable, "-c", f"from {__name__} import sets_of_letters; print(sets_of_letters())"]
    environment = {**os.environ, "PYTHONHASHSEED": "7"}
    answer = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    assert answer.strip() == str(sets_of_letters())


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("margins", ["exact", "listed"])
@pytest.mark.parametrize("inner", INNER)
def test_prototypes_are_true_whatever_the_inner_selector(inner, margins, symmetric):
    s, y = table(75, symmetric, levels=9)
    selector = covey.Sharpened(
        INNER[inner](similarity="precomputed"), n_neighbors=5, size=14, margins=margins, random_state=0
    ).fit(s, y)
    assert selector.sharpened_
    check_prototypes(selector, s, y)
    assert selector.sample_indices_.size == 14
    for label, prototype in selector.prototypes_.items():
        before = selector.selector_.prototypes_[label]
        for name in ("homogeneity", "threshold", "n_evaluations", "scan_rate"):
            np.testing.assert_equal(getattr(prototype, name), getattr(before, name))


@pytest.mark.parametrize("inner", ["CRS", "callable"])
@pytest.mark.parametrize("seed", range(8))
def test_listed_margins_leave_prototypes_true(inner, seed):
    """An object may list an own representative far down its list, and not list a nearer one; it is covered by this."""
    s, y = table(60, seed=seed)
    counted = Counted(s)
    inner = covey.CRS(6, similarity=counted if inner == "callable" else "precomputed")
    objects = list(range(60)) if inner.similarity is counted else s
    selector = covey.Sharpened(inner, n_neighbors=1, margins="listed", random_state=seed).fit(objects, y)
    if selector.sharpened_:
        check_prototypes(selector, s, y)


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
    similarity = covey.Similarity(counted, symmetric=symmetric)
    if batch_size:

        def batch(A, B):
            return [counted(a, b) for a, b in zip(A, B, strict=True)]

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


def test_two_processes_evaluate_as_many_pairs_as_one(monkeypatch):
    monkeypatch.setattr(pool, "WORTH_IT", 0.0)
    objects, y, inner = ENGINES["callable"]()
    one, two = (
        covey.Sharpened(inner, n_neighbors=4, random_state=0, n_jobs=n_jobs).fit(objects, y) for n_jobs in (1, 2)
    )
    assert one.n_evaluations_ == two.n_evaluations_ <= 90 * 89 // 2


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
        (list(range(50)), covey.Similarity(Counted(s, symmetric), symmetric=symmetric)),
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
    first = np.unique(np.round(rows / lengths, 9), axis=0, return_index=True)[1]  # multiples are equal under cosine only
    rows, y = rows[first], y[first]
    choices = []
    for form in forms:
        objects, similarity = COSINES[form](rows)
        inner = covey.CRS(4, similarity=similarity)
        selector = covey.Sharpened(inner, size=15, n_neighbors=6, random_state=0).fit(objects, y)
        assert selector.sharpened_
        choices.append((selector.sample_indices_.tolist(), np.round(selector.losses_, 9).tolist()))
    assert all(choice == choices[0] for choice in choices)


def check_sizes(selector, y):
    """What holds in any space."""
    assert set(selector.prototypes_) == set(np.asarray(y).tolist())
    assert selector.sample_indices_.size <= np.size(y)
    assert all(prototype.coverage == 1 for prototype in selector.prototypes_.values()) or not selector.sharpened_


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
    selector = covey.Sharpened(covey.CRS(1, similarity="precomputed"), size=5, random_state=0).fit(s, y)
    assert {0, 1} <= set(selector.sample_indices_.tolist())


@pytest.mark.parametrize("margins", ["exact", "listed"])
@pytest.mark.parametrize("size", [None, 2, 5, 0.9])
def test_objects_that_are_all_equal_are_one_of_each_class(size, margins):
    objects, y = np.ones((20, 3)), np.arange(20) % 2
    selector = covey.Sharpened(covey.CRS(3), size=size, margins=margins, random_state=0).fit(objects, y)
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


@pytest.mark.parametrize(("size", "expected"), [(10, 10), (60, 60), (0.05, 20), (0.5, 200), (10**6, 400), (np.int64(33), 33)])
@pytest.mark.parametrize("margins", ["exact", "listed"])
def test_there_are_as_many_representatives_as_asked_for(size, expected, margins):
    selector = covey.Sharpened(covey.CRS(10), size=size, margins=margins, max_rounds=1, random_state=0).fit(X, Y)
    assert selector.sample_indices_.size == expected
    assert all(prototype.indices.size for prototype in selector.prototypes_.values())
    assert expected == 400 or selector.sharpened_


@pytest.mark.parametrize("inner", ["KeepAll", "RandomSelector"])
def test_a_choice_of_all_objects_can_be_made_smaller(inner):
    """There are no objects whose margins could give a temperature then."""
    start = {"KeepAll": covey.KeepAll(), "RandomSelector": covey.RandomSelector(1.0)}[inner]
    selector = covey.Sharpened(start, size=40, random_state=0).fit(X[:200], Y[:200])
    assert selector.sample_indices_.size == 40
    assert np.isfinite(selector.temperature_)
    assert (np.diff(selector.losses_) < 0).all()


def test_by_default_there_are_as_many_as_the_inner_selector_has_chosen():
    selector = covey.Sharpened(covey.CRS(10), random_state=0).fit(X, Y)
    assert selector.sample_indices_.size == selector.selector_.sample_indices_.size
    assert selector.sample_indices_.tolist() != selector.selector_.sample_indices_.tolist()


@pytest.mark.parametrize(
    ("parameter", "value", "message"),
    [
        ("size", 0, "The 'size' parameter of Sharpened must be"),
        ("size", 1.0, "The 'size' parameter of Sharpened must be"),
        ("size", 1.5, "The 'size' parameter of Sharpened must be"),
        ("size", -3, "The 'size' parameter of Sharpened must be"),
        ("size", "all", "The 'size' parameter of Sharpened must be"),
        ("size", np.nan, "The 'size' parameter of Sharpened must be"),
        ("size", 9, "size must allow for one representative of each of the 10 classes, got 9, which is 9 of 400"),
        ("size", 0.01, "size must allow for one representative of each of the 10 classes, got 0.01, which is 4 of 400"),
        ("temperature", 0, "The 'temperature' parameter of Sharpened must be"),
        ("temperature", "warm", "The 'temperature' parameter of Sharpened must be"),
        ("n_neighbors", 0, "The 'n_neighbors' parameter of Sharpened must be"),
        ("n_neighbors", None, "The 'n_neighbors' parameter of Sharpened must be"),
        ("margins", "wide", "The 'margins' parameter of Sharpened must be"),
        ("max_rounds", -1, "The 'max_rounds' parameter of Sharpened must be"),
        ("selector", "CRS", "The 'selector' parameter of Sharpened must be"),
        ("selector", covey.CRS, "The 'selector' parameter of Sharpened must be"),
        ("random_state", "seed", "The 'random_state' parameter of Sharpened must be"),
        ("n_jobs", 1.5, "The 'n_jobs' parameter of Sharpened must be"),
    ],
)
def test_wrong_values_are_refused_in_a_sentence_and_leave_no_fit(parameter, value, message):
    selector = covey.Sharpened(covey.CRS(10)).set_params(**{parameter: value})
    with pytest.raises(ValueError, match=message):
        selector.fit(X, Y)
    with pytest.raises(NotFittedError):
        check_is_fitted(selector)


def test_a_failed_fit_leaves_the_fit_before():
    selector = covey.Sharpened(covey.CRS(10), random_state=0).fit(X, Y)
    before = dict(vars(selector))
    with pytest.raises(ValueError, match="size must allow"):
        selector.set_params(size=5).fit(X, Y)
    after = {**vars(selector), "size": None}
    assert all(after[name] is value for name, value in before.items())


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


class OwnFit(Selector):
    """A selector with no parameters of covey's, and with a `fit` of its own that needs X as the user has passed it."""

    def fit(self, X, y=None):
        self.n_ = len(np.asarray(X)[:, 0])
        return super().fit(X, y)

    def select(self, cluster, rng):
        return standing_for_themselves(cluster, cluster.members[:2])


class FirstTwo(Selector):
    """A selector with none of the parameters that others have."""

    def select(self, cluster, rng):
        return standing_for_themselves(cluster, cluster.members[:2])


@pytest.mark.parametrize("own", [FirstTwo, OwnFit])
def test_a_selector_of_your_own_can_be_sharpened(own):
    selector = covey.Sharpened(own(), random_state=0).fit(X, Y)
    assert selector.sharpened_
    assert selector.sample_indices_.size == 20
    model = covey.NearestPrototypeClassifier(covey.Sharpened(own(), random_state=0)).fit(X, Y)
    assert model.selector_.sample_indices_.tolist() == selector.sample_indices_.tolist()


@pytest.mark.parametrize("inner", INNER)
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_every_selector_can_be_the_inner_one(inner, n_jobs):
    selector = covey.Sharpened(INNER[inner](), size=30, n_jobs=n_jobs, verbose=0, random_state=0).fit(X[:150], Y[:150])
    assert selector.sample_indices_.size == 30
    assert getattr(selector.selector_, "n_jobs", n_jobs) == n_jobs


def test_what_the_inner_selector_has_set_itself_stays():
    inner = covey.CRS(10, n_jobs=2, random_state=3)
    selector = covey.Sharpened(inner, n_jobs=1, random_state=0).fit(X, Y)
    assert (selector.selector_.n_jobs, selector.selector_.random_state) == (2, 3)
    assert selector.selector_ is not inner
    assert not hasattr(inner, "prototypes_")


def test_an_inner_selector_without_a_seed_gets_one():
    """So the seed of the outer one decides everything."""
    drawn = [
        covey.Sharpened(covey.RandomSelector(0.1), max_rounds=0, size=100, random_state=seed).fit(X, Y)
        for seed in (0, 0, 1)
    ]
    starts = [selector.selector_.sample_indices_.tolist() for selector in drawn]
    assert starts[0] == starts[1] != starts[2]
    assert drawn[0].selector_.random_state is not None


def test_the_same_seed_gives_the_same_answer_and_so_does_the_same_fit_again():
    selector = covey.Sharpened(covey.CRS(5, graph="nn-descent"), n_neighbors=5, random_state=7)
    first = state(selector.fit(X, Y))
    assert state(selector.fit(X, Y)) == first
    assert state(clone(selector).fit(X, Y)) == first
    generator = np.random.RandomState(7)
    assert state(clone(selector).set_params(random_state=generator).fit(X, Y)) == first


def test_parameters_are_those_of_scikit_learn():
    selector = covey.Sharpened(covey.CRS(7), size=0.1, random_state=1)
    assert selector.get_params()["selector__n_neighbors"] == 7
    again = clone(selector).set_params(selector__n_neighbors=9, selector__similarity="euclidean")
    assert (again.selector.n_neighbors, again.similarity, selector.selector.n_neighbors) == (9, "euclidean", 7)
    assert covey.Sharpened().similarity == "cosine"
    assert covey.Sharpened(covey.CRS(similarity="precomputed")).__sklearn_tags__().input_tags.pairwise
    assert not covey.Sharpened().__sklearn_tags__().input_tags.pairwise
    default = covey.Sharpened().fit(X, Y).selector_
    assert default.get_params() == {**covey.CRS().get_params(), "random_state": default.random_state}


def test_grid_searches_and_pipelines_reach_the_inner_selector():
    model = covey.NearestPrototypeClassifier(covey.Sharpened(covey.CRS(), random_state=0))
    grid = {"selector__selector__n_neighbors": [5, 30], "selector__size": [None, 20]}
    search = GridSearchCV(model, grid, cv=2).fit(X, Y)
    assert search.best_score_ > 0.8
    pipeline = make_pipeline(MinMaxScaler(), model)
    assert cross_val_score(pipeline, X, Y, cv=2).min() > 0.8
    features = make_pipeline(model, LogisticRegression(max_iter=2000))
    assert features.fit(X, Y).score(DIGITS[400:900], TRUTH[400:900]) > 0.6


@pytest.mark.parametrize("engine", ["dense", "callable", "matrix"])
def test_a_fitted_selector_can_be_pickled(engine):
    objects, y, inner = ENGINES[engine]()
    selector = covey.Sharpened(inner, n_neighbors=6, random_state=0).fit(objects, y)
    again = pickle.loads(pickle.dumps(selector))
    assert state(again) == state(selector)
    assert state(again.fit(objects, y)) == state(selector)


def test_the_temperature_is_the_one_asked_for_or_of_the_size_of_the_margins():
    assert covey.Sharpened(covey.CRS(10), temperature=0.3, random_state=0).fit(X, Y).temperature_ == 0.3
    rows, y = overlapping(100)
    scaled = [
        covey.Sharpened(covey.CRS(5, similarity="dot"), random_state=0).fit(rows * scale, y) for scale in (1.0, 2.0)
    ]
    assert scaled[1].temperature_ == pytest.approx(4 * scaled[0].temperature_)
    assert scaled[0].sample_indices_.tolist() == scaled[1].sample_indices_.tolist()
    assert scaled[0].losses_ == pytest.approx(scaled[1].losses_)


def test_without_rounds_and_with_the_same_size_the_inner_choice_is_kept():
    selector = covey.Sharpened(covey.CRS(10), max_rounds=0, random_state=0).fit(X, Y)
    assert not selector.sharpened_
    assert selector.losses_.size == 1
    for label, prototype in selector.prototypes_.items():
        assert prototype is selector.selector_.prototypes_[label]


def test_progress_is_logged(caplog):
    caplog.set_level("INFO", logger="covey")
    covey.Sharpened(covey.CRS(10), verbose=1, random_state=0).fit(X, Y)
    rounds = [record.message for record in caplog.records if record.message.startswith("Sharpened")]
    assert rounds
    assert all("loss" in message for message in rounds)


def test_a_classifier_does_all_it_can_with_sharpened_prototypes():
    queries, truth = DIGITS[400:], TRUTH[400:]
    model = covey.NearestPrototypeClassifier(covey.Sharpened(covey.CRS(10), random_state=0)).fit(X, Y)
    assert model.score(queries, truth) > 0.85
    found = model.explain(queries)
    assert set(found.representatives.tolist()) <= set(model.selector_.sample_indices_.tolist())
    np.testing.assert_array_equal(Y[found.representatives], model.predict(queries))
    assert model.transform(queries).shape == (queries.shape[0], model.selector_.sample_indices_.size)
    assert model.get_feature_names_out().size == model.selector_.sample_indices_.size


@pytest.mark.parametrize("reject", ["calibrated", "threshold", 0.5])
def test_a_classifier_of_sharpened_prototypes_can_reject(reject):
    selector = covey.Sharpened(covey.CRS(10), random_state=0)
    known = TRUTH < 8
    objects, y = DIGITS[:900][known[:900]], TRUTH[:900][known[:900]]
    model = covey.NearestPrototypeClassifier(selector, reject=reject).fit(objects, y)
    answers, truth = model.predict(DIGITS[900:]), TRUTH[900:]
    rejected = answers == -1
    assert rejected[truth < 8].mean() <= rejected[truth >= 8].mean() < 1
    if reject == "calibrated":
        assert 0.01 < rejected[truth < 8].mean() < 0.15
        assert rejected[truth >= 8].mean() > 2 * rejected[truth < 8].mean()


def test_displays_show_sharpened_prototypes():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    model = covey.NearestPrototypeClassifier(covey.Sharpened(covey.CRS(10), random_state=0)).fit(X, Y)
    curves = covey.CoverageDisplay.from_estimator(model).plot()
    assert len(curves.ax_.lines) >= len(model.classes_)
    assert covey.PrototypeMapDisplay.from_estimator(model, X, label=3).plot().ax_ is not None
    pyplot.close("all")


def test_on_real_images_sharpened_prototypes_classify_much_better(fashion):
    """algorithms.md measures .04 more on all 60 000 images, with as many representatives."""
    train, y, queries, truth = fashion
    few = np.concatenate([np.flatnonzero(y == label)[:300] for label in range(10)])
    model = covey.NearestPrototypeClassifier(covey.Sharpened(covey.CRS(20), random_state=0)).fit(train[few], y[few])
    before, after = model.selector_.selector_.sample_indices_, model.selector_.sample_indices_
    assert before.size == after.size < 0.1 * few.size
    scores = [
        covey.NearestPrototypeClassifier(covey.KeepAll()).fit(train[few][rows], y[few][rows])
        for rows in (before, after)
    ]
    plain, sharp = (nearest.score(queries[:1000], truth[:1000]) for nearest in scores)
    assert sharp == model.score(queries[:1000], truth[:1000])
    assert sharp > plain + 0.02
