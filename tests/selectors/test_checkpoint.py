"""A checkpoint: the same end as a run that nothing has disturbed, nothing paid twice, nothing mixed."""

import json
import math
import os
import subprocess
import sys
import threading

import numba
import numpy as np
import pytest
from sklearn.base import clone

import covey
from covey.exceptions import CheckpointMismatchError, FileFormatError
from covey.similarity.checkpoint import PAIRS, Checkpoint
from covey.similarity.measures import resolve, similarity_fingerprint
from covey.storage.journal import Journal
from tests.selectors import killed
from tests.selectors.killed import nearness

N = 120
X = np.random.default_rng(0).permutation(N).tolist()
Y = [number % 2 for number in range(N)]

SELECTORS = {
    "exact": covey.CRS(4, graph="exact"),
    "nn-descent": covey.CRS(4, graph="nn-descent"),
    "all above": covey.CRS(None, threshold=0.2),
    "size": covey.CRS(4, size=10),
    "delta medoids": covey.DeltaMedoids(),
    "ds3": covey.DS3(),
    "sharpened": covey.Sharpened(covey.CRS(4, graph="nn-descent"), n_neighbors=5),
    "sharpened delta medoids": covey.Sharpened(covey.DeltaMedoids(), n_neighbors=5, margins="listed"),
}


class Calls:
    """A similarity that counts its calls, and may fail at one of them."""

    def __init__(self, fails_at=math.inf):
        self.n, self.fails_at = 0, fails_at

    def __reduce__(self):
        return Calls, ()  # how often it was called does not make it another similarity

    def __call__(self, a, b):
        self.n += 1
        if self.n >= self.fails_at:
            raise OSError("the service is down")
        return nearness(a, b)


class Batch:
    batched = True

    def __call__(self, A, B):
        return np.array([nearness(a, b) for a, b in zip(A, B, strict=True)])


@numba.njit
def compiled(x, y):
    return 1 / (1 + abs(x[0] - y[0]))


FUNCTIONS = {
    "pairs": (X, nearness),
    "batches": (X, covey.batched(Batch(), batch_size=16)),
    "distance": (X, covey.from_distance(lambda a, b: abs(a - b))),
    "asymmetric": (X, covey.Similarity(lambda a, b: nearness(a, b) + a / 1000, symmetric=False)),
    "compiled": (np.array(X, dtype=float)[:, None], compiled),
}
NAMED = {
    "dense": (np.array(X, dtype=float)[:, None] + 1, covey.from_distance("euclidean")),
    "strings": ([f"{number:07b}" for number in X], "levenshtein"),
    "matrix": (np.array([[nearness(a, b) for a in X] for b in X]), "precomputed"),
}


def made(name, similarity, **parameters):
    selector = clone(SELECTORS[name]).set_params(**parameters)
    if "random_state" in selector.get_params() and "random_state" not in parameters:
        selector.set_params(random_state=0)
    inner = "selector__similarity" if isinstance(selector, covey.Sharpened) else "similarity"
    return selector.set_params(**{inner: similarity})


def assert_same(found, expected):
    np.testing.assert_array_equal(found.sample_indices_, expected.sample_indices_)
    assert found.n_evaluations_ == expected.n_evaluations_
    assert found.scan_rate_ == expected.scan_rate_
    for label, prototype in expected.prototypes_.items():
        for field, value in vars(prototype).items():
            np.testing.assert_array_equal(getattr(found.prototypes_[label], field), value)
    for name in ("n_iter_", "stopped_by_", "duality_gap_", "row_weights_", "outliers_", "losses_"):
        if hasattr(expected, name):
            np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))


@pytest.mark.parametrize("name", SELECTORS)
def test_a_run_that_fails_anywhere_goes_on_to_the_same_end_and_pays_for_nothing_twice(name, tmp_path):
    rng, path = np.random.default_rng(0), tmp_path / "kept"
    undisturbed = Calls()
    expected = made(name, undisturbed).fit(X, Y)
    total = 0
    for moment in np.sort(rng.integers(1, undisturbed.n, 6)):
        failing = Calls(fails_at=moment - total)
        if failing.fails_at < 10:
            continue
        with pytest.raises(RuntimeError, match=r"object \d+ and object \d+ raised OSError: the service is down"):
            made(name, failing, checkpoint=path).fit(X, Y)
        total += failing.n
    last = Calls()
    found = made(name, last, checkpoint=path).fit(X, Y)
    assert_same(found, expected)
    assert found.checkpoint_.n_saved > 0
    assert last.n == found.n_evaluations_ - found.checkpoint_.n_saved + found.checkpoint_.n_asked_again


@pytest.mark.parametrize("name", ["exact", "nn-descent", "sharpened"])
@pytest.mark.parametrize("form", FUNCTIONS)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_every_form_of_function_is_kept(name, form, n_jobs, tmp_path):
    objects, similarity = FUNCTIONS[form]
    expected = made(name, similarity).fit(objects, Y)
    for n_before in (0, 1):
        found = made(name, similarity, checkpoint=tmp_path / "kept", n_jobs=n_jobs).fit(objects, Y)
        assert_same(found, expected)
        assert (found.checkpoint_.n_saved > 0.95 * found.n_evaluations_) == bool(n_before)


@pytest.mark.parametrize("name", SELECTORS)
@pytest.mark.parametrize("form", NAMED)
def test_finished_clusters_of_named_similarities_are_kept(name, form, tmp_path, monkeypatch):
    objects, similarity = NAMED[form]
    expected = made(name, similarity).fit(objects, Y)
    made(name, similarity, checkpoint=tmp_path / "kept").fit(objects, Y)
    if "sharpened" not in name:  # it goes on with the finished choice of the inner selector
        monkeypatch.setattr(type(SELECTORS[name]), "_select", None)
    found = made(name, similarity, checkpoint=tmp_path / "kept").fit(objects, Y)
    assert_same(found, expected)
    inner = getattr(found, "selector_", found)
    assert found.checkpoint_.n_saved == inner.n_evaluations_


def test_a_run_that_dies_between_clusters_begins_with_the_next_one(tmp_path, monkeypatch):
    objects, similarity = NAMED["dense"]
    expected = made("ds3", similarity).fit(objects, Y)
    select, labels = covey.DS3._select, []

    def stopped(self, cluster, rng, request):
        labels.append(cluster.label)
        if len(labels) == 2:
            raise KeyboardInterrupt
        return select(self, cluster, rng, request)

    monkeypatch.setattr(covey.DS3, "_select", stopped)
    with pytest.raises(KeyboardInterrupt):
        made("ds3", similarity, checkpoint=tmp_path / "kept").fit(objects, Y)
    assert_same(made("ds3", similarity, checkpoint=tmp_path / "kept").fit(objects, Y), expected)
    assert labels == [0, 1, 1]


@pytest.mark.parametrize("method", ["exact", "nn-descent"])
@pytest.mark.parametrize("form", {**FUNCTIONS, **NAMED})
def test_a_neighbor_graph_is_kept(method, form, tmp_path):
    objects, similarity = {**FUNCTIONS, **NAMED}[form]
    options = {"n_neighbors": 4, "similarity": similarity, "method": method, "random_state": 0}
    expected = covey.neighbor_graph(objects, **options)
    for saved in (False, True):
        found = covey.neighbor_graph(objects, **options, checkpoint=tmp_path / "kept")
        for field in ("indices", "similarities", "n_evaluations", "method", "mean_similarity", "estimated_recall"):
            np.testing.assert_array_equal(getattr(found, field), getattr(expected, field))
        assert (found.checkpoint.n_saved > 0) is saved


def test_without_a_seed_the_checkpoint_has_one(tmp_path):
    one, two = (
        made("nn-descent", nearness, checkpoint=tmp_path / "kept", random_state=None).fit(X, Y) for _ in range(2)
    )
    assert_same(two, one)
    with pytest.raises(ValueError, match="random_state must be an int or None if there is a checkpoint"):
        made("nn-descent", nearness, checkpoint=tmp_path / "kept", random_state=np.random.RandomState(0)).fit(X, Y)


@pytest.mark.parametrize(
    "parameters", [{"n_neighbors": 2}, {"threshold": 0.5}, {"coverage": 0.5}, {"random_state": 1}, {"graph": "exact"}]
)
def test_kept_pairs_serve_a_run_with_other_parameters(parameters, tmp_path):
    first, second = Calls(), Calls()
    made("exact", first, checkpoint=tmp_path / "kept").fit(X, Y)  # all pairs within clusters
    found = made("nn-descent", second, checkpoint=tmp_path / "kept", **parameters).fit(X, Y)
    assert_same(found, made("nn-descent", Calls(), **parameters).fit(X, Y))
    n_asked_twice = 2 * 5 + 5  # those of the checks of two clusters, and those that are asked when the file is opened
    assert second.n <= n_asked_twice
    assert found.checkpoint_.n_saved == found.n_evaluations_ - second.n + found.checkpoint_.n_asked_again


def test_kept_pairs_serve_a_run_with_another_selector(tmp_path):
    made("exact", Calls(), checkpoint=tmp_path / "kept").fit(X, Y)
    second = Calls()
    made("delta medoids", second, checkpoint=tmp_path / "kept").fit(X, Y)
    assert second.n <= 15


def test_kept_pairs_serve_a_run_with_more_objects_in_another_order(tmp_path):
    first, second = Calls(), Calls()
    made("exact", first, checkpoint=tmp_path / "kept").fit(X)
    more = [*range(200, 230), *X[::-1]]
    found = made("exact", second, checkpoint=tmp_path / "kept").fit(more)
    assert_same(found, made("exact", Calls()).fit(more))
    n_new = 150 * 149 // 2 - N * (N - 1) // 2
    assert n_new <= second.n <= n_new + 30  # and the checks


def test_copies_cost_nothing_again(tmp_path):
    second = Calls()
    made("exact", Calls(), checkpoint=tmp_path / "kept").fit(X)
    made("exact", second, checkpoint=tmp_path / "kept").fit(X + X)
    assert second.n <= N + 30  # an object with its own copy, and the checks


def test_the_file_has_sixteen_bytes_for_each_pair_and_little_more(tmp_path):
    found = made("exact", nearness, checkpoint=tmp_path / "kept").fit(X)
    with Journal(tmp_path / "kept") as journal:
        n_blocks = sum(1 for _ in journal.blocks())
    size = (tmp_path / "kept").stat().st_size
    assert size <= 16 * found.n_evaluations_ + 8 * N + 24 * n_blocks + 300


# What is refused


def refusal(path, objects=X, y=Y, name="exact", similarity=nearness, **parameters):
    before = path.read_bytes()
    with pytest.raises(ValueError, match=r"^checkpoint must be of the same ") as error:
        made(name, similarity, checkpoint=path, **parameters).fit(objects, y)
    assert path.read_bytes() == before
    assert isinstance(error.value, CheckpointMismatchError)
    assert str(error.value).endswith("; choose another file.")
    return str(error.value)


def of_scale(scale):
    return lambda a, b: scale * nearness(a, b)


TABLE = {"scale": 1.0}


def by_table(a, b):
    return TABLE["scale"] * nearness(a, b)


def test_other_data_are_refused(tmp_path):
    made("exact", nearness, checkpoint=tmp_path / "kept").fit(X, Y)
    assert "same data, but 120 of the 120 objects" in refusal(tmp_path / "kept", [x + 500 for x in X])
    assert "same data, but 80 of the 120 objects" in refusal(tmp_path / "kept", X[80:], Y[80:])


def test_kept_pairs_serve_a_run_with_fewer_objects(tmp_path):
    """Cross-validation leaves some out."""
    made("exact", Calls(), checkpoint=tmp_path / "kept").fit(X)
    second = Calls()
    found = made("exact", second, checkpoint=tmp_path / "kept").fit(X[20:])
    assert_same(found, made("exact", Calls()).fit(X[20:]))
    assert second.n <= 30  # the checks


@pytest.mark.parametrize(
    "other",
    [of_scale(2), covey.Similarity(of_scale(1), symmetric=False), covey.from_distance(of_scale(1)), nearness],
    ids=["closure", "direction", "conversion", "code"],
)
def test_another_similarity_is_refused(other, tmp_path):
    made("exact", of_scale(1), checkpoint=tmp_path / "kept").fit(X, Y)
    assert "same similarity, but" in refusal(tmp_path / "kept", similarity=other)
    made("exact", of_scale(1), checkpoint=tmp_path / "kept").fit(X, Y)


def helped(a, b):
    return helper(a, b)


def helper(a, b):
    return nearness(a, b)


def test_a_function_that_calls_another_one_of_its_module_is_another_one_if_that_has_changed(tmp_path, monkeypatch):
    made("exact", helped, checkpoint=tmp_path / "kept").fit(X, Y)
    changed = lambda a, b: nearness(a, b) if (a, b) != (3, 7) else 0.0  # noqa: E731
    changed.__module__ = __name__
    monkeypatch.setitem(globals(), "helper", changed)
    assert "was made with another one" in refusal(tmp_path / "kept", similarity=helped)


def test_a_function_that_answers_otherwise_than_before_is_refused(tmp_path, monkeypatch):
    """Its code is the same, but not what it reads."""
    made("exact", by_table, checkpoint=tmp_path / "kept").fit(X, Y)
    monkeypatch.setitem(TABLE, "scale", 2.0)
    assert "same similarity, but that of objects" in refusal(tmp_path / "kept", similarity=by_table)


@pytest.mark.parametrize(
    ("parameters", "named"),
    [
        ({"n_neighbors": 5}, "another n_neighbors: it has 4 and this run 5"),
        ({"coverage": 0.5}, "another coverage"),
        ({"threshold": None}, "another threshold: it has 'homogeneity' and this run None"),
        ({"random_state": 1}, "another random_state"),
        ({"y": [0] * N}, "another y"),
        ({"objects": NAMED["dense"][0] * 2}, "another X"),
        ({"name": "delta medoids"}, "another"),
        ({"similarity": "dot"}, "was made with another one, "),
    ],
)
def test_finished_clusters_of_another_run_are_refused(parameters, named, tmp_path):
    objects, similarity = NAMED["dense"]
    made("exact", similarity, checkpoint=tmp_path / "kept").fit(objects, Y)
    arguments = {"objects": objects, "similarity": similarity, **parameters}
    assert named in refusal(tmp_path / "kept", **arguments)
    made("exact", similarity, checkpoint=tmp_path / "kept", n_jobs=2, verbose=0).fit(objects, Y)  # these do not matter


@pytest.mark.parametrize(
    ("before", "now", "named"),
    [
        ({"selector": "CRS", "k": 4, "sample_rate": 0.7}, {"selector": "CRS", "k": 4}, "version of covey, but"),
        ({"selector": "CRS", "k": 4}, {"selector": "CRS", "k": 4, "later": None}, "only one of the two has later;"),
        ({"selector": "CRS", "k": 4, "sample_rate": 0.7}, {"selector": "CRS", "k": 5}, "another k: it has 4 and"),
        ({"k": 4, "method": "exact"}, {"selector": "CRS", "k": 4}, "another method: it has 'exact' and this run None"),
    ],
)
def test_a_run_of_another_version_is_told_from_one_with_other_parameters(before, now, named, tmp_path):
    with Checkpoint(tmp_path / "kept", "fingerprint", "words") as checkpoint:
        checkpoint.begin_run(before)
    with Checkpoint(tmp_path / "kept", "fingerprint", "words") as checkpoint:
        with pytest.raises(CheckpointMismatchError, match=named):
            checkpoint.begin_run(now)
        checkpoint.begin_run(before)


def test_weights_and_included_rows_are_part_of_the_run(tmp_path):
    objects, similarity = NAMED["dense"]
    made("exact", similarity, checkpoint=tmp_path / "kept").fit(objects, Y, include=[3])
    with pytest.raises(ValueError, match="another sample_weight or include"):
        made("exact", similarity, checkpoint=tmp_path / "kept").fit(objects, Y, include=[4])


def test_two_fits_cannot_use_one_file_at_once(tmp_path):
    begun, over = threading.Event(), threading.Event()

    def waiting(a, b):
        begun.set()
        over.wait()
        return nearness(a, b)

    thread = threading.Thread(target=made("exact", waiting, checkpoint=tmp_path / "kept").fit, args=(X, Y))
    thread.start()
    begun.wait()
    with pytest.raises(BlockingIOError, match="in use by another fit"):
        made("exact", nearness, checkpoint=tmp_path / "kept").fit(X, Y)
    over.set()
    thread.join()


def test_a_damaged_checkpoint_is_named(tmp_path):
    with Checkpoint(tmp_path / "kept", similarity_fingerprint(resolve(nearness)), "nearness") as checkpoint:
        checkpoint.admit(np.array([1, 2], dtype=np.uint64))
    with Journal(tmp_path / "kept") as journal:
        list(journal.blocks())
        journal.append(PAIRS, b"odd")
    with pytest.raises(FileFormatError, match=r"kept cannot be read as a checkpoint: a block has an odd length"):
        made("exact", nearness, checkpoint=tmp_path / "kept").fit(X, Y)


class Node:
    """A tree that pickle takes apart level by level."""

    def __init__(self, value, child=None):
        self.value, self.child = value, child


def test_objects_that_cannot_be_read_as_a_whole_are_refused(tmp_path):
    """Trees that differ only far down would be taken for the same object."""
    trees = [Node(0, None) for _ in range(3)]
    for depth in range(60):
        trees = [Node(depth if depth else number, tree) for number, tree in enumerate(trees)]
    with pytest.raises(ValueError, match=r"checkpoint needs objects that pickle can take apart .* but object 0 is not"):
        covey.CRS(1, similarity=lambda a, b: 0.5, checkpoint=tmp_path / "kept").fit(trees)


def test_a_wrong_random_state_does_not_spoil_the_file(tmp_path):
    objects, similarity = NAMED["dense"]
    options = {"n_neighbors": 4, "similarity": similarity, "checkpoint": tmp_path / "kept"}
    with pytest.raises(ValueError, match="random_state must be an int or None"):
        covey.neighbor_graph(objects, **options, random_state=np.random.RandomState(0))
    assert covey.neighbor_graph(objects, **options, random_state=0).n_neighbors == 4


class OwnFit(covey.CRS):
    def fit(self, X, y=None):
        return super().fit(X, y)


def test_sharpened_keeps_the_checkpoint_of_a_selector_with_a_fit_of_its_own_to_itself(tmp_path):
    inner = OwnFit(4, similarity=nearness, checkpoint=tmp_path / "kept")
    assert covey.Sharpened(inner, random_state=0).fit(X, Y).checkpoint_.n_kept > 0


# Where it goes


def test_a_classifier_uses_the_checkpoint_of_its_selector(tmp_path):
    calls = Calls()
    for _ in range(2):
        calls.n = 0
        model = covey.NearestPrototypeClassifier(made("exact", calls, checkpoint=tmp_path / "kept")).fit(X, Y)
    assert calls.n <= 15
    assert model.selector_.checkpoint_.n_saved > 3000
    assert (model.predict(X) == np.array(Y)).mean() > 0.4


def test_the_inner_selector_of_sharpened_may_name_the_checkpoint(tmp_path):
    sharpened = covey.Sharpened(covey.CRS(4, similarity=nearness, checkpoint=tmp_path / "kept"), random_state=0)
    first, second = (clone(sharpened).fit(X, Y) for _ in range(2))
    assert first.checkpoint_.n_saved == 0
    assert second.checkpoint_.n_saved > 0.9 * second.n_evaluations_


def test_a_model_file_does_not_tell_where_the_checkpoint_was(tmp_path):
    selector = made("exact", nearness, checkpoint=tmp_path / "kept").fit(X, Y)
    covey.save(selector, tmp_path / "model")
    assert b"kept" not in (tmp_path / "model").read_bytes()
    loaded = covey.load(tmp_path / "model", similarity=nearness)
    assert loaded.checkpoint is None
    assert not hasattr(loaded, "checkpoint_")


def test_a_fit_without_a_checkpoint_forgets_the_report_of_the_one_before(tmp_path):
    selector = made("exact", nearness, checkpoint=tmp_path / "kept").fit(X, Y)
    assert selector.checkpoint_.path == os.path.realpath(tmp_path / "kept")
    assert not hasattr(selector.set_params(checkpoint=None).fit(X, Y), "checkpoint_")


# Killed


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """What `killed.py` reports of each selector. Between them, they are killed at 50 moments and more."""
    command = [sys.executable, "-m", "tests.selectors.killed", str(tmp_path_factory.mktemp("killed"))]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


@pytest.mark.xdist_group("killed")
@pytest.mark.parametrize("name", killed.SELECTORS)
def test_a_process_that_is_killed_at_random_moments_goes_on_to_the_same_end(name, reports):
    report = reports[name]
    assert report["n_kills"] == killed.KILLS
    assert report["found"] == report["expected"]
    assert report["most_repeated"] <= report["largest_batch"] + report["n_asked_again"]
