"""The commands: what each is given, what it answers, and what it says when something is wrong."""

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from rapidfuzz.distance import JaroWinkler, Levenshtein

import covey
from tests.browser import assert_renders
from tests.cli.commands import conn_log, expected, iris, one_line, texts


def test_columns_of_numbers_are_compared_unless_the_user_names_others(run):
    iris().to_csv("iris.csv", index=False)
    for features, width in ((None, 4), ("petal_length,petal_width", 2)):
        options = [] if features is None else ["--features", features]
        assert run("select", "iris.csv", "-l", "species", "-o", "f.csv", "-m", "m", "--force", *options)[0] == 0
        assert covey.load("m").n_features_in_ == width


def test_texts_are_compared_as_tf_idf_vectors(run):
    texts().to_csv("texts.csv", index=False)
    assert run("select", "texts.csv", "-l", "topic", "--text", "body", "-k", 2, "-o", "few.csv", "-m", "m")[0] == 0
    pd.DataFrame({"body": ["a cat and my dog", "engine of a new car"]}).to_csv("new.csv", index=False)
    assert run("classify", "new.csv", "-m", "m", "-o", "answers.csv")[0] == 0
    assert pd.read_csv("answers.csv")["covey_label"].tolist() == ["pets", "cars"]
    assert "as TF-IDF" in run("inspect", "m")[1]


@pytest.mark.parametrize(("name", "measure"), [("levenshtein", Levenshtein), ("jaro-winkler", JaroWinkler)])
def test_texts_are_compared_as_strings_under_a_similarity_of_strings(run, name, measure):
    texts().to_csv("texts.csv", index=False)
    common = ("-l", "topic", "--text", "body", "-s", name, "-k", 2)
    assert run("select", "texts.csv", *common, "-o", "few.csv", "-m", "m")[0] == 0
    assert run("classify", "texts.csv", "-m", "m", "-o", "answers.csv")[0] == 0
    few, answers = pd.read_csv("few.csv"), pd.read_csv("answers.csv")
    best = [max(measure.normalized_similarity(text, other) for other in few["body"]) for text in texts()["body"]]
    np.testing.assert_allclose(answers["covey_similarity"], best)
    assert "as it is" in run("inspect", "m")[1]


def test_profiles_are_read_from_json_lines_and_from_json_within_a_csv(run):
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


def test_a_matrix_of_similarities_gives_the_same_as_the_rows_it_is_made_of(run):
    fitted, X, y = expected()
    graph = covey.neighbor_graph(X, n_neighbors=len(X) - 1, similarity="cosine", method="exact")
    matrix = np.eye(len(X))  # of the similarities as covey computes them; a matrix product may differ in the last bit
    np.put_along_axis(matrix, graph.indices, graph.similarities, axis=1)
    np.savez("matrix.npz", X=matrix, y=y)
    assert run("select", "matrix.npz", "--matrix", "-k", 5, "-o", "few.csv", "-m", "m")[0] == 0
    np.testing.assert_array_equal(pd.read_csv("few.csv")["covey_row"], fitted.selector_.sample_indices_)
    assert run("classify", "matrix.npz", "-m", "m", "-o", "answers.csv")[0] == 0
    np.testing.assert_array_equal(pd.read_csv("answers.csv")["covey_label"], fitted.predict(X))


def test_hosts_of_a_log_are_selected_and_classified_by_their_profiles(run):
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


def test_a_similarity_of_ones_own_is_named_again_to_classify(run):
    """It gets rows as dicts, numbers as numbers."""
    Path("mine.py").write_text(
        "def nearness(a, b):\n"
        "    assert a['name'].startswith('flower')\n"
        "    return 1 / (1 + abs(a['petal_length'] - b['petal_length']))\n"
    )
    iris().to_csv("iris.csv", index=False)
    common = ("-l", "species", "--features", "petal_length,name")
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


def test_rows_that_are_too_dissimilar_are_answered_unknown(run):
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


def test_rejection_is_calibrated_by_the_model(run):
    flowers = iris()
    flowers.to_csv("iris.csv", index=False)
    select = ("select", "iris.csv", "-l", "species", "-o")
    assert run(*select, "few.csv", "-m", "m", "--rejection-rate", "0.1")[0] == 0
    assert run("classify", "iris.csv", "-m", "m", "--reject", "calibrated", "-o", "a.csv")[0] == 0
    answers = pd.read_csv("a.csv")["covey_label"]
    assert 0.02 < (answers == "unknown").mean() < 0.15
    assert run("classify", "iris.csv", "-m", "m", "-o", "b.csv")[0] == 0
    assert "unknown" not in set(pd.read_csv("b.csv")["covey_label"])
    flowers.replace("setosa", "unknown").to_csv("iris.csv", index=False)
    assert run(*select, "few2.csv", "-m", "n", "--rejection-rate", "0.1")[0] == 0
    assert run(*select, "few3.csv", "-m", "o")[0] == 0
    code, _, err = run("classify", "iris.csv", "-m", "o", "--reject", "calibrated", "--unknown", "?")
    assert code == 2
    assert "pass --rejection-rate to covey select" in one_line(err)
    assert run(*select, "few4.csv", "--rejection-rate", "0.1")[0] == 2
    assert run(*select, "few4.csv", "-m", "p", "--rejection-rate", "1")[0] == 2


@pytest.mark.filterwarnings("always::covey.exceptions.MissingBarsWarning")
def test_bars_are_shown_and_bars_that_reject_nothing_are_told_by_every_command(run, caplog):
    flowers = iris()
    flowers.to_csv("iris.csv", index=False)
    select = ("select", "iris.csv", "-l", "species", "-o")
    assert run(*select, "few.csv", "-m", "m", "--rejection-rate", "0.1")[0] == 0
    assert "no bar" not in caplog.text
    shown = run("inspect", "m")[1]
    assert shown.splitlines()[2].split()[-1] == "bar"
    assert "bars are for a rejection rate of 0.1\n" in shown
    told = json.loads(run("inspect", "m", "--json")[1])
    bars = covey.load("m").rejection_bars_.tolist()
    assert [cluster["rejection_bar"] for cluster in told["clusters"]] == bars
    assert told["rejection_rate"] == 0.1
    assert all(f"{bar:.3f}" in shown for bar in bars)

    sentence = "a rejection rate of 0.001 needs 999 different objects or more"
    run(*select, "few2.csv", "-m", "n", "--rejection-rate", "0.001")
    assert caplog.text.count(sentence) == 1
    run("classify", "iris.csv", "-m", "n", "--reject", "threshold", "-o", "b.csv")
    assert caplog.text.count(sentence) == 1
    run("classify", "iris.csv", "-m", "n", "--reject", "calibrated", "-o", "a.csv")
    assert caplog.text.count(sentence) == 2
    assert sentence in run("inspect", "n")[1]
    assert {cluster["rejection_bar"] for cluster in json.loads(run("inspect", "n", "--json")[1])["clusters"]} == {None}

    assert run(*select, "few3.csv", "-m", "o")[0] == 0
    shown = run("inspect", "o")[1]
    assert shown.splitlines()[2].split()[-1] == "alone"
    assert "bar" not in shown
    assert json.loads(run("inspect", "o", "--json")[1])["rejection_rate"] is None


@pytest.mark.parametrize("reject", ["calibrated", "threshold", "0"])
def test_a_row_that_has_nothing_in_common_with_the_model_is_unknown(run, reject):
    words = [
        {"text": f"{kind} {number} {number % 7}", "kind": kind} for kind in ("host", "mail") for number in range(30)
    ]
    pd.DataFrame(words).to_csv("words.csv", index=False)
    select = ("select", "words.csv", "--text", "text", "-l", "kind", "-o", "few.csv", "-m", "m")
    assert run(*select, "--rejection-rate", "0.1")[0] == 0
    pd.DataFrame({"text": ["something strange", "mail 3 3"]}).to_csv("new.csv", index=False)
    assert run("classify", "new.csv", "-m", "m", "--reject", reject, "-o", "a.csv")[0] == 0
    assert pd.read_csv("a.csv")["covey_label"].tolist() == ["unknown", "mail"]


def test_the_input_is_kept_beside_the_answers_if_asked_for(run):
    iris().to_csv("iris.csv", index=False)
    run("select", "iris.csv", "-l", "species", "--id", "name", "-o", "few.csv", "-m", "m")
    assert run("classify", "iris.csv", "-m", "m", "--keep", "-o", "out.csv")[0] == 0
    out = pd.read_csv("out.csv")
    pd.testing.assert_frame_equal(out[list(iris().columns)], iris(), check_dtype=False)
    assert out.columns.is_unique


def test_columns_that_are_missing_are_named(run):
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


def test_a_model_that_is_cut_off_or_missing_is_refused_by_name(run):
    iris().to_csv("iris.csv", index=False)
    run("select", "iris.csv", "-l", "species", "-o", "few.csv", "-m", "m")
    whole = Path("m").read_bytes()
    for size in (10, len(whole) // 2, len(whole) - 1):
        Path("cut").write_bytes(whole[:size])
        for command in (("classify", "iris.csv", "--model", "cut"), ("inspect", "cut")):
            code, _, err = run(*command)
            assert code == 1
            assert "'cut' was not written by covey.save, or is damaged" in one_line(err)
    for command in (("classify", "iris.csv", "--model", "few.csv"), ("inspect", "few.csv")):
        code, _, err = run(*command)
        assert code == 1
        assert "'few.csv' is not a model, but another kind of file; pass what covey.save or covey select --model" in err
        assert "damaged" not in one_line(err)
    code, _, err = run("classify", "iris.csv", "--model", "gone")
    assert (code, "gone: no such file" in one_line(err)) == (1, True)


def test_usage_errors_exit_with_2_and_every_help_has_an_example(run):
    assert run("select")[0] == 2
    assert run("select", "x.csv", "--nonsense")[0] == 2
    assert run("nonsense")[0] == 2
    code, out, _ = run("--help")
    assert code == 0
    for command in ("select", "classify", "compare", "inspect", "demo", "reproduce"):
        assert command in out
        code, told, _ = run(command, "--help")
        assert code == 0
        assert command == "demo" or "Example:" in told
    assert run("--version")[1] == f"covey {covey.__version__}\n"


def test_debug_shows_where_the_error_is_wherever_it_stands_on_the_line(run):
    for command in (("--debug", "select", "absent.csv"), ("select", "absent.csv", "--debug")):
        code, _, err = run(*command)
        assert code == 1
        assert err.startswith("Traceback (most recent call last):\n")
        assert err.splitlines()[-1].startswith("FileNotFoundError: ")
    one_line(run("select", "absent.csv")[2])


def test_inspect_shows_what_a_model_holds(run):
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


def test_a_model_saved_from_python_classifies_and_can_be_inspected(run):
    fitted, X, _ = expected()
    covey.save(fitted, "m")
    iris().to_csv("iris.csv", index=False)
    assert run("classify", "iris.csv", "-m", "m", "-o", "out.csv")[0] == 0
    np.testing.assert_array_equal(pd.read_csv("out.csv")["covey_label"], fitted.predict(X))
    assert run("inspect", "m")[0] == 0


def test_pictures_are_drawn_in_every_format_or_refused_before_anything_is_written(run):
    iris().to_csv("iris.csv", index=False)
    common = ("select", "iris.csv", "-l", "species", "--id", "name", "-o", "few.csv", "--force")
    for name, start in (("p.png", b"\x89PNG"), ("p.svg", b"<?xml"), ("p.pdf", b"%PDF")):
        assert run(*common, "--picture", name)[0] == 0
        assert Path(name).read_bytes().startswith(start)
    assert run(*common, "--picture", "map.html", "--show", "virginica")[0] == 0
    assert "flower 149" in Path("map.html").read_text()
    Path("few.csv").unlink()
    assert run(*common, "--picture", "p.doc")[0] == 2
    assert run(*common, "--picture", "q.html", "--show", "rose")[0] == 1
    assert not Path("few.csv").exists()  # what cannot be drawn is known before anything is written
    assert_renders(Path("map.html").resolve(), phone=True)


def test_labels_that_look_like_markup_are_shown_as_they_are(run):
    labels = ["[/b]", "[red]x", "$a_$"]
    iris().assign(species=np.repeat(labels, 50)).to_csv("t.csv", index=False)
    assert run("select", "t.csv", "-l", "species", "-o", "few.csv", "-m", "m", "--picture", "p.png")[0] == 0
    told = run("inspect", "m")[1]
    assert all(label in told for label in labels)
    scored = run("classify", "t.csv", "-m", "m", "-o", "a.csv")[2]
    assert next(line for line in scored.splitlines() if line.split() == sorted(labels))  # the head of a matrix
    methods = ("--methods", "crs,random,all", "-k", "3,5", "-s", "cosine")
    code, _, err = run("compare", "t.csv", "-l", "species", *methods, "--html", "r.html")
    assert (code, err) == (0, "")


def test_a_model_from_python_with_a_callable_needs_it_named_again(run):
    Path("near.py").write_text("def nearness(a, b):\n    return 1 / (1 + abs(a[0] - b[0]))\n")
    sys.path.insert(0, str(Path.cwd()))
    from near import nearness

    frame = iris()
    model = covey.NearestPrototypeClassifier(covey.CRS(3, similarity=nearness))
    model.fit(frame[["petal_length"]], frame["species"].to_numpy(dtype=str))
    covey.save(model, "m", notes={"author": "me"})
    frame.to_csv("iris.csv", index=False)
    code, _, err = run("classify", "iris.csv", "-m", "m")
    assert (code, "pass --similarity module:function" in one_line(err)) == (1, True)
    assert run("classify", "iris.csv", "-m", "m", "-s", "near:nearness", "-o", "a.csv")[0] == 0
    np.testing.assert_array_equal(pd.read_csv("a.csv")["covey_label"], model.predict(frame[["petal_length"]]))
    run("select", "iris.csv", "-l", "species", "-o", "few.csv", "-m", "n")
    code, _, err = run("classify", "iris.csv", "-m", "n", "-s", "euclidean")
    assert (code, "was made with --similarity cosine, got euclidean; leave it out" in one_line(err)) == (1, True)


def test_scaling_keeps_a_large_column_from_deciding_alone(run, caplog):
    """A column in the thousands decides alone, unless it is scaled; the model remembers how."""
    frame = iris().assign(noise=np.random.default_rng(0).random(150) * 1e4)
    frame.to_csv("iris.csv", index=False)
    right = {}
    for options in ((), ("--scale",)):
        caplog.clear()
        run("select", "iris.csv", "-l", "species", "-s", "euclidean", *options, "-o", "f.csv", "-m", "m", "-f")
        assert ("try --scale" in caplog.text) == (not options)
        run("classify", "iris.csv", "-m", "m", "-o", "a.csv", "-f")
        right[options] = (pd.read_csv("a.csv")["covey_label"] == frame["species"]).mean()
    assert right[("--scale",)] > 0.8 > right[()]
    assert "scaled to 0 .. 1" in run("inspect", "m")[1]
    assert run("select", "iris.csv", "--text", "name", "--scale")[0] == 2


def test_a_matrix_of_distances_gives_what_the_library_selects(run, globins):
    distances, y = globins
    np.savez("p.npz", D=distances, family=np.array(y))
    common = ("-k", 5, "-o", "few.csv", "-m", "m")
    assert run("select", "p.npz", "--matrix", "--label", "family", *common)[0] == 1
    assert run("select", "p.npz", "--distances", "--label", "family", *common)[0] == 0
    expected_rows = covey.CRS(5, similarity=covey.from_distance("precomputed"), random_state=0).fit(distances, y)
    assert pd.read_csv("few.csv")["covey_row"].tolist() == expected_rows.sample_indices_.tolist()
    assert run("classify", "p.npz", "-m", "m", "-o", "a.csv")[0] == 0
    assert (pd.read_csv("a.csv", dtype=str)["covey_label"] == np.array(y).astype(str)).mean() > 0.9


def test_a_matrix_whose_first_line_was_taken_for_a_header_is_refused_with_the_reason(run):
    np.savetxt("minutes.csv", np.arange(25).reshape(5, 5), delimiter=",")
    code, _, err = run("select", "minutes.csv", "--distances", "-o", "few.csv")
    assert code == 1
    assert "has as many rows as columns, got 4 and 5. The first line was read as names of columns" in one_line(err)


def test_a_table_without_a_header_is_read_if_its_columns_are_named(run):
    iris().to_csv("iris.csv", index=False, header=False)
    names = ",".join(iris().columns)
    code, _, err = run("select", "iris.csv", "-l", "species")
    assert (code, "--columns" in one_line(err)) == (1, True)
    assert run("select", "iris.csv", "--columns", names, "-l", "species", "-o", "few.csv", "-m", "m")[0] == 0
    assert run("classify", "iris.csv", "--columns", names, "-m", "m", "-o", "a.csv")[0] == 0
    assert len(pd.read_csv("a.csv")) == 150


def test_codes_and_quoted_numbers_are_no_features(run, caplog):
    frame = iris().assign(code=[f"{at:03}" for at in range(150)])
    frame.to_csv("iris.csv", index=False)
    Path("iris.jsonl").write_text(
        "\n".join(json.dumps(row | {"id": str(at)}) for at, row in enumerate(frame.to_dict("records")))
    )
    for name in ("iris.csv", "iris.jsonl"):
        err = run("select", name, "-l", "species", "-o", "few.csv", "-f")[2]
        assert "compared: the columns sepal_length, sepal_width, petal_length, petal_width, by cosine" in err
    run("select", "iris.csv", "--features", "petal_width", "-o", "few.csv", "-f")
    assert "cosine tells nothing about a single column" in caplog.text
    Path("comma.csv").write_text("a;kind\n1,5;x\n2,5;y\n")
    assert "pass --decimal comma" in run("select", "comma.csv", "-l", "kind")[2]


def test_inspect_shows_the_k_that_covey_has_chosen(run):
    iris().to_csv("iris.csv", index=False)
    run("select", "iris.csv", "-l", "species", "-k", "auto", "-o", "few.csv", "-m", "m")
    assert [cluster["neighbors"] for cluster in json.loads(run("inspect", "m", "--json")[1])["clusters"]] == [5, 5, 5]


def test_looking_at_a_model_needs_no_function(run):
    Path("own.py").write_text("def same(a, b):\n    return float(a['petal_width'] == b['petal_width'])\n")
    iris().to_csv("iris.csv", index=False)
    run("select", "iris.csv", "-l", "species", "-s", "own:same", "-o", "few.csv", "-m", "m")
    assert run("inspect", "m")[0] == 0


def test_the_map_shows_the_text_of_an_object(run):
    texts().to_csv("texts.csv", index=False)
    assert run("select", "texts.csv", "-l", "topic", "--text", "body", "-o", "few.csv", "--picture", "map.html")[0] == 0
    assert "a fast car on the road" in Path("map.html").read_text()


def test_unknown_answers_are_counted(run):
    iris().to_csv("iris.csv", index=False)
    run("select", "iris.csv", "-l", "species", "-o", "few.csv", "-m", "m")
    err = run("classify", "iris.csv", "-m", "m", "--reject", "2", "-o", "a.csv")[2]
    assert err.splitlines()[0] == "150 rows classified, 150 of them unknown."
