"""What the commands refuse or say before the work, and how text from files reaches the terminal."""

import json
import logging
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import covey
from covey.cli.objects.lint import is_identifier
from covey.cli.terminal import VisibleFormatter
from tests.cli.commands import conn_log, iris, one_line, piped, texts

MODULE = """
def near(a, b):
    return 1 / (1 + abs(a['petal_length'] - b['petal_length']))

def far(a, b):
    return 0.0
"""
NO_WORK = "this is work, which must not begin"


def test_another_function_than_the_model_was_made_with_is_refused(run):
    Path("refused_mine.py").write_text(MODULE)
    iris().to_csv("iris.csv", index=False)
    run("select", "iris.csv", "-l", "species", "-s", "refused_mine:near", "-o", "few.csv", "-m", "m")
    code, _, err = run("classify", "iris.csv", "-m", "m", "-s", "refused_mine:far", "-o", "a.csv")
    assert code == 1
    assert "m was made with --similarity refused_mine:near, got refused_mine:far; pass --similarity" in one_line(err)
    assert not Path("a.csv").exists()
    assert run("classify", "iris.csv", "-m", "m", "-s", "refused_mine:near", "-o", "a.csv")[0] == 0


def test_another_similarity_of_texts_than_the_model_was_made_with_is_refused(run):
    texts().to_csv("texts.csv", index=False)
    run("select", "texts.csv", "-l", "topic", "--text", "body", "-s", "osa", "-o", "few.csv", "-m", "m")
    code, _, err = run("classify", "texts.csv", "-m", "m", "-s", "indel", "-o", "a.csv")
    assert (code, "made with --similarity osa, got indel; leave it out" in one_line(err)) == (1, True)
    assert run("classify", "texts.csv", "-m", "m", "-s", "osa", "-o", "a.csv")[0] == 0


def test_a_function_of_another_name_is_refused_for_a_model_saved_from_python(run, monkeypatch):
    Path("refused_pair.py").write_text("def near(a, b):\n    return 1.0\n\n\ndef far(a, b):\n    return 0.0\n")
    monkeypatch.syspath_prepend(str(Path.cwd()))
    from refused_pair import near

    frame = iris()
    model = covey.NearestPrototypeClassifier(covey.CRS(3, similarity=near))
    covey.save(model.fit(frame[["petal_length"]], frame["species"].to_numpy(dtype=str)), "m")
    frame.to_csv("iris.csv", index=False)
    code, _, err = run("classify", "iris.csv", "-m", "m", "-s", "refused_pair:far", "-o", "a.csv")
    assert code == 1
    assert "m was made with a function called near, got --similarity refused_pair:far" in one_line(err)
    covey.save(covey.NearestPrototypeClassifier(covey.CRS(3)).fit(frame[["petal_length"]], frame["species"]), "n")
    code, _, err = run("classify", "iris.csv", "-m", "n", "-s", "refused_pair:far", "-o", "a.csv")
    assert (code, "n names its own; leave it out" in one_line(err)) == (1, True)


def test_notes_that_covey_has_not_written_are_refused_by_name(run):
    frame = iris()
    model = covey.NearestPrototypeClassifier(covey.CRS(3)).fit(frame[["petal_length"]], frame["species"].to_numpy(str))
    frame.to_csv("iris.csv", index=False)
    for recipe in ({"kind": "numbers"}, {"kind": "magic", "columns": [], "similarity": "cosine"}, [1], None):
        covey.save(model, "m", {"recipe": recipe})
        for command in (("classify", "iris.csv", "-m", "m", "-o", "a.csv"), ("inspect", "m")):
            code, _, err = run(*command)
            assert code == 1
            assert "m holds notes that covey select has not written" in one_line(err)


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs a folder in which not even root can make files")
@pytest.mark.parametrize(
    "command",
    [
        ("select", "iris.csv", "-o", "/proc/few.csv"),
        ("select", "iris.csv", "-o", "few.csv", "-m", "/proc/m"),
        ("select", "iris.csv", "-o", "few.csv", "--picture", "/proc/p.png"),
        ("classify", "iris.csv", "-m", "m", "-o", "/proc/a.csv"),
        ("compare", "iris.csv", "-l", "species", "--html", "/proc/r.html"),
        ("reproduce", "/proc/results"),
    ],
)
def test_a_folder_that_cannot_be_written_to_is_noticed_before_the_work(run, monkeypatch, command):
    for work in (
        "covey.cli.objects.load.load",
        "covey.cli.model_file.read_model",
        "covey.persistence.loading.ModelFile",
    ):
        monkeypatch.setattr(work, lambda *args: pytest.fail(NO_WORK))
    monkeypatch.setattr("covey.experiments.paper.reproduce.reproduce", lambda *args, **options: pytest.fail(NO_WORK))
    Path("iris.csv").write_text("a,species\n1,x\n")
    Path("m").touch()
    code, _, err = run(*command)
    assert code == 1
    assert "path must lie in a folder that can be written to, got '/proc'" in one_line(err)


def test_options_without_effect_are_refused_before_the_work(run, monkeypatch):
    for work in ("covey.cli.objects.load.load", "covey.persistence.loading.ModelFile"):
        monkeypatch.setattr(work, lambda *args: pytest.fail(NO_WORK))
    np.savez("x.npz", X=np.eye(3))
    sp.save_npz("s.npz", sp.csr_array(np.eye(3)))
    Path("x.svmlight").write_text("1 1:1\n")
    Path("m").touch()
    for name in ("x.npz", "s.npz", "x.svmlight"):
        code, _, err = run("classify", name, "-m", "m", "--keep", "-o", "a.csv")
        assert (code, f"--keep is for columns with names, and {name} has none" in one_line(err)) == (2, True)
    for picture in ((), ("--picture", "p.png")):
        code, _, err = run("select", "x.npz", "--show", "a", *picture, "-o", "few.npz")
        assert (code, "--show says what an .html picture shows" in one_line(err)) == (2, True)


def test_columns_that_look_like_identifiers_are_named(run, caplog):
    rng = np.random.default_rng(0)
    odd = {
        "user_id": rng.choice(10**6, 150, replace=False),
        "orderId": rng.choice(10**6, 150, replace=False),
        "line": rng.permutation(150) + 7,
        "humid": rng.choice(10**3, 150, replace=False) / 1000,
        "age": rng.integers(1, 90, 150),
    }
    iris().assign(**odd).to_csv("t.csv", index=False)
    assert run("select", "t.csv", "-l", "species", "-o", "few.csv")[0] == 0
    named = [name for name in odd if f"column {name!r} looks like an identifier" in caplog.text]
    assert named == ["user_id", "orderId", "line"]
    assert "pass it as --id, or leave it out by naming the others as --features" in caplog.text
    assert "try --scale" not in caplog.text  # of what is left, no column decides alone
    caplog.clear()
    run("select", "t.csv", "-l", "species", "--id", "line", "--features", "user_id,petal_width", "-o", "few.csv", "-f")
    assert "identifier" not in caplog.text  # it was asked for


@pytest.mark.parametrize(
    ("name", "values", "found"),
    [
        ("id", [3, 1, 2], True),
        ("ID", [30, 10, 20], True),
        ("host id", [30, 10, 20], True),
        ("grid", [30, 10, 20], False),
        ("id", [1, 1, 2], False),
        ("id", [1.5, 2, 3], False),
        ("x", [3, 1, 2], False),
        ("x", range(20), True),
        ("x", range(0, 40, 2), False),
    ],
)
def test_identifiers_are_recognised_by_their_name_or_as_running_numbers(name, values, found):
    assert is_identifier(name, np.array(values, dtype=np.float64)) == found


def test_hosts_without_a_label_and_lines_without_a_contact_are_counted(run, caplog):
    Path("conn.log").write_text(conn_log() + "nonsense\n")
    Path("labels.csv").write_text("host,label\n10.0.0.0,office\n10.0.1.0,server\n10.0.1.1,server\n")
    assert run("select", "conn.log", "--hosts", "--labels", "labels.csv", "-o", "few.csv")[0] == 0
    assert "5 of 8 hosts have no label in labels.csv and are left out." in caplog.text
    assert "1 line of conn.log holds no contact of a host and is left out." in caplog.text
    Path("labels.csv").write_text("host,label\n10.0.0.0,office\n10.0.0.0,server\n")
    code, _, err = run("select", "conn.log", "--hosts", "--labels", "labels.csv", "-o", "few.csv", "-f")
    assert code == 1
    assert "labels.csv, line 3: host '10.0.0.0' has the label 'office' already, got 'server'" in one_line(err)
    Path("labels.csv").write_text("host,label\n10.0.0.0,\n")
    code, _, err = run("select", "conn.log", "--hosts", "--labels", "labels.csv", "-o", "few.csv", "-f")
    assert (code, "labels.csv, line 2: no value in column 'label'" in one_line(err)) == (1, True)


def test_columns_of_a_sparse_matrix_that_a_table_cannot_hold_are_mentioned(run, caplog):
    sp.save_npz("s.npz", sp.csr_array(np.eye(3)))
    assert run("select", "s.npz", "-o", "few.csv")[0] == 0
    assert "a table has no room for the columns of a sparse matrix" in caplog.text
    caplog.clear()
    assert run("select", "s.npz", "-o", "few.npz")[0] == 0
    assert caplog.text == ""


ODD = "\x1b]0;owned\x07\x1b[2J\x9b1m\u202e\x08"


def visible_only(text):
    return all(sign.isprintable() or sign == "\n" for sign in text)


def test_escape_sequences_of_labels_columns_and_files_are_shown_escaped(run):
    frame = iris().rename(columns={"petal_width": f"width{ODD}"}).assign(species=np.repeat([f"a{ODD}", "b", "c"], 50))
    name = f"iris{ODD}.csv"
    frame.to_csv(name, index=False)
    code, out, err = run("select", name, "-l", "species", "-o", "few.csv", "-m", "m")
    assert code == 0
    assert visible_only(out + err)
    assert "width\\x1b]0;owned\\x07" in err
    code, out, err = run("inspect", "m")
    assert visible_only(out + err)
    assert "a\\x1b]0;owned\\x07\\x1b[2J\\x9b1m\\u202e\\x08" in out
    assert "made from iris\\x1b]0;owned" in out
    assert visible_only(run("inspect", "m", "--json")[1])
    assert json.loads(run("inspect", "m", "--json")[1])["clusters"][0]["label"] == f"a{ODD}"


def test_escape_sequences_in_errors_and_page_names_are_shown_escaped(run):
    frame = iris().rename(columns={"petal_width": f"width{ODD}"})
    frame.to_csv("iris.csv", index=False)
    for command in (
        ("select", "iris.csv", "-l", "nothing"),
        ("select", f"absent{ODD}.csv"),
        ("select", "iris.csv", "-l", "species", "--picture", "p.html", "--show", ODD, "-o", "few.csv"),
    ):
        code, _, err = run(*command)
        assert code == 1
        assert visible_only(one_line(err))
    page = f"r{ODD}.html"
    code, out, _ = run("compare", "iris.csv", "-l", "species", "--methods", "crs", "-k", "3", "--html", page)
    assert code == 0
    assert visible_only(out)


def test_escape_sequences_in_log_lines_are_shown_escaped():
    record = logging.LogRecord("covey", logging.WARNING, "", 1, "column %s", (ODD,), None)
    assert visible_only(VisibleFormatter("covey: %(message)s").format(record))


def test_escape_sequences_in_a_stack_are_shown_escaped(folder):
    done = piped("--debug", "select", f"absent{ODD}.csv")
    assert "Traceback" in done.stderr
    assert "absent\\x1b]0;owned" in done.stderr
    assert visible_only(done.stderr)


def test_a_model_of_strings_made_by_version_0_1_0_still_classifies(run):
    """It took the similarity for a function of the user's own, which files do not hold; now it has a name."""
    model = Path(__file__).parents[1] / "files" / "command-line" / "levenshtein-0.1.0.covey"
    Path("new.csv").write_text("body\nhello\nwords\n")
    code, _, err = run("classify", "new.csv", "-m", model, "-o", "answers.csv")
    assert (code, "2 rows classified" in err) == (0, True), err
    assert [line.split(",")[1] for line in Path("answers.csv").read_text().splitlines()[1:]] == ["a", "b"]
