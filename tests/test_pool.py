"""Processes for Python callables: the same results, the same count, the same errors as in one process."""

import os
import time

import numpy as np
import pytest

import covey
from covey import _pool
from tests.test_persistence import WORDS, letters


@pytest.fixture
def eager(monkeypatch):
    """Share out however little work there is, in small batches."""
    monkeypatch.setattr(_pool, "WORTH_IT", 0.0)
    monkeypatch.setattr(_pool, "BATCH_SECONDS", 1e-4)
    monkeypatch.setattr(_pool, "TIMED", 5)


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
    model = covey.NearestPrototypeClassifier(covey.CRS(2, similarity=letters, n_jobs=2)).fit(WORDS, np.arange(9) // 3)
    alone = covey.NearestPrototypeClassifier(covey.CRS(2, similarity=letters)).fit(WORDS, np.arange(9) // 3)
    assert model.predict(words(50)).tolist() == alone.predict(words(50)).tolist()


def test_little_work_stays_at_home(tmp_path):
    def similarity(a, b):
        (tmp_path / str(os.getpid())).touch()
        return letters(a, b)

    covey.CRS(3, similarity=similarity, n_jobs=2).fit(WORDS)
    assert [path.name for path in tmp_path.iterdir()] == [str(os.getpid())]


def test_no_file_is_left_behind(eager, monkeypatch, tmp_path):
    monkeypatch.setattr(_pool.tempfile, "tempdir", str(tmp_path))
    covey.neighbor_graph(words(60), 3, letters, n_jobs=2)
    deadline = time.monotonic() + 10
    while list(tmp_path.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert list(tmp_path.iterdir()) == []
