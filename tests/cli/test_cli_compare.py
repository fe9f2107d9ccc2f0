"""`covey compare`: what it shows, which k it recommends, and when it recommends none."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from covey.cli.recommend import chance_of, recommend
from covey.experiments.records import Record
from tests.browser import assert_renders
from tests.cli.commands import iris, one_line, texts


def test_compare_shows_every_method_and_leaves_only_the_report(run):
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


def test_compare_refuses_what_it_cannot_compare(run):
    iris().to_csv("iris.csv", index=False)
    for options, (expected_code, message) in {
        ("-l", "species", "--methods", "crs,magic"): (2, "got magic"),
        ("-l", "species", "-k", ""): (2, "-k must be numbers"),
        ("-l", "name"): (1, "too small: flower 0 (1)"),
        (): (1, "all labels are 'all'"),
    }.items():
        code, _, err = run("compare", "iris.csv", *options)
        assert code == expected_code
        assert message in one_line(err)
    assert run("compare", "-", "-l", "species")[0] == 2


def fit(k, seed, score, method="CRS-k"):
    """Records of two clusters whose queries are answered right with this share."""
    right, wrong = round(100 * score), 100 - round(100 * score)
    return [
        Record(
            "p", f"{method}{k}", own, seed, 100, 30 - k, score, score, None, 0, 0.0, 0.0, {own: right, to: wrong}, []
        )
        for own, to in ("cd", "dc")
    ]


def test_the_k_with_fewest_objects_within_one_standard_error_is_recommended():
    scores = {2: (0.90, 0.92), 5: (0.93, 0.95), 10: (0.93, 0.94), 20: (0.80, 0.82)}
    records = [r for k, values in scores.items() for seed, value in enumerate(values) for r in fit(k, seed, value)]
    found = recommend(records, {f"CRS-k{k}": k for k in scores})
    assert found.k == 10  # .935 is within .01 of .94; .81 is not
    assert found.reason.endswith("it selects 20.00% of the objects instead of 25.00%.")
    alone = recommend(fit(3, 0, 0.9), {"CRS-k3": 3})
    assert alone.reason == "k = 3: it has the best F1, 0.900, and no k as good selects fewer objects."
    assert recommend([], {}) is None
    assert recommend(fit(3, 0, 0.9), {}) is None


def test_a_report_can_show_more_methods_than_there_are_colors(run):
    iris().to_csv("iris.csv", index=False)
    ks = ",".join(map(str, range(2, 23)))
    code, _, err = run(
        "compare", "iris.csv", "-l", "species", "--methods", "crs", "-k", ks, "--folds", 2, "--html", "r.html"
    )
    assert (code, err) == (0, "")


@pytest.mark.parametrize("similarity", ["levenshtein", "indel", "osa", "jaro-winkler"])
def test_compare_takes_every_similarity_of_strings(run, similarity):
    pd.concat([texts()] * 6).to_csv("texts.csv", index=False)
    common = ("-l", "topic", "--text", "body", "--methods", "crs,all", "-k", "1,2", "--folds", 2, "--html", "r.html")
    code, out, err = run("compare", "texts.csv", *common, "-s", similarity)
    assert (code, err) == (0, "")
    assert "Recommended" in out


def test_compare_shows_the_k_that_it_recommends(run):
    iris().to_csv("iris.csv", index=False)
    out = run("compare", "iris.csv", "-l", "species", "--methods", "crs,random", "-k", "3,15", "--html", "r.html")[1]
    k = out.split("Recommended: k = ")[1].split(":")[0]
    page = Path("r.html").read_text()
    assert f"CRS-k{k}: of each cluster the" in page
    assert page.count(": of each cluster the") == 1


def test_random_labels_get_no_recommendation(run):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.random((120, 4)), columns=list("abcd"))
    for _ in range(3):
        frame.assign(kind=rng.integers(3, size=120)).to_csv("t.csv", index=False)
        common = ("-l", "kind", "--methods", "crs,all", "-k", "3,5,10", "--folds", 3, "--html", "r.html", "-f")
        code, out, _ = run("compare", "t.csv", *common)
        assert code == 0
        assert "No recommendation: no k answers better than chance, and neither does any other method." in out
        assert "Recommended" not in out
        assert "No recommendation: no k answers better than chance" in Path("r.html").read_text()


def test_a_method_that_beats_chance_where_no_k_does_is_named():
    found = recommend([*fit(3, 0, 0.5), *fit(1, 0, 0.9, "random-")], {"CRS-k3": 3})
    assert found.k is None
    assert found.reason.startswith("no k answers better than chance; random-1 does.")


def test_chance_is_as_likely_as_it_says():
    """Objects that answer for each other, with labels drawn at random: 5 % of the cases have a chance below 5 %."""
    rng = np.random.default_rng(0)
    chances = []
    for _ in range(2000):
        one, other = (rng.choice(3, p=(0.6, 0.25, 0.15), size=200) for _ in range(2))
        truth, answers = np.concatenate([one, other]), np.concatenate([other, one])
        chances.append(chance_of([answered(own, answers[truth == own]) for own in range(3)]))
    assert np.mean(np.array(chances) < 0.05) == pytest.approx(0.05, abs=4 * (0.05 * 0.95 / 2000) ** 0.5)


def answered(cluster, answers):
    predicted = {str(answer): int(times) for answer, times in enumerate(np.bincount(answers))}
    return Record("p", "m", str(cluster), 0, 1, 1, 0.0, 0.0, None, 0, 0.0, 0.0, predicted, [])


def test_the_same_answer_to_everything_is_chance():
    assert chance_of([]) == 1.0
    assert chance_of([answered(0, np.zeros(50, dtype=int)), answered(1, np.zeros(50, dtype=int))]) == 1.0
