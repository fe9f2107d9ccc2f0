"""Charts, confusions and figures made of records of a small problem: what they draw."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.colors import to_rgba
from matplotlib.container import BarContainer
from sklearn.dummy import DummyClassifier
from sklearn.metrics import confusion_matrix, f1_score

import covey
from covey.displays.cards import Card
from covey.displays.confusion import LARGEST
from covey.experiments import figures
from covey.experiments.methods import crs, sharpened
from covey.experiments.paper.report import METHODS
from covey.experiments.specs import Results
from covey.experiments.tables import summarise
from tests.experiments.iris import FEW, IRIS, iris, run, shown_of

TRIED = {
    "few": crs(20),
    "CRS-k in name only": METHODS["random-5%"],
    "many": crs(3),
    "sharp": sharpened(20),
    "full-100%": METHODS["full-100%"],
}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    records = run(tmp_path_factory.mktemp("records"), IRIS, TRIED, seeds=[0, 1])
    return Results(records, IRIS, None)


@pytest.fixture(scope="module")
def rows(results):
    return {row.method: row for row in summarise(results.records, IRIS)}


def test_methods_that_differ_only_in_k_are_a_curve_whatever_they_are_called(results):
    (chart,) = figures.quality_against_size(results)
    assert [series.name for series in chart.series] == ["CRS", "sharpened CRS", "CRS-k in name only"]
    assert [point.label for point in chart.series[0].points] == ["3", "20"]
    assert [series.joined for series in chart.series] == [True, False, False]


def test_all_objects_and_chance_are_lines_and_what_has_folds_has_an_interval(results, rows):
    (chart,) = figures.quality_against_size(results)
    everything, chance = chart.levels
    whole = rows["full-100%"]
    assert (everything.name, everything.y) == ("full-100%", whole.f1)
    assert everything.interval == (whole.f1 - whole.f1_error, min(whole.f1 + whole.f1_error, 1))
    assert (chance.name, chance.y, chance.low, chance.high) == ("chance", pytest.approx(1 / 3), None, None)


def test_intervals_are_standard_errors_of_f1_within_0_and_1(results, rows):
    (chart,) = figures.quality_against_size(results)
    for point, row in zip(chart.series[0].points, (rows["many"], rows["few"]), strict=True):
        assert (point.x, point.y) == (row.percentage, row.f1)
        assert point.low == row.f1 - row.f1_error
        assert point.high == min(row.f1 + row.f1_error, 1)
    perfect = [replace(r, precision=1.0, recall=1.0) if r.seed else r for r in results.records]
    (chart,) = figures.quality_against_size(Results(perfect, IRIS, None))
    assert max(point.high for series in chart.series for point in series.points) <= 1


def test_the_recommended_method_and_its_curve_stand_out(results, rows):
    (chart,) = figures.quality_against_size(results, "few")
    assert chart.marked is chart.series[0].points[1]
    assert [series.strong for series in chart.series] == [True, False, False]
    assert all(series.strong for series in next(iter(figures.quality_against_size(results))).series)


def descended(records):
    """The records, as if CRS with fewer neighbors had evaluated half of the pairs."""
    return [
        replace(r, n_evaluations=r.n_evaluations // 2, scan_rate=r.scan_rate / 2) if r.method == "many" else r
        for r in records
    ]


def test_what_evaluates_nothing_is_a_line_in_the_chart_of_evaluations(results):
    (chart,) = figures.quality_against_evaluations(Results(descended(results.records), IRIS, None))
    assert [level.name for level in chart.levels] == ["CRS-k in name only", "full-100%", "chance"]
    assert [series.name for series in chart.series] == ["CRS", "sharpened CRS"]


def test_a_chart_of_evaluations_that_would_say_nothing_is_not_drawn(results):
    """Each curve would be a stack of points if it evaluates the same for every k, and a line if all are as good."""
    assert {r.scan_rate for r in results.records if r.method in ("few", "many")} == {1.0}
    assert list(figures.quality_against_evaluations(results)) == []
    right = [replace(r, precision=1.0, recall=1.0) for r in descended(results.records)]
    assert list(figures.quality_against_evaluations(Results(right, IRIS, None))) == []


def test_an_axis_of_f1_ends_at_1(results):
    right = [replace(r, precision=1.0, recall=1.0) for r in results.records]
    (chart,) = figures.quality_against_size(Results(right, IRIS, None))
    for drawing in chart.drawings():
        assert max(float(text) for _, text in drawing.y_ticks) == 1


@pytest.mark.parametrize("shares", [(0.5, 0.5), (0.7, 0.2, 0.1), (0.96, 0.01, 0.01, 0.02)])
def test_chance_is_what_guessing_gets(results, shares):
    """A guess that draws labels as often as they occur; always giving the most frequent label is no better."""
    rng = np.random.default_rng(0)
    truth = rng.choice(len(shares), p=shares, size=200_000)
    asked = [replace(results.records[0], cluster=str(at), predicted={"0": int((truth == at).sum())})
             for at in range(len(shares))]  # fmt: skip
    guess = DummyClassifier(strategy="stratified", random_state=1).fit(truth, truth).predict(truth)
    assert figures.chance(asked) == pytest.approx(f1_score(truth, guess, average="macro"), abs=0.005)
    assert figures.chance(asked) >= f1_score(truth, np.zeros_like(truth), average="macro", zero_division=0)


def test_a_budget_gets_the_best_of_the_k_that_keep_to_it(results, rows):
    (table,) = figures.quality_by_budget(results)
    budgets = [row[0] for row in table.rows]
    assert budgets[-1] == "all (full-100%)"
    assert table.rows[-1][1:] == [f"{rows['full-100%'].f1:.3f} ± {rows['full-100%'].f1_spread:.3f}"] * 2
    assert "± its standard deviation over folds" in table.caption
    ten = table.rows[budgets.index("10 %")]
    within = [row for row in (rows["few"], rows["many"]) if row.percentage <= 10]
    best = max(within, key=lambda row: row.f1)
    assert ten[1] == f"{best.f1:.3f} ± {best.f1_spread:.3f} (k = {best.k}, {best.percentage:.1f} %)"
    assert "1 %" not in budgets  # three clusters of thirty have at least three representatives
    only_others = Results([r for r in results.records if r.k is None], IRIS, None)
    assert list(figures.quality_by_budget(only_others)) == []


def test_nothing_is_drawn_of_nothing():
    assert list(figures.quality_against_size(Results([], IRIS, None))) == []


SHOWN = {"iris": replace(IRIS["iris"], card=lambda row: Card(str(row.tolist())))}


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    found = run(tmp_path_factory.mktemp("records"), SHOWN, {"CRS-k5": FEW["CRS-k5"]}, seeds=[0, 1])
    assert any(r.mistaken for r in found)
    return found


def model(split, seed):
    return covey.NearestPrototypeClassifier(covey.CRS(5, random_state=seed)).fit(split.X, split.y)


def test_confusion_counts_every_query(records):
    expected = sum(
        confusion_matrix(split.truth, model(split, seed).predict(split.queries))
        for seed, split in enumerate(iris(seed, None) for seed in (0, 1))
    )
    labels, counts = figures.confusion(records)
    assert labels == ["0", "1", "2"]
    np.testing.assert_array_equal(counts, expected)
    (matrix,) = figures.confusion_matrices(Results(records, SHOWN, None))
    np.testing.assert_array_equal(matrix.counts, expected)


def test_examples_are_queries_that_the_shown_representative_has_decided_wrongly(records):
    (found,) = figures.largest_confusions(Results(records, SHOWN, lambda name, seed: SHOWN[name].split(seed)))
    fitted = [(split, model(split, seed)) for seed, split in enumerate(iris(seed, None) for seed in (0, 1))]
    decided = {
        (str(split.queries[at].tolist()), str(split.truth[at])): (str(split.X[row].tolist()), str(split.y[row]))
        for split, own in fitted
        for at, row in enumerate(own.nearest_prototypes(split.queries, n=1)[0][:, 0])
    }
    assert found.found
    for confusion in found.found:
        assert confusion.examples
        for example in confusion.examples:
            assert decided[example.asked.title, confusion.label] == (example.decided.title, confusion.given)


def test_the_largest_confusion_is_told_first_with_its_numbers(records):
    (found,) = figures.largest_confusions(Results(records, SHOWN, lambda name, seed: SHOWN[name].split(seed)))
    _, counts = figures.confusion(records)
    wrong = counts - np.diag(np.diag(counts))
    row, column = np.unravel_index(np.argmax(wrong), wrong.shape)
    times, n = wrong[row, column], counts[row].sum()
    assert found.found[0].sentence.startswith(f"{times} of {n} objects ({100 * times / n:.1f} %) of {row} w")
    assert found.found[0].sentence.endswith(f" taken for {column}.")
    assert len(found.found) == min((wrong > 0).sum(), LARGEST)


def test_a_label_that_is_only_an_answer_is_counted_too(records):
    odd = [replace(r, predicted={"3": 1, **r.predicted}) for r in records]
    labels, counts = figures.confusion(odd)
    assert labels == ["0", "1", "2", "3"]
    assert counts[:, 3].tolist() == [2, 2, 2, 0]


def test_nothing_is_told_of_answers_that_are_all_right(records):
    right = [replace(r, predicted={r.cluster: 20}, mistaken={}) for r in records]
    results = Results(right, SHOWN, None)
    assert list(figures.confusion_matrices(results)) == list(figures.largest_confusions(results)) == []


def test_records_without_examples_are_told_without_them(records):
    """Files of older versions list no examples."""
    old = [replace(r, mistaken={}) for r in records]
    (found,) = figures.largest_confusions(Results(old, SHOWN, None))
    assert all(not own.examples for own in found.found)


def test_methods_are_compared_over_clusters(tmp_path):
    records = run(tmp_path, IRIS, FEW, seeds=[0, 1])
    found = figures.comparison_over_clusters(records, "iris", "recall")
    assert set(found.names) == set(FEW)
    assert found.n_blocks == 3
    assert figures.comparison_over_clusters(records, "elsewhere", "recall") is None


def test_every_bar_chart_has_a_bar_for_each_method_and_cluster(tmp_path):
    records = run(tmp_path, IRIS, FEW, seeds=[0, 1])
    figure = shown_of(figures.bar_charts, records, IRIS).figure
    for axes, score in zip(figure.axes, ("precision", "recall"), strict=False):
        drawn = [bars for bars in axes.containers if isinstance(bars, BarContainer)]
        for bars, method in zip(drawn, FEW, strict=True):
            means = [
                np.mean([getattr(r, score) for r in records if (r.method, r.cluster) == (method, cluster)])
                for cluster in "012"
            ]
            np.testing.assert_allclose([bar.get_height() for bar in bars], means)
            scores = [[getattr(r, score) for r in records if (r.method, r.cluster) == (method, c)] for c in "012"]
            errors = [np.std(own, ddof=1) / len(own) ** 0.5 for own in scores]
            lengths = [np.ptp(line[:, 1]) / 2 for line in bars.errorbar.lines[2][0].get_segments()]
            np.testing.assert_allclose(lengths, errors, atol=1e-12)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == list(FEW)
    legend, bars = figure.legends[0].legend_handles, figure.axes[0].containers
    drawn = [own for own in bars if isinstance(own, BarContainer)]
    assert [to_rgba(own.get_facecolor()) for own in legend] == [to_rgba(own[0].get_facecolor()) for own in drawn]


def test_bar_charts_only_speak_of_errors_that_they_show(tmp_path):
    records = run(tmp_path, IRIS, FEW, seeds=[0, 1])
    assert "one standard error over seeds" in shown_of(figures.bar_charts, records, IRIS).caption
    one = shown_of(figures.bar_charts, [r for r in records if r.seed == 0], IRIS)
    assert "standard error" not in one.caption
    assert {text.get_ha() for text in one.figure.axes[-1].get_xticklabels()} == {"center"}  # names are not slanted


def test_ranks_that_do_not_differ_are_not_drawn(tmp_path):
    """Three methods that give the same answers have nothing that a figure could show."""
    some = run(tmp_path, IRIS, FEW)
    same = [replace(r, method=name) for r in some if r.method == "CRS-k5" for name in FEW]
    assert list(figures.critical_differences(Results(same, IRIS, None))) == []
    better = [replace(r, precision=r.precision * (1 + at), cluster=f"{r.cluster}{copy}")
              for r in some if r.method == "CRS-k5" for copy in range(4) for at in range(3)]  # fmt: skip
    ranked = [replace(r, method=f"method {at % 3}") for at, r in enumerate(better)]
    (picture,) = figures.critical_differences(Results(ranked, IRIS, None))
    assert "over 12 clusters" in picture.caption
