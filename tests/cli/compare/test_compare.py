"""`covey compare`: what it shows, what it recommends, and when it recommends nothing."""

import json
import os
import re
import shlex
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from covey.cli.compare.advice import recommend
from covey.cli.compare.methods import choose_methods
from covey.evaluation import agreement_p_value
from covey.experiments.figures import confusion
from covey.experiments.records import TrialRecord
from tests.browser import assert_renders
from tests.cli.commands import iris, one_line, texts


def test_compare_shows_every_method_and_leaves_only_the_report(run):
    iris().to_csv("iris.csv", index=False)
    code, out, _ = run("compare", "iris.csv", "-l", "species", "-k", "3,20", "--folds", 2, "--html", "r.html")
    assert code == 0
    assert [line.split("  ")[0] for line in out.splitlines()[:5]] == [
        "similarity", "cosine", "cosine, scaled", "euclidean", "euclidean, scaled",
    ]  # fmt: skip
    assert [line.split()[0] for line in out.splitlines()[5:14]] == [
        "method", "CRS-k3", "CRS-k20", "sharpened-k3", "sharpened-k20", "delta-medoids", "DS3", "random-5%",
        "full-100%",
    ]  # fmt: skip
    recommended, good, sure, cost, command, page = out.splitlines()[14:]
    assert recommended.startswith("Recommended: ")
    assert good.startswith("How good: Its F1 is ")
    assert sure.startswith("How sure: ")
    assert cost.startswith("What it costs: It keeps ")
    assert command.startswith("To select like this: covey select iris.csv --label species ")
    assert " --similarity euclidean -k " in command
    assert page == "r.html"
    assert sorted(os.listdir()) == ["iris.csv", "r.html"]  # the records have done their work
    shown = assert_renders(Path("r.html").resolve(), phone=True)
    words, reason = recommended.removeprefix("Recommended: ").split(": ", 1)
    assert f"Use {words}." in shown
    assert reason[1:] in shown
    for line in (good, sure, cost, command):
        assert line.split(": ", 1)[1] in shown.replace("−", "-")  # a page has a true minus
    assert "stands for" in shown


def test_compare_refuses_what_it_cannot_compare(run):
    iris().to_csv("iris.csv", index=False)
    for options, (expected_code, message) in {
        ("-l", "species", "--methods", "crs,magic"): (2, "got magic"),
        ("-l", "species", "-k", ""): (2, "-k must be numbers"),
        ("-l", "name"): (1, "too small: flower 0 (1)"),
        (): (1, "there are no labels; --label names their column."),
    }.items():
        code, _, err = run("compare", "iris.csv", *options)
        assert code == expected_code
        assert message in one_line(err)
    assert run("compare", "-", "-l", "species")[0] == 2


def fit(k, seed, score, method="CRS-k"):
    """Records of two clusters whose queries are answered right with this share."""
    right, wrong = round(100 * score), 100 - round(100 * score)
    return [
        TrialRecord(
            "p", f"{method}{k}", own, seed, 100, 30 - k, score, score, None, 0, 0.0, 0.0, {own: right, to: wrong}, []
        )
        for own, to in ("cd", "dc")
    ]


def candidates(*ks):
    return choose_methods(["crs", "sharpened"], ks).candidates


def test_what_selects_fewest_objects_within_one_standard_error_is_recommended():
    scores = {2: (0.90, 0.92), 5: (0.93, 0.95), 10: (0.93, 0.94), 20: (0.80, 0.82)}
    records = [r for k, values in scores.items() for seed, value in enumerate(values) for r in fit(k, seed, value)]
    found = recommend(records, candidates(*scores))
    assert found.method == "CRS-k10"  # .935 is within .01 of .94; .81 is not
    assert found.words == "CRS with k = 10"
    assert found.runner_up == "CRS-k5"
    assert found.reason.endswith(
        "(0.010) of the best of the CRS variants tried, 0.940 by CRS with k = 5, and it selects fewer objects: 20.0 % "
        "instead of 25.0 %."
    )
    best = recommend([*fit(3, 0, 0.9), *fit(2, 0, 0.85)], candidates(2, 3))
    assert best.sentence == (
        "Recommended: CRS with k = 3: it has the best F1 of the CRS variants tried, 0.900, and none of them that is as "
        "good selects fewer objects."
    )
    assert recommend([], candidates(3)) is None
    assert recommend(fit(3, 0, 0.9), {}) is None


def test_a_variant_that_was_tried_alone_is_not_recommended():
    """Other methods do not count: only variants of CRS can be recommended, so that there is nothing to choose from."""
    for others in ([], fit(1, 0, 0.8, "random-")):
        alone = recommend([*fit(3, 0, 0.9), *others], candidates(3, 10))
        assert alone.sentence == (
            "No recommendation: only CRS with k = 3 was tried of all that can be recommended, so that there is nothing "
            "to choose from; pass several numbers as -k, or a longer --time-limit."
        )
        assert alone.runner_up is None
        for words in ("best", "none of them"):
            assert words not in alone.reason


def test_a_variant_that_was_tried_alone_is_shown_without_a_recommendation(run):
    iris().to_csv("iris.csv", index=False)
    common = (
        "-s",
        "euclidean",
        "--methods",
        "crs,all",
        "-k",
        "5",
        "--folds",
        2,
        "--json",
        "r.json",
        "--html",
        "r.html",
    )
    out = run("compare", "iris.csv", "-l", "species", *common)[1]
    assert "No recommendation: only CRS with k = 5 was tried" in out
    assert "Recommended" not in out
    assert "How good: Its F1 is " in out
    found = json.loads(Path("r.json").read_text())
    assert found["recommended"] is None
    assert not any(line["chosen"] for line in found["results"])
    page = Path("r.html").read_text()
    assert "<h2>Only CRS with k = 5 was tried.</h2>" in page
    assert '<section class="verdict nothing"' in page


def test_a_variant_that_is_the_best_only_as_it_is_shown_is_not_called_better_than_the_best():
    scores = {10: (0.93, 0.94), 5: (0.9304, 0.94)}
    records = [r for k, values in scores.items() for seed, value in enumerate(values) for r in fit(k, seed, value)]
    found = recommend(records, candidates(*scores))
    assert found.method == "CRS-k10"
    assert found.reason.startswith("to three digits, it has the best F1 of the CRS variants tried, 0.935, ")
    assert found.rival == "the best variant, CRS with k = 5"


def test_sharpened_methods_are_recommended_by_the_same_rule():
    plain = [r for seed, value in enumerate((0.93, 0.95)) for r in fit(5, seed, value)]
    sharp = [r for seed, value in enumerate((0.93, 0.94)) for r in fit(20, seed, value, "sharpened-k")]
    found = recommend([*plain, *sharp], candidates(5, 20))
    assert found.method == "sharpened-k20"
    assert found.sentence.startswith("Recommended: sharpened CRS with k = 20: its F1 of 0.935 is within one standard")
    same_size = [r for seed in (0, 1) for r in fit(5, seed, 0.96, "sharpened-k")]
    assert recommend([*plain, *same_size], candidates(5)).method == "sharpened-k5"


def test_another_method_that_is_as_good_with_fewer_objects_is_named():
    crs = [r for seed in (0, 1) for r in fit(5, seed, 0.9)]
    better, as_good, larger, worse = (
        [replace(r, method=name, selected=selected) for seed in (0, 1) for r in fit(5, seed, score)]
        for name, selected, score in (
            ("random-5%", 5, 0.95),
            ("DS3", 20, 0.9),
            ("delta-medoids", 30, 0.99),
            ("x", 3, 0.8),
        )
    )
    everything = [replace(r, method="full-100%", selected=1) for r in crs]
    crs += [r for seed in (0, 1) for r in fit(2, seed, 0.7)]
    found = recommend([*crs, *better, *larger, *worse, *everything], candidates(2, 5))
    assert found.method == "CRS-k5"
    assert found.reason.endswith(
        "fewer objects. But random-5% (F1 0.950 with 5.0 % of the objects) is at least as good with fewer objects."
    )
    both = recommend([*crs, *better, *as_good], candidates(2, 5)).reason
    assert "(F1 0.950 with 5.0 % of the objects) and DS3 (F1 0.900 with 20.0 % of the objects) are at least" in both


def test_only_what_answers_better_than_chance_is_recommended():
    """B is within one standard error of A and selects fewer objects, but its answers may be chance."""
    scores = {3: (0.9, 0.4, 0.9, 0.4), 20: (0.55, 0.55, 0.54, 0.54)}
    records = [r for k, values in scores.items() for seed, value in enumerate(values) for r in fit(k, seed, value)]
    tables = {name: confusion([r for r in records if r.method == name])[1] for name in ("CRS-k3", "CRS-k20")}
    chances = {name: agreement_p_value(table) for name, table in tables.items()}
    assert chances["CRS-k3"] < 0.025 < chances["CRS-k20"]
    found = recommend(records, candidates(3, 20))
    assert found.method == "CRS-k3"
    assert found.reason == "it is the only one of 2 CRS variants tried that answers better than chance, F1 0.650."
    records += [r for seed in range(4) for r in fit(5, seed, 0.6)]
    found = recommend(records, candidates(3, 5, 20))
    assert "the best of the CRS variants that answer better than chance, 0.650 by CRS with k = 3" in found.reason


def test_the_chance_of_each_candidate_is_corrected_for_all_that_were_tried():
    """Sharpened methods that do no better than chance make it harder for CRS to be recommended."""
    records = fit(3, 0, 0.61)
    assert 0.05 / 8 < agreement_p_value(confusion(records)[1]) < 0.05
    assert recommend(records, candidates(3)).method == "CRS-k3"
    others = [r for k in range(3, 11) for r in fit(k, 0, 0.5, "sharpened-k")]
    assert recommend([*records, *others], candidates(*range(3, 11))).method is None


def test_the_recommended_command_can_be_run(run):
    iris().to_csv("my flowers.csv", index=False)
    common = ("my flowers.csv", "-l", "species", "--id", "name", "--scale", "-s", "euclidean")
    out = run("compare", *common, "--methods", "sharpened", "-k", "9", "--folds", 2, "--html", "r.html")[1]
    command = shlex.split(out.split("To select like this: ")[1].splitlines()[0])
    assert command == [
        "covey", "select", "my flowers.csv", "--label", "species", "--scale", "--id", "name",
        "--similarity", "euclidean", "-k", "9", "--sharpen",
    ]  # fmt: skip
    assert run(*command[1:])[0] == 0


def test_a_report_can_show_more_methods_than_there_are_colors(run):
    iris().to_csv("iris.csv", index=False)
    ks = ",".join(map(str, range(2, 23)))
    how = ("--methods", "crs", "-k", ks, "--folds", 2, "--html", "r.html", "-s", "cosine")
    code, _, err = run("compare", "iris.csv", "-l", "species", *how)
    assert (code, err) == (0, "")


def test_figures_side_by_side_show_one_k_if_there_are_many_methods():
    some = choose_methods(["crs", "sharpened", "all"], [2, 3])
    assert some.beside("CRS-k2") == tuple(some.by_name)
    many = choose_methods(["crs", "sharpened", "all"], range(2, 9))
    assert many.beside("sharpened-k5") == ("CRS-k5", "sharpened-k5", "full-100%")


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
    k = out.split("Recommended: CRS with k = ")[1].split(":")[0]
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
        page = Path("r.html").read_text()
        assert "<h2>No method can be recommended.</h2>" in page
        assert "No k answers better than chance" in page
        assert '<section class="verdict nothing"' in page  # it is not framed in green
        table = page.split("<h2>All methods</h2>")[1].split("</table>")[0]
        assert 'class="marked"' not in table
        f1 = {
            name: float(value) for name, value in re.findall(r"<td class=\"\">(CRS\S+)</td>\s*<td[^>]*>(\S+) ±", table)
        }
        assert f"What {max(f1, key=f1.get)} confuses" in page  # the best one is looked at more closely


def test_a_method_that_beats_chance_where_no_k_does_is_named():
    found = recommend([*fit(3, 0, 0.5), *fit(1, 0, 0.9, "random-")], candidates(3))
    assert found.method is None
    assert found.reason.startswith("no k answers better than chance; random-1 does.")
    others = [*fit(1, 0, 0.9, "random-"), *fit(2, 0, 0.9, "random-")]
    found = recommend([*fit(3, 0, 0.5), *others], candidates(3))
    assert found.reason.startswith("no k answers better than chance; random-1, random-2 do.")
