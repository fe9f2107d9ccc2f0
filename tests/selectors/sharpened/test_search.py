"""The search of `Sharpened`: what it keeps up to date is what a computation from scratch gives, at any time."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.selectors.sharpened import search
from covey.selectors.sharpened.lists import nearest_of_all
from covey.selectors.sharpened.search import RepresentativeSet, add, begin, exchange, grow, put_back, refresh, take_away
from covey.similarity.kinds import collect
from covey.similarity.measures import resolve
from tests import reference
from tests.forms import similarity_matrix

TEMPERATURE = 0.2


class Problem:
    """Objects of a few classes, with a matrix of their similarities, lists of length k, and some representatives."""

    def __init__(self, seed, n=24, n_classes=3, k=None, symmetric=True, levels=None, n_chosen=8, **options):
        rng = np.random.default_rng(seed)
        self.s = similarity_matrix(n, rng, symmetric, levels)
        self.classes = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n - n_classes)])
        self.weights = rng.integers(1, 4, n) / n
        first = np.arange(n_classes)
        self.start = np.sort(
            np.concatenate([first, n_classes + rng.permutation(n - n_classes)[: n_chosen - n_classes]])
        )
        collection = collect(self.s, resolve("precomputed"))
        self.lists = nearest_of_all(collection, collection.space(), n - 1 if k is None else k, rng)
        self.found = RepresentativeSet(collection, self.classes, self.weights, self.lists, self.start, None, **options)
        self.compared = options.get("compared", True)
        begin(self.state, self.lists, TEMPERATURE)

    @property
    def state(self):
        return self.found._state

    def listed(self, x):
        """The list of an object: {other: similarity}."""
        entries = slice(self.lists.starts[x], self.lists.starts[x + 1])
        return dict(zip(self.lists.others[entries].tolist(), self.lists.similarities[entries].tolist(), strict=True))

    def loss(self, chosen):
        chosen = set(np.asarray(chosen).tolist())
        return reference.sharpening_loss(self.s.tolist(), self.classes, self.weights, chosen, TEMPERATURE)

    def gains(self):
        """By how much the losses of the objects that list a candidate, and its own, would fall if it were chosen."""
        state, gains = self.state, np.zeros(self.classes.size)
        for x in np.flatnonzero(~state.chosen):
            own, other = state.best_similarity[x].tolist()
            now = smooth_error(own, other)
            gains[x] += self.weights[x] * now
            for candidate, similarity in self.listed(x).items():
                same = self.classes[candidate] == self.classes[x]
                then = smooth_error(max(own, similarity), other) if same else smooth_error(own, max(other, similarity))
                gains[candidate] += self.weights[x] * (now - then)
        return gains


def smooth_error(own, other):
    """The loss of an object with these best similarities, of which each may be -inf."""
    if own == other:
        return 0.5
    with np.errstate(over="ignore"):
        return float(1 / (1 + np.exp((own - other) / TEMPERATURE)))


def check(problem):
    """Everything in the state that follows from something else in it follows indeed."""
    state = problem.state
    np.testing.assert_array_equal(
        state.n_chosen, np.bincount(problem.classes[state.chosen], minlength=state.n_chosen.size)
    )
    np.testing.assert_allclose(state.gains, problem.gains(), rtol=0, atol=1e-12)
    for side in range(2):
        best = state.best[:, side]
        known = np.flatnonzero(best >= 0)
        assert state.chosen[best[known]].all()
        same_class = problem.classes[best[known]] == problem.classes[known]
        assert (same_class == (side == 0)).all()
        similarities = np.maximum(problem.s[known, best[known]], state.floors[known])
        np.testing.assert_array_equal(state.best_similarity[known, side], similarities)
        unknown = best < 0
        np.testing.assert_array_equal(state.best_similarity[unknown, side], state.floors[unknown])
        chains = {r: chain(state, side, r) for r in range(best.size)}
        assert {r: sorted(xs) for r, xs in chains.items()} == {
            r: np.flatnonzero(best == r).tolist() for r in range(best.size)
        }


def chain(state, side, r):
    """The objects whose best representative is r, along the links; the links back must agree."""
    objects, before, x = [], -1, state.heads[side, r]
    while x >= 0:
        assert state.before[side, x] == before
        objects.append(int(x))
        before, x = x, state.after[side, x]
    return objects


def check_exact(problem, chosen):
    """The best representatives of each object are those that a look at all of them finds."""
    expected = reference.best_of_sides(problem.s.tolist(), problem.classes, np.asarray(chosen).tolist())
    own, margins = problem.found.best_own(), problem.found.margins()
    for x, (mine, others) in enumerate(expected):
        for side, best in enumerate((mine, others)):
            if best is not None:
                assert (problem.state.best[x, side], problem.state.best_similarity[x, side]) == best
        if mine is not None:
            assert margins[x] == mine[1] - others[1]
        assert own[x] == (x if x in chosen else mine[0])
    assert problem.found.indices.tolist() == sorted(chosen)
    assert problem.found.loss(TEMPERATURE) == pytest.approx(problem.loss(chosen), rel=1e-12, abs=1e-15)


def scratch(n):
    """Room for what `take_away` writes down."""
    return np.empty(2 * n, np.int32), np.empty(2 * n, np.int8), np.empty(2 * n)


def take_and_put_back(problem, draw):
    """The very same representatives are best for the very same objects afterwards."""
    state = problem.state
    before = state.chosen.copy(), state.best.copy(), state.best_similarity.copy()
    r = int(draw(problem.found.indices))
    room = scratch(state.chosen.size)
    loss = problem.found.loss(TEMPERATURE)
    n, rise = take_away(state, problem.lists, r, TEMPERATURE, *room)
    assert rise == pytest.approx(problem.found.loss(TEMPERATURE) - loss, abs=1e-12)
    check(problem)
    put_back(state, problem.lists, r, TEMPERATURE, *room, n)
    for found, expected in zip((state.chosen, state.best, state.best_similarity), before, strict=True):
        np.testing.assert_array_equal(found, expected)


def take_and_add_another(problem, draw):
    state, classes = problem.state, problem.classes
    r = int(draw(problem.found.indices))
    take_away(state, problem.lists, r, TEMPERATURE, *scratch(classes.size))
    allowed = ~state.chosen & ((classes == classes[r]) | (state.n_chosen[classes[r]] > 0))
    add(state, problem.lists, int(draw(np.flatnonzero(allowed))), TEMPERATURE)


def exchange_some(problem, draw):
    chosen = problem.found.indices
    some = np.unique([draw(chosen) for _ in range(3)])
    added = np.empty(some.size, dtype=np.intp)
    n = exchange(problem.state, problem.lists, some, TEMPERATURE, added)
    assert problem.state.chosen[added[:n]].all()
    assert problem.found.indices.size == chosen.size


def grow_by_two(problem, draw):
    n = problem.found.indices.size
    if n + 2 <= problem.classes.size:
        grow(problem.state, problem.lists, TEMPERATURE, np.empty(2, dtype=np.intp))
        assert problem.found.indices.size == n + 2


def look_again(problem, draw):
    refresh(problem.state, problem.lists, TEMPERATURE)


def compare_again(problem, draw):
    """After the comparisons that a batch of exchanges ends with, everything is exact again, or what the lists say."""
    problem.found._update(problem.found.indices, TEMPERATURE)
    if problem.compared:
        check_exact(problem, problem.found.indices)
    else:
        check_listed(problem)


def check_listed(problem):
    """The best representatives of an object are those in its list; all others count as the last of its neighbors."""
    for x in range(problem.classes.size):
        for side, same in enumerate((True, False)):
            of_side = [
                (-similarity, r)
                for r, similarity in problem.listed(x).items()
                if problem.state.chosen[r] and (problem.classes[r] == problem.classes[x]) == same
            ]
            assert problem.state.best[x, side] == (min(of_side)[1] if of_side else -1)


STEPS = [take_and_put_back, take_and_add_another, exchange_some, grow_by_two, look_again, compare_again]


@given(
    seed=st.integers(0, 10**6),
    k=st.sampled_from([1, 3, 8, 23]),
    symmetric=st.booleans(),
    levels=st.sampled_from([None, 3]),
    n_best=st.sampled_from([1, 2, 8]),
    compared=st.booleans(),
    steps=st.lists(st.sampled_from(range(len(STEPS))), min_size=1, max_size=10),
)
def test_whatever_happens_the_state_is_what_a_computation_from_scratch_gives(
    seed, k, symmetric, levels, n_best, compared, steps
):
    """Gains are sums of what each object contributes, so that withdrawing and adding again must change nothing else."""
    rng = np.random.default_rng(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "N_BEST", n_best)
        problem = Problem(seed, k=k, symmetric=symmetric, levels=levels, compared=compared)
        check(problem)
        for step in steps:
            STEPS[step](problem, rng.choice)
            check(problem)


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_with_lists_of_all_pairs_each_exchange_is_the_best_one_there_is(seed, symmetric, monkeypatch):
    """All objects list a candidate then, so that its gain is the exact fall of the loss."""
    monkeypatch.setattr(search, "N_BEST", 100)
    problem = Problem(seed, symmetric=symmetric)
    arguments = problem.s.tolist(), problem.classes, problem.weights
    n_exchanged = 0
    for r in problem.start:
        before = problem.found.indices
        losses = reference.sharpening_exchange(*arguments, set(before.tolist()), r, TEMPERATURE)
        best = min(losses, key=lambda candidate: (losses[candidate], candidate))
        added = np.empty(1, dtype=np.intp)
        n = exchange(problem.state, problem.lists, np.array([r]), TEMPERATURE, added)
        assert (int(added[0]) if n else r) == best
        problem.found._update(added[:n], TEMPERATURE)
        check_exact(problem, sorted({*before.tolist(), best} - ({r} - {best})))
        assert problem.found.loss(TEMPERATURE) == pytest.approx(losses[best], rel=1e-12)
        n_exchanged += n
    assert n_exchanged > 1


@pytest.mark.parametrize("seed", range(6))
def test_with_lists_of_all_pairs_an_exchange_among_equals_is_as_good_as_any(seed, monkeypatch):
    """Few levels of similarity make many ties, which rounding may break either way: the loss is the least one."""
    monkeypatch.setattr(search, "N_BEST", 100)
    problem = Problem(seed, symmetric=bool(seed % 2), levels=3)
    for r in problem.start:
        before = set(problem.found.indices.tolist())
        losses = reference.sharpening_exchange(
            problem.s.tolist(), problem.classes, problem.weights, before, r, TEMPERATURE
        )
        added = np.empty(1, dtype=np.intp)
        n = exchange(problem.state, problem.lists, np.array([r]), TEMPERATURE, added)
        chosen = int(added[0]) if n else r
        assert losses[chosen] == pytest.approx(min(losses.values()), rel=1e-12)
        problem.found._update(added[:n], TEMPERATURE)


def test_a_representative_stays_unless_another_is_better_and_of_equal_ones_the_first_comes():
    """Where all objects are equally similar, every candidate gains its own loss, and the weights alone decide."""
    n = 12
    problem = Problem(0, n=n, n_classes=2, levels=1, n_chosen=4)
    problem.weights[:] = 1 / 8
    problem.found.replace_all(problem.start)
    begin(problem.state, problem.lists, TEMPERATURE)
    added = np.empty(1, dtype=np.intp)
    for r in problem.start:
        assert exchange(problem.state, problem.lists, np.array([r]), TEMPERATURE, added) == 0
    problem.weights[[7, 9, 11]] = 1 / 4
    problem.found.replace_all(np.array([0, 1, 2, 3]))
    begin(problem.state, problem.lists, TEMPERATURE)
    assert exchange(problem.state, problem.lists, np.array([3]), TEMPERATURE, added) == 1
    assert added[0] == 7


@pytest.mark.parametrize("n_best", [1, 2, 8])
@pytest.mark.parametrize("together", [1, 5, 32])
@pytest.mark.parametrize("symmetric", [True, False])
def test_after_sweeps_and_changes_of_size_all_margins_are_exact(n_best, together, symmetric, monkeypatch):
    """Lists of representatives run dry when several of them are taken away; objects are then compared anew."""
    monkeypatch.setattr(search, "N_BEST", n_best)
    monkeypatch.setattr(search, "TOGETHER", together)
    rng = np.random.default_rng(0)
    for seed in range(3):
        problem = Problem(seed, n=60, k=12, symmetric=symmetric, levels=[None, 4, None][seed], n_chosen=20)
        found = problem.found
        check_exact(problem, problem.start.tolist())
        for size in (None, 9, None, 31, 3, None, problem.start, None, 60):
            before = found.indices.size
            if size is None:
                assert 0 <= found.sweep(TEMPERATURE, rng) <= before
            elif size is problem.start:
                found.replace_all(size)
            else:
                found.resize(size, TEMPERATURE)
            expected = {None: before}.get(size, size) if size is not problem.start else size.size
            assert found.indices.size == expected
            check_exact(problem, found.indices.tolist())
            assert (np.bincount(problem.classes[found.indices], minlength=3) > 0).all()
        assert found.indices.size == 60


def test_dropping_prefers_the_representative_whose_loss_costs_least():
    """The costs of all representatives are the exact rises of the loss, as long as no list has run dry."""
    problem = Problem(1, n=40, n_chosen=7)
    costs = search.costs(problem.state, TEMPERATURE)
    rises = {}
    for r in problem.start:
        rest = sorted(set(problem.start.tolist()) - {r})
        if any(problem.classes[t] == problem.classes[r] for t in rest):
            rises[r] = problem.loss(rest) - problem.loss(problem.start)
            assert costs[r] == pytest.approx(rises[r], rel=1e-9, abs=1e-12)
    problem.found.resize(problem.start.size - 1, TEMPERATURE)
    assert set(problem.start.tolist()) - set(problem.found.indices.tolist()) == {min(rises, key=rises.get)}


@pytest.mark.parametrize("k", [3, 39])
def test_the_sizes_asked_for_are_reached_and_without_other_objects_there_is_no_loss(k):
    """Representatives have no loss, so that none is left when all objects are representatives."""
    problem = Problem(2, n=40, k=k, n_chosen=5)
    for size in (6, 10, 33, 40):
        problem.found.resize(size, TEMPERATURE)
        assert problem.found.indices.size == size
    assert problem.found.loss(TEMPERATURE) == 0


def test_if_margins_are_listed_nothing_is_evaluated_and_with_all_pairs_they_are_exact():
    """A list of all others knows every representative, so that its floor never counts."""
    problem = Problem(4, n=40, compared=False)
    rng = np.random.default_rng(0)
    for act in (lambda: problem.found.sweep(TEMPERATURE, rng), lambda: problem.found.resize(20, TEMPERATURE)):
        act()
        check_exact(problem, problem.found.indices.tolist())
    assert problem.found.n_evaluations == 0
