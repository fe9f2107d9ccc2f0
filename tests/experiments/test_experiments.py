"""The runner on small problems: what it records, that it resumes, also after a kill, and the tables made of it."""

import csv
import json
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import wilcoxon
from sklearn.datasets import load_iris
from sklearn.metrics import confusion_matrix, precision_score, recall_score

import covey
from covey.experiments import (
    METHODS,
    PAPER,
    PAPER_METHODS,
    PROBLEMS,
    Fit,
    Method,
    Problem,
    Spec,
    Split,
    figures,
    read_records,
    specs,
    summarise,
)
from covey.experiments import run as run_fits
from covey.experiments.methods import crs
from covey.experiments.paper import tables
from covey.experiments.paper.names import SAME_SIZE, by_descent
from covey.experiments.records import FILE, QUICK_FILE
from tests.browser import assert_renders

FEW = {name: METHODS[name] for name in ("random-5%", "full-100%", "CRS-k5")}


def run(folder, problems, methods, seeds=(0,), **options):
    """Every method on every problem."""
    fits = [Fit(problem, method, seed) for problem in problems for method in methods for seed in seeds]
    return run_fits(folder, fits, problems=problems, methods=methods, **options)


def iris(seed, data_home):
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(seed).permutation(150)
    kept, asked = order[:90], order[90:]
    return Split(X[kept], y[kept], X[asked], y[asked])


IRIS = {"iris": Problem(iris, paper={"CRS-k5": (0.9, 0.8, 7.0)})}


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

    methods = {"random": Method(counted)}
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
        del record["k"]
    path.write_text("".join(json.dumps(fit) + "\n" for fit in fits))


def test_records_hold_k(tmp_path):
    methods = FEW | {"any name": crs(4)}
    records = run(tmp_path, IRIS, methods)
    assert {r.method: r.k for r in records} == {"random-5%": None, "full-100%": None, "CRS-k5": 5, "any name": 4}
    assert {row.method: row.k for row in summarise(records, IRIS)}["any name"] == 4


def test_records_without_k_are_read_and_resumed(tmp_path):
    methods = FEW | {"any name": crs(4)}
    records = run(tmp_path, IRIS, methods)
    without_k(tmp_path / FILE)
    old = (tmp_path / FILE).read_bytes()
    assert {r.k for r in read_records(tmp_path)} == {None}
    assert run(tmp_path, IRIS, methods) == records  # k is that of the method, by its name
    assert (tmp_path / FILE).read_bytes() == old  # nothing was fitted again


def drawn(show, records, problems):
    (picture,) = show(specs.Results(records, problems, lambda name: problems[name].split(0)))
    return picture.figure


def test_the_trade_off_is_a_curve_along_k_whatever_methods_are_called(tmp_path):
    methods = {"few": crs(8), "CRS-k in name only": METHODS["random-5%"], "many": crs(3)}
    axes, *_ = drawn(figures.trade_off, run(tmp_path, IRIS, methods), IRIS).axes
    assert [text.get_text() for text in axes.texts] == ["8", "3"]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["CRS, k as written", "CRS-k in name only"]


def test_every_bar_chart_has_a_bar_for_each_method_and_cluster(tmp_path):
    records = run(tmp_path, IRIS, FEW, seeds=[0, 1])
    figure = drawn(figures.bar_charts, records, IRIS)
    for axes, score in zip(figure.axes, ("precision", "recall"), strict=False):
        for bars, method in zip(axes.containers, FEW, strict=True):
            means = [
                np.mean([getattr(r, score) for r in records if (r.method, r.cluster) == (method, cluster)])
                for cluster in "012"
            ]
            np.testing.assert_allclose([bar.get_height() for bar in bars], means)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == list(FEW)


def test_the_impact_of_k_is_drawn_against_the_ks_of_the_records(tmp_path, monkeypatch):
    from covey.experiments.paper import figures as paper_figures

    monkeypatch.setattr(paper_figures, "FIGURE_CLUSTERS", {"iris": ("0", "2")})
    methods = {by_descent(k): METHODS[by_descent(k)] for k in (5, 2, 10)}
    figure = drawn(paper_figures.impact_of_k, run(tmp_path, IRIS, methods), IRIS)
    for axes in figure.axes[:2]:
        assert [line.get_xdata().tolist() for line in axes.lines] == [[2, 5, 10]] * 3


SLOW = """
import sys, time
from tests.experiments.test_experiments import FEW, IRIS, run
from covey.experiments import Method

def slowly(method):
    def made(*args):
        time.sleep(0.3)
        return method.make(*args)
    return Method(made)

run(sys.argv[1], IRIS, {name: slowly(method) for name, method in FEW.items()}, seeds=range(5))
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
    records = read_records(tmp_path)
    per_seed = [np.mean([r.recall for r in records if (r.method, r.seed) == ("CRS-k5", seed)]) for seed in (0, 1)]
    assert by_method["CRS-k5"].recall == pytest.approx(np.mean(per_seed))
    assert by_method["CRS-k5"].spread[1] == pytest.approx(np.std(per_seed))


def test_the_papers_rows_are_all_there():
    assert set(PROBLEMS["Fashion-MNIST"].paper) == set(PAPER_METHODS) <= set(METHODS)
    assert PROBLEMS["20 Newsgroups"].paper["CRS-k10"] == (0.538, 0.516, 7.14)
    assert not PROBLEMS["WhoTracks.me"].paper


def test_a_quick_run_on_synthetic_hosts(tmp_path):
    problems = {"Network (synthetic)": PROBLEMS["Network (synthetic)"]}
    records = run(tmp_path, problems, FEW, quick=True)
    assert {r.cluster for r in records} == set("ABCDEFGHIJKLMN")
    assert max(r.size for r in records) == 100
    rows = {row.method: row for row in summarise(records, problems)}
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
    fits = list(spec.fits({"iris": fixed}, METHODS, 3))
    assert fits == [Fit("iris", "DS3", 0), *(Fit("iris", "random-5%", seed) for seed in range(3))]
    assert len(list(spec.fits({"iris": Problem(iris)}, METHODS, 3))) == 6


def test_random_of_the_same_size():
    split = iris(0, None)
    ours, random = (METHODS[name].make("cosine", 3, None).fit(split.X, split.y) for name in ("CRS-k10", SAME_SIZE))
    for label, found in ours.prototypes_.items():
        drawn = random.prototypes_[label]
        assert drawn.indices.size == found.indices.size
        assert np.isin(drawn.indices, found.members).all()
    assert not np.array_equal(np.sort(ours.sample_indices_), np.sort(random.sample_indices_))


def rows_of(show, records, problems):
    from covey.experiments import Results

    (table,) = show(Results(records, problems, lambda name: problems[name].split(0)))
    return table.rows


def test_only_smaller_selections_at_least_as_good_dominate(tmp_path):
    methods = {name: METHODS[name] for name in ("CRS-k3", "CRS-k5", "CRS-k15")}
    records = run(tmp_path, IRIS, methods)
    measured = {row.method: row for row in summarise(records, IRIS)}
    k15 = measured["CRS-k15"]
    exactly = (k15.precision, k15.recall, k15.percentage + 0.01)
    problem = Problem(iris, paper={"CRS-k10": exactly, "CRS-k5": (1.1, 0, 100), "CRS-k15": (*exactly[:2], 0.0)})
    rows = rows_of(tables.domination_table, records, {"iris": problem})
    assert [row[4] for row in rows] == ["CRS-k15", "none", "none"]


def test_against_random_pairs_by_seed(tmp_path):
    methods = {name: METHODS[name] for name in ("CRS-k10", SAME_SIZE)}
    records = run(tmp_path, IRIS, methods, seeds=range(6))
    ((name, seeds, *means, p_precision, p_recall, _),) = rows_of(tables.against_random_table, records, IRIS)
    assert (name, seeds) == ("iris", 6)
    for at, (score, p_value) in enumerate({"precision": p_precision, "recall": p_recall}.items()):
        ours, random = (
            [np.mean([getattr(r, score) for r in records if (r.method, r.seed) == (method, seed)]) for seed in range(6)]
            for method in methods
        )
        assert (means[at], means[2 + at]) == pytest.approx((np.mean(ours), np.mean(random)))
        assert p_value == pytest.approx(wilcoxon(ours, random, alternative="greater").pvalue)
    same = [r if r.method == "CRS-k10" else None for r in records]
    twice = [r for r in same if r] + [replace(r, method=SAME_SIZE) for r in same if r]
    assert rows_of(tables.against_random_table, twice, IRIS)[0][-3:] == (1.0, 1.0, 1.0)  # no difference, no proof


def test_confusion_counts_every_query(tmp_path):
    records = [r for r in run(tmp_path, IRIS, FEW) if r.method == "CRS-k5"]
    split = iris(0, None)
    model = covey.NearestPrototypeClassifier(covey.CRS(5, random_state=0)).fit(split.X, split.y)
    expected = confusion_matrix(split.truth, model.predict(split.queries))
    np.testing.assert_array_equal(figures.confusion(records, ["0", "1", "2"]), expected)


def test_methods_are_compared_over_clusters(tmp_path):
    records = run(tmp_path, IRIS, FEW, seeds=[0, 1])
    found = figures.comparison_over_clusters(records, "iris", "recall")
    assert set(found.names) == set(FEW)
    assert found.n_blocks == 3
    assert figures.comparison_over_clusters(records, "elsewhere", "recall") is None


def test_every_spec_of_the_paper_names_what_there_is():
    for spec in PAPER:
        assert set(spec.problems) <= set(PROBLEMS)
        assert set(spec.methods) <= set(METHODS)
        assert spec.title
        assert spec.note
    assert len({spec.title for spec in PAPER}) == len(PAPER)


def hosts_only(monkeypatch):
    """As if no real data were on the machine."""
    from covey.datasets import MissingDataError
    from covey.experiments.paper import reproduce as module

    def gone(seed, data_home):
        raise MissingDataError("it is not on this machine")

    real = ("Fashion-MNIST", "20 Newsgroups", "email-Eu-core", "WhoTracks.me")
    problems = PROBLEMS | {name: replace(PROBLEMS[name], load=gone) for name in real}
    monkeypatch.setattr(module, "PROBLEMS", problems)


def test_the_whole_report_without_real_data(tmp_path, monkeypatch, caplog):
    """The page says what is left out; tables and figures of the rest are there, as files too."""
    from covey.experiments import reproduce

    hosts_only(monkeypatch)
    monkeypatch.setattr(specs, "QUICK_SEEDS", 2)
    page = reproduce(tmp_path, quick=True, seeds=1)
    text = page.read_text()
    assert text.count("Left out: it is not on this machine") == 4
    assert caplog.text.count("left out") == 4
    for spec in PAPER:
        assert spec.title.replace("'", "&#39;") in text
    for stem in (
        "impact-of-k",
        "bars-network-synthetic",
        "confusion-network-synthetic",
        "points-blobs",
        "points-spirals",
    ):
        assert (tmp_path / f"{stem}.png").read_bytes().startswith(b"\x89PNG")
        assert "<svg" in (tmp_path / f"{stem}.svg").read_text()
    with (tmp_path / "generator.csv").open() as file:
        generated = list(csv.reader(file))
    assert len(generated) == 15
    assert all(abs(float(row[3]) - float(value)) <= 0.02 for row in generated[1:] for value in row[4:])
    assert "stands for" in text
    with (tmp_path / "records.csv").open() as file:
        assert len(list(csv.DictReader(file))) == len(read_records(tmp_path, quick=True))
    before = page.read_bytes()
    assert reproduce(tmp_path, quick=True, seeds=1).read_bytes() == before  # from the records alone, to the byte
    records = tmp_path / QUICK_FILE
    records.write_text(records.read_text().replace('"Blobs"', '"Fashion-MNIST"'))
    with pytest.raises(ValueError, match="has results of Fashion-MNIST, whose data are not there now"):
        reproduce(tmp_path, quick=True, seeds=1)  # it must not replace them by less
    assert_renders(page, phone=True)


def test_newsgroups_as_good_as_the_paper_with_fewer_objects(newsgroups, tmp_path):
    """The paper: 7.14 % with .538 / .516."""
    fits = [Fit("20 Newsgroups", "CRS-k10", 0)]
    (row,) = summarise(run_fits(tmp_path, fits, problems=PROBLEMS, methods=METHODS), PROBLEMS)
    assert 5 < row.percentage < 6
    assert row.precision >= 0.54
    assert row.recall >= 0.52


def test_posts_and_profiles_to_look_at():
    post = "From: me\nSubject: Re: cars\n\nIn article <1> you writes:\n> old\nI like this one.\n\nIt is red.\n"
    card = PROBLEMS["20 Newsgroups"].card(post)
    assert (card.title, card.lines) == ("Re: cars", ("I like this one.", "It is red."))
    card = PROBLEMS["WhoTracks.me"].card({"a": 0.1, "b": 0.5, "c": 0.1})
    assert (card.title, card.lines) == ("3 contacted", ("b: 0.5", "a: 0.1", "c: 0.1"))


def test_email_leaves_out_who_mails_nobody(email):
    split = PROBLEMS["email-Eu-core"].split(0)
    assert all(split.X) and all(split.queries)  # noqa: PT018
    assert min(len(profile) for profile in email.data) == 0


def test_scan_rate_of_asymmetric_similarities(tmp_path):
    """All pairs in both directions are a scan rate of 1, not of 2."""
    similarity = covey.Similarity(lambda a, b: float(a[0] / (a[0] + b[1])), symmetric=False)
    problems = {"iris": Problem(iris, similarity=similarity)}
    exact = {"CRS, exact": Method(lambda s, seed, n_jobs: covey.CRS(3, similarity=s, graph="exact"))}
    (row,) = summarise(run(tmp_path, problems, exact), problems)
    assert row.scan_rate == pytest.approx(1)
