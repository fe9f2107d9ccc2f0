"""`covey compare` finds the similarity, keeps the time, leaves out small clusters, and writes its results whole."""

import json
import os
import re
import shlex
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_wine

from covey.cli.compare import run as contest
from covey.cli.compare.advice import recommend
from covey.cli.compare.methods import CHOICES, CURVES, _spread_out, choose_methods, expected_pairs
from covey.cli.compare.options import CompareOptions, time_limit_in
from covey.cli.compare.run import in_time, large_enough
from covey.cli.compare.similarities import SAMPLED, WAYS, Way, sample, ways_for
from covey.cli.objects.load import load
from covey.cli.options import Source
from covey.experiments.runner import Completion
from tests.browser import assert_renders
from tests.cli.commands import conn_log, iris, one_line, texts
from tests.cli.compare.test_compare import candidates, fit

FEW = ("--methods", "crs,all", "-k", "5,10", "--html", "r.html")


def wine():
    data = load_wine(as_frame=True)
    return data.data.assign(kind=data.target_names[data.target])


def ways(path, **options):
    return [str(way) for way in ways_for(load(Source(str(path), **options), verbose=False))]


def test_on_wine_scaled_columns_are_found_to_be_better(run):
    """Cosine on the raw columns has an F1 of .72; euclidean on scaled columns has .93."""
    wine().to_csv("wine.csv", index=False)
    code, out, err = run("compare", "wine.csv", "-l", "kind", *FEW, "--csv", "r.csv", "--json", "r.json")
    assert code == 0
    assert "trying 4 similarities: cosine; cosine, scaled; euclidean; euclidean, scaled." in err
    assert "methods are compared under euclidean, scaled, which did best." in err
    assert "try --scale" not in err
    results = pd.read_csv("r.csv")
    trials, methods = results[results["stage"] == "similarities"], results[results["stage"] == "methods"]
    by_way = {(row.similarity, row.scaled): row.f1 for row in trials.itertuples()}
    assert by_way["cosine", False] < 0.8 < 0.9 < by_way["euclidean", True] == max(by_way.values())
    assert methods["f1"].min() > 0.9
    assert set(zip(methods["similarity"], methods["scaled"], strict=True)) == {("euclidean", True)}
    command = shlex.split(out.split("To select like this: ")[1].splitlines()[0])
    assert command[2:8] == ["wine.csv", "--label", "kind", "--scale", "--similarity", "euclidean"]
    assert run(*command[1:], "-o", "few.csv")[0] == 0
    shown = assert_renders(Path("r.html").resolve(), phone=True)
    assert "the other scores flatter it a little" in Path("r.html").read_text()
    assert "each column scaled to 0 .. 1, by euclidean similarity." in shown


def test_rows_without_names_are_said_to_be_scaled_too(run):
    np.savez("wine.npz", X=wine().iloc[:, :-1].to_numpy(), y=wine()["kind"].to_numpy(dtype=str))
    assert run("compare", "wine.npz", "--scale", *FEW)[0] == 0
    assert "rows of numbers, each column scaled to 0 .. 1, by cosine similarity." in Path("r.html").read_text()


def test_results_in_files_are_those_of_the_table_but_not_rounded(run):
    iris().to_csv("iris.csv", index=False)
    out = run("compare", "iris.csv", "-l", "species", *FEW, "--csv", "r.csv", "--json", "r.json", "-q")[1]
    written = json.loads(Path("r.json").read_text())
    table = pd.read_csv("r.csv")
    assert table.columns.tolist() == list(written["results"][0])
    pd.testing.assert_frame_equal(table, pd.DataFrame(written["results"]), check_dtype=False)
    assert out.splitlines()[-3:] == ["r.html", "r.csv", "r.json"]
    methods = table[table["stage"] == "methods"].set_index("method")
    for line in out.splitlines():
        name, *values = line.split()
        if name in methods.index:
            row = methods.loc[name]
            exact = row[["precision", "recall", "f1", "selected_percent", "scan_rate"]]
            assert [float(value) for value in values] == pytest.approx(exact.tolist(), abs=0.0051)
            assert row["f1"] != round(row["f1"], 3)
    assert methods.loc["full-100%", ["selected_percent", "evaluations"]].tolist() == [100, 0]
    assert methods.loc["CRS-k5", "k"] == 5
    assert (methods["folds"] == 5).all()
    assert methods.index[methods["chosen"]].tolist() == [written["recommended"]]
    assert (written["rows"], written["similarity"], written["left_out"]) == (150, table["similarity"].iloc[-1], [])


def test_a_similarity_that_the_user_has_named_is_the_only_one(run):
    wine().to_csv("wine.csv", index=False)
    for how, expected in ((("-s", "cosine"), ("cosine", False)), (("--scale",), ("cosine", True))):
        _, out, err = run("compare", "wine.csv", "-l", "kind", *FEW, "--csv", "r.csv", *how, "-f")
        assert "trying" not in err
        assert out.startswith("method")
        table = pd.read_csv("r.csv")
        assert set(zip(table["similarity"], table["scaled"], strict=True)) == {expected}
    assert "Similarities" not in Path("r.html").read_text()


def test_only_ways_that_suit_the_objects_are_tried(folder):
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    iris().to_csv("iris.csv", index=False)
    assert ways("iris.csv", label="species") == ["cosine", "cosine, scaled", "euclidean", "euclidean, scaled"]
    assert ways("iris.csv", label="species", features="petal_width") == ["euclidean", "euclidean, scaled"]
    np.savez("bits.npz", X=rng.integers(2, size=(40, 9)), y=y)
    assert ways("bits.npz") == ["cosine", "euclidean", "jaccard"]
    counts = sp.csr_array(rng.poisson(1.0, size=(40, 9)).astype(float))
    np.savez("sparse.npz", y=y, indptr=counts.indptr, indices=counts.indices, data=counts.data, shape=counts.shape,
             format=np.array(b"csr"))  # fmt: skip
    assert ways("sparse.npz") == ["cosine", "euclidean"]
    texts().to_csv("texts.csv", index=False)
    assert ways("texts.csv", label="topic", text="body") == ["cosine", "levenshtein", "jaro-winkler"]
    texts().assign(body=texts()["body"] * 9).to_csv("long.csv", index=False)
    assert ways("long.csv", label="topic", text="body") == []  # long texts are only compared by their words
    Path("conn.log").write_text(conn_log())
    assert ways("conn.log", hosts=True) == ["cosine", "ruzicka"]
    similarities = rng.random((40, 40))
    np.savez("matrix.npz", X=similarities + similarities.T, y=y)
    assert ways("matrix.npz", matrix=True) == []


def test_every_way_is_one_that_select_takes(run):
    """Each row of the table of ways names a similarity that can be asked for, and scales only what can be scaled."""
    data = {
        "numbers": ("iris.npz", ()),
        "text": ("texts.csv", ("-l", "topic", "--text", "body")),
        "profile": ("profiles.jsonl", ("-l", "topic", "--profile", "words")),
        "vectors": ("vectors.jsonl", ("-l", "species", "--features", "vector")),
    }
    np.savez("iris.npz", X=(iris().iloc[:, :4].to_numpy() > 3).astype(float), y=iris()["species"].to_numpy(dtype=str))
    texts().to_csv("texts.csv", index=False)
    profiles = [dict(Counter(body.split())) for body in texts()["body"]]
    texts().assign(words=profiles).to_json("profiles.jsonl", orient="records", lines=True)
    vectors = pd.DataFrame({"vector": iris().iloc[:, :4].to_numpy().tolist(), "species": iris()["species"]})
    vectors.to_json("vectors.jsonl", orient="records", lines=True)
    for kind, own in WAYS.items():
        path, options = data[kind]
        for way in own:
            scale = ["--scale"] if way.scale else []
            code, _, err = run("select", path, *options, "-s", way.similarity, *scale, "-k", 2)
            assert code == 0, (way, err)


def test_strings_are_tried_as_strings(run):
    rng = np.random.default_rng(0)
    stems = {"fruit": ["apple", "banana", "cherry"], "animal": ["elephant", "zebra", "giraffe"]}
    rows = [
        {"kind": kind, "word": stem[:at] + rng.choice(list("xyz")) + stem[at:]}
        for kind, own in stems.items() for stem in own for at in range(len(stem))
    ]  # fmt: skip
    pd.DataFrame(rows).to_csv("words.csv", index=False)
    _, out, err = run("compare", "words.csv", "-l", "kind", "--text", "word", *FEW, "--csv", "r.csv")
    assert "trying 3 similarities: cosine; levenshtein; jaro-winkler." in err
    table = pd.read_csv("r.csv")
    assert table["similarity"].iloc[-1] in ("levenshtein", "jaro-winkler")
    assert f"--similarity {table['similarity'].iloc[-1]} -k" in out


def test_the_report_numbers_rows_as_the_file_does_though_small_clusters_are_left_out(run, caplog):
    rare = iris().iloc[:2].assign(species="rare")
    frame = pd.concat([rare, iris()], ignore_index=True).assign(at=lambda own: own.index.astype(str) + " is the row")
    frame.to_csv("rare.csv", index=False)
    assert run("compare", "rare.csv", "-l", "species", *FEW, "-s", "euclidean", "--json", "r.json")[0] == 0
    sentence = "1 cluster has fewer than 5 rows, one for each fold, and is left out: rare (2)."
    assert sentence in caplog.messages
    page = Path("r.html").read_text()
    assert sentence in page
    assert json.loads(Path("r.json").read_text())["rows"] == 150
    shown = re.findall(r"row (\d+)\b.*?at: (\d+) is the row", page, flags=re.S)
    assert shown
    assert all(title == written for title, written in shown)
    assert not {"0", "1"} & {title for title, _ in shown}


def test_too_few_clusters_of_a_useful_size_are_refused_on_one_screen(run):
    n = 10_000
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.random((n, 2)), columns=["a", "b"])
    frame.assign(kind=[f"{at} {'x' * 100}" for at in range(n)]).to_csv("ids.csv", index=False)
    code, _, err = run("compare", "ids.csv", "-l", "kind")
    assert code == 1
    assert len(one_line(err)) < 1000
    assert "is --label right?" in err
    assert "and 9,990 more" in err
    code, _, err = run("compare", "ids.csv")
    assert (code, "there are no labels; --label names their column." in one_line(err)) == (1, True)
    code, _, err = run("select", "ids.csv", "-l", "kind", "--picture", "map.html", "--show", "none", "-o", "few.csv")
    assert code == 1
    assert len(one_line(err)) < 1000


@given(st.lists(st.sampled_from("aaabbcd"), min_size=1, max_size=30), st.integers(2, 5))
def test_rows_of_clusters_that_are_large_enough_take_part(labels, n_folds):
    sizes = Counter(labels)
    expected = [at for at, label in enumerate(labels) if sizes[label] >= n_folds]
    if len({labels[at] for at in expected}) < 2:
        with pytest.raises(ValueError, match="comparing needs at least two clusters"):
            large_enough(np.array(labels), n_folds)
        return
    rows, remark = large_enough(np.array(labels), n_folds)
    assert rows.tolist() == expected
    assert (remark is None) == (len(expected) == len(labels))
    assert all(label in remark.split("left out: ")[1] for label in sizes if sizes[label] < n_folds) if remark else True


@given(st.lists(st.integers(1, 4000), min_size=2, max_size=30), st.integers(2, 10))
def test_a_sample_has_a_row_for_each_fold_of_its_clusters(sizes, n_folds):
    labels = np.repeat(np.arange(len(sizes)), [size + n_folds for size in sizes])
    rows = np.arange(labels.size)[::2] if labels.size % 2 else np.arange(labels.size)
    kept = {label for label, n in Counter(labels[rows].tolist()).items() if n >= n_folds}
    rows = rows[np.isin(labels[rows], list(kept))]
    found = sample(labels, rows, n_folds)
    assert np.isin(found, rows).all()
    assert np.unique(found).size == found.size
    assert found.size <= max(SAMPLED, n_folds * len(sizes))
    assert min(Counter(labels[found].tolist()).values()) >= n_folds


def test_of_very_many_clusters_a_sample_takes_some():
    labels = np.repeat(np.arange(3000), 6)
    found = sample(labels, np.arange(labels.size), 5)
    assert found.size <= SAMPLED
    assert set(Counter(labels[found].tolist()).values()) == {5}


SIZES = {"ten of each": [10] * 10, "three large": [8000] * 3, "many small": [60] * 200, "one giant": [20000, 30, 30]}


@pytest.mark.parametrize("sizes", SIZES)
def test_if_time_is_short_every_method_is_tried_once_before_any_a_second_time(sizes):
    """Those that are expected to cost least come first, in every round."""
    ks = [2, 3, 5, 7, 10, 15, 20, 30, 50]
    methods = choose_methods([*CURVES, *CHOICES], ks)
    order = methods.in_order(SIZES[sizes], 5)
    kinds = [methods.by_name[name].curve or name for name in order]
    assert sorted(order) == sorted(methods.by_name)
    assert sorted(kinds[:6]) == sorted({*kinds})
    costs = [expected_pairs(kind, SIZES[sizes], 5) for kind in kinds]
    assert costs[:6] == sorted(costs[:6])
    assert kinds[0] == "random-5%"
    assert kinds.index("CRS") < kinds.index("delta-medoids") < kinds.index("DS3")
    for at in range(6, len(order), 2):
        assert sorted(kinds[at : at + 2]) == ["CRS", "sharpened CRS"]
        assert len({methods.by_name[name].k for name in order[at : at + 2]}) == 1
    assert _spread_out(ks)[:3] == [10, 2, 50]
    assert _spread_out([]) == []


def test_what_a_method_is_expected_to_cost_follows_from_the_sizes_of_clusters():
    few, many = [3000] * 2, [30] * 200
    assert expected_pairs("full-100%", few, 5) < expected_pairs("DS3", few, 5)
    assert expected_pairs("full-100%", many, 5) > expected_pairs("DS3", many, 5)
    assert expected_pairs("CRS", many, 5) < expected_pairs("CRS", few, 5)
    assert expected_pairs("sharpened CRS", many, 5) > 4799 * 4798 / 2  # it compares objects of different clusters, too


def test_methods_are_named_one_and_all():
    methods = choose_methods([*CURVES, *CHOICES], [2, 3, 5, 7, 10, 15, 20, 30, 50])
    assert methods.described(methods.by_name) == (
        "CRS with k = 2, 3, 5, 7, 10, 15, 20, 30, 50; sharpened CRS with k = 2, 3, 5, 7, 10, 15, 20, 30, 50; "
        "delta-medoids; DS3; random-5%; full-100%"
    )
    assert methods.described(["DS3", "sharpened-k7", "sharpened-k2"]) == "sharpened CRS with k = 2, 7; DS3"


def test_what_takes_too_long_is_left_out_and_the_same_command_goes_on(run, monkeypatch):
    """Work that is done moves a clock, and nothing else does: each fit takes a second."""
    from covey.experiments import runner

    class Clock:
        now = 0.0

        def monotonic(self):
            return self.now

        def perf_counter(self):
            return self.now

    clock = Clock()
    measure = runner._measure

    def slow(*args):
        clock.now += 1.0
        return measure(*args)

    monkeypatch.setattr(runner, "_measure", slow)
    monkeypatch.setattr(runner, "time", clock)
    monkeypatch.setattr(contest, "time", clock)
    monkeypatch.setattr("time.monotonic", clock.monotonic)
    iris().to_csv("iris.csv", index=False)
    common = ("compare", "iris.csv", "-l", "species", "-s", "euclidean", "--folds", 2, "--methods", "crs,all")
    common = (*common, "-k", "3,10,30", "--html", "r.html", "--json", "r.json", "-q", "-f")
    code, out, _ = run(*common, "--time-limit", "5s")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()[1:3]] == ["CRS-k10", "full-100%"]
    late = "5s was too short for all methods. Begun, but not finished: CRS with k = 3. Not tried: CRS with k = 30."
    for told in (out, Path("r.html").read_text()):
        assert late in told
        assert "nothing to choose from" in told
    assert "Recommended" not in out
    assert json.loads(Path("r.json").read_text())["left_out"] == ["CRS-k3", "CRS-k30"]
    assert len([name for name in os.listdir() if name.startswith(".r-")]) == 1
    out = run(*common, "--time-limit", "5s")[1]  # one of the two folds of CRS-k3 was done before
    assert "too short" not in out
    assert "Recommended: CRS with k = " in out
    assert [line.split()[0] for line in out.splitlines()[1:5]] == ["CRS-k3", "CRS-k10", "CRS-k30", "full-100%"]
    assert sorted(os.listdir()) == ["iris.csv", "r.html", "r.json"]
    code, _, err = run(*common, "--time-limit", "0.5s")
    assert code == 1
    assert "--time-limit was too short for a single method" in one_line(err)


def test_a_time_limit_that_is_over_in_trials_leaves_the_default(run, monkeypatch):
    iris().to_csv("iris.csv", index=False)
    monkeypatch.setattr("covey.cli.compare.command.FOR_TRIALS", 0.0)
    _, out, err = run("compare", "iris.csv", "-l", "species", *FEW, "--time-limit", "1h")
    assert "Similarities that could not be tried in time: cosine; cosine, scaled; euclidean; euclidean, scaled." in err
    assert "methods are compared under cosine." in err
    assert out.startswith("method")
    assert "could not be tried in time" in Path("r.html").read_text()


def test_a_similarity_that_was_tried_alone_is_not_called_the_best(run, monkeypatch):
    iris().to_csv("iris.csv", index=False)
    done = contest.run_within

    def only_the_first(folder, groups, until, **options):
        return done(folder, groups[:1], until, **options) + [Completion.NOT_BEGUN] * (len(groups) - 1)

    monkeypatch.setattr(contest, "run_within", only_the_first)
    err = run("compare", "iris.csv", "-l", "species", *FEW)[2]
    assert "methods are compared under cosine.\n" in err
    page = Path("r.html").read_text()
    assert "There was time for no more than cosine, which all else is under." in page
    assert "best one" not in page


def test_a_comparison_that_takes_long_says_so_after_the_first_fold(run, monkeypatch):
    monkeypatch.setattr(contest, "LONG", 0.0)
    iris().to_csv("iris.csv", index=False)
    err = run("compare", "iris.csv", "-l", "species", *FEW, "-s", "cosine")[2]
    assert "the first of 5 folds took " in err
    assert "With --time-limit, what takes longer is left out." in err


@pytest.mark.parametrize(("limit", "seconds"), [("90", 90), ("90s", 90), ("10m", 600), ("1h", 3600), ("1.5 h", 5400)])
def test_a_time_limit_is_seconds_minutes_or_hours(limit, seconds):
    assert CompareOptions("x.csv", time_limit=time_limit_in(limit)).seconds == seconds


def test_without_a_time_limit_there_are_no_seconds():
    assert CompareOptions("x.csv").seconds is None


@pytest.mark.parametrize("limit", ["", "soon", "0", "-5", "10 days", "1h30m", "nan"])
def test_other_time_limits_are_refused(limit):
    with pytest.raises(ValueError, match="must be a number of seconds"):
        time_limit_in(limit)


def test_files_of_results_must_differ(run):
    iris().to_csv("iris.csv", index=False)
    for files in (("--csv", "a", "--json", "a"), ("--html", "a", "--csv", "./a"), ("--json", "-")):
        code, _, err = run("compare", "iris.csv", "-l", "species", *files)
        assert code == 2
        assert "must be different files" in one_line(err)
    Path("old.csv").touch()
    code, _, err = run("compare", "iris.csv", "-l", "species", "--csv", "old.csv")
    assert code == 1
    assert "old.csv exists" in one_line(err)


def test_chance_is_corrected_for_the_similarities_that_were_tried():
    records = fit(3, 0, 0.61)
    assert recommend(records, candidates(3)).method == "CRS-k3"
    found = recommend(records, candidates(3), n_similarities=8)
    assert found.method is None
    assert "Under any of 8 similarities, what is compared seems to say little about the label" in found.reason


def test_durations_are_said_in_words():
    assert [in_time(seconds) for seconds in (5, 90, 600, 9000)] == ["5 s", "90 s", "10 min", "2.5 h"]


def test_ways_have_names_for_people_and_for_folders():
    assert str(Way("euclidean", scale=True)) == "euclidean, scaled"
    assert Way("my.module:function", scale=True).slug == "my-module-function-scaled"
