"""The verdict of a comparison: what it says about how good, how sure and how costly a recommendation is."""

import re
from dataclasses import replace

import numpy as np
import pytest

from covey.cli.compare.advice import judge, recommend, sentences
from covey.cli.compare.methods import choose_methods
from covey.evaluation import difference
from tests.cli.compare.test_compare import fit

SCORES = {"CRS-k5": (0.90, 0.92, 0.91), "CRS-k10": (0.90, 0.91, 0.91), "CRS-k20": (0.70, 0.72, 0.74)}
"""F1 by fold. By the rule of one standard error, k = 10 is recommended, although k = 5 is better."""


def records(scores, all_objects=None):
    found = [
        r for name, values in scores.items() for seed, value in enumerate(values)
        for r in fit(int(name.split("k")[1]), seed, value)
    ]  # fmt: skip
    for seed, value in enumerate(all_objects or ()):
        found += [replace(r, method="full-100%", selected=r.size) for r in fit(1, seed, value)]
    return found


def judged(scores, all_objects=None):
    own = records(scores, all_objects)
    return judge(own, recommend(own, choose_methods(["crs"], [5, 10, 20]).candidates), "covey select it")


def test_the_verdict_says_what_to_use_and_how_to_do_it():
    verdict = judged(SCORES)
    assert verdict.headline == "Use CRS with k = 10."
    assert verdict.command == "covey select it"
    assert [title for title, _ in verdict.points] == ["Why", "How good", "How sure", "What it costs"]
    said = [f"{title}: {words}" for title, words in verdict.points[1:]]
    assert sentences(verdict) == [words.replace("−", "-") for words in said]


def test_how_good_it_is_stands_between_chance_and_all_objects():
    words = dict(judged(SCORES, (0.95, 0.96, 0.97)).points)["How good"]
    assert words.endswith("; all objects get 0.960, and labels drawn at random get 0.500.")
    assert dict(judged(SCORES).points)["How good"].endswith("; labels drawn at random get 0.500.")


def test_a_method_that_was_chosen_by_its_folds_is_said_to_be_flattered_by_them():
    words = dict(judged(SCORES).points)["How good"]
    assert words.startswith("Its F1 is 0.907 in the folds that also chose it, which flatters it a little; ")
    only = dict(judged({"CRS-k5": SCORES["CRS-k5"]}).points)["How good"]
    assert only == "Its F1 is 0.910; labels drawn at random get 0.500."


@pytest.mark.parametrize(
    ("all_objects", "expected"),
    [((0.99, 1.0, 1.0), "clearly below that of all"), ((0.50, 0.51, 0.51), "clearly above that of all"),
     ((0.80, 0.99, 0.93), "The folds cannot tell its F1 from that of all")],
)  # fmt: skip
def test_how_sure_it_is_follows_from_the_interval(all_objects, expected):
    words = dict(judged(SCORES, all_objects).points)["How sure"]
    assert expected in words
    found = difference(SCORES["CRS-k10"], all_objects)
    interval = f"all objects ({found.mean:+z.3f}, 95 % interval {found.low:+.3f} to {found.high:+.3f})"
    assert interval.replace("-", "−") in words
    assert words.endswith("still only a guide.")


def test_what_the_recommended_method_is_compared_with_is_the_best_if_it_is_better_and_else_the_next_best():
    assert "that of the best variant, CRS with k = 5 (" in dict(judged(SCORES).points)["How sure"]
    best = {"CRS-k10": (0.93, 0.94, 0.95), "CRS-k5": (0.90, 0.92, 0.91)}
    words = dict(judged(best).points)["How sure"]
    assert "that of the next best variant, CRS with k = 5 (" in words
    assert "best variant, CRS with k = 10" not in words


def test_methods_that_are_the_same_in_every_fold_need_no_interval():
    same = {"CRS-k5": (1.0, 1.0, 1.0), "CRS-k10": (1.0, 1.0, 1.0)}
    verdict = judged(same, (1.0, 1.0, 1.0))
    points = dict(verdict.points)
    assert points["How sure"] == (
        "In every fold, its F1 is the same as that of all objects. "
        "In every fold, its F1 is the same as that of the next best variant, CRS with k = 5."
    )
    assert "standard error" not in points["Why"]


def test_a_single_fold_says_nothing_about_how_sure_it_is():
    titles = [title for title, _ in judged({"CRS-k5": (0.9,)}).points]
    assert titles == ["Why", "How good", "What it costs"]


def test_the_cost_is_what_the_records_say():
    own = [replace(r, n_evaluations=3000, seconds=0.25) for r in records({"CRS-k10": SCORES["CRS-k10"]})]
    own = [replace(r, size=r.size + 3 * r.seed, seconds=r.seconds + 60 * (r.seed == 0)) for r in own]
    words = dict(judge(own, recommend(own, choose_methods(["crs"], [10]).candidates), None).points)["What it costs"]
    # Two clusters of 100, 103 and 106 objects in three folds, of which 20 are selected. The first fold was slow.
    assert re.findall(r"[\d,.]*\d", words) == ["19.4", "40", "206", "6,000", "0.2", "40", "206"]
    assert "40 of the 206 it selects from, on average over folds" in words


def test_without_a_recommendation_the_verdict_says_why():
    rng = np.random.default_rng(0)
    own = records({"CRS-k5": rng.normal(0.5, 0.01, size=3).round(2)})
    verdict = judge(own, recommend(own, choose_methods(["crs"], [5]).candidates), None)
    assert verdict.headline == "No method can be recommended."
    assert not verdict.recommends
    assert verdict.command is None
    assert verdict.points[0][1].startswith("No k answers better than chance")
