"""What a fit tells about itself: to scikit-learn's callbacks, and to a bar."""

import subprocess
import sys
import time

import numpy as np
import pytest

import covey
from covey.runtime.progress import TerminalBar, _short, progress
from covey.selectors.base import Cluster, _done_and_total
from covey.similarity.kinds import collect
from covey.similarity.measures import resolve
from covey.similarity.similarity import Similarity
from tests.forms import space_of

sklearn_callback = pytest.importorskip("sklearn.callback", reason="scikit-learn has callbacks from 1.9 on")


class Told:
    """A callback that remembers."""

    max_propagation_depth = None

    def __init__(self):
        self.events = []

    def setup(self, estimator, context):
        self.events.append(("setup", context.task_name))

    def on_fit_task_begin(self, estimator, context):
        self.events.append(("begin", context.task_name))

    def on_fit_task_end(self, estimator, context):
        self.events.append(("end", context.task_name))

    def teardown(self, estimator, context):
        self.events.append(("teardown", context.task_name))


X, Y = np.eye(6) + 0.1, [0, 0, 0, 1, 1, 1]


def test_callbacks_hear_of_every_cluster():
    told = Told()
    selector = covey.CRS(2)
    selector.set_callbacks(told)
    selector.fit(X, Y)
    assert told.events == [
        ("setup", "fit"),
        ("begin", "fit"),
        ("begin", "cluster 0"),
        ("end", "cluster 0"),
        ("begin", "cluster 1"),
        ("end", "cluster 1"),
        ("end", "fit"),
        ("teardown", "fit"),
    ]


def test_callbacks_of_a_classifier_reach_its_selector():
    told = Told()
    model = covey.NearestPrototypeClassifier(covey.CRS(2))
    model.set_callbacks(told)
    model.fit(X, Y)
    names = [name for event, name in told.events if event == "begin"]
    assert names == ["fit", "selector", "fit", "cluster 0", "cluster 1"] or names == [
        "fit",
        "fit",
        "cluster 0",
        "cluster 1",
    ]
    assert not hasattr(model.selector_, "_skl_callbacks")


def test_callbacks_are_taken_down_after_an_error():
    told = Told()
    selector = covey.CRS(2, similarity=lambda a, b: np.nan)
    selector.set_callbacks(told)
    with pytest.raises(ValueError, match="finite"):
        selector.fit(X, Y)
    assert told.events[-1] == ("teardown", "fit")


def test_scikit_learns_own_bar(capsys):
    selector = covey.CRS(2)
    selector.set_callbacks(sklearn_callback.ProgressBar())
    selector.fit(X, Y)
    assert "CRS - fit" in capsys.readouterr().out


def test_without_callbacks_in_scikit_learn():
    code = (
        "import sys; sys.modules['sklearn.callback'] = None; import covey; X = [[1, 0], [1, 0.1], [0, 1], [0.1, 1]]; "
        "print(covey.NearestPrototypeClassifier(covey.CRS(1)).fit(X, [0, 0, 1, 1]).predict(X))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "[0 0 1 1]\n"


def test_evaluations_under_way_are_seen():
    """A bar must move within a call that takes long. Steps begin with one pair and grow to a tenth of a second."""
    seen = []

    def peeking(a, b):
        seen.append(space.n_done())
        return 1.0

    objects = list(range(40))
    space = space_of(objects, resolve(peeking), n_jobs=1)
    i, j = np.triu_indices(40, 1)
    space.score(i.astype(np.int32), j.astype(np.int32))
    assert seen == sorted(seen)
    assert {0, 1, 3, 7, 15} <= set(seen)
    assert space.n_done() == space.n_evaluations == i.size


def test_batches_under_way_are_seen():
    seen = []

    def peeking(a, b):
        seen.append(space.n_done())
        return np.ones(len(a))

    similarity = covey.batched(peeking, batch_size=100)
    space = space_of(list(range(40)), similarity, n_jobs=1)
    i, j = np.triu_indices(40, 1)
    space.score(i.astype(np.int32), j.astype(np.int32))
    assert seen == sorted(seen)
    assert {0, 100, 300} <= set(seen)


def cluster_of(n, label=0):
    return Cluster(label, np.arange(n), collect(list(range(n)), Similarity(lambda a, b: 1.0)))


def test_the_number_of_all_pairs_is_shown_from_the_start():
    cluster = cluster_of(100)
    assert _done_and_total([], cluster, 200) == (0, None)  # nobody has asked for the space yet
    space = cluster.space
    space.expect(space.n_pairs)
    done, total = _done_and_total([], cluster, 200)
    assert done == 0
    assert total == pytest.approx(2 * space.n_pairs)  # as if the other hundred were a cluster like this one


def test_the_evaluations_of_nn_descent_are_foreseen_from_the_clusters_before():
    fitted = covey.CRS(5, graph="nn-descent", similarity=lambda a, b: 1 / (1 + abs(a - b)), random_state=0)
    found = fitted.fit(list(range(300))).prototypes_[0]
    cluster = cluster_of(100, 1)
    assert cluster.space.n_expected is None
    done, total = _done_and_total([found], cluster, 600)
    assert done == found.n_evaluations
    assert total == pytest.approx(2 * found.n_evaluations)


def test_no_bar_in_a_pipe(capsys):
    with progress("work", 10, "things") as bar:
        bar.advance(3)
        bar.note("now")
        bar.watch(lambda: (1, 2))
    assert not bar.shown
    assert capsys.readouterr().err == ""


def test_what_a_bar_says(monkeypatch):
    bar = TerminalBar("work", 300, "things")
    bar.advance(75)
    monkeypatch.setattr(bar, "_start", time.monotonic() - 30)
    state = bar._state()
    assert (state["completed"], state["total"]) == (75, 300)
    assert state["times"] == "2.5/s 0:00:30 left 0:01:30"
    bar.watch(lambda: (2_000_000.0, None))
    assert bar._state()["times"] == "66.7 k/s 0:00:30"
    assert bar._state()["done"] == "2 M"
    uncounted = TerminalBar("drawing", None, None)
    monkeypatch.setattr(uncounted, "_start", time.monotonic() - 30)
    assert uncounted._state()["times"] == "0:00:30"
    assert [_short(number) for number in (0, 0.71, 9.4, 12, 9_431, 12_345, 3.25e6, 7e9)] == [
        "0", "0.71", "9.4", "12", "9,431", "12.3 k", "3.25 M", "7 G",
    ]  # fmt: skip


def test_a_bar_whose_numbers_fail_does_not_stop_the_work():
    bar = TerminalBar("work", None, "things")
    bar.watch(lambda: 1 / 0)
    assert len(list(bar._bar.get_renderables())) == 1
