"""`covey classify` on a table with labels: scores are those of scikit-learn, fit on a screen and are no answers."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import classification_report, confusion_matrix

from covey.cli.classify.scores import Scores, Tally, hint, show_scores
from covey.runtime.wording import some_of
from tests.cli.commands import iris, one_line

LABELS = st.sampled_from(["a", "b", "c", "not known"])
ANSWERS = st.sampled_from(["a", "b", "c", "unknown"])


def scores_of(labels, answers, classes=("a", "b", "c")):
    tally = Tally()
    tally.add(np.array(labels, dtype=object), np.array(answers, dtype=object))
    return Scores(dict(tally.counts), tally.n_without, "unknown", list(classes))


@pytest.fixture
def model(run):
    iris().to_csv("iris.csv", index=False)
    iris().iloc[::3].to_csv("some.csv", index=False)
    assert run("select", "some.csv", "-l", "species", "-k", 5, "-m", "iris.covey", "-o", "few.csv")[0] == 0
    return "iris.covey"


@given(st.lists(st.tuples(LABELS, ANSWERS), min_size=1, max_size=40))
def test_scores_are_those_of_scikit_learn(pairs):
    labels, answers = zip(*pairs, strict=True)
    scores = scores_of(labels, answers)
    expected = classification_report(labels, answers, labels=scores.labels, output_dict=True, zero_division=0)
    assert scores.labels == sorted({*labels, *answers} - {"unknown"})
    assert scores.accuracy == pytest.approx(np.mean(np.array(labels) == np.array(answers)))
    for label, own in scores.by_class.items():
        theirs = expected[label]
        assert repr(own.rows) == str(int(theirs["support"]))
        assert [own.precision, own.recall, own.f1] == pytest.approx(
            [theirs[name] for name in ("precision", "recall", "f1-score")]
        )
    for own, name in ((scores.mean, "macro avg"), (scores.weighted_mean, "weighted avg")):
        assert [own.precision, own.recall, own.f1] == pytest.approx(list(expected[name].values())[:3])
    table = pd.DataFrame(scores.matrix(), index=scores.labels, columns=scores.answers)
    full = confusion_matrix(labels, answers, labels=[*scores.labels, "unknown"])
    by_name = pd.DataFrame(full, index=[*scores.labels, "unknown"], columns=[*scores.labels, "unknown"])
    assert (table == by_name.loc[table.index, table.columns]).all(axis=None)
    assert table.to_numpy().sum() == len(labels)  # what the model cannot answer needs no column


@given(st.lists(st.tuples(st.sampled_from(["a", "b", " ", "", None, np.nan]), ANSWERS), max_size=40), st.integers(1, 7))
def test_blocks_are_added_up_and_rows_without_a_label_are_left_out(pairs, size):
    tally = Tally()
    for first in range(0, len(pairs), size):
        labels, answers = zip(*pairs[first : first + size], strict=True)
        tally.add(pd.Series(labels, dtype=object), pd.Series(answers, dtype=object))
    filled = [pair for pair in pairs if isinstance(pair[0], str) and pair[0].strip()]
    assert tally.n_without == len(pairs) - len(filled)
    assert dict(tally.counts) == {pair: filled.count(pair) for pair in filled}


@pytest.mark.parametrize(
    "labels",
    [[1, 2, 1], [1.0, 2.5, None], [True, False, True], pd.array(["a", None, "b"], dtype="string"), [1, 1.0, True]],
)
def test_labels_are_the_texts_that_select_makes_of_them(labels):
    column = pd.Series(labels, dtype=object if labels == [1, 1.0, True] else None)
    tally = Tally()
    tally.add(column, ["x"] * 3)
    texts = [str(value) for value in column if not pd.isna(value)]
    assert dict(tally.counts) == {(text, "x"): texts.count(text) for text in texts}


def test_a_table_with_labels_is_scored_and_answers_stay_alone_on_standard_output(run, model):
    code, out, err = run("classify", "iris.csv", "-m", model, "--scores", "scores.json")
    assert code == 0
    assert out.splitlines()[0].startswith("covey_row,covey_label")
    assert len(out.splitlines()) == 151
    answers = pd.read_csv(pd.io.common.StringIO(out))["covey_label"]
    right = int((answers == iris()["species"]).sum())
    lines = err.splitlines()
    assert lines[0] == "150 rows classified."
    assert lines[1] == f"accuracy {right / 150:.3f}: {right} of 150 rows got the label in column 'species'."
    assert lines[2].split() == ["label", "precision", "recall", "F1", "rows"]
    assert [line.split()[::4] for line in lines[3:6]] == [
        [name, "50"] for name in ("setosa", "versicolor", "virginica")
    ]
    assert lines[8] == "rows with each label (down) and answer (across):"
    matrix = confusion_matrix(iris()["species"], answers)
    assert [line.split()[1:] for line in lines[10:13]] == matrix.astype(str).tolist()
    values = json.loads(Path("scores.json").read_text())
    report = classification_report(iris()["species"], answers, output_dict=True)
    assert values["accuracy"] == pytest.approx(report["accuracy"])
    assert values["macro"]["f1"] == pytest.approx(report["macro avg"]["f1-score"])
    assert [own["label"] for own in values["classes"]] == ["setosa", "versicolor", "virginica"]
    assert sum(own["rows"] for own in values["confusion"]) == values["rows"] == 150


def test_quiet_says_nothing_but_writes_the_file_that_is_asked_for(run, model):
    code, _, err = run("classify", "iris.csv", "-m", model, "-o", "a.csv", "-q", "--scores", "scores.json")
    assert (code, err) == (0, "")
    assert json.loads(Path("scores.json").read_text())["rows"] == 150
    code, out, err = run("classify", "iris.csv", "-m", model, "-o", "a.csv", "-q", "--scores", "-", "-f")
    assert json.loads(out)["rows"] == 150


def test_a_table_without_labels_is_answered_without_scores(run, model):
    iris().drop(columns="species").to_csv("new.csv", index=False)
    code, _, err = run("classify", "new.csv", "-m", model, "-o", "a.csv")
    assert (code, err) == (0, "150 rows classified.\n")
    code, _, err = run("classify", "new.csv", "-m", model, "-o", "b.csv", "--scores", "scores.json")
    assert code == 1
    assert "new.csv has no labels to score the answers by: the model was made with column 'species'" in one_line(err)
    assert not Path("b.csv").exists()
    assert not Path("scores.json").exists()


def test_the_labels_may_be_in_another_column(run, model):
    iris().rename(columns={"species": "true kind"}).to_csv("new.csv", index=False)
    err = run("classify", "new.csv", "-m", model, "-o", "a.csv", "-l", "true kind")[2]
    assert "rows got the label in column 'true kind'." in err
    code, _, err = run("classify", "new.csv", "-m", model, "-o", "b.csv", "-l", "kind")
    assert code == 1
    assert "new.csv has no column 'kind'" in one_line(err)


def test_rejected_rows_have_a_column_of_their_own_and_labels_that_are_not_known_are_named(run, model):
    frame = iris()
    frame.loc[:9, "species"] = "rose"
    frame.loc[10, "species"] = " Setosa"
    frame.loc[[60, 61], "species"] = ""
    frame.to_csv("new.csv", index=False)
    err = run("classify", "new.csv", "-m", model, "-o", "a.csv")[2]
    assert "(left out: 2 rows without a label)." in err
    assert "11 rows with labels that the model does not know: 'rose' (10), ' Setosa' (1); --reject lets" in err
    assert "' Setosa' for 'setosa'" in err
    err = run("classify", "new.csv", "-m", model, "-o", "a.csv", "-f", "--reject", 0.9999)[2]
    answers = pd.read_csv("a.csv")["covey_label"]
    n_unknown = int((answers.drop([60, 61]) == "unknown").sum())
    assert f"{n_unknown} of them were rejected as unknown; of the other {148 - n_unknown}, " in err
    assert next(line for line in err.splitlines() if line.split()[:2] == ["setosa", "versicolor"]).endswith("unknown")


def test_labels_that_all_differ_from_the_models_are_not_scored_but_explained(run, model):
    frame = iris().assign(kind=iris()["species"].map({"setosa": 0, "versicolor": 1, "virginica": 2}))
    frame.to_parquet("new.parquet")
    assert run("select", "new.parquet", "-l", "kind", "-m", "numbers.covey", "-o", "f.csv", "--features",
               "sepal_length,sepal_width,petal_length,petal_width")[0] == 0  # fmt: skip
    frame.assign(kind=frame["kind"].astype(float)).to_parquet("floats.parquet")
    err = run("classify", "floats.parquet", "-m", "numbers.covey", "-o", "a.csv")[2]
    assert "no label in column 'kind' is one of the model's" in err
    assert "it has 0.0, 1.0, 2.0, and the model knows 0, 1, 2." in err
    assert "written in another way: '0.0' for '0', '1.0' for '1', '2.0' for '2'." in err
    assert "accuracy" not in err


def test_labels_of_matrices_score_the_answers(run):
    X, y = iris().iloc[:, :4].to_numpy(), iris()["species"].to_numpy(dtype=str)
    np.savez("iris.npz", X=X, y=y)
    np.savez("other.npz", X=X, truth=y)
    assert run("select", "iris.npz", "-m", "iris.covey", "-o", "few.csv")[0] == 0
    err = run("classify", "iris.npz", "-m", "iris.covey", "-o", "a.csv")[2]
    assert "rows got the label in the labels of iris.npz." in err
    assert (
        err.splitlines()[-1]
        == "the model was made of these rows; scores of new rows are lower, as covey compare tells."
    )
    assert run("classify", "other.npz", "-m", "iris.covey", "-o", "b.csv")[2] == "150 rows classified.\n"
    assert "accuracy" in run("classify", "other.npz", "-m", "iris.covey", "-o", "c.csv", "-l", "truth")[2]


def test_many_classes_stay_one_screen(capsys):
    names = [f"class {at} {'x' * 60}" for at in range(500)]
    rng = np.random.default_rng(0)
    labels, answers = rng.choice(names, 5000), rng.choice(names, 5000)
    show_scores(scores_of(labels, answers, names[:250]), "column 'kind'")
    err = capsys.readouterr().err
    assert len(err.splitlines()) <= 30
    assert max(map(len, err.splitlines())) < 1000
    assert "490 more classes" in err
    assert "was taken for" in err


def test_the_largest_confusions_are_named_where_the_matrix_has_no_room(capsys):
    labels = ["a"] * 9 + ["b"] * 9 + [f"c{at}" for at in range(20)]
    answers = ["b"] * 7 + ["a"] * 2 + ["a"] * 3 + ["b"] * 6 + [f"c{at}" for at in range(20)]
    show_scores(scores_of(labels, answers, set(labels)), "column 'kind'")
    assert capsys.readouterr().err.splitlines()[-3:] == [
        "most confused:", "  a was taken for b in 7 rows.", "  b was taken for a in 3 rows.",
    ]  # fmt: skip


def test_what_rejected_rows_get_may_be_the_label_of_a_row():
    scores = scores_of(["unknown", "unknown", "a"], ["unknown", "a", "a"])
    assert scores.accuracy == pytest.approx(2 / 3)
    assert not scores.strange
    assert scores.answers == ["a", "unknown"]
    assert scores.matrix() == [[1, 0], [1, 1]]


def test_a_hint_needs_a_label_of_the_model():
    assert hint(scores_of(["1.0", "x"], ["a", "a"], ["a"])) == ""
    assert "'1.0' for '01'" in hint(scores_of(["1.0"], ["01"], ["01"]))


def test_a_list_in_a_message_is_bounded():
    assert some_of([]) == ""
    assert some_of(["a"] * 10) == ", ".join("a" * 10)
    assert some_of(["a"] * 11) == ", ".join("a" * 10) + " and 1 more"
    assert len(some_of(["x" * 10_000] * 10_000)) < 450
