"""The runner on small problems: what it records, that it resumes, also after a kill, and the table it makes."""

import json
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import precision_score, recall_score

import covey
from covey.experiments import METHODS, PROBLEMS, Problem, Split, read_records, run, summarise
from covey.experiments._runner import FILE, QUICK_FILE

FEW = {name: METHODS[name] for name in ("random-5%", "CRS-k5", "full-100%")}


def iris(seed, data_home):
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(seed).permutation(150)
    kept, asked = order[:90], order[90:]
    return Split(X[kept], y[kept], X[asked], y[asked])


IRIS = {"iris": Problem(iris, {"CRS-k5": (0.9, 0.8, 7.0)})}


def test_records_are_what_the_classifier_does(tmp_path):
    records = run(tmp_path, IRIS, FEW, seeds=[0, 1])
    assert len(records) == 3 * 2 * 3
    split = iris(1, None)
    model = covey.NearestPrototypeClassifier(covey.CRS(5, random_state=1)).fit(split.X, split.y)
    guess = model.predict(split.queries)
    mine = [r for r in records if (r.method, r.seed) == ("CRS-k5", 1)]
    np.testing.assert_allclose([r.precision for r in mine], precision_score(split.truth, guess, average=None))
    np.testing.assert_allclose([r.recall for r in mine], recall_score(split.truth, guess, average=None))
    assert sum(r.selected for r in mine) == model.selector_.sample_indices_.size
    assert sum(sum(r.predicted.values()) for r in mine) == split.truth.size
    assert {r.homogeneity for r in records if r.method == "full-100%"} == {None}


def test_nothing_is_done_twice(tmp_path):
    calls = []

    def counted(similarity, seed, n_jobs):
        calls.append(seed)
        return METHODS["random-5%"](similarity, seed, n_jobs)

    first = run(tmp_path, IRIS, {"random": counted}, seeds=[0, 1])
    again = run(tmp_path, IRIS, {"random": counted}, seeds=[0, 1])
    assert (first, calls) == (again, [0, 1])
    more = run(tmp_path, IRIS, {"random": counted, **FEW}, seeds=[2])
    assert calls == [0, 1, 2]
    assert {r.seed for r in more} == {2}
    assert len(read_records(tmp_path)) == len(first) + len(more)


def test_a_line_cut_short_is_dropped(tmp_path):
    whole = run(tmp_path, IRIS, FEW)
    path = tmp_path / FILE
    text = path.read_text()
    for cut in (1, 40, len(text.splitlines()[-1]) - 1):
        path.write_text(text[: -1 - cut])
        resumed = run(tmp_path, IRIS, FEW)
        assert [(r.method, r.cluster, r.precision) for r in resumed] == [
            (r.method, r.cluster, r.precision) for r in whole
        ]


SLOW = """
import sys, time
from tests.test_experiments import FEW, IRIS
from covey.experiments import run

def slowly(make):
    def made(*args):
        time.sleep(0.3)
        return make(*args)
    return made

run(sys.argv[1], IRIS, {name: slowly(make) for name, make in FEW.items()}, seeds=range(5))
"""


def test_a_killed_run_is_resumed(tmp_path):
    process = subprocess.Popen([sys.executable, "-c", SLOW, str(tmp_path)])
    path = tmp_path / FILE
    for _ in range(600):
        time.sleep(0.05)
        if path.exists() and len(path.read_bytes().splitlines()) >= 3:
            break
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = len(path.read_text().splitlines())
    assert 3 <= before < 15
    records = run(tmp_path, IRIS, FEW, seeds=range(5))
    plain = run(tmp_path / "plain", IRIS, FEW, seeds=range(5))
    assert [(r.method, r.seed, r.selected, r.recall) for r in records] == [
        (r.method, r.seed, r.selected, r.recall) for r in plain
    ]


def test_the_table(tmp_path):
    rows = summarise(run(tmp_path, IRIS, FEW, seeds=[0, 1]), IRIS)
    assert [row.method for row in rows] == list(FEW)
    by_method = {row.method: row for row in rows}
    assert by_method["full-100%"].percentage == 100
    assert by_method["CRS-k5"].paper == (0.9, 0.8, 7.0)
    assert by_method["random-5%"].paper is None
    assert "0.900/0.800 (7.00 %)" in str(by_method["CRS-k5"])
    records = read_records(tmp_path)
    per_seed = [np.mean([r.recall for r in records if (r.method, r.seed) == ("CRS-k5", seed)]) for seed in (0, 1)]
    assert by_method["CRS-k5"].recall == pytest.approx(np.mean(per_seed))
    assert by_method["CRS-k5"].spread[1] == pytest.approx(np.std(per_seed))


def test_the_papers_rows_are_all_there():
    assert set(PROBLEMS["Fashion-MNIST"].paper) == set(METHODS)
    assert PROBLEMS["20 Newsgroups"].paper["CRS-k10"] == (0.538, 0.516, 7.14)
    assert not PROBLEMS["WhoTracks.me"].paper


def test_a_quick_run_on_synthetic_hosts(tmp_path):
    problems = {"Network (synthetic)": PROBLEMS["Network (synthetic)"]}
    records = run(tmp_path, problems, FEW, quick=True)
    assert {r.cluster for r in records} == set("ABCDEFGHIJKLMN")
    assert max(r.size for r in records) == 100
    rows = {row.method: row for row in summarise(records)}
    assert rows["CRS-k5"].precision > rows["random-5%"].precision
    assert json.loads((tmp_path / QUICK_FILE).read_text().splitlines()[0])[0]["problem"] == "Network (synthetic)"
    assert read_records(tmp_path) == []  # nothing of it counts as done in a full run


def test_splits_of_real_data(email, sites):
    for name, smallest in (("email-Eu-core", 10), ("WhoTracks.me", 10)):
        split = PROBLEMS[name].split(0)
        both = np.concatenate([split.y, split.truth])
        assert np.unique(both, return_counts=True)[1].min() >= smallest
        assert abs(split.y.size - split.truth.size) <= 1
        assert len(split.X) == split.y.size
    assert len(email.data) + len(sites.data) == 1005 + 1330
