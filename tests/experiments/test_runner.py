"""The runner on a small problem: what it records, and that it resumes, also after a kill."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import precision_score, recall_score

import covey
from covey import experiments
from covey.experiments.methods import crs, sharpened, sharpened_name
from covey.experiments.paper.report import METHODS
from covey.experiments.records import FILE, Trial, read_records
from covey.experiments.specs import Problem, SelectorFactory, Spec
from covey.experiments.tables import summarise
from tests.experiments.iris import FEW, IRIS, iris, run


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
        return METHODS["random-5%"].make(similarity, seed, n_jobs)

    methods = {"random": SelectorFactory(counted)}
    first = run(tmp_path, IRIS, methods, seeds=[0, 1])
    again = run(tmp_path, IRIS, methods, seeds=[0, 1])
    assert (first, calls) == (again, [0, 1])
    more = run(tmp_path, IRIS, methods | FEW, seeds=[2])
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


def without_k(path):
    """The file as it was written before records held k."""
    fits = [json.loads(line) for line in path.read_text().splitlines()]
    for record in (record for fit in fits for record in fit):
        for name in ("k", "curve", "shared_evaluations"):
            del record[name]
    path.write_text("".join(json.dumps(fit) + "\n" for fit in fits))


def test_records_hold_k(tmp_path):
    methods = FEW | {"any name": crs(4)}
    records = run(tmp_path, IRIS, methods)
    assert {r.method: r.k for r in records} == {"random-5%": None, "full-100%": None, "CRS-k5": 5, "any name": 4}
    assert {row.method: row.k for row in summarise(records, IRIS)}["any name"] == 4


def test_sharpened_crs_is_a_curve_of_its_own_and_all_its_evaluations_count(tmp_path):
    records = run(tmp_path, IRIS, {"plain": crs(5), "sharp": sharpened(5, max_rounds=1)})
    assert {(r.method, r.k, r.curve) for r in records} == {("plain", 5, "CRS"), ("sharp", 5, "sharpened CRS")}
    split = iris(0, None)
    selector = sharpened(5, max_rounds=1).make("cosine", 0, None).fit(split.X, split.y)
    mine = [r for r in records if r.method == "sharp"]
    assert sum(r.n_evaluations for r in mine) + mine[0].shared_evaluations == selector.n_evaluations_
    assert {r.shared_evaluations for r in records if r.method == "plain"} == {0}
    plain, sharp = summarise(records, IRIS)
    n_pairs = sum(size * (size - 1) / 2 for size in np.bincount(split.y))
    assert sharp.scan_rate == pytest.approx(selector.n_evaluations_ / n_pairs)
    assert sharp.percentage == plain.percentage
    assert sharpened_name(5) == "sharpened-k5"


def test_records_without_k_are_read_and_resumed(tmp_path):
    methods = FEW | {"any name": crs(4)}
    records = run(tmp_path, IRIS, methods)
    without_k(tmp_path / FILE)
    old = (tmp_path / FILE).read_bytes()
    assert {r.k for r in read_records(tmp_path)} == {None}
    assert run(tmp_path, IRIS, methods) == records  # k is that of the method, by its name
    assert (tmp_path / FILE).read_bytes() == old  # nothing was fitted again


WAITING = """
import sys, time
from tests.experiments.iris import FEW, IRIS, run
from covey.experiments.specs import SelectorFactory

n_fits = 0

def counted(method):
    def made(*args):
        global n_fits
        n_fits += 1
        if n_fits > 3:
            print("waits", flush=True)
            time.sleep(3600)
        return method.make(*args)
    return SelectorFactory(made)

run(sys.argv[1], IRIS, {name: counted(method) for name, method in FEW.items()}, seeds=range(5))
"""


def test_a_killed_run_is_resumed(tmp_path):
    command = [sys.executable, "-c", WAITING, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "waits\n"
        process.kill()
    assert len((tmp_path / FILE).read_text().splitlines()) == 3
    records = run(tmp_path, IRIS, FEW, seeds=range(5))
    plain = run(tmp_path / "plain", IRIS, FEW, seeds=range(5))
    assert [(r.method, r.seed, r.selected, r.recall) for r in records] == [
        (r.method, r.seed, r.selected, r.recall) for r in plain
    ]


def test_representatives_are_listed_with_what_they_stand_for(tmp_path):
    records = run(tmp_path, IRIS, FEW)
    split = iris(0, None)
    model = covey.NearestPrototypeClassifier(covey.CRS(5, random_state=0)).fit(split.X, split.y)
    for label, found in model.selector_.prototypes_.items():
        (mine,) = [r for r in records if (r.method, r.cluster) == ("CRS-k5", str(label))]
        assert {row for row, _ in mine.representatives} <= set(found.indices.tolist())
        assert sum(count for _, count in mine.representatives) == round(found.coverage * found.members.size)
        counts = [count for _, count in mine.representatives]
        assert counts == sorted(counts, reverse=True)


def test_what_is_not_drawn_is_run_once():
    fixed = Problem(iris, drawn=False)
    spec = Spec("", "", lambda results: (), ("iris", "absent"), ("DS3", "random-5%"))
    fits = list(spec.trials({"iris": fixed}, METHODS, 3))
    assert fits == [Trial("iris", "DS3", 0), *(Trial("iris", "random-5%", seed) for seed in range(3))]
    assert len(list(spec.trials({"iris": Problem(iris)}, METHODS, 3))) == 6


def test_the_generic_parts_know_nothing_of_the_paper():
    folder = Path(experiments.__file__).parent
    for path in folder.glob("*.py"):
        assert "experiments.paper" not in path.read_text(encoding="utf-8"), path
