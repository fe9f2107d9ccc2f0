"""What goes wrong on clusters: workers and drivers that are killed, functions that raise, checkpoints of others."""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("distributed", reason="needs the extra dask")

import dask
import dask.array as da
import dask.bag as db
from distributed import Client

import covey
import covey.dask
from covey.dask.engine import Engine
from covey.exceptions import FileFormatError
from tests.dask import fit_and_be_killed, measures
from tests.dask.fit_and_be_killed import data, model
from tests.dask.measures import Written, assert_same_state


def wait_for(condition, seconds=60):
    """Wait until a condition holds; fail if it does not within some seconds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "what was waited for did not happen"
        time.sleep(0.01)


def executing(dask_worker):
    return len(dask_worker.state.executing)


def is_idle(client):
    """Whether no task runs, or waits to be run, on any worker."""
    return not any(client.processing().values()) and not any(client.run(executing).values())


def kill_a_worker(client):
    """Kill the worker that holds most results; a busy machine may have given the other one nothing to do."""
    held = client.has_what()
    worker = max(held, key=lambda address: len(held[address]))
    os.kill(client.run(os.getpid, workers=[worker])[worker], signal.SIGKILL)


@pytest.fixture(scope="module")
def undisturbed(cluster, tmp_path_factory):
    """The answer if nothing goes wrong."""
    with Client(cluster):
        return model(None, tmp_path_factory.mktemp("calls")).fit(*data()).to_local()


@pytest.mark.minutes
def test_a_worker_killed_in_the_middle_of_the_graph_costs_nothing_but_time(client, undisturbed, tmp_path):
    def kill():
        wait_for(lambda: len(measures.calls(tmp_path)) > 2000)
        os.kill(pids[0], signal.SIGKILL)

    pids = list(client.run(os.getpid).values())
    killer = threading.Thread(target=kill)
    killer.start()
    found = model(None, tmp_path).fit(*data())
    killer.join()
    assert pids[0] not in client.run(os.getpid).values()
    assert_same_state(found.to_local(), undisturbed)
    assert len(measures.calls(tmp_path)) >= found.n_evaluations_ + found.n_repeated_evaluations_
    assert len(measures.calls(tmp_path)) > found.n_evaluations_


@pytest.mark.parametrize("moment", ["coverage of 0", pytest.param("representatives", marks=pytest.mark.minutes)])
def test_a_worker_killed_after_the_graph_costs_nothing_but_time(client, undisturbed, tmp_path, monkeypatch, moment):
    """No evaluation was under way when the worker died, so that every call belongs to a task that has finished."""
    gather, killed = Engine.gather, []

    def deadly(engine, what, futures):
        if what == moment and len(killed) < 2:
            killed.append(what)
            if len(killed) == (2 if moment.startswith("coverage") else 1):  # the first time, facts are asked for
                kill_a_worker(client)
        return gather(engine, what, futures)

    monkeypatch.setattr(Engine, "gather", deadly)
    found = model(None, tmp_path).fit(*data())
    assert killed
    n_counted = found.n_evaluations_ + found.n_repeated_evaluations_
    if moment.startswith("coverage"):
        assert len(measures.calls(tmp_path)) == n_counted > found.n_evaluations_
    else:
        assert len(measures.calls(tmp_path)) >= n_counted  # what the members need may be made again after the fit
    assert_same_state(found.to_local(), undisturbed)


def test_no_report_is_lost_if_there_are_more_than_a_topic_holds(client):
    with Engine(client, "test") as engine:
        engine.gather("tasks", [engine.submit_counted("task", measures.Reported, 3) for _ in range(320)])
        assert engine.n_reported() == 960


@pytest.mark.minutes
def test_a_worker_killed_after_the_fit_does_not_lose_the_members(client, undisturbed, tmp_path):
    """Lists as long as a cluster live on the workers, which make them again."""
    found = model(None, tmp_path).fit(*data())
    kill_a_worker(client)
    assert_same_state(found.to_local(), undisturbed)


@pytest.mark.minutes
@pytest.mark.parametrize(("n_files", "protocol"), [(2, ""), (6, "file://")])
def test_a_driver_that_was_killed_goes_on_where_it_was(client, undisturbed, tmp_path, n_files, protocol):
    folder, calls = tmp_path / "checkpoint", tmp_path / "calls"
    calls.mkdir()
    arguments = [client.scheduler.address, f"{protocol}{folder}", str(calls)]
    driver = subprocess.Popen([sys.executable, "-m", fit_and_be_killed.__name__, *arguments], cwd=Path.cwd())
    wait_for(lambda: driver.poll() is not None or len(list(folder.glob("[!.]*"))) >= n_files)
    assert driver.poll() is None
    driver.kill()
    driver.wait()
    wait_for(lambda: is_idle(client))
    before = len(measures.calls(calls))
    found = model(f"{protocol}{folder}", calls).fit(*data())
    assert_same_state(found.to_local(), undisturbed)
    assert found.n_restored_evaluations_ > 0
    assert len(measures.calls(calls)) - before == found.n_evaluations_ - found.n_restored_evaluations_
    assert found.n_repeated_evaluations_ == 0
    again = model(f"{protocol}{folder}", calls).fit(*data())
    assert again.n_restored_evaluations_ == again.n_evaluations_ == found.n_evaluations_
    assert_same_state(again.to_local(), undisturbed)


def test_an_interrupted_fit_goes_on_where_it_was(client, undisturbed, tmp_path):
    """As after a driver that was killed, but in this process."""
    folder, calls = str(tmp_path / "checkpoint"), tmp_path / "calls"
    calls.mkdir()
    gather = Engine.gather

    def interrupt(engine, what, futures):
        if what.startswith("coverage"):
            raise KeyboardInterrupt
        return gather(engine, what, futures)

    stopped = model(folder, calls)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Engine, "gather", interrupt)
        with pytest.raises(KeyboardInterrupt):
            stopped.fit(*data())
    wait_for(lambda: is_idle(client))
    before = len(measures.calls(calls))
    found = model(folder, calls).fit(*data())
    assert_same_state(found.to_local(), undisturbed)
    assert found.n_restored_evaluations_ > 0
    assert len(measures.calls(calls)) - before == found.n_evaluations_ - found.n_restored_evaluations_


class Finished:
    """The folder of a checkpoint of a fit of rows that has finished. Calling it fits them again."""

    rows = np.random.default_rng(0).normal(size=(60, 3))
    labels = ("a",) * 40 + ("b",) * 20

    def __init__(self, folder):
        self.folder = folder

    def __call__(self, X=rows, y=labels, **changes):
        arguments = {"n_neighbors": 3, "random_state": 1, "shard_size": 20, "checkpoint": str(self.folder), **changes}
        return covey.dask.CRS(**arguments).fit(da.from_array(X, chunks=(20, 3)), list(y))


@pytest.fixture(scope="module")
def original(cluster, tmp_path_factory):
    finished = Finished(tmp_path_factory.mktemp("checkpoint"))
    with Client(cluster):
        finished()
    return finished.folder


@pytest.fixture
def finished(client, original, tmp_path):
    """A copy of the same folder for each test."""
    return Finished(shutil.copytree(original, tmp_path / "finished"))


OTHERS = {
    "value of X": lambda fit: (np.where(np.arange(180).reshape(60, 3) == 70, 9.0, fit.rows), fit.labels, {}),
    "order of X": lambda fit: (fit.rows[::-1].copy(), fit.labels, {}),
    "labels": lambda fit: (fit.rows, ("a",) * 39 + ("b",) * 21, {}),
    "names of labels": lambda fit: (fit.rows, ("a",) * 40 + ("c",) * 20, {}),
    "number of rows": lambda fit: (fit.rows[:59], fit.labels[:59], {}),
    "parameters of NN-Descent": lambda fit: (fit.rows, fit.labels, {"graph": covey.NNDescent(sample_rate=0.6)}),
    **{
        name: lambda fit, name=name, value=value: (fit.rows, fit.labels, {name: value})
        for name, value in {
            "n_neighbors": 4,
            "coverage": 0.9,
            "threshold": 0.3,
            "similarity": "euclidean",
            "graph": "nn-descent",
            "gain": "count",
            "on_orphan": "outlier",
            "random_state": 2,
            "shard_size": 19,
        }.items()
    },
}


@pytest.mark.parametrize("other", OTHERS)
def test_a_checkpoint_of_another_run_is_refused(finished, other):
    X, y, changes = OTHERS[other](finished)
    with pytest.raises(
        ValueError, match=r"^checkpoint must be of the same run, but .* was made with another"
    ) as caught:
        finished(X, y, **changes)
    assert str(finished.folder) in str(caught.value)
    assert str(caught.value).endswith("choose another folder, or remove that one.")


def test_a_checkpoint_of_another_function_is_refused(client, tmp_path):
    X = db.from_sequence(range(40), npartitions=2)
    covey.dask.CRS(3, similarity=measures.close, checkpoint=str(tmp_path), random_state=0).fit(X)
    with pytest.raises(ValueError, match="was made with another similarity"):
        covey.dask.CRS(3, similarity=measures.closer, checkpoint=str(tmp_path), random_state=0).fit(X)


def test_a_checkpoint_does_not_depend_on_the_parts(finished):
    before = finished()
    X = [dask.delayed(finished.rows[:13]), dask.delayed(finished.rows[13:])]
    again = covey.dask.CRS(3, random_state=1, shard_size=20, checkpoint=str(finished.folder)).fit(
        X, list(finished.labels)
    )
    assert again.n_restored_evaluations_ == again.n_evaluations_ > 0
    assert_same_state(again.to_local(), before.to_local())


def test_a_checkpoint_keeps_the_seed_of_a_run_without_one(client, tmp_path):
    X = np.random.default_rng(0).normal(size=(300, 6))
    arguments = {"graph": "nn-descent", "shard_size": 100, "checkpoint": tmp_path / "folder"}
    first = covey.dask.CRS(5, **arguments).fit(X)
    again = covey.dask.CRS(5, **arguments).fit(X)
    assert again.n_restored_evaluations_ == again.n_evaluations_
    assert_same_state(again.to_local(), first.to_local())


def test_each_task_has_a_file(finished):
    names = {path.name for path in finished.folder.iterdir()}
    assert names == {
        "covey-checkpoint.json",
        "pack-0.result",
        "shard-0-0.result",
        "shard-0-1.result",
        "merge-0-0-1.result",
    }


DAMAGE = {
    "empty": lambda content: b"",
    "cut": lambda content: content[: len(content) // 2],
    "its end is cut": lambda content: content[:-30],
    "a bit flipped": lambda content: content[:200] + bytes([content[200] ^ 4]) + content[201:],
    "text": lambda content: b"hello",
    "another array": lambda content: _npy(),
}


def _npy():
    import io

    buffer = io.BytesIO()
    np.save(buffer, np.arange(3))
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        *(("shard-0-1.result", damage) for damage in DAMAGE),
        *(
            (name, damage)
            for name in ("pack-0.result", "covey-checkpoint.json")
            for damage in ("empty", "its end is cut")
        ),
        ("covey-checkpoint.json", "a bit flipped"),
        ("merge-0-0-1.result", "a bit flipped"),
    ],
)
def test_a_damaged_file_is_named(finished, client, name, damage):
    path = finished.folder / name
    content = path.read_bytes()
    path.write_bytes(DAMAGE[damage](content))
    with pytest.raises(FileFormatError, match=rf"{name} is damaged"):
        finished()
    wait_for(lambda: is_idle(client))
    path.write_bytes(content)
    assert finished().n_restored_evaluations_ > 0


class Raises:
    """A similarity that fails for one pair."""

    def __init__(self, pair):
        self.pair = set(pair)

    def __call__(self, a, b):
        if {a, b} == self.pair:
            raise ArithmeticError("no answer for these two")
        time.sleep(0.0001)
        return measures.close(a, b)


@pytest.mark.parametrize(("pair", "shard_size"), [((3, 90), 30), ((90, 91), 30), ((0, 119), 30), ((10, 57), 1000)])
def test_a_function_that_raises_ends_the_run_and_names_the_rows(client, pair, shard_size):
    """The objects are not their rows: object 1000 - n lies at row n."""
    X = db.from_sequence([1000 - n for n in range(120)], npartitions=5)
    similarity = Raises(1000 - n for n in pair)
    selector = covey.dask.CRS(3, similarity=similarity, graph="exact", shard_size=shard_size)
    with pytest.raises(RuntimeError, match="no answer for these two") as caught:
        selector.fit(X)
    named = str(caught.value)
    assert all(any(str(row) == word.strip(".,:()[]") for word in named.split()) for row in pair), named
    assert "\n" not in named
    wait_for(lambda: is_idle(client), 10)
    assert not hasattr(selector, "prototypes_")
    expected = covey.CRS(3, similarity=measures.close, random_state=0).fit(range(50))
    found = covey.dask.CRS(3, similarity=measures.close, random_state=0).fit(db.from_sequence(range(50)))
    assert_same_state(found.to_local(), expected)


@pytest.mark.parametrize("shard_size", [10, 1000])
def test_a_fit_that_fails_leaves_the_data_of_the_user_alone(client, shard_size):
    """The client must stay connected, because the scheduler forgets all data of a client that it has lost."""
    kept = da.from_array(np.arange(120).reshape(40, 3), chunks=(10, 3)).persist()
    futures = client.map(_one_row, range(30))
    for X in (kept, futures):
        selector = covey.dask.CRS(3, similarity=_nothing_at_all, graph="exact", shard_size=shard_size)
        with pytest.raises(RuntimeError, match="never an answer"):
            selector.fit(X)
        wait_for(lambda: is_idle(client), 10)
    assert kept.sum().compute() == 119 * 60
    assert [int(future.result()[0, 0]) for future in futures] == list(range(30))


def _one_row(n):
    return np.full((1, 3), n)


def _nothing_at_all(a, b):
    raise ArithmeticError("never an answer")


def test_a_value_that_is_no_number_is_named_by_its_row(client):
    X = np.random.default_rng(0).normal(size=(90, 3))
    X[70, 1] = np.nan
    with pytest.raises(ValueError, match="In part 2 of X") as caught:
        covey.dask.CRS(3).fit(da.from_array(X, chunks=(30, 3)))
    assert "NaN" in str(caught.value)
    wait_for(lambda: is_idle(client), 10)


def test_an_answer_that_is_no_number_is_named(client):
    with pytest.raises((ValueError, RuntimeError, TypeError)) as caught:
        covey.dask.CRS(3, similarity=_nothing, graph="exact", shard_size=10).fit(db.from_sequence(range(30)))
    assert "similarity" in str(caught.value)
    wait_for(lambda: is_idle(client), 10)


def _nothing(a, b):
    return None if {a, b} == {4, 20} else 1.0


def test_a_fit_leaves_nothing_behind(client):
    """After the fit, the cluster holds what the prototypes need; when they are gone, it holds nothing."""
    X = da.from_array(np.random.default_rng(0).normal(size=(200, 3)), chunks=(50, 3))
    found = covey.dask.CRS(3, shard_size=60, random_state=0).fit(X)
    wait_for(lambda: is_idle(client), 10)  # nobody waits for the lists of members, which stay on the cluster
    del found
    wait_for(lambda: not client.run_on_scheduler(_n_tasks), 10)


def _n_tasks(dask_scheduler):
    return len(dask_scheduler.tasks)


def test_an_interrupted_fit_leaves_no_task_running(client, tmp_path, monkeypatch):
    gather = Engine.gather

    def interrupt(engine, what, futures):
        if what.startswith("neighbor graph"):
            wait_for(lambda: measures.calls(tmp_path))
            raise KeyboardInterrupt
        return gather(engine, what, futures)

    monkeypatch.setattr(Engine, "gather", interrupt)
    X = db.from_sequence(range(200), npartitions=2)
    with pytest.raises(KeyboardInterrupt):
        covey.dask.CRS(3, similarity=Written(tmp_path, seconds=0.0001), graph="exact", shard_size=40).fit(X)
    wait_for(lambda: is_idle(client), 10)


def test_a_checkpoint_in_the_memory_of_one_process_is_refused(client):
    with pytest.raises(ValueError, match=r"^checkpoint must be where all workers see it, got 'memory://run'"):
        covey.dask.CRS(2, checkpoint="memory://run").fit(da.from_array(Finished.rows, chunks=(20, 3)))


def test_a_failing_fit_leaves_what_the_user_has_persisted(client):
    X = da.from_array(Finished.rows, chunks=(20, 3)).persist()
    with pytest.raises(ValueError, match="refine"):
        covey.dask.CRS(2, refine=True, shard_size=20).fit(X)
    assert np.array_equal(X.compute(), Finished.rows)
