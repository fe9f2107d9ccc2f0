"""Friedman, Shaffer and Nadeau and Bengio against published numbers, enumeration and SciPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from covey.evaluation import agreement_p_value, compare, difference, shaffer, true_together


def test_shaffers_published_example():
    """Five methods: Garcia and Herrera (2008), as in the documentation of scmamp."""
    raw = [4.487e-8, 1.736e-7, 0.002880485, 0.004848763, 0.007963489, 0.010112334, 0.012763008, 0.024744672, 0.743971]
    raw.append(0.806496)
    expected = [4.487e-7, 1.0417e-6, 0.017283, 0.029093, 0.047781, 0.047781, 0.051052, 0.074234, 1, 1]
    np.testing.assert_allclose(shaffer(raw, 5), expected, rtol=1e-4)
    order = np.random.default_rng(0).permutation(10)
    np.testing.assert_allclose(shaffer(np.array(raw)[order], 5), np.array(expected)[order], rtol=1e-4)


def test_multipliers_for_seven_methods():
    """With p-values so small that nothing is cut at 1, the adjusted ones show the multipliers."""
    raw = np.geomspace(1e-60, 1e-18, 21)
    expected = [21, *[15] * 6, *[11] * 4, 10, 9, 7, 7, 6, 5, 4, 3, 2, 1]
    np.testing.assert_allclose(shaffer(raw, 7) / raw, expected)


@pytest.mark.parametrize("k", range(1, 9))
def test_which_numbers_of_equalities_are_possible(k):
    """By trying every way to split k methods into groups of equals."""

    def splits(rest, largest):
        if rest == 0:
            yield ()
        for size in range(1, min(rest, largest) + 1):
            yield from ((size, *other) for other in splits(rest - size, size))

    counts = {sum(size * (size - 1) // 2 for size in split) for split in splits(k, k)}
    assert true_together(k) == tuple(sorted(counts))


@given(st.integers(2, 8), st.integers(0, 1000))
def test_between_nothing_and_bonferroni(k, seed):
    m = k * (k - 1) // 2
    raw = np.random.default_rng(seed).random(m) ** 4
    adjusted = shaffer(raw, k)
    assert np.all(adjusted >= raw)
    assert np.all(adjusted <= np.minimum(1, m * raw) + 1e-15)
    assert np.all(np.diff(adjusted[np.argsort(raw)]) >= 0)


@given(st.integers(3, 7), st.integers(2, 20), st.integers(0, 1000), st.booleans())
def test_ranks_and_friedman(k, n, seed, ties):
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 4, (n, k)) if ties else rng.random((n, k))
    found = compare(scores, [f"method {at}" for at in range(k)])
    assert found.ranks.sum() == pytest.approx(k * (k + 1) / 2)
    if np.ptp(scores, axis=1).any():
        statistic, p_value = stats.friedmanchisquare(*scores.T)
        assert (found.statistic, found.p_value) == pytest.approx((statistic, p_value))
    np.testing.assert_array_equal(found.adjusted, found.adjusted.T)
    assert np.all(np.diag(found.adjusted) == 1)


def test_clear_winners_and_equals():
    rng = np.random.default_rng(0)
    same = rng.random(40)
    scores = np.column_stack([same + 3, same + 2 + 0.01 * rng.standard_normal(40), same + 2, same])
    found = compare(scores, ["best", "second", "as good", "last"])
    assert found.p_value < 1e-10
    assert found.f_p_value < 1e-10
    assert found.groups() == [("second", "as good")] or found.groups() == [("as good", "second")]
    equal = compare(np.ones((5, 3)), ["a", "b", "c"])
    assert (equal.p_value, equal.groups()) == (1, [("a", "b", "c")])


def test_perfect_agreement_has_no_finite_statistic():
    found = compare(np.tile([3.0, 2.0, 1.0], (6, 1)), ["a", "b", "c"])
    assert found.f_statistic == np.inf
    assert found.f_p_value == 0


@pytest.mark.parametrize(
    ("scores", "names", "message"),
    [
        (np.ones((4, 2)), ["a", "b"], "3 methods or more"),
        (np.ones((1, 3)), ["a", "b", "c"], "2 blocks or more"),
        (np.full((4, 3), np.nan), ["a", "b", "c"], "finite"),
        (np.ones((4, 3)), ["a", "b"], "a column for each of the 2 names"),
    ],
)
def test_what_is_refused(scores, names, message):
    with pytest.raises(ValueError, match=message):
        compare(scores, names)
    with pytest.raises(ValueError, match="must be the 3 of all pairs of 3 methods"):
        shaffer([0.1], 3)


@pytest.mark.parametrize("k", [2, 5, 10])
def test_an_interval_over_folds_is_wider_than_that_of_independent_pairs_by_the_published_factor(k):
    """Nadeau and Bengio: the variance 1 / k becomes 1 / k + n_test / n_train, which is 1 / (k - 1) here."""
    ours, theirs = np.random.default_rng(k).random((2, k))
    found = difference(ours, theirs)
    assert found == difference(ours, theirs, confidence=0.95)
    usual = stats.ttest_rel(ours, theirs).confidence_interval(0.95)
    factor = (1 + k / (k - 1)) ** 0.5
    assert found.mean == pytest.approx(np.mean(ours - theirs))
    assert found.high - found.mean == pytest.approx(factor * (usual.high - usual.low) / 2)
    assert found.mean - found.low == pytest.approx(found.high - found.mean)
    half = stats.ttest_rel(ours, theirs).confidence_interval(0.5)
    assert difference(ours, theirs, confidence=0.5).high - found.mean == pytest.approx(
        factor * (half.high - half.low) / 2
    )
    other = difference(theirs, ours)
    assert (other.low, other.high) == pytest.approx((-found.high, -found.low))


def test_a_difference_is_clear_if_its_interval_is_on_one_side_of_0():
    assert difference([0.9, 0.91, 0.92], [0.5, 0.51, 0.5]).is_clear
    assert difference([0.5, 0.51, 0.5], [0.9, 0.91, 0.92]).is_clear
    assert not difference([0.9, 0.5, 0.7], [0.8, 0.6, 0.7]).is_clear
    assert not difference([0.9, 0.9], [0.9, 0.9]).is_clear
    with pytest.raises(ValueError, match="at least two folds"):
        difference([0.9], [0.8])
    with pytest.raises(ValueError, match="a score in each fold, got 1 and 2 scores"):
        difference([0.9], [0.8, 0.7])


def test_chance_is_as_likely_as_it_says():
    """Objects that answer for each other, with labels drawn at random: 5 % of the cases have a chance below 5 %."""
    rng = np.random.default_rng(0)
    chances = []
    for _ in range(2000):
        one, other = (rng.choice(3, p=(0.6, 0.25, 0.15), size=200) for _ in range(2))
        pairs = np.append(one * 3 + other, other * 3 + one)
        chances.append(agreement_p_value(np.bincount(pairs, minlength=9).reshape(3, 3)))
    assert np.mean(np.array(chances) < 0.05) == pytest.approx(0.05, abs=4 * (0.05 * 0.95 / 2000) ** 0.5)


def test_the_same_answer_to_everything_is_chance():
    assert agreement_p_value(np.zeros((2, 2))) == 1.0
    assert agreement_p_value([[50, 0], [50, 0]]) == 1.0


def test_answers_that_are_always_right_are_not_chance():
    assert agreement_p_value([[50, 0], [0, 50]]) < 1e-9
