"""The commands as people run them: in a folder of their own, with real files, pipes, signals and a terminal."""

import csv
import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from rapidfuzz.distance import JaroWinkler, Levenshtein
from sklearn.datasets import dump_svmlight_file, load_iris, load_svmlight_file

import covey
from covey import cli
from tests.browser import assert_renders

COVEY = [sys.executable, "-m", "covey.cli"]
ADDED = ["covey_row", "covey_cluster", "covey_rank", "covey_covers"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Every test has a folder to itself."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(monkeypatch, capsys):
    """Run a command in this process: exit code, standard output and standard error."""

    def command(*args):
        monkeypatch.setattr(sys, "argv", ["covey", *map(str, args)])
        capsys.readouterr()
        try:
            cli.main()
            code = 0
        except SystemExit as stop:
            code = stop.code or 0
        out, err = capsys.readouterr()
        return code, out, err

    return command


def iris():
    data = load_iris()
    frame = pd.DataFrame(data.data, columns=["sepal_length", "sepal_width", "petal_length", "petal_width"])
    return frame.assign(species=data.target_names[data.target], name=[f"flower {at}" for at in range(150)])


WRITE = {
    "iris.csv": lambda frame, path: frame.to_csv(path, index=False),
    "iris.csv.gz": lambda frame, path: frame.to_csv(path, index=False),
    "iris.csv.xz": lambda frame, path: frame.to_csv(path, index=False),
    "iris.csv.bz2": lambda frame, path: frame.to_csv(path, index=False),
    "iris.csv.zst": lambda frame, path: frame.to_csv(path, index=False),
    "iris.tsv": lambda frame, path: frame.to_csv(path, index=False, sep="\t"),
    "iris.jsonl": lambda frame, path: frame.to_json(path, orient="records", lines=True),
    "iris.jsonl.gz": lambda frame, path: frame.to_json(path, orient="records", lines=True),
    "iris.parquet": lambda frame, path: frame.to_parquet(path),
}
READ = {
    "csv": pd.read_csv,
    "tsv": lambda path: pd.read_csv(path, sep="\t"),
    "jsonl": lambda path: pd.read_json(path, lines=True),
    "parquet": pd.read_parquet,
}


def expected():
    frame = iris()
    X, y = frame.iloc[:, :4], frame["species"].to_numpy(dtype=str)
    return covey.NearestPrototypeClassifier(covey.CRS(5, random_state=0)).fit(X, y), X, y


@pytest.mark.parametrize("name", WRITE)
def test_round_trip_of_tables(run, name):
    """What goes in comes out, in the same format, with what the library itself selects and answers."""
    frame = iris()
    WRITE[name](frame, name)
    read = READ[name.split(".")[1]]
    code, out, _ = run("select", name, "--label", "species", "--id", "name", "-k", 5, "-o", f"few-{name}", "-m", "m")
    assert (code, out) == (0, "")
    few = read(f"few-{name}")
    fitted, X, _ = expected()
    rows = fitted.selector_.sample_indices_
    assert few.columns.tolist() == [*frame.columns, *ADDED]
    np.testing.assert_array_equal(few["covey_row"], rows)
    pd.testing.assert_frame_equal(few[list(frame.columns)], frame.iloc[rows].reset_index(drop=True), check_dtype=False)
    np.testing.assert_array_equal(few["covey_cluster"], few["species"])
    for label, part in few.groupby("covey_cluster"):
        assert part["covey_rank"].tolist() == list(range(1, len(part) + 1))
        assert part["covey_covers"].sum() == round(fitted.selector_.prototypes_[label].coverage * 50)

    code, _, _ = run("classify", name, "--model", "m", "-o", f"answers-{name}")
    assert code == 0
    answers = read(f"answers-{name}")
    np.testing.assert_array_equal(answers["covey_label"], fitted.predict(X))
    decided, similarities = fitted.nearest_prototypes(X, n=1)
    np.testing.assert_array_equal(answers["covey_representative"], decided[:, 0])
    np.testing.assert_allclose(answers["covey_similarity"], similarities[:, 0])
    assert answers["covey_representative_id"].tolist() == frame["name"].iloc[decided[:, 0]].tolist()
    both = np.sort(fitted.class_similarities(X), axis=1)
    np.testing.assert_allclose(answers["covey_margin"], both[:, -1] - both[:, -2])
    assert (answers["covey_runner_up"] != answers["covey_label"]).all()
    assert not [path for path in os.listdir() if path.startswith(".")]  # no temporary file is left


def test_round_trip_of_arrays(run):
    fitted, X, y = expected()
    values, codes = X.to_numpy(), np.unique(y, return_inverse=True)[1]
    rows = fitted.selector_.sample_indices_
    np.savez("iris.npz", X=values, y=codes)
    assert run("select", "iris.npz", "-k", 5, "-o", "few.npz", "-m", "m")[0] == 0
    with np.load("few.npz") as few:
        np.testing.assert_array_equal(few["X"], values[rows])
        np.testing.assert_array_equal(few["y"], codes[rows])
        np.testing.assert_array_equal(few["covey_row"], rows)
    assert run("classify", "iris.npz", "-m", "m", "-o", "answers.csv")[0] == 0
    answers = pd.read_csv("answers.csv")["covey_label"]
    np.testing.assert_array_equal(answers, np.unique(y, return_inverse=True)[0].searchsorted(fitted.predict(X)))

    sp.save_npz("sparse.npz", sp.csr_array(values))
    assert run("select", "sparse.npz", "-k", 5, "-o", "all.npz")[0] == 0  # no labels: one cluster
    with np.load("all.npz") as few:
        np.testing.assert_allclose(sp.load_npz("all.npz").toarray(), values[few["covey_row"]])
        assert set(few["covey_cluster"]) == {"all"}

    dump_svmlight_file(values, codes, "iris.svmlight")
    assert run("select", "iris.svmlight", "-k", 5, "-o", "few.svmlight", "-m", "n")[0] == 0
    few, labels = load_svmlight_file("few.svmlight")
    np.testing.assert_allclose(few.toarray(), values[rows])
    np.testing.assert_array_equal(labels, codes[rows])
    assert f"covey_row={rows[0]} covey_cluster=0 covey_rank=1" in Path("few.svmlight").read_text().splitlines()[0]
    assert run("classify", "iris.svmlight", "-m", "n", "-o", "b.csv")[0] == 0
    Path("narrow.svmlight").write_text("0 1:5.1 2:3.5\n")  # columns 3 and 4 are 0
    assert run("classify", "narrow.svmlight", "-m", "n", "-o", "narrow.csv")[0] == 0
    np.testing.assert_array_equal(pd.read_csv("b.csv")["covey_label"], answers)


def test_numeric_columns_unless_told_otherwise(run):
    iris().to_csv("iris.csv", index=False)
    for features, width in ((None, 4), ("petal_length,petal_width", 2)):
        options = [] if features is None else ["--features", features]
        assert run("select", "iris.csv", "-l", "species", "-o", "f.csv", "-m", "m", "--force", *options)[0] == 0
        assert covey.load("m").n_features_in_ == width


TEXTS = {
    "pets": ["the cat sat down", "a cat and a dog", "the dog barks at the cat", "my dog and your cat sat"],
    "cars": ["the engine of a car", "a fast car on the road", "road and engine noise", "the car has a new engine"],
}


def texts():
    return pd.DataFrame([{"topic": topic, "body": body} for topic, bodies in TEXTS.items() for body in bodies])


def test_texts_as_tf_idf(run):
    texts().to_csv("texts.csv", index=False)
    assert run("select", "texts.csv", "-l", "topic", "--text", "body", "-k", 2, "-o", "few.csv", "-m", "m")[0] == 0
    pd.DataFrame({"body": ["a cat and my dog", "engine of a new car"]}).to_csv("new.csv", index=False)
    assert run("classify", "new.csv", "-m", "m", "-o", "answers.csv")[0] == 0
    assert pd.read_csv("answers.csv")["covey_label"].tolist() == ["pets", "cars"]
    assert "as TF-IDF" in run("inspect", "m")[1]


@pytest.mark.parametrize(("name", "measure"), [("levenshtein", Levenshtein), ("jaro-winkler", JaroWinkler)])
def test_texts_as_strings(run, name, measure):
    texts().to_csv("texts.csv", index=False)
    common = ("-l", "topic", "--text", "body", "-s", name, "-k", 2)
    assert run("select", "texts.csv", *common, "-o", "few.csv", "-m", "m")[0] == 0
    assert run("classify", "texts.csv", "-m", "m", "-o", "answers.csv")[0] == 0
    few, answers = pd.read_csv("few.csv"), pd.read_csv("answers.csv")
    best = [max(measure.normalized_similarity(text, other) for other in few["body"]) for text in texts()["body"]]
    np.testing.assert_allclose(answers["covey_similarity"], best)
    assert "as it is" in run("inspect", "m")[1]


def test_profiles(run):
    rows = [
        {"kind": kind, "seen": dict.fromkeys(keys, n)} for kind, keys in (("a", "xyz"), ("b", "uvw")) for n in (1, 2, 3)
    ]
    Path("p.jsonl").write_text("\n".join(map(json.dumps, rows)))
    pd.DataFrame([{**row, "seen": json.dumps(row["seen"])} for row in rows]).to_csv("p.csv", index=False)
    for name in ("p.jsonl", "p.csv"):
        assert (
            run("select", name, "-l", "kind", "--profile", "seen", "-k", 2, "-o", f"few-{name}", "-m", "m", "-f")[0]
            == 0
        )
        assert run("classify", name, "-m", "m", "-o", "out.csv", "--force")[0] == 0
        assert pd.read_csv("out.csv")["covey_label"].tolist() == ["a"] * 3 + ["b"] * 3
    first = json.loads(Path("few-p.jsonl").read_text().splitlines()[0])["seen"]
    assert first == json.loads(pd.read_csv("few-p.csv")["seen"][0])
    Path("p.jsonl").write_text('{"kind": "a", "seen": {"x": 1}}\n\n{"kind": "a", "seen": {"x": "one"}}\n')
    code, _, err = run("select", "p.jsonl", "-l", "kind", "--profile", "seen")
    assert code == 1
    assert "p.jsonl, line 3" in err


def test_a_matrix_of_similarities(run):
    fitted, X, y = expected()
    unit = X.to_numpy() / np.linalg.norm(X, axis=1, keepdims=True)
    np.savez("matrix.npz", X=unit @ unit.T, y=y)
    assert run("select", "matrix.npz", "--matrix", "-k", 5, "-o", "few.csv", "-m", "m")[0] == 0
    np.testing.assert_array_equal(pd.read_csv("few.csv")["covey_row"], fitted.selector_.sample_indices_)
    assert run("classify", "matrix.npz", "-m", "m", "-o", "answers.csv")[0] == 0
    np.testing.assert_array_equal(pd.read_csv("answers.csv")["covey_label"], fitted.predict(X))


def conn_log():
    lines = ["#fields\tts\tid.orig_h\tid.resp_h\tid.resp_p"]
    for at, (servers, hosts) in enumerate({("web", "mail"): 4, ("db", "backup"): 4}.items()):
        lines += [
            f"{window * 300}\t10.0.{at}.{host}\t{server}\t443"
            for host in range(hosts)
            for server in servers
            for window in range(host + 2)
        ]
    return "\n".join(lines) + "\n"


def test_hosts_of_a_log(run):
    Path("conn.log").write_text(conn_log())
    Path("labels.csv").write_text(
        "host,label\n"
        + "".join(f"10.0.{at}.{host},{'office' if at == 0 else 'server'}\n" for at in (0, 1) for host in range(3))
    )
    assert run("select", "conn.log", "--hosts", "-o", "few.csv")[0] == 0
    assert set(pd.read_csv("few.csv")["covey_cluster"]) == {"all"}
    assert run("select", "conn.log", "--hosts", "--labels", "labels.csv", "-k", 2, "-o", "h.jsonl", "-m", "m")[0] == 0
    few = pd.read_json("h.jsonl", lines=True)
    assert few["profile"].map(lambda profile: isinstance(profile, dict)).all()
    assert run("classify", "conn.log", "--hosts", "-m", "m", "-o", "out.csv")[0] == 0
    answers = pd.read_csv("out.csv").set_index("host")["covey_label"]
    assert answers["10.0.0.3"] == "office"  # those had no label
    assert answers["10.0.1.3"] == "server"


def test_a_similarity_of_ones_own(run):
    Path("mine.py").write_text("def nearness(a, b):\n    return 1 / (1 + abs(a[0] - b[0]))\n")
    iris().to_csv("iris.csv", index=False)
    common = ("-l", "species", "--features", "petal_length")
    assert run("select", "iris.csv", *common, "-s", "mine:nearness", "-o", "few.csv", "-m", "m")[0] == 0
    code, _, err = run("classify", "iris.csv", "-m", "m", "-o", "out.csv")
    assert code == 1
    assert "pass --similarity mine:nearness again" in err
    assert not Path("out.csv").exists()
    assert run("classify", "iris.csv", "-m", "m", "-s", "mine:nearness", "-o", "out.csv")[0] == 0
    truth = iris()["species"]
    assert (pd.read_csv("out.csv")["covey_label"] == truth).mean() > 0.9
    code, _, err = run("select", "iris.csv", *common, "-s", "mine:farness")
    assert code == 1
    assert "farness" in err


def test_rejection(run):
    iris().to_csv("iris.csv", index=False)
    assert run("select", "iris.csv", "-l", "species", "-o", "few.csv", "-m", "m")[0] == 0
    odd = iris().iloc[:2].assign(sepal_length=[5, -5], petal_length=[1.4, 1.4])
    odd.to_csv("odd.csv", index=False)
    assert run("classify", "odd.csv", "-m", "m", "--reject", "threshold", "-o", "a.csv")[0] == 0
    assert pd.read_csv("a.csv")["covey_label"].tolist() == ["setosa", "unknown"]
    assert run("classify", "odd.csv", "-m", "m", "--reject", "2", "--unknown", "?", "-o", "b.csv")[0] == 0
    assert pd.read_csv("b.csv")["covey_label"].tolist() == ["?", "?"]
    for wrong in (("--reject", "much"), ("--reject", "nan"), ("--reject", "1", "--unknown", "setosa")):
        assert run("classify", "odd.csv", "-m", "m", *wrong)[0] == 2
    run("select", "iris.csv", "-l", "species", "--threshold", "none", "-o", "few2.csv", "-m", "n")
    code, _, err = run("classify", "odd.csv", "-m", "n", "--reject", "threshold")
    assert code == 1
    assert "has none" in one_line(err)


def test_input_kept_beside_the_answers(run):
    iris().to_csv("iris.csv", index=False)
    run("select", "iris.csv", "-l", "species", "--id", "name", "-o", "few.csv", "-m", "m")
    assert run("classify", "iris.csv", "-m", "m", "--keep", "-o", "out.csv")[0] == 0
    out = pd.read_csv("out.csv")
    pd.testing.assert_frame_equal(out[list(iris().columns)], iris(), check_dtype=False)
    assert out.columns.is_unique


def one_line(err):
    assert err.startswith("covey: ")
    assert len(err.strip().splitlines()) == 1
    assert "Traceback" not in err
    return err


BAD = {
    "a row too long": ("a,b,kind\n1,2,x\n3,4,5,6\n", r"bad\.csv, line 3: the header has 3 columns, the row 4"),
    "a row too short": ("a,b,kind\n1,2,x\n3\n4,5,y\n", r"bad\.csv, line 3: the header has 3 columns, the row 1"),
    "a first row too long": ("a,b,kind\n1,2,x,9\n3,4,y\n", r"bad\.csv, line 2: the header has 3 columns, the row 4"),
    "a gap": ("a,b,kind\n1,2,x\n3,,x\n4,5,y\n", r"bad\.csv, line 3: no value in column 'b'"),
    "after lines within a field": ('a,b,note,kind\n1,2,"\n\n",x\n3,4\n', r"bad\.csv, line 5: the header has 4"),
    "a column twice": ("a,a,kind\n1,2,x\n", r"bad\.csv, line 1: two columns are called 'a'"),
    "an open quote": ('a,kind\n1,"x\n2,y\n', r"bad\.csv, line 3"),
    "no number": ("a,b,kind\n1,2,x\n3,4,x\n\n5,oops,x\n6,7,y\n", r"bad\.csv, line 5: 'oops' in column 'b'"),
    "no label": ("a,b,kind\n1,2,x\n3,4,\n", r"bad\.csv, line 3: no value in column 'kind'"),
    "lines within a field": (
        'a,b,note,kind\n1,2,"two\nlines",x\n3,,"",y\n',
        r"bad\.csv, line 4: no value in column 'b'",
    ),
    "nothing": ("", r"bad\.csv is empty"),
    "a header only": ("a,b,kind\n", r"bad\.csv holds no rows"),
    "no numbers": ("a,kind\nred,x\nblue,y\n", r"no columns of numbers beside the label.*its columns are a, kind"),
}


@pytest.mark.parametrize("what", BAD)
def test_a_broken_table_is_named_with_its_line(run, what):
    content, message = BAD[what]
    Path("bad.csv").write_text(content)
    code, out, err = run("select", "bad.csv", "--label", "kind", "-o", "few.csv")
    assert (code, out) == (1, "")
    assert re.search(message, one_line(err)), err
    assert not Path("few.csv").exists()


def test_other_broken_files(run):
    Path("bad.jsonl").write_text('{"a": 1}\n{"a": \n')
    Path("list.jsonl").write_text("[1, 2]\n")
    Path("bad.svmlight").write_text("1 1:0.5\n1 what\n")
    for name in ("bad.parquet", "bad.npz"):
        Path(name).write_bytes(b"nothing of the kind")
    iris().to_csv("iris.csv.gz", index=False)
    whole = Path("iris.csv.gz").read_bytes()
    Path("cut.csv.gz").write_bytes(whole[: len(whole) // 2])
    messages = {
        "bad.jsonl": "bad.jsonl, line 2: no JSON",
        "list.jsonl": "list.jsonl, line 1: list where an object should be",
        "bad.svmlight": "bad.svmlight, line 2",
        "bad.parquet": "bad.parquet is no Parquet file, or damaged",
        "bad.npz": "bad.npz is no .npz file, or damaged",
        "cut.csv.gz": "cut.csv.gz cannot be read",
        "absent.csv": "absent.csv: no such file",
        "iris.doc": "does not say its format",
    }
    for name, message in messages.items():
        code, _, err = run("select", name)
        assert code == 1
        assert message in one_line(err)


def test_what_is_not_there_is_named(run):
    iris().to_csv("iris.csv", index=False)
    code, _, err = run("select", "iris.csv", "--label", "kind")
    assert code == 1
    assert "no column 'kind'; it has sepal_length, sepal_width, petal_length, petal_width, species, name" in one_line(
        err
    )
    run("select", "iris.csv", "-l", "species", "-o", "few.csv", "-m", "m")
    pd.DataFrame({"sepal_length": [1.0]}).to_csv("other.csv", index=False)
    code, _, err = run("classify", "other.csv", "-m", "m")
    assert code == 1
    assert "no column 'sepal_width', 'petal_length', 'petal_width'; it has sepal_length" in one_line(err)


def test_a_model_cut_off_in_the_middle(run):
    iris().to_csv("iris.csv", index=False)
    run("select", "iris.csv", "-l", "species", "-o", "few.csv", "-m", "m")
    whole = Path("m").read_bytes()
    for size in (0, 10, len(whole) // 2, len(whole) - 1):
        Path("cut").write_bytes(whole[:size])
        for command in (("classify", "iris.csv", "--model", "cut"), ("inspect", "cut")):
            code, _, err = run(*command)
            assert code == 1
            assert "'cut' was not written by covey.save, or is damaged" in one_line(err)
    code, _, err = run("classify", "iris.csv", "--model", "gone")
    assert (code, "gone: no such file" in one_line(err)) == (1, True)


def test_files_are_not_replaced_unless_forced(run):
    iris().to_csv("iris.csv", index=False)
    for option in ("-o", "--model", "--picture"):
        name = "there.png"
        Path(name).write_text("precious")
        options = ["-o", "new.csv"] if option != "-o" else ["--out-format", "csv"]
        code, _, err = run("select", "iris.csv", "-l", "species", *options, option, name)
        assert code == 1
        assert f"{name} exists; choose another name, or pass --force" in one_line(err)
        assert Path(name).read_text() == "precious"
        assert not Path("new.csv").exists()
    assert run("select", "iris.csv", "-l", "species", "-o", "there.png", "--out-format", "csv", "--force")[0] == 0
    assert len(pd.read_csv("there.png")) > 3


def test_usage_errors_are_2_and_help_teaches(run):
    assert run("select")[0] == 2
    assert run("select", "x.csv", "--nonsense")[0] == 2
    iris().to_csv("iris.csv", index=False)
    for wrong in (
        ("-k", "many"),
        ("-k", "0"),
        ("-k", "2.5"),
        ("--coverage", "7"),
        ("-j", "0"),
        ("-s", "cosin"),
        ("-s", "levenshtein"),
        ("--text", "name", "--features", "petal_width"),
        ("--labels", "labels.csv"),
        ("--hosts", "-l", "species"),
        ("-o", "same", "--out-format", "csv", "-m", "same"),
    ):
        code, _, err = run("select", "iris.csv", *wrong)
        assert code == 2, wrong
        assert "Traceback" not in err
    assert run("nonsense")[0] == 2
    code, out, _ = run("--help")
    assert code == 0
    for command in ("select", "classify", "compare", "inspect", "demo", "reproduce"):
        assert command in out
        code, told, _ = run(command, "--help")
        assert code == 0
        assert command == "demo" or "Example:" in told
    assert run("--version")[1] == f"covey {covey.__version__}\n"


def test_debug_shows_where(run, monkeypatch):
    monkeypatch.setattr(cli.Debug, "on", False)
    for command in (("--debug", "select", "absent.csv"), ("select", "absent.csv", "--debug")):
        with pytest.raises(FileNotFoundError):
            run(*command)
        monkeypatch.setattr(cli.Debug, "on", False)


def test_inspect_tells_what_is_inside(run):
    iris().to_csv("iris.csv", index=False)
    run("select", "iris.csv", "-l", "species", "-k", 5, "-o", "few.csv", "-m", "m")
    fitted, _, _ = expected()
    told = json.loads(run("inspect", "m", "--json")[1])
    assert told["made_from"] == "iris.csv"
    assert told["parameters"]["n_neighbors"] == 5
    for cluster in told["clusters"]:
        found = fitted.selector_.prototypes_[cluster["label"]]
        assert cluster["representatives"] == found.indices.size
        assert cluster["coverage"] == found.coverage
    assert "setosa" in run("inspect", "m")[1]


def test_a_model_saved_from_python(run):
    fitted, X, _ = expected()
    covey.save(fitted, "m")
    iris().to_csv("iris.csv", index=False)
    assert run("classify", "iris.csv", "-m", "m", "-o", "out.csv")[0] == 0
    np.testing.assert_array_equal(pd.read_csv("out.csv")["covey_label"], fitted.predict(X))
    assert run("inspect", "m")[0] == 0


def test_pictures(run):
    iris().to_csv("iris.csv", index=False)
    common = ("select", "iris.csv", "-l", "species", "--id", "name", "-o", "few.csv", "--force")
    for name, start in (("p.png", b"\x89PNG"), ("p.svg", b"<?xml"), ("p.pdf", b"%PDF")):
        assert run(*common, "--picture", name)[0] == 0
        assert Path(name).read_bytes().startswith(start)
    assert run(*common, "--picture", "map.html", "--cluster", "virginica")[0] == 0
    assert "flower 149" in Path("map.html").read_text()
    Path("few.csv").unlink()
    assert run(*common, "--picture", "p.doc")[0] == 2
    assert run(*common, "--picture", "q.html", "--cluster", "rose")[0] == 1
    assert not Path("few.csv").exists()  # what cannot be drawn is known before anything is written
    assert_renders(Path("map.html").resolve(), phone=True)


def test_compare(run):
    iris().to_csv("iris.csv", index=False)
    code, out, _ = run("compare", "iris.csv", "-l", "species", "-k", "3,10,20", "--folds", 3, "--html", "r.html")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()[1:9]] == [
        "CRS-k3", "CRS-k10", "CRS-k20", "delta-medoids", "DS3", "random-5%", "full-100%", "Recommended:",
    ]  # fmt: skip
    assert sorted(os.listdir()) == ["iris.csv", "r.html"]  # the records have done their work
    shown = assert_renders(Path("r.html").resolve(), phone=True)
    assert "Recommended: k = " in shown
    assert "stands for" in shown


def test_compare_says_what_it_needs(run):
    iris().to_csv("iris.csv", index=False)
    for options, (expected_code, message) in {
        ("-l", "species", "--methods", "crs,magic"): (2, "got magic"),
        ("-l", "species", "-k", ""): (2, "-k must be numbers"),
        ("-l", "name"): (1, "too small: flower 0 (1)"),
        (): (1, "at least two clusters"),
    }.items():
        code, _, err = run("compare", "iris.csv", *options)
        assert code == expected_code
        assert message in one_line(err)
    assert run("compare", "-", "-l", "species")[0] == 2


def test_recommendation_takes_the_fewest_that_cost_nothing():
    from covey.commands._compare import recommend
    from covey.experiments import Record

    def record(k, seed, score):
        return Record("p", f"CRS-k{k}", "c", seed, 100, 10, score, score, None, 0, 0.0, 0.0, {}, [])

    scores = {2: (0.90, 0.92), 5: (0.93, 0.95), 10: (0.93, 0.94), 20: (0.80, 0.82)}
    found = recommend([record(k, seed, value) for k, values in scores.items() for seed, value in enumerate(values)])
    assert found.k == 10  # .935 is within .01 of .94; .81 is not
    assert found.reason.endswith("larger k are worse.")
    alone = recommend([record(3, 0, 0.9)])
    assert alone.reason == "k = 3: it has the best F1, 0.900; no larger k was tried."
    assert recommend([]) is None


def piped(*args, **options):
    return subprocess.run([*COVEY, *args], capture_output=True, text=True, timeout=120, **options)


def test_pipes(folder):
    """Standard input and output, and a reader that leaves early: no stack trace, no progress."""
    iris().to_csv("iris.csv", index=False)
    big = pd.concat([iris()] * 200)
    big.to_csv("big.csv", index=False)
    done = piped("select", "-", "-l", "species", "--model", "m", input=Path("iris.csv").read_text())
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) > 5
    assert "\x1b" not in done.stderr
    command = f"{' '.join(COVEY)} classify - --model m < big.csv | head -2"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=120, check=False)
    assert len(done.stdout.splitlines()) == 2
    assert "Traceback" not in done.stderr
    command = f"{' '.join(COVEY)} select big.csv -l species -k 2 | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout.startswith("sepal_length")
    assert "Traceback" not in done.stderr
    assert piped("classify", "iris.csv", "--model", "m", "-q").stderr == ""


PEAK = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def test_a_million_rows_in_bounded_memory(folder):
    """Ten times the rows must not take more than a few blocks' worth of memory more."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 1000, (100_000, 4))
    frame = pd.DataFrame(X, columns=list("abcd")).assign(kind=np.where(X[:, 0] > X[:, 1], "left", "right"))
    frame.iloc[:3000].to_csv("train.csv", index=False)
    text = frame.to_csv(index=False)
    header, _, body = text.partition("\n")
    Path("small.csv").write_text(text)
    with Path("large.csv").open("w") as file:
        file.write(header + "\n")
        file.writelines(body for _ in range(10))
    assert piped("select", "train.csv", "-l", "kind", "-o", "few.csv", "--model", "m").returncode == 0
    peaks = {}
    for name in ("small", "large"):
        command = [*COVEY, "classify", f"{name}.csv", "--model", "m", "-o", f"{name}.out.csv", "-q"]
        done = subprocess.run([sys.executable, "-c", PEAK, *command], capture_output=True, text=True, check=True)
        code, peak = map(int, done.stdout.split())
        assert code == 0
        peaks[name] = peak / 1024
    answers = pd.read_csv("large.out.csv")
    np.testing.assert_array_equal(answers["covey_row"], np.arange(1_000_000))
    once = covey.load("m").predict(frame[list("abcd")])
    np.testing.assert_array_equal(answers["covey_label"], np.tile(once, 10))
    assert peaks["large"] - peaks["small"] < 40, peaks


INTERRUPTED = """
import sys, time
from covey import cli, experiments
from covey.experiments import Method, METHODS
from covey.commands import _compare

def slowly(k):
    def make(*args):
        time.sleep(1)
        return METHODS["CRS-k5"].make(*args)
    return Method(make)

_compare.crs = slowly
sys.argv = ["covey", "compare", "iris.csv", "-l", "species", "--methods", "crs", "-k", "3,5,10", "--html", "r.html"]
cli.main()
"""


def test_ctrl_c_keeps_what_was_finished(folder):
    iris().to_csv("iris.csv", index=False)
    process = subprocess.Popen([sys.executable, "-c", INTERRUPTED], stderr=subprocess.PIPE, text=True)
    for _ in range(600):
        time.sleep(0.05)
        kept = list(folder.glob(".r-*/records.jsonl"))
        if kept and len(kept[0].read_text().splitlines()) >= 2:
            break
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "stopped; what was finished is kept; run the same command again to go on." in err
    assert "Traceback" not in err
    assert not Path("r.html").exists()
    before = kept[0].read_text()
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=60, check=True)
    assert "Recommended" in done.stdout
    assert len(before.splitlines()) >= 2
    assert sorted(os.listdir()) == ["iris.csv", "r.html"]


def test_ctrl_c_leaves_no_half_file(folder):
    pd.concat([iris()] * 2000).to_csv("big.csv", index=False)
    iris().to_csv("iris.csv", index=False)
    assert piped("select", "iris.csv", "-l", "species", "-o", "few.csv", "-m", "m").returncode == 0
    process = subprocess.Popen(
        [*COVEY, "classify", "big.csv", "-m", "m", "-o", "out.csv"], stderr=subprocess.PIPE, text=True
    )
    for _ in range(600):
        time.sleep(0.01)
        if list(folder.glob(".*out.csv")):
            break
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "stopped; nothing was written" in err
    assert sorted(os.listdir()) == ["big.csv", "few.csv", "iris.csv", "m"]


SLOW = "import time\n\ndef slow(a, b):\n    time.sleep(2e-5)\n    return 1 / (1 + abs(a[0] - b[0]))\n"


def test_a_bar_on_a_terminal_only(folder):
    Path("mine.py").write_text(SLOW)
    rng = np.random.default_rng(0)
    pd.DataFrame({"a": rng.random(700)}).to_csv("t.csv", index=False)
    command = [*COVEY, "select", "t.csv", "-s", "mine:slow", "-o", "few.csv", "-f", "-j", "1"]
    shown = on_a_terminal(command)
    assert re.search(r"CRS .* evaluations .* evaluations/s .*left: .*cluster 'all', 1 of 1", shown)
    assert "CRS" not in on_a_terminal([*command, "-q"])
    assert "CRS" not in subprocess.run(command, capture_output=True, text=True, check=True).stderr


def on_a_terminal(command):
    """What a command writes to a terminal of 200 columns, without colors."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update(COLUMNS="200", TERM="xterm")
        os.execv(command[0], command)
    shown = b""
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:
            break
        if not part:
            break
        shown += part
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown.decode())


def test_a_missing_extra_names_the_command():
    code = "import sys; sys.modules['typer'] = None; import covey.cli"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == 'covey: this needs typer, which is not installed; run: pip install "covey[cli]"\n'
    code = "import sys; sys.modules['pandas'] = None; from covey.files import read; read('x.csv')"
    Path("x.csv").write_text("a\n1\n")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert 'this needs pandas, which is not installed; run: pip install "covey[cli]"' in done.stderr


def test_completion_is_there():
    env = os.environ | {"_COVEY_COMPLETE": "complete_bash", "COMP_WORDS": "covey sel", "COMP_CWORD": "1"}
    code = "import sys; sys.argv = ['covey']; from covey.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, check=False)
    assert "select" in done.stdout


def test_selected_rows_are_what_a_reader_of_csv_sees(run):
    """Quotes, commas, line ends and other alphabets survive."""
    frame = pd.DataFrame(
        {"x": [1.0, 2.0, 3.0], "note": ['say "hi", twice', "two\nlines", "žluťoučký"], "kind": ["a", "b", "c"]}
    )
    frame.to_csv("t.csv", index=False)
    assert run("select", "t.csv", "-l", "kind", "-o", "few.csv")[0] == 0
    with Path("few.csv").open(newline="", encoding="utf-8") as file:
        notes = {row["note"] for row in csv.DictReader(file)}
    assert notes == set(frame["note"])


def in_small_blocks(monkeypatch, rows=40):
    from covey.files import _reading

    monkeypatch.setattr(_reading, "MOST_ROWS", rows)


@pytest.mark.parametrize("name", ["iris.csv", "iris.jsonl", "iris.parquet"])
@pytest.mark.parametrize("out", ["a.csv", "a.jsonl", "a.parquet"])
def test_blocks_make_no_difference(run, monkeypatch, name, out):
    WRITE[name](iris(), name)
    run("select", name, "-l", "species", "--id", "name", "-o", "few.csv", "-m", "m")
    common = ("classify", name, "-m", "m", "--keep", "-o")
    assert run(*common, f"whole-{out}")[0] == 0
    in_small_blocks(monkeypatch)
    assert run(*common, f"parts-{out}")[0] == 0
    read = READ[out.split(".")[1]]
    pd.testing.assert_frame_equal(read(f"parts-{out}"), read(f"whole-{out}"))
    assert read(f"parts-{out}")["covey_row"].tolist() == list(range(150))


def test_values_pass_through_unchanged(run, monkeypatch):
    """007 is no 7, NA is a word, and a column is of one type whatever a block holds."""
    in_small_blocks(monkeypatch)
    frame = iris().assign(code=[f"{at:03}" if at < 100 else f"A{at}" for at in range(150)], word="NA")
    frame["zip"] = [f"{at:05}" for at in range(150)]
    frame.to_csv("t.csv", index=False)
    features = ("--features", "petal_length,petal_width")
    assert run("select", "t.csv", "-l", "word", "--id", "zip", *features, "-o", "few.csv", "-m", "m")[0] == 0
    few = pd.read_csv("few.csv", dtype=str, keep_default_na=False)
    rows = few["covey_row"].astype(int)
    for column in ("code", "word", "zip"):
        assert few[column].tolist() == frame[column].iloc[rows].tolist()
    assert run("classify", "t.csv", "-m", "m", "--keep", "-o", "out.parquet")[0] == 0
    out = pd.read_parquet("out.parquet")
    assert out["zip"].tolist() == frame["zip"].tolist()
    assert out["petal_width"].dtype == np.float64
    assert set(out["covey_representative_id"]) <= set(frame["zip"])
    assert run("select", "t.csv", "--text", "zip", "-s", "levenshtein", "-o", "texts.csv")[0] == 0


def test_answers_of_an_earlier_run_are_replaced(run):
    iris().to_csv("iris.csv", index=False)
    run("select", "iris.csv", "-l", "species", "-o", "few.csv", "-m", "m")
    few = pd.read_csv("few.csv").assign(covey_label="STALE")
    few.to_csv("few.csv", index=False)
    assert run("classify", "few.csv", "-m", "m", "--keep", "-o", "a.csv")[0] == 0
    answers = pd.read_csv("a.csv")
    assert answers.columns.is_unique
    assert "STALE" not in set(answers["covey_label"])
    assert answers["covey_row"].tolist() == list(range(len(few)))
    assert run("select", "few.csv", "-l", "species", "-o", "again.csv", "-m", "n")[0] == 0
    again = pd.read_csv("again.csv")
    assert again.columns.is_unique
    assert covey.load("n").n_features_in_ == 4  # covey's own columns are no features
    assert run("select", "a.csv", "-l", "covey_label", "-o", "by-answer.csv")[0] == 0  # but they may be labels


def test_rows_with_other_keys_further_down(run, monkeypatch):
    in_small_blocks(monkeypatch, 50)
    records = iris().to_dict("records")
    for record in records[60:]:
        del record["name"]
    turned = [dict(reversed(record.items())) if at >= 60 else record for at, record in enumerate(records)]
    Path("t.jsonl").write_text("\n".join(map(json.dumps, turned)))
    run("select", "t.jsonl", "-l", "species", "--id", "name", "-o", "few.csv", "-m", "m")
    for options in ((), ("--keep",)):
        assert run("classify", "t.jsonl", "-m", "m", "-o", "out.csv", "-f", *options)[0] == 0
        out = pd.read_csv("out.csv")
        assert out["covey_row"].tolist() == list(range(150))
        assert set(out["covey_label"]) == {"setosa", "versicolor", "virginica"}
        assert out["name"].isna().sum() == 90
    turned[120]["surprise"] = 1
    Path("t.jsonl").write_text("\n".join(map(json.dumps, turned)))
    code, _, err = run("classify", "t.jsonl", "-m", "m", "--keep", "-o", "new.csv")
    assert code == 1
    assert "a column 'surprise' that its first part lacks" in one_line(err)


def test_gaps_in_json_are_null(run):
    Path("t.jsonl").write_text('{"x": 1, "note": "a"}\n{"x": 2}\n{"x": 9007199254740993, "note": null}\n')
    assert run("select", "t.jsonl", "--features", "x", "-o", "few.jsonl")[0] == 0
    few = [json.loads(line, parse_constant=pytest.fail) for line in Path("few.jsonl").read_text().splitlines()]
    assert {record["x"] for record in few} <= {1, 2, 9007199254740993}
    assert run("select", "t.jsonl", "--features", "x", "--id", "note", "-o", "b.csv", "-m", "m")[0] == 0


def test_svmlight_counts_columns_as_the_model_does(run):
    Path("train.svmlight").write_text("0 0:5\n0 0:4 1:1\n1 1:5\n1 1:4 2:1\n")  # from 0
    Path("new.svmlight").write_text("0 1:5\n1 1:5 2:1\n")  # no column 0 here
    assert run("select", "train.svmlight", "-o", "few.svmlight", "-m", "m")[0] == 0
    assert run("classify", "new.svmlight", "-m", "m", "-o", "a.csv")[0] == 0
    assert pd.read_csv("a.csv")["covey_label"].tolist() == [1, 1]
    Path("one.svmlight").write_text("0 1:5\n1 2:5\n")
    run("select", "one.svmlight", "-o", "few1.svmlight", "-m", "n")
    code, _, err = run("classify", "train.svmlight", "-m", "n")
    assert code == 1
    assert "has a column 0" in one_line(err)


def test_kinds_of_parquet_columns(run):
    from decimal import Decimal

    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table(
        {
            "price": pa.array([Decimal("1.50"), Decimal("2.50"), Decimal("9.00")], pa.decimal128(6, 2)),
            "big": pa.array([9007199254740993, None, 7], pa.int64()),
            "values": pa.array([list(range(1500))] * 3),
            "seen": pa.array(
                [[("a", 1.0)], [("a", 2.0), ("b", 1.0)], [("b", 3.0)]], pa.map_(pa.string(), pa.float64())
            ),
            "kind": pa.array(["x", "x", "y"]).dictionary_encode(),
        }
    )
    pq.write_table(table, "t.parquet")
    assert run("select", "t.parquet", "-l", "kind", "--features", "price", "-o", "few.csv", "-m", "m")[0] == 0
    few = pd.read_csv("few.csv", dtype=str)
    assert "9007199254740993" in set(few["big"])
    assert len(json.loads(few["values"][0])) == 1500
    assert run("select", "few.csv", "-l", "kind", "--profile", "seen", "-o", "again.csv")[0] == 0
    assert run("select", "t.parquet", "-l", "kind", "--profile", "seen", "-o", "few.parquet")[0] == 0
    assert pq.read_schema("few.parquet").field("seen").type == table.schema.field("seen").type
    iris().set_index("name").to_parquet("i.parquet")
    assert run("select", "i.parquet", "-l", "species", "--id", "name", "-o", "i.csv")[0] == 0
    assert "flower" in pd.read_csv("i.csv")["name"][0]


def test_other_ways_to_write_a_table(run):
    text = iris().to_csv(index=False)
    for name, content in {
        "bom.csv": "\ufeff" + text,
        "crlf.csv": text.replace("\n", "\r\n"),
        "semicolon.csv": text.replace(",", ";"),
        "UPPER.CSV": text,
        "index.csv": iris().to_csv(),
    }.items():
        Path(name).write_bytes(content.encode())
        assert run("select", name, "-l", "species", "-o", "few.csv", "-m", "m", "-f")[0] == 0, name
        assert covey.load("m").n_features_in_ == 4


def test_damaged_files_of_all_kinds_of_packing(run):
    for name in ("iris.csv.zst", "iris.csv.xz", "iris.csv.bz2", "iris.jsonl.gz"):
        WRITE[name](iris(), name)
        whole = Path(name).read_bytes()
        Path(f"cut-{name}").write_bytes(whole[: len(whole) // 2])
        Path(f"no-{name}").write_bytes(b"nothing of the kind, and quite long enough to be looked at")
        for damaged in (f"cut-{name}", f"no-{name}"):
            code, _, err = run("select", damaged)
            assert code == 1
            assert damaged in one_line(err)


def test_labels_that_look_like_markup(run):
    labels = ["[/b]", "[red]x", "$a_$"]
    iris().assign(species=np.repeat(labels, 50)).to_csv("t.csv", index=False)
    assert run("select", "t.csv", "-l", "species", "-o", "few.csv", "-m", "m", "--picture", "p.png")[0] == 0
    told = run("inspect", "m")[1]
    assert all(label in told for label in labels)
    code, _, err = run(
        "compare", "t.csv", "-l", "species", "--methods", "crs,random,all", "-k", "3,5", "--html", "r.html"
    )
    assert (code, err) == (0, "")


def test_many_methods_have_colors(run):
    iris().to_csv("iris.csv", index=False)
    ks = ",".join(map(str, range(2, 23)))
    code, _, err = run(
        "compare", "iris.csv", "-l", "species", "--methods", "crs", "-k", ks, "--folds", 2, "--html", "r.html"
    )
    assert (code, err) == (0, "")


def test_what_cannot_be_written_is_said_before_the_work(run, monkeypatch):
    from covey.commands import _select

    monkeypatch.setattr(_select.Source, "load", lambda *args: pytest.fail("this is work"))
    Path("iris.csv").write_text("a\n1\n")
    for options, message in {
        ("-o", "few.doc"): "or pass --out-format",
        ("-o", "nowhere/few.csv"): "an existing folder",
        ("-o", "few.csv", "-m", "nowhere/m"): "an existing folder",
        ("-o", "few.parquet.gz"): "packed inside",
    }.items():
        code, _, err = run("select", "iris.csv", *options)
        assert code == 1
        assert message in one_line(err)


def test_only_files_are_replaced(run):
    iris().to_csv("iris.csv", index=False)
    os.mkfifo("pipe")
    code, _, err = run("select", "iris.csv", "-o", "pipe", "--out-format", "csv", "--force")
    assert (code, "regular file" in one_line(err)) == (1, True)
    Path("real.csv").write_text("old")
    Path("link.csv").symlink_to("real.csv")
    assert run("select", "iris.csv", "-o", "link.csv", "--force")[0] == 0
    assert Path("link.csv").is_symlink()
    assert Path("real.csv").read_text().startswith("sepal_length")


def test_models_from_python_with_a_callable(run):
    Path("mine.py").write_text("def nearness(a, b):\n    return 1 / (1 + abs(a[0] - b[0]))\n")
    sys.path.insert(0, str(Path.cwd()))
    from mine import nearness

    frame = iris()
    model = covey.NearestPrototypeClassifier(covey.CRS(3, similarity=nearness))
    model.fit(frame[["petal_length"]], frame["species"].to_numpy(dtype=str))
    covey.save(model, "m", notes={"author": "me"})
    frame.to_csv("iris.csv", index=False)
    code, _, err = run("classify", "iris.csv", "-m", "m")
    assert (code, "pass --similarity module:function" in one_line(err)) == (1, True)
    assert run("classify", "iris.csv", "-m", "m", "-s", "mine:nearness", "-o", "a.csv")[0] == 0
    np.testing.assert_array_equal(pd.read_csv("a.csv")["covey_label"], model.predict(frame[["petal_length"]]))
    run("select", "iris.csv", "-l", "species", "-o", "few.csv", "-m", "n")
    code, _, err = run("classify", "iris.csv", "-m", "n", "-s", "euclidean")
    assert (code, "names its own" in one_line(err)) == (1, True)


READING = """
import sys
from covey import _progress, cli
_progress.DELAY = 0
sys.argv = ["covey", "select", *sys.argv[1:], "-o", "few.csv", "-f"]
cli.main()
"""


def test_a_bar_while_reading(folder):
    """It is drawn once more after the file is closed."""
    pd.concat([iris()] * 300).to_csv("t.csv", index=False)
    Path("conn.log").write_text(conn_log() * 500)
    for options in (("t.csv", "-l", "species", "-k", "2"), ("conn.log", "--hosts")):
        shown = on_a_terminal([sys.executable, "-c", READING, *options])
        assert re.search(r"reading .* MB", shown)
        assert "rows selected" in shown
        assert "Error" not in shown
