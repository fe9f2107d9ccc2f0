"""``joblib.parallel_config("dask")`` around a plain fit: the workers of a Dask cluster do the work, and nothing else
changes.

The workers are other processes. They do not get this module by its name, as workers on another machine would not.
"""

import copy
import logging
import os
import time
from collections import Counter
from contextlib import suppress

import cloudpickle
import joblib
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

import covey
from covey.exceptions import UnpicklableSimilarityWarning
from covey.runtime.executor import n_threads, reaches_other_machines
from covey.runtime.workers import Shared
from covey.similarity.calls import pool
from tests.forms import letters
from tests.similarity.calls.test_pool import FailsWhenReadError, HoldsALockError, locked, words

distributed = pytest.importorskip("distributed", reason="needs a Dask cluster, which the extra dask installs")


pytestmark = pytest.mark.xdist_group("cluster")  # one process runs all of them, so that their clusters start once


@pytest.fixture(scope="module")
def cluster():
    """Two workers. Their dashboard takes any free port, because that of another test run may have the usual one."""
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options, silence_logs=logging.CRITICAL) as cluster:
        yield cluster


@pytest.fixture
def dask(cluster):
    """A client, and joblib's backend that uses it."""
    with distributed.Client(cluster) as client, joblib.parallel_config("dask"):
        yield client


@pytest.fixture
def eager(monkeypatch):
    """Share out however little work there is, in small batches."""
    for name, value in {"WORTH_IT": 0.0, "BATCH_SECONDS": 1e-3, "TIMED": 5}.items():
        monkeypatch.setattr(pool, name, value)


def here(function):
    """Call a function without any backend."""
    with joblib.parallel_config("sequential"):
        return function()


def assert_same_fit(one, other):
    """All fitted attributes are equal: of prototypes, and of the details that some selectors add."""
    assert vars(one).keys() == vars(other).keys()
    for name in [name for name in vars(one) if name.endswith("_") and name != "prototypes_"]:
        np.testing.assert_equal(getattr(other, name), getattr(one, name), err_msg=name)
    assert list(one.prototypes_) == list(other.prototypes_)
    for label, prototype in one.prototypes_.items():
        np.testing.assert_equal(vars(other.prototypes_[label]), vars(prototype))


def blobs(n=600, n_clusters=30):
    """Clusters of unequal sizes, with some equal rows."""
    rng = np.random.default_rng(0)
    y = np.minimum(rng.geometric(0.08, n), n_clusters) - 1
    X = rng.normal(size=(n, 6)) + y[:, None]
    X[rng.integers(0, n, 40)] = X[0]
    return X, y


class First(covey.Selector):
    """A selector of a user's own. It tells which process has worked, and whether its details come back."""

    def select(self, cluster, rng):
        size = cluster.rows.size
        return cluster.prototype(
            indices=np.array([0]), gains=np.array([rng.random()]), covered_by=np.zeros(size, dtype=int)
        )

    def _select(self, cluster, rng, request):
        details = os.getpid(), len(cluster.whole), cluster.members
        return super()._select(cluster, rng, request)._replace(details=details)

    def _finish(self, selected, request):
        self.processes = Counter(one.details[0] for one in selected)
        self.seen = {one.prototype.label: one.details[1:3] for one in selected}
        return super()._finish(selected, request)


SELECTORS = {
    "CRS": covey.CRS(5, random_state=0),
    "CRS by NN-Descent": covey.CRS(5, graph="nn-descent", similarity="euclidean", random_state=3, n_jobs=-1),
    "DeltaMedoids": covey.DeltaMedoids(random_state=0),
    "DS3": covey.DS3(),
    "RandomSelector": covey.RandomSelector(0.2, random_state=0),
    "KeepAll": covey.KeepAll(),
}


@pytest.mark.parametrize("name", SELECTORS)
def test_many_clusters_give_the_same_fit(dask, name):
    X, y = blobs()
    selector = SELECTORS[name]
    alone = here(lambda: cloudpickle.loads(cloudpickle.dumps(selector)).fit(X, y))
    assert_same_fit(alone, cloudpickle.loads(cloudpickle.dumps(selector)).fit(X, y))


def profiles():
    rng = np.random.default_rng(1)
    return [{f"k{key}": float(rng.random()) for key in rng.choice(30, 5, replace=False)} for _ in range(120)]


def matrix(convert=np.asarray):
    X = np.random.default_rng(2).random((120, 5))
    return convert(1 / (1 + ((X[:, None] - X) ** 2).sum(axis=2)))


INPUTS = {
    "dicts": lambda: (profiles(), "cosine"),
    "CSR rows": lambda: (sp.csr_array(np.round(np.random.default_rng(0).random((120, 9)), 1)), "ruzicka"),
    "float32 rows": lambda: (np.random.default_rng(0).random((120, 9), dtype=np.float32), "cosine"),
    "named strings": lambda: (words(120), "levenshtein"),
    "a matrix": lambda: (matrix(), "precomputed"),
    "a sparse matrix": lambda: (matrix(sp.csr_array), "precomputed"),
    "distances": lambda: (np.maximum(1 / matrix() - 1, 0), covey.from_distance("precomputed")),
    "a lambda": lambda: (words(120), lambda a, b: letters(a, b) / 2),
    "asymmetric": lambda: (words(120), covey.Similarity(lambda a, b: len(set(a) - set(b)) / 9, symmetric=False)),
    "batches": lambda: (words(120), covey.batched(lambda A, B: [letters(a, b) for a, b in zip(A, B, strict=True)])),
}


@pytest.mark.parametrize("name", INPUTS)
def test_every_kind_of_input_gives_the_same_fit(dask, name):
    X, similarity = INPUTS[name]()
    y = np.array(list("abcdefgh"))[np.arange(120) % 8]

    def fit():
        return covey.CRS(3, similarity=similarity, random_state=0).fit(X, y)

    assert_same_fit(here(fit), fit())


def test_a_given_graph_of_all_objects_gives_the_same_fit(dask):
    X, y = blobs()
    graph = here(lambda: covey.neighbor_graph(X, 20, random_state=0))

    def fit():
        return covey.CRS(5, graph=graph, random_state=0).fit(X, y)

    assert_same_fit(here(fit), fit())


def test_a_registered_measure_is_known_to_the_workers(dask):
    X, y = blobs()
    covey.register_similarity("half a cosine", covey.Measure("dot", lambda dot, a, b, width: dot / (a + b), term="dot"))

    def fit():
        return covey.CRS(5, similarity="half a cosine", random_state=0).fit(X, y)

    assert_same_fit(here(fit), fit())


def test_labels_stay_the_users_own_objects(dask):
    class Label:
        def __init__(self, name):
            self.name = name

        def __lt__(self, other):
            return self.name < other.name

    labels = [Label("a"), Label("b"), Label("c")]
    y = np.array(labels, dtype=object)[np.arange(60) % 3]
    fitted = covey.CRS(3, random_state=0).fit(blobs(60)[0], y)
    assert all(one is other for one, other in zip(fitted.prototypes_, labels, strict=True))


def test_other_processes_fit_the_clusters_and_get_only_their_own_members(dask):
    X, y = blobs()
    fitted = First().fit(X, y)
    alone = here(lambda: First().fit(X, y))
    assert set(alone.processes) == {os.getpid()}
    assert os.getpid() not in fitted.processes
    assert fitted.processes.total() == 30
    for label, (n_seen, members) in fitted.seen.items():
        assert n_seen == members.size == np.sum(y == label)
        np.testing.assert_array_equal(members, np.flatnonzero(y == label))


def test_one_job_means_this_process(dask, tmp_path):
    fit_logged(tmp_path, n_jobs=1)
    assert [path.name for path in tmp_path.iterdir()] == [str(os.getpid())]


def fit_logged(folder, y=None, n_jobs=None):
    def similarity(a, b):
        with open(folder / str(os.getpid()), "ab", buffering=0) as file:
            file.write(b".")
        return letters(a, b)

    return covey.CRS(3, similarity=similarity, random_state=0, n_jobs=n_jobs).fit(words(80), y)


@pytest.mark.parametrize("n_clusters", [1, 2, 20])
def test_a_callable_is_called_by_workers_and_every_call_is_counted(dask, eager, tmp_path, n_clusters):
    fitted = fit_logged(tmp_path, np.arange(80) % n_clusters)
    assert {int(path.name) for path in tmp_path.iterdir()} - {os.getpid()}
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) == fitted.n_evaluations_


@pytest.mark.parametrize("wrap", [covey.Similarity, covey.batched], ids=["pairs", "batches"])
@pytest.mark.parametrize("graph", ["exact", "nn-descent"])
def test_a_costly_callable_on_one_cluster_gives_the_same_fit(dask, eager, wrap, graph):
    weight = 0.5
    one = lambda a, b: weight * letters(a, b)  # noqa: E731
    many = lambda A, B: [one(a, b) for a, b in zip(A, B, strict=True)]  # noqa: E731
    scores = wrap(one if wrap is covey.Similarity else many)

    def fit():
        return covey.CRS(5, graph=graph, similarity=scores, random_state=0).fit(words(120))

    assert_same_fit(here(fit), fit())


def be_eager(worth_it=0.0, batch_seconds=0.02, timed=5):
    """Return the former settings of the pool."""
    before = pool.WORTH_IT, pool.BATCH_SECONDS, pool.TIMED
    pool.WORTH_IT, pool.BATCH_SECONDS, pool.TIMED = worth_it, batch_seconds, timed
    return before


@pytest.mark.parametrize("sizes", [[5, 120], [30] * 12], ids=["unequal", "equal"])
def test_a_task_of_a_worker_shares_out_its_costly_callable_in_turn(dask, tmp_path, sizes):
    """Both workers work on a cluster that is much larger than the others.

    No task waits for ever for another one, though each worker has only one thread.
    """

    def similarity(a, b):
        if in_largest.isdisjoint((a, b)):
            return letters(a, b)
        (tmp_path / str(os.getpid())).touch()
        time.sleep(1e-4)
        return letters(a, b)

    y = np.repeat(np.arange(len(sizes)), sizes)
    X = list(dict.fromkeys(words(400)))[: y.size]
    in_largest = set(np.array(X)[y == np.argmax(sizes)].tolist())

    def fit():
        return covey.CRS(5, similarity=similarity, random_state=0).fit(X, y)

    before = dask.run(be_eager)
    try:
        fitted = fit()
    finally:
        dask.run(be_eager, *next(iter(before.values())))
    workers = {path.name for path in tmp_path.iterdir()}
    assert str(os.getpid()) not in workers
    assert len(workers) == 2 or min(sizes) == max(sizes)  # each of many equal clusters may have one worker to itself
    assert_same_fit(here(fit), fitted)


def test_a_sharpened_choice_evaluates_no_pair_twice(dask, tmp_path):

    def fit():
        return covey.Sharpened(covey.CRS(3, similarity=letters, random_state=0), random_state=0).fit(
            words(80), np.arange(80) % 4
        )

    assert fit().n_evaluations_ == here(fit).n_evaluations_


@pytest.mark.parametrize("n_clusters", [1, 4])
def test_an_error_names_the_pair_and_comes_with_its_cause(dask, eager, n_clusters):
    def fails(a, b):
        if {a, b} == {3, 27}:
            raise KeyError("odd pair")
        return 0.5

    with pytest.raises(RuntimeError, match="object 3 and object 27 raised KeyError: 'odd pair'") as caught:
        covey.CRS(3, similarity=fails, graph="exact").fit(list(range(40)), np.arange(40) % n_clusters)
    assert isinstance(caught.value.__cause__, KeyError)


def test_an_error_of_a_compiled_similarity_names_the_row(dask):
    X, y = blobs()
    X[77] = 1e200
    with pytest.raises(ValueError, match="first in row 77"):
        covey.CRS(3).fit(X, y)


@pytest.mark.parametrize("make", [lambda: FailsWhenReadError(1, 2), HoldsALockError], ids=["two arguments", "a lock"])
def test_an_error_that_cannot_be_sent_is_described(dask, make):
    class Fails(First):
        def select(self, cluster, rng):
            raise make()

    expected = make()
    with pytest.raises(RuntimeError, match=f"{type(expected).__name__}: {expected}"):
        Fails().fit(*blobs())


def test_after_an_error_no_cluster_is_sent_and_no_task_is_left(dask, tmp_path):
    class Fails(First):
        def select(self, cluster, rng):
            (tmp_path / str(cluster.label)).touch()
            raise KeyError(f"cluster {cluster.label}")

    before = covey.CRS(3).fit(*blobs())
    failing = Fails()
    with pytest.raises(KeyError, match="cluster 0"):
        failing.fit(np.zeros((1000, 1)) + np.arange(1000)[:, None], np.arange(1000))
    assert vars(failing) == {}
    assert len(list(tmp_path.iterdir())) < 500
    assert_same_fit(before, covey.CRS(3).fit(*blobs()))  # the backend still works
    deadline = time.monotonic() + 30
    while any(dask.processing().values()) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(dask.processing().values())


def test_what_cannot_be_sent_is_fitted_here_with_one_warning(dask):
    similarity, y = locked(), np.arange(80) % 4
    with pytest.warns(UnpicklableSimilarityWarning, match="cannot pickle '_thread.lock' object") as told:
        fitted = covey.CRS(3, similarity=similarity, random_state=0).fit(words(80), y)
    assert len(told) == 1
    assert_same_fit(here(lambda: covey.CRS(3, similarity=similarity, random_state=0).fit(words(80), y)), fitted)


def test_objects_or_details_that_cannot_be_sent_are_fitted_here(dask):
    class KeepsLocks(First):
        similarity = staticmethod(lambda a, b: 0.5)

        def _select(self, cluster, rng, request):
            selected = super()._select(cluster, rng, request)
            return selected._replace(details=(*selected.details, locked()))

    with pytest.warns(UnpicklableSimilarityWarning, match="cannot pickle"):
        fitted = KeepsLocks().fit(words(40), np.arange(40) % 4)
    assert set(fitted.processes) == {os.getpid()}
    objects = [locked() if number % 4 == 2 else "ab" * number for number in range(1, 41)]
    mixed = First()
    mixed.similarity = lambda a, b: 0.5
    with pytest.warns(UnpicklableSimilarityWarning, match="cannot pickle"):
        mixed.fit(objects, np.arange(40) % 4)
    assert mixed.processes[os.getpid()] == 1


def test_warnings_of_workers_are_given_here(dask):
    X, y = blobs(200, 3)
    with pytest.warns(ConvergenceWarning, match="DS3 stopped at a duality gap"):
        covey.DS3(alpha=0.1, p=2, max_iter=1).fit(X, y)


def test_messages_of_each_cluster_are_logged_in_order(dask, caplog):
    caplog.set_level(logging.INFO, "covey")
    covey.CRS(3, verbose=2).fit(*blobs())
    logged = [record.getMessage() for record in caplog.records if record.name == "covey"]
    assert [text.split("(")[1].split(":")[0] for text in logged] == [str(label) for label in range(30)]


def test_callbacks_hear_of_each_cluster_in_order(dask):
    callback = pytest.importorskip("sklearn.callback", reason="scikit-learn has callbacks since 1.9")
    assert callback
    heard = []

    class Listens:
        def __reduce__(self):
            raise TypeError("callbacks stay here")

        def setup(self, estimator, context):
            heard.append("setup")

        def on_fit_task_begin(self, estimator, context, **_):
            heard.append(("begin", context.task_name))

        def on_fit_task_end(self, estimator, context, **_):
            heard.append(("end", context.task_name))

        def teardown(self, estimator, context):
            heard.append("teardown")

    X, y = blobs()
    here(lambda: First().set_callbacks(Listens()).fit(X, y))
    expected = list(heard)
    heard.clear()
    fitted = First().set_callbacks(Listens()).fit(X, y)
    assert heard == expected
    assert len(heard) > 60
    assert os.getpid() not in fitted.processes


def test_threads_are_a_matter_of_this_machine(dask):
    n_cores = joblib.cpu_count()
    assert reaches_other_machines()
    assert [n_threads(n_jobs) for n_jobs in (None, 1, 3, -1)] == [1, 1, 3, n_cores]
    with joblib.parallel_config("threading", n_jobs=3):
        assert not reaches_other_machines()
        assert [n_threads(n_jobs) for n_jobs in (None, 1, 2, -1)] == [3, 1, 2, n_cores]


def test_a_shared_value_travels_once_to_each_worker(dask):
    content = np.random.default_rng(0).bytes(20_000_000)
    shared = Shared(content, elsewhere=True)
    lengths = [dask.submit(lambda parcel: len(parcel.open()), shared.parcel, pure=False) for _ in range(20)]
    assert dask.gather(lengths) == [20_000_000] * 20
    assert len(dask.who_has(shared.parcel)[shared.parcel.key]) <= 2


@pytest.mark.parametrize("n_clusters", [1, 6])
def test_a_lost_worker_costs_nothing_but_time(dask, eager, tmp_path, n_clusters):
    """One worker ends itself in the middle of a batch. The caller that it held travels to the worker that follows."""

    def similarity(a, b):
        time.sleep(1e-3)
        if os.getpid() != driver:
            with suppress(FileNotFoundError):
                os.rename(tmp_path / "to be killed", tmp_path / "killed")
                os._exit(1)
        return letters(a, b)

    driver, y = os.getpid(), np.arange(60) % n_clusters

    def fit():
        return covey.CRS(3, similarity=similarity, random_state=0).fit(words(60), y)

    alone = here(fit)
    (tmp_path / "to be killed").touch()
    assert_same_fit(alone, fit())
    (tmp_path / "killed").unlink()  # so that it is known to have been there
    dask.wait_for_workers(2)


@pytest.mark.parametrize("n_clusters", [1, 6])
def test_a_parcel_that_does_not_arrive_costs_nothing_but_time(dask, eager, monkeypatch, n_clusters):
    selector, y = covey.CRS(3, similarity=lambda a, b: time.sleep(1e-3) or letters(a, b)), np.arange(60) % n_clusters
    alone = copy.copy(here(lambda: selector.fit(words(60), y)))
    monkeypatch.setattr(Shared, "parcel", property(lambda _: "a future", lambda *_: None), raising=False)
    assert_same_fit(alone, selector.fit(words(60), y))
