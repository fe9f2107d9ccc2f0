"""`covey select` with several Parquet files, in one process and on a Dask cluster.

The workers of the cluster run in another folder than the commands, as those of a real cluster do.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import covey
from covey.cli.files import parquet as files_parts
from covey.cli.files.block import Block
from covey.cli.files.columns import evidence_of
from covey.cli.model_file import read_model
from covey.cli.objects.recipe import Settings
from covey.cli.objects.registry import recipe_of
from covey.exceptions import FileFormatError
from covey.persistence.loading import ModelFile
from covey.runtime.libraries import remedy
from tests.cli.commands import COVEY, iris, one_line, piped, run_here, texts

distributed = pytest.importorskip("distributed")


pytestmark = pytest.mark.xdist_group("cluster")  # one process runs all of them, so that their clusters start once


@pytest.fixture(scope="module")
def address():
    options = {"processes": True, "n_workers": 2, "threads_per_worker": 1}
    with distributed.LocalCluster(dashboard_address="127.0.0.1:0", **options) as cluster:
        yield cluster.scheduler_address


@pytest.fixture
def parts(folder):
    """Iris in one file, and in four parts, the third of which is empty."""
    return write_parts(iris(), [0, 40, 90, 90, 150])


def write_parts(frame, cuts, *, shuffled=True, **options):
    frame = (frame.sample(frac=1, random_state=0) if shuffled else frame).reset_index(drop=True)
    frame.to_parquet("one.parquet")
    paths = [f"part-{at}.parquet" for at in range(len(cuts) - 1)]
    for path, first, last in zip(paths, cuts[:-1], cuts[1:], strict=True):
        frame.iloc[first:last].reset_index(drop=True).to_parquet(path, **options)
    return paths


@pytest.fixture
def same(run, address):
    """Run a command with the table in one file, in parts, and in parts on the cluster; the files must be the same."""

    def command(paths, *args):
        ways = {"one": ["one.parquet"], "parts": paths, "dask": [*paths, "--dask", address]}
        for way, data in ways.items():
            code, _, err = run("select", *data, *args, "-o", f"{way}.csv", "-m", f"{way}.covey", "-q")
            assert (code, err) == (0, "")
        written = Path("one.csv").read_bytes()
        assert written.count(b"\n") > 1
        assert Path("parts.csv").read_bytes() == written
        assert Path("dask.csv").read_bytes() == written
        one, other = (read_model(path, ModelFile(path), to_look_at=True) for path in ("one.covey", "dask.covey"))
        assert other.names == one.names
        assert_same_state(one.classifier, other.classifier)

    return command


def assert_same_state(one, other):
    assert type(other) is type(one)
    for name in ("classes_", "rejection_bars_"):
        np.testing.assert_array_equal(getattr(other, name, None), getattr(one, name, None))
    assert other.selector_.n_evaluations_ == one.selector_.n_evaluations_
    for label, prototype in one.selector_.prototypes_.items():
        for name, value in vars(prototype).items():
            np.testing.assert_array_equal(getattr(other.selector_.prototypes_[label], name), value)


OPTIONS = {
    "labels": ["-l", "species"],
    "one cluster": [],
    "names": ["-l", "species", "--id", "name", "-k", "3"],
    "scaled": ["-l", "species", "--scale", "-s", "euclidean", "--coverage", "1"],
    "some columns": ["-l", "species", "--features", "petal_width,petal_length", "-k", "auto", "--threshold", "none"],
    "refined": ["-l", "species", "--refine", "--threshold", "0.99"],
    "approximate": ["-l", "species", "--graph", "nn-descent", "--seed", "7"],
    "rejection": ["-l", "species", "--rejection-rate", "0.1"],
    "letters": ["-l", "species", "--text", "name", "-s", "levenshtein"],
}


IN_MINUTES = ("some columns", "refined", "approximate")
"""The options whose way through the cluster is that of others."""


@pytest.mark.parametrize(
    "options",
    [
        pytest.param(words, id=name, marks=[pytest.mark.minutes] * (name in IN_MINUTES))
        for name, words in OPTIONS.items()
    ],
)
def test_parts_give_the_rows_and_the_model_of_one_file(same, parts, options):
    same(parts, *options)


def test_texts_in_parts_get_the_words_and_weights_of_all_texts(same, folder, run):
    frame = texts()
    same(write_parts(frame, [0, 3, 5, 8]), "-l", "topic", "--text", "body", "-k", "2")
    for way in ("one", "dask"):
        assert run("classify", "one.parquet", "-m", f"{way}.covey", "-o", f"{way}-answers.csv")[0] == 0
    assert Path("one-answers.csv").read_bytes() == Path("dask-answers.csv").read_bytes()


def test_weights_of_words_learned_from_parts_equal_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    words = np.array([f"word{at}" for at in range(300)])
    made = [" ".join(words[rng.zipf(1.3, size=12) % 300]) for _ in range(1000)]
    recipe = recipe_of(Settings("text", ["body"], "cosine"))
    expected, _ = recipe.learn(made, verbose=False)
    found = recipe.learn_from([recipe.facts(made[start : start + 130]) for start in range(0, 1000, 130)])
    assert found.settings.vocabulary == expected.settings.vocabulary
    assert found.settings.weights.dtype == expected.settings.weights.dtype
    np.testing.assert_array_equal(found.settings.weights, expected.settings.weights)


def test_profiles_in_parts_are_compared(same, folder):
    rng = np.random.default_rng(0)
    made = [
        json.dumps({f"s{key}": int(n) for key, n in enumerate(rng.poisson(1, 6)) if n} | {"x": 1}) for _ in range(60)
    ]
    same(write_parts(pd.DataFrame({"seen": made}), [0, 20, 60]), "--profile", "seen", "-k", "4")


def test_a_function_in_the_current_folder_reaches_the_workers(same, parts):
    Path("dask_mine.py").write_text("def near(a, b):\n    return -abs(a['petal_length'] - b['petal_length'])\n")
    same(parts, "-l", "species", "-s", "dask_mine:near", "--features", "petal_length,name", "-k", "3")


def test_a_column_is_numeric_only_if_it_is_so_in_all_parts(same, folder, run):
    """Alone, the first part would take the codes for numbers."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(60, 3)), columns=list("abc")).assign(code=[f"{at:02d}" for at in range(60)])
    paths = write_parts(frame[::-1], [0, 40, 60], shuffled=False)
    assert [evidence_of(pd.read_parquet(path), ["code"])["code"].is_numeric for path in paths] == [True, False]
    same(paths, "-k", "3")
    assert "the columns a, b, c, by cosine" in run("select", *paths, "-o", "few.csv")[2]


@given(cut=st.integers(0, 12), seed=st.integers(0, 2**32 - 1))
def test_evidence_of_two_parts_adds_up_to_that_of_the_whole_column(cut, seed):
    rng = np.random.default_rng(seed)
    column = pd.Series(rng.choice(["1", "2.5", "01", "x", "", None, "inf"], 12), dtype="string[pyarrow]").to_frame("a")
    first, second, whole = (evidence_of(part, ["a"])["a"] for part in (column[:cut], column[cut:], column))
    assert first + second == whole


def test_row_groups_of_one_file_are_parts(same, folder, monkeypatch):
    monkeypatch.setattr(files_parts, "ROWS_OF_PART", 20)
    paths = write_parts(iris(), [0, 150], row_group_size=7)
    assert [part.n_rows for part in files_parts.parts_of(paths)] == [21] * 7 + [3]
    same(paths, "-l", "species")


def test_folders_and_patterns_stand_for_their_files(run, folder, address):
    Path("data").mkdir()
    for path in write_parts(iris(), [0, 40, 90, 150]):
        Path(path).rename(Path("data", path))
    Path("data", "_SUCCESS").write_text("")
    Path("data", ".hidden.parquet").write_text("")
    run("select", "one.parquet", "-l", "species", "-o", "one.csv")
    for at, data in enumerate(["data", "data/", "data/part-*.parquet", "data/part-[0-2].parquet"]):
        for way in ([], ["--dask", address]):
            assert run("select", data, *way, "-l", "species", "-o", f"{at}.csv", "-q", "-f")[0] == 0
            assert Path(f"{at}.csv").read_bytes() == Path("one.csv").read_bytes()


def test_clusters_larger_than_a_shard_are_covered_and_written(run, folder, address):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(900, 5)), columns=list("abcde")).assign(kind=["x"] * 600 + ["y"] * 300)
    paths = write_parts(frame, [0, 400, 900])
    options = ["-l", "kind", "--dask", address, "--shard-size", "200", "--checkpoint", "kept"]
    code, _, err = run("select", *paths, *options, "-o", "few.csv", "-m", "m", "--picture", "p.png")
    assert code == 0
    assert "rows selected from 2 clusters" in err
    assert "checkpoint" not in err
    few, model = pd.read_csv("few.csv"), covey.load("m")
    assert min(prototype.coverage for prototype in model.selector_.prototypes_.values()) >= 0.95
    pd.testing.assert_frame_equal(
        few[frame.columns], pd.read_parquet("one.parquet").iloc[few["covey_row"]].reset_index(drop=True)
    )
    assert few.groupby("covey_cluster")["covey_covers"].sum().ge([570, 285]).all()
    assert Path("p.png").stat().st_size > 0
    code, _, err = run("select", *paths, *options, "-o", "again.csv")
    assert (code, "of them were taken from the checkpoint" in err) == (0, True)
    assert Path("again.csv").read_bytes() == Path("few.csv").read_bytes()
    code, _, err = run("select", *paths, *options, "--refine", "-o", "other.csv")
    assert (code, "--refine needs each cluster in one piece, but 'x' has 600 rows" in one_line(err)) == (1, True)
    code, _, err = run("select", *paths, *options, "-k", "3", "-o", "other.csv")
    assert (code, "was made with another" in one_line(err)) == (1, True)


def test_a_bad_value_is_refused_by_file_and_row(run, parts, address):
    frame = pd.read_parquet(parts[1])
    frame.loc[7, "petal_width"] = np.nan
    frame.to_parquet(parts[1])
    for way in ([], ["--dask", address]):
        code, _, err = run("select", *parts, *way, "-l", "species", "-o", "few.csv")
        assert code == 1
        assert "part-1.parquet, row 7: no value in column 'petal_width'" in one_line(err)
    frame = pd.read_parquet(parts[3])
    frame.loc[2, "species"] = None
    frame.to_parquet(parts[3])
    for way in ([], ["--dask", address]):
        code, _, err = run("select", *parts, *way, "-l", "species", "--features", "petal_length", "-o", "few.csv")
        assert code == 1
        assert "part-3.parquet, row 2: no value in column 'species'" in one_line(err)
    assert not Path("few.csv").exists()


def test_rows_of_several_files_are_named_by_file_and_row():
    frame = pd.DataFrame({"a": range(6)})
    block = Block("x", frame=frame, runs=[("x", 0, 2), ("x", 2, 1), ("y", 0, 3)])
    assert [block.place(at) for at in range(6)] == [
        "x, row 0", "x, row 1", "x, row 2", "y, row 0", "y, row 1", "y, row 2",
    ]  # fmt: skip


def test_what_the_library_refuses_about_a_part_names_the_file(run, folder, address, monkeypatch):
    monkeypatch.setattr(files_parts, "ROWS_OF_PART", 2)
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "b": [1.0, 1.0, 1.0, -1.0]})
    frame[:2].to_parquet("good.parquet")
    frame[2:].to_parquet("bad.parquet")
    frame.to_parquet("both.parquet", row_group_size=2)
    for data, place in {
        ("good.parquet", "bad.parquet"): "bad.parquet: X must not hold negative numbers",
        ("both.parquet",): "both.parquet, where row 2 counts as row 0: X must not hold negative numbers",
    }.items():
        code, _, err = run("select", *data, "--dask", address, "-s", "ruzicka", "-o", "few.csv", "-q")
        assert (code, place in one_line(err)) == (1, True)


def test_a_function_of_many_pairs_reaches_the_workers(same, parts):
    Path("dask_many.py").write_text(
        "import covey\n\n\n@covey.batched\ndef near(a, b):\n"
        "    return [-abs(x['petal_length'] - y['petal_length']) for x, y in zip(a, b)]\n"
    )
    same(parts, "-l", "species", "-s", "dask_many:near", "-k", "3")


def test_a_module_that_workers_lack_is_named(run, parts, address):
    Path("dask_inner.py").write_text("")
    Path("dask_outer.py").write_text("import dask_inner\n\n\ndef near(a, b):\n    return 0.0\n")
    code, _, err = run("select", *parts, "--dask", address, "-s", "dask_outer:near", "-o", "few.csv")
    assert (code, "No module named 'dask_inner' where a worker runs; install it there" in one_line(err)) == (1, True)


def test_an_error_in_a_similarity_of_the_users_own_is_one_line(run, parts, address):
    Path("dask_broken.py").write_text("def near(a, b):\n    raise KeyError('no such thing')\n")
    code, _, err = run("select", *parts, "--dask", address, "-l", "species", "-s", "dask_broken:near", "-o", "few.csv")
    assert (code, "no such thing" in one_line(err)) == (1, True)


OTHER_COLUMNS = {
    "'petal_width' is of the type double in part-0.parquet and missing in part-1": lambda f: f.drop(
        columns="petal_width"
    ),
    "'more' is missing in part-0.parquet and of the type int64 in part-1": lambda f: f.assign(more=1),
    "'petal_width' is of the type double in part-0.parquet and of the type": lambda f: f.astype({"petal_width": str}),
}


@pytest.mark.parametrize(("message", "change"), OTHER_COLUMNS.items(), ids=["fewer", "more", "another type"])
def test_parts_with_other_columns_are_refused(run, parts, address, message, change):
    change(pd.read_parquet(parts[1])).to_parquet(parts[1])
    for way in ([], ["--dask", address]):
        code, _, err = run("select", *parts, *way, "-l", "species", "-o", "few.csv")
        assert (code, message in one_line(err)) == (1, True)


def test_columns_may_have_another_order_in_each_part(same, parts):
    frame = pd.read_parquet(parts[1])
    frame[frame.columns[::-1]].to_parquet(parts[1])
    same(parts, "-l", "species", "--id", "name")


def test_what_cannot_be_done_on_a_cluster_is_refused_before_the_work(run, parts):
    iris().to_csv("iris.csv", index=False)
    nowhere = ["--dask", "tcp://127.0.0.1:1"]
    refused = {
        ("--sharpen",): "--sharpen needs all data in one process",
        ("--matrix",): "--matrix needs all data in one process",
        ("--distances",): "--distances needs all data in one process",
        ("--picture", "map.html"): "--picture with a name in .html needs all data in one process",
        ("--budget", "3"): "--budget needs all data in one process",
        ("--cluster", "auto"): "--cluster needs all data in one process",
        ("--method", "random"): "--method random needs all data in one process",
        ("--members", "m.csv"): "--members needs all data in one process",
        ("--include", "kind"): "--include needs all data in one process",
        ("--weight", "x"): "--weight needs all data in one process",
        ("-k", "all"): "-k all needs all data in one process",
        ("--jobs", "2"): "--jobs says how many workers --dask local starts",
    }
    for options, message in refused.items():
        code, _, err = run("select", *parts, *nowhere, *options, "-o", "few.csv")
        assert (code, message in one_line(err)) == (2, True)
    code, _, err = run("select", parts[0], *nowhere, "--pairs", "a,b,c", "-o", "few.csv")
    assert (code, "--pairs needs all data in one process" in one_line(err)) == (2, True)
    for data, message in {
        ("iris.csv",): "only Parquet files can be read by --dask",
        ("-",): "only Parquet files can be read by --dask",
        ("part-0.parquet", "iris.csv"): "must have the same format, got part-0.parquet (parquet) and iris.csv (csv)",
    }.items():
        code, _, err = run("select", *data, *nowhere, "-o", "few.csv")
        assert (code, message in one_line(err)) == (2, True)


def test_several_files_and_options_for_dask_are_refused_where_they_make_no_sense(run, parts):
    iris().to_csv("iris.csv", index=False)
    for options, message in {
        (
            "iris.csv",
            "part-0.parquet",
        ): "must have the same format, got iris.csv (csv) and part-0.parquet",
        ("iris.csv", "part-0.parquet", "--hosts"): "--hosts takes one log file",
        ("part-0.parquet", "--shard-size", "3"): "--shard-size is for --dask",
    }.items():
        code, _, err = run("select", *options, "-o", "few.csv")
        assert (code, message in one_line(err)) == (2, True)
    Path("nothing").mkdir()
    iris()[:0].to_parquet("empty.parquet")
    for options, message in {
        ("nothing",): "nothing is a folder without tables",
        ("no-*.parquet",): "no-*.parquet: no file has such a name",
        ("part-0.parquet", "two.parquet"): "two.parquet: no such file",
        ("empty.parquet", "empty.parquet"): "empty.parquet and empty.parquet hold no rows",
    }.items():
        code, _, err = run("select", *options, "-o", "few.csv")
        assert (code, message in one_line(err)) == (1, True)


def test_a_damaged_part_and_a_scheduler_that_does_not_answer_are_named(run, parts, monkeypatch):
    from covey.cli.select import dask_fit

    monkeypatch.setattr(dask_fit, "PATIENCE", "1s")
    for where, why in {"tcp://127.0.0.1:1": "Timed out", "somewhere": "missing port", "x://a:1": "unknown"}.items():
        code, _, err = run("select", *parts, "--dask", where, "-o", "few.csv")
        assert code == 1
        assert f"but none answers at {where!r}" in one_line(err)
        assert why in err
    Path(parts[1]).write_bytes(Path(parts[1]).read_bytes()[:-9])
    code, _, err = run("select", *parts, "--dask", "tcp://127.0.0.1:1", "-o", "few.csv")
    assert (code, "part-1.parquet is not a Parquet file, or damaged" in one_line(err)) == (1, True)


def test_a_part_that_a_worker_does_not_find_is_named(parts):
    part = files_parts.parts_of(parts)[0]
    Path(parts[0]).unlink()
    with pytest.raises(FileNotFoundError, match=r"part-0\.parquet: no such file where a worker runs; all workers must"):
        part.read()


def test_a_part_that_was_replaced_meanwhile_is_refused(parts):
    part = files_parts.parts_of(parts)[0]
    iris().to_parquet(parts[0])
    with pytest.raises(FileFormatError, match=r"part-0\.parquet must hold 40 rows from row 0 on, .* got 150"):
        part.read()


def test_the_driver_reads_no_row_but_the_first_of_one_part(run, parts, address, monkeypatch):
    monkeypatch.setattr(files_parts.RowGroupPart, "read", lambda *_: pytest.fail("the driver reads a part"))
    assert run("select", *parts, "--dask", address, "-l", "species", "--scale", "-o", "few.csv")[0] == 0


def test_without_dask_the_error_says_how_to_install_it(run, parts, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    code, _, err = run("select", *parts, "--dask", "local", "-o", "few.csv")
    assert (code, remedy("dask") in one_line(err)) == (1, True)


def test_a_local_cluster_is_started_and_closed(folder, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(Path(covey.__file__).parents[1]))  # a relative path would lead elsewhere
    paths = write_parts(iris(), [0, 40, 90, 150])
    assert run_here(["select", "one.parquet", "-l", "species", "-o", "one.csv"])[0] == 0
    done = piped("select", *paths, "-l", "species", "--dask", "local", "-j", "1", "-o", "few.csv")
    assert done.returncode == 0
    assert Path("few.csv").read_bytes() == Path("one.csv").read_bytes()
    compared, selected = done.stderr.splitlines()
    columns = "sepal_length, sepal_width, petal_length, petal_width"
    assert compared == f"compared: the columns {columns}, by cosine similarity"
    assert " of 150 rows selected from 3 clusters; " in selected


SLOW = """
import time
from pathlib import Path


def near(a, b):
    Path({started!r}).touch()
    time.sleep(0.01)
    return 0.0
"""


@pytest.mark.minutes
def test_ctrl_c_stops_a_local_cluster_with_one_line(folder, monkeypatch):
    """Ctrl-C reaches the workers as well, and their process must not show where it has stopped them."""
    monkeypatch.setenv("PYTHONPATH", str(Path(covey.__file__).parents[1]))
    started = folder / "started"
    Path("dask_slow.py").write_text(SLOW.format(started=str(started)))
    paths = write_parts(iris(), [0, 90, 150])
    command = [*COVEY, "select", *paths, "-s", "dask_slow:near", "--dask", "local", "-j", "1", "-o", "few.csv"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, start_new_session=True, **pipes) as running:
        try:
            for _ in range(1200):
                if started.exists() or running.poll() is not None:
                    break
                time.sleep(0.1)
            os.killpg(running.pid, signal.SIGINT)
            _, err = running.communicate(timeout=120)
        finally:
            running.kill()
    assert running.returncode == 130
    assert err.strip() == "covey: stopped; nothing was written; run the same command again."
    assert not Path("few.csv").exists()
