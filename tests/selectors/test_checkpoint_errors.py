"""What was evaluated before an error, or before Ctrl-C, is in the checkpoint, and the counts of a run add up."""

import os
import warnings
from pathlib import Path

import numba
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import covey
from covey.exceptions import FailedPairsWarning
from covey.similarity.calls import pool
from covey.similarity.calls.timeouts import CALLS_AHEAD
from covey.similarity.checkpoint import PAIR, PAIRS
from covey.similarity.pair_cache import EVALUATED_AGAIN
from covey.storage.journal import Journal
from tests.forms import space_of

N = 70
X = list(range(N))
Y = [number % 2 for number in X]


class Recorded:
    """A similarity that writes into a file which pairs it has evaluated, whatever process calls it.

    At one of the calls, which are counted in each process, it fails in one of several ways. If it raises an error or
    returns a text, it does so from then on, because it is asked again to find out which of the two it is.
    """

    trusted = True  # without a spot check, no pair is asked twice in a run
    fingerprint = "the same, however it fails"

    def __init__(self, path, fails_at=None, how="raises"):
        self.path, self.fails_at, self.how, self.n = Path(path), fails_at, how, 0
        self.lasts = how in ("raises", "returns text")

    def __call__(self, a, b):
        self.n += 1
        if self.fails_at is not None and (self.n == self.fails_at or (self.n > self.fails_at and self.lasts)):
            if self.how == "is interrupted":
                raise KeyboardInterrupt
            if self.how == "raises":
                raise OSError("the service is down")
            return {"returns NaN": np.nan, "returns text": "much"}[self.how]
        with self.path.open("ab", buffering=0) as file:
            file.write(b"%d %d\n" % (a, b))
        return 1 / (1 + abs(a - b))

    def evaluated(self):
        """The pairs, in the order in which they were evaluated, of all processes since it was asked last."""
        if not self.path.exists():
            return []
        pairs = [tuple(sorted(map(int, line.split()))) for line in self.path.read_text().splitlines()]
        self.path.unlink()
        return pairs


class RecordedBatches(Recorded):
    batched, batch_size = True, 8

    def __call__(self, A, B):
        return [super(RecordedBatches, self).__call__(a, b) for a, b in zip(A, B, strict=True)]


def stored_pairs(path):
    """The ordered pairs of numbers that a file holds."""
    if not path.exists():
        return []
    with Journal(path) as journal:
        blocks = [np.frombuffer(content, PAIR) for kind, content in journal.blocks() if kind == PAIRS]
    return [pair for block in blocks for pair in block[["first", "second"]].tolist()]


def kept_pairs(path):
    """The pairs of objects that a file holds. An object of X has its own number there."""
    return [tuple(sorted(pair)) for pair in stored_pairs(path)]


SELECTORS = {
    "exact": covey.CRS(4, graph="exact"),
    "nn-descent": covey.CRS(4, graph="nn-descent", random_state=0),
    "delta medoids": covey.DeltaMedoids(random_state=0),
    "sharpened": covey.Sharpened(covey.CRS(4, graph="nn-descent"), n_neighbors=5, random_state=0),
}


def run(name, similarity, checkpoint, **options):
    """Fit a selector, or make a graph, and return the number of evaluations and the report."""
    if name == "graph":
        graph = covey.neighbor_graph(
            X, 4, similarity, method="nn-descent", random_state=0, checkpoint=checkpoint, **options
        )
        return graph.n_evaluations, graph.checkpoint
    selector = clone(SELECTORS[name]).set_params(checkpoint=checkpoint, **options)
    key = "selector__similarity" if name == "sharpened" else "similarity"
    fitted = selector.set_params(**{key: similarity}).fit(X, Y)
    return fitted.n_evaluations_, fitted.checkpoint_


def assert_kept(name, failing, similarity, checkpoint, lost=0, **options):
    """Let a run fail, and check that what it has evaluated is kept, and that the next run does not ask for it.

    The options are of the run that fails. Up to `lost` pairs may have been evaluated in vain.
    """
    with pytest.raises((RuntimeError, TypeError, ValueError, KeyboardInterrupt)) as raised:
        run(name, failing, checkpoint, **options)
    before = similarity.evaluated()
    kept = kept_pairs(checkpoint)
    assert len(set(kept)) == len(kept)
    assert len(set(before) - set(kept)) <= lost
    if not lost:
        assert set(kept) <= set(before)
    similarity.fails_at = None
    n_evaluations, report = run(name, failing, checkpoint)
    after = similarity.evaluated()
    assert len(after) == report.n_new + report.n_repeated + report.n_asked_again
    assert len(set(after) & set(kept)) <= EVALUATED_AGAIN
    assert_adds_up(n_evaluations, report, len(kept), checkpoint)
    return raised.value


def assert_adds_up(n_evaluations, report, n_before, path):
    assert n_evaluations == report.n_saved + report.n_new + report.n_repeated
    assert report.n_kept == n_before + report.n_new
    assert report.n_asked_again == min(EVALUATED_AGAIN, n_before)


MOMENTS = [int(moment) for moment in np.random.default_rng(0).integers(2, 500, 3)]
WAYS = ["raises", "returns NaN", "returns text", "is interrupted"]


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize("name", [*SELECTORS, "graph"])
def test_every_pair_evaluated_before_an_error_is_kept(name, how, tmp_path):
    for number, moment in enumerate(MOMENTS):
        similarity = Recorded(tmp_path / "pairs", moment, how)
        assert_kept(name, similarity, similarity, tmp_path / f"kept {number}")


@pytest.mark.parametrize("how", ["raises", "returns NaN", "is interrupted"])
@pytest.mark.parametrize("name", ["nn-descent", "graph"])
def test_every_batch_evaluated_before_an_error_is_kept(name, how, tmp_path):
    for number, moment in enumerate(MOMENTS):
        similarity = RecordedBatches(tmp_path / "pairs", moment, how)
        # The batch in which the function has raised an error has no values.
        lost = 0 if how == "returns NaN" else similarity.batch_size - 1
        assert_kept(name, covey.batched(similarity, batch_size=8), similarity, tmp_path / f"kept {number}", lost)


@pytest.fixture
def eager(monkeypatch):
    """Share out however little work there is, in small batches."""
    monkeypatch.setattr(pool, "WORTH_IT", 0.0)
    monkeypatch.setattr(pool, "BATCH_SECONDS", 1e-3)
    monkeypatch.setattr(pool, "TIMED", 5)


@pytest.mark.parametrize("how", ["raises", "returns NaN"])
def test_what_all_processes_have_evaluated_before_an_error_is_kept(how, eager, tmp_path):
    similarity = Recorded(tmp_path / "pairs", 60, how)
    error = assert_kept("exact", similarity, similarity, tmp_path / "kept", n_jobs=2)
    assert "object" in str(error)


def test_what_processes_with_a_timeout_have_answered_before_an_error_is_kept(tmp_path):
    similarity = Recorded(tmp_path / "pairs", 60)
    # A process goes on with the calls that it was sent until it is ended.
    assert_kept("nn-descent", similarity, similarity, tmp_path / "kept", lost=CALLS_AHEAD, timeout=60)


@numba.njit
def raises_at_600(x, y):
    if y[0] == 600:
        raise ValueError("no")
    return 1 / (1 + abs(x[0] - y[0]))


@numba.njit
def nan_at_600(x, y):
    return np.nan if y[0] == 600 else 1 / (1 + abs(x[0] - y[0]))


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("failing", [raises_at_600, nan_at_600])
def test_a_compiled_function_hands_on_what_it_has_evaluated_before_an_error(failing, n_jobs):
    space = space_of(np.arange(1000.0)[:, None], failing, n_jobs)
    i, j = np.zeros(999, dtype=np.int32), np.arange(1, 1000, dtype=np.int32)
    found = []
    with pytest.raises((RuntimeError, ValueError), match="object 0 and object 600"):
        found.extend((j[where], values) for where, values in space.parts(i, j))
    columns, values = map(np.concatenate, zip(*found, strict=True))
    np.testing.assert_array_equal(values, 1 / (1 + columns))
    assert set(range(1, 600)) <= set(columns.tolist())


class Interrupted:
    """A similarity that Ctrl-C stops in the middle, as the system does it: by a signal."""

    trusted, fingerprint = True, "one"

    def __init__(self, at=None):
        self.at, self.n = at, 0

    def __call__(self, a, b):
        self.n += 1
        if self.n == self.at:
            os.kill(os.getpid(), 2)
        return 1 / (1 + abs(a - b))


def test_ctrl_c_loses_nothing_that_was_evaluated(tmp_path):
    for at in (1, 40, 700):
        similarity = Interrupted(at)
        with pytest.raises(KeyboardInterrupt):
            run("exact", similarity, tmp_path / str(at))
        assert len(kept_pairs(tmp_path / str(at))) >= similarity.n - 1
        again = Interrupted()
        run("exact", again, tmp_path / str(at))
        assert again.n <= 2 * (N // 2) * (N // 2 - 1) // 2 - (at - 1) + EVALUATED_AGAIN


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    # Equal objects of several clusters are one object in the file. Objects from 46 on make a spot check.
    objects=st.lists(st.integers(0, 200), min_size=4, max_size=110),
    names=st.lists(st.sampled_from([*SELECTORS]), min_size=1, max_size=4),
    moments=st.lists(st.none() | st.integers(1, 400), min_size=4, max_size=4),
    on_error=st.sampled_from(["raise", "lowest"]),
)
def test_the_counts_of_every_run_add_up(objects, names, moments, on_error, tmp_path_factory):
    path = tmp_path_factory.mktemp("counts") / "kept"
    for name, moment in zip(names, moments, strict=False):
        n_asked, n_before = [0], len(set(stored_pairs(path)))

        def similarity(a, b, n_asked=n_asked, moment=moment):
            n_asked[0] += 1
            if n_asked[0] == moment:
                raise OSError("the service is down")
            return 1 / (1 + abs(a - b))

        similarity.fingerprint = "one"
        selector = clone(SELECTORS[name]).set_params(checkpoint=path, on_error=on_error)
        selector.set_params(**{"selector__similarity" if name == "sharpened" else "similarity": similarity})
        y = [position % 2 for position in range(len(objects))]
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FailedPairsWarning)
                fitted = selector.fit(objects, y)
        except RuntimeError:
            continue
        report = fitted.checkpoint_
        assert fitted.n_evaluations_ == report.n_saved + report.n_new + report.n_repeated
        assert n_asked[0] == report.n_new + report.n_repeated + report.n_asked_again
        assert report.n_kept == n_before + report.n_new == len(set(stored_pairs(path)))


def test_a_kept_pair_that_fails_now_does_not_make_another_similarity(tmp_path):
    def similarity(a, b):
        n_asked[0] += 1
        if n_asked[0] == moment:
            raise OSError("the service is down")
        return 1 / (1 + abs(a - b))

    similarity.fingerprint, similarity.trusted = "one", True
    n_asked, moment = [0], None
    run("exact", similarity, tmp_path / "kept")
    n_asked, moment = [0], 2  # the second of the five pairs that are asked again
    with pytest.warns(FailedPairsWarning, match="failed for 1 pair"):
        n_evaluations, report = run("exact", similarity, tmp_path / "kept", on_error="lowest")
    assert (report.n_saved, report.n_new, report.n_asked_again) == (n_evaluations, 0, EVALUATED_AGAIN)
