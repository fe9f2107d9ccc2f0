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
    for wrong, message in (
        (("--reject", "much"), "'threshold' or a number"),
        (("--reject", "1", "--unknown", "setosa"), "one of the labels"),
    ):
        code, _, err = run("classify", "odd.csv", "-m", "m", *wrong)
        assert code == 1
        assert message in err


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
    "a row too long": ("a,b,kind\n1,2,x\n3,4,5,6\n", r"bad\.csv, line 3: 4 values where the header has 3"),
    "a row too short": ("a,b,kind\n1,2,x\n3\n4,5,y\n", r"bad\.csv, line 3: no value in column 'b'"),
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
    assert run("select", "iris.csv", "-s", "cosin")[0] == 1
    assert run("select", "iris.csv", "--text", "name", "--features", "petal_width")[0] == 1


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
    assert run("select", "x.csv", "-k", "many")[0] == 2
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
    with pytest.raises(FileNotFoundError):
        run("--debug", "select", "absent.csv")


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
    for wrong in (("--picture", "p.doc"), ("--picture", "q.html", "--cluster", "rose")):
        assert run(*common, *wrong)[0] == 1
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
    for options, message in {
        ("-l", "species", "--methods", "crs,magic"): "got magic",
        ("-l", "name"): "too small: flower 0 (1)",
        (): "at least two clusters",
    }.items():
        code, _, err = run("compare", "iris.csv", *options)
        assert code == 1
        assert message in one_line(err)


def test_recommendation_takes_the_fewest_that_cost_nothing():
    from covey.commands._compare import recommend
    from covey.experiments import Record

    def record(k, seed, score):
        return Record("p", f"CRS-k{k}", "c", seed, 100, 10, score, score, None, 0, 0.0, 0.0, {}, [])

    scores = {2: (0.90, 0.92), 5: (0.93, 0.95), 10: (0.93, 0.94), 20: (0.80, 0.82)}
    found = recommend([record(k, seed, value) for k, values in scores.items() for seed, value in enumerate(values)])
    assert found.k == 10  # .935 is within .01 of .94; .81 is not
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
    with Path("large.out.csv").open() as file:
        assert sum(1 for _ in file) == 1_000_001
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
