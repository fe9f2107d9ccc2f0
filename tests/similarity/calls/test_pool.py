"""Threads and processes: the same results, counts and errors as in one process, and nothing left behind."""

import json
import os
import tempfile
import threading
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
from rapidfuzz.distance import Levenshtein
from threadpoolctl import threadpool_info, threadpool_limits

import covey
from covey.exceptions import UnpicklableSimilarityWarning
from covey.runtime.executor import Executor
from covey.similarity.calls import pool
from tests.forms import WORDS, letters, space_of

pytestmark = pytest.mark.processes


@pytest.fixture
def eager(monkeypatch):
    """Share out however little work there is, in small batches."""
    monkeypatch.setattr(pool, "WORTH_IT", 0.0)
    monkeypatch.setattr(pool, "BATCH_SECONDS", 1e-4)
    monkeypatch.setattr(pool, "TIMED", 5)


def words(n):
    rng = np.random.default_rng(0)
    return ["".join(rng.choice(list("abcdefgh"), 6)) for _ in range(n)]


@pytest.mark.parametrize("graph", ["exact", "nn-descent"])
@pytest.mark.parametrize("wrap", [covey.Similarity, covey.batched], ids=["pairs", "batches"])
def test_processes_change_nothing(graph, wrap, eager):
    """The functions are closures, which plain pickle could not send to the workers."""
    weight = 0.5
    one = lambda a, b: weight * letters(a, b)  # noqa: E731
    many = lambda A, B: [one(a, b) for a, b in zip(A, B, strict=True)]  # noqa: E731
    scores = wrap(one if wrap is covey.Similarity else many)
    results = [
        covey.CRS(5, graph=graph, similarity=scores, random_state=0, n_jobs=n_jobs).fit(words(150), np.arange(150) % 2)
        for n_jobs in (1, 2)
    ]
    assert results[0].sample_indices_.tolist() == results[1].sample_indices_.tolist()
    assert results[0].n_evaluations_ == results[1].n_evaluations_
    assert results[0].prototypes_[0].homogeneity == results[1].prototypes_[0].homogeneity


def test_the_work_is_really_done_elsewhere(eager, tmp_path):
    def similarity(a, b):
        (tmp_path / str(os.getpid())).touch()
        return letters(a, b)

    covey.neighbor_graph(words(60), 3, similarity, n_jobs=2)
    assert {int(path.name) for path in tmp_path.iterdir()} - {os.getpid()}


def test_every_call_is_counted(eager, tmp_path):
    """One byte appended a call, by whichever process: appends are atomic."""
    log = tmp_path / "calls"

    def similarity(a, b):
        with open(log, "ab", buffering=0) as file:
            file.write(b".")
        return letters(a, b)

    graph = covey.neighbor_graph(words(80), 3, similarity, "nn-descent", random_state=0, n_jobs=2)
    assert log.stat().st_size == graph.n_evaluations


def test_errors_come_back_with_their_cause_and_place(eager):
    def fails(a, b):
        if (a, b) == (3, 27):
            raise KeyError("odd pair")
        return 0.5

    def nothing(a, b):
        return None if (a, b) == (3, 27) else 0.5

    with pytest.raises(RuntimeError, match="object 3 and object 27 raised KeyError: 'odd pair'") as caught:
        covey.CRS(3, similarity=fails, n_jobs=2).fit(list(range(40)))
    assert isinstance(caught.value.__cause__, KeyError)
    with pytest.raises(TypeError, match="object 3 and object 27 returned None"):
        covey.CRS(3, similarity=nothing, n_jobs=2).fit(list(range(40)))


def test_prediction_uses_processes_too(eager):
    model = covey.NearestPrototypeClassifier(covey.CRS(2, similarity=letters, n_jobs=2)).fit(WORDS, np.arange(12) // 4)
    alone = covey.NearestPrototypeClassifier(covey.CRS(2, similarity=letters)).fit(WORDS, np.arange(12) // 4)
    assert model.predict(words(50)).tolist() == alone.predict(words(50)).tolist()


def test_little_work_stays_at_home(tmp_path):
    def similarity(a, b):
        (tmp_path / str(os.getpid())).touch()
        return letters(a, b)

    covey.CRS(3, similarity=similarity, n_jobs=2).fit(WORDS)
    assert [path.name for path in tmp_path.iterdir()] == [str(os.getpid())]


def test_no_file_is_left_behind(eager, monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    covey.neighbor_graph(words(60), 3, letters, n_jobs=2)
    deadline = time.monotonic() + 10
    while list(tmp_path.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert list(tmp_path.iterdir()) == []


class FailsWhenReadError(Exception):
    def __init__(self, first, second):
        super().__init__(f"{first} and {second}")


class HoldsALockError(Exception):
    def __init__(self):
        super().__init__("locked")
        self.lock = threading.Lock()


@pytest.mark.parametrize("make", [lambda: FailsWhenReadError(1, 2), HoldsALockError], ids=["two arguments", "a lock"])
@pytest.mark.parametrize("wrap", [covey.Similarity, covey.batched], ids=["pairs", "batches"])
def test_any_exception_comes_back_as_in_one_process(eager, make, wrap):
    def fails(a, b):
        if wrap is covey.batched or (a, b) == (3, 27):
            raise make()
        return 0.5

    messages = []
    for n_jobs in (1, 2):
        space = space_of(list(range(40)), wrap(fails), n_jobs=n_jobs)
        space._pool._seconds = 1.0  # as if some pairs had been timed before
        with pytest.raises(RuntimeError, match=f"raised {type(make()).__name__}: ") as caught:
            space.score(np.full(30, 3, np.int32), np.arange(10, 40, dtype=np.int32))
        assert str(make()) in str(caught.value.__cause__)
        messages.append(str(caught.value))
    assert "object 3 and object" in messages[0]
    assert messages[0] == messages[1] or wrap is covey.batched  # whose batches are smaller


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_batch_that_is_no_array_is_refused_with_its_pairs(eager, n_jobs):
    ragged = covey.batched(lambda A, B: [[1.0], [1.0, 2.0]] * (len(A) // 2) + [1.0] * (len(A) % 2))
    with pytest.raises(
        TypeError, match=r"one real number a pair, .* from object 0 and object 1 on; got list, which is"
    ):
        covey.CRS(3, similarity=ragged, n_jobs=n_jobs).fit(list(range(40)))


class BreaksInWorkers:
    """A similarity that can be written, but not read."""

    def __call__(self, a, b):
        return letters(a, b)

    def __reduce__(self):
        return int, ("no number",)

    def __deepcopy__(self, memo):
        return self


def locked():
    lock = threading.Lock()

    def similarity(a, b):
        with lock:
            return letters(a, b)

    return similarity


def locked_batch():
    one = locked()
    return covey.batched(lambda A, B: [one(a, b) for a, b in zip(A, B, strict=True)], batch_size=16)


@pytest.mark.parametrize(
    ("similarity", "reason"),
    [
        (Levenshtein.normalized_similarity, r"Similarity\(normalized_similarity\) or its .* Can't pickle <cyfunction"),
        (locked(), r"Similarity\(similarity\) .* cannot pickle '_thread.lock' object"),
        (BreaksInWorkers(), "BreaksInWorkers.* ValueError: invalid literal for int"),
        (locked_batch(), r"Similarity\(batched\(<lambda>\)\) .* cannot pickle '_thread.lock' object"),
    ],
    ids=["a compiled function", "a closure over a lock", "unreadable", "batched"],
)
def test_what_cannot_be_sent_stays_in_one_process_with_one_warning(eager, similarity, reason):
    y = np.arange(80) % 4
    alone = covey.NearestPrototypeClassifier(covey.CRS(3, similarity=similarity)).fit(words(80), y)
    with pytest.warns(UnpicklableSimilarityWarning, match=reason) as told:
        model = covey.NearestPrototypeClassifier(covey.CRS(3, similarity=similarity, n_jobs=2)).fit(words(80), y)
    assert len(told) == 1
    assert model.selector_.sample_indices_.tolist() == alone.selector_.sample_indices_.tolist()
    assert model.selector_.n_evaluations_ == alone.selector_.n_evaluations_
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert model.explain(words(40)).labels.tolist() == alone.explain(words(40)).labels.tolist()
    assert len(told) <= 1


def test_texts_are_compared_on_all_cores_from_the_command_line(eager, run):
    Path("news.jsonl").write_text("".join(json.dumps({"text": word}) + "\n" for word in words(60)))
    for jobs in (1, 2):
        command = ("select", "news.jsonl", "--text", "text", "-s", "levenshtein", "-k", 2, "-o", f"{jobs}.csv", "-q")
        assert run(*command, "-j", jobs, "-m", f"{jobs}.covey") == (0, "", "")
        assert run("classify", "news.jsonl", "-m", f"{jobs}.covey", "-o", f"answers-{jobs}.csv", "-q")[0] == 0
    assert Path("1.csv").read_text() == Path("2.csv").read_text()
    assert Path("answers-1.csv").read_text() == Path("answers-2.csv").read_text()


def blas_threads():
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


def set_blas_threads(n):
    """For good: what a thread that has ended had set stays."""
    thread = threading.Thread(target=threadpool_limits, args=(n, "blas"))
    thread.start()
    thread.join()


@pytest.mark.parametrize("first_ends_first", [True, False])
def test_interleaved_products_leave_blas_as_it_was(first_ends_first):
    """Both compute at once, and BLAS keeps to one thread until both have ended, whichever does first."""
    started, both_started, one_has_ended = threading.Event(), threading.Event(), threading.Event()
    before, seen = blas_threads(), []

    def ends_first(task):
        started.set()
        both_started.wait()

    def ends_last(task):
        started.set()
        one_has_ended.wait()
        seen.extend(blas_threads())

    set_blas_threads(2)
    threads = {}
    for task in [ends_first, ends_last] if first_ends_first else [ends_last, ends_first]:
        started.clear()
        threads[task] = threading.Thread(target=Executor(2).run, args=(task, [0]), kwargs={"products": True})
        threads[task].start()
        started.wait()
    both_started.set()
    threads[ends_first].join()
    one_has_ended.set()
    threads[ends_last].join()
    assert set(seen) == {1}
    assert set(blas_threads()) == {2}
    set_blas_threads(before[0])


@pytest.mark.parametrize("batch_size", [7, 1000, 1024, 3000])
def test_a_space_that_may_be_interrupted_makes_the_same_batches(batch_size):
    """The values of a batch may depend on its size, as those of a product of matrices do in the last bits."""
    sizes = []

    def score(a, b):
        sizes.append(len(a))
        return np.ones(len(a))

    i = np.zeros(10_000, dtype=np.int32)
    plain, space = (space_of(list(range(9)), covey.batched(score, batch_size=batch_size)) for _ in range(2))
    plain.score(i, i + 1)
    expected = list(sizes)
    sizes.clear()
    calls = []
    space.evaluations.interrupt_by(lambda: calls.append(len(sizes)))
    space.score(i, i + 1)
    assert sizes == expected
    assert len(calls) >= 3
