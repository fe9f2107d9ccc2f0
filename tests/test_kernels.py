"""Every compiled kernel against its own Python source.

Whole numbers keep every sum exact, so that reassociated additions must agree to the bit.
"""

import importlib
import pkgutil

import numpy as np
import pytest
import scipy.sparse as sp

import covey
from covey.coverage import cover, edges, gains, lower_bound, primal_dual, queue, refine, rounds
from covey.coverage.edges import Edges, adjacency_of, edges_from
from covey.graph import by_group, groups, growing, pair_memory, screen, shortlists, threshold
from covey.graph import candidates as _candidates
from covey.graph import exact as _exact
from covey.graph import lists as _lists
from covey.graph import starts as tree
from covey.graph.candidates import Candidates
from covey.graph.clusters import communities, density
from covey.graph.recall import count_fallen
from covey.runtime.executor import Executor
from covey.selectors.ds3 import admm, facility
from covey.selectors.sharpened import lists as candidate_lists
from covey.selectors.sharpened import search
from covey.similarity import bounds, duplicates, hash_table, sums
from covey.similarity import kernels as _kernels
from covey.similarity import kernels as prefetch
from covey.similarity.kinds.mixed import gower_means
from tests.graph.clusters.test_communities import move_case
from tests.graph.clusters.test_density import condense_case, joining_case
from tests.selectors.ds3.cases import (
    admm_case,
    closing_case,
    cost_case,
    fill_case,
    lift_case,
    nearest_case,
    visits_case,
)
from tests.selectors.sharpened.test_search import Problem
from tests.similarity.kinds.bit_cases import BIT_CASES
from tests.similarity.kinds.string_cases import EDIT_CASES
from tests.similarity.kinds.test_mixed import kernel_case

rng = np.random.default_rng(0)


def pairs(n, size=200):
    i, j = rng.integers(0, n, (2, size)).astype(np.int32)
    j = np.where(i == j, (j + 1) % n, j).astype(np.int32)
    return i, j


def bounded_case():
    memory = pair_memory.BoundedPairs(200, 2)
    return memory._table, memory._firsts, *pairs(200), np.zeros(200, bool)


def dense_case(dtype):
    left, right = (rng.integers(0, 5, (20, 37)).astype(dtype) for _ in range(2))
    return left, right, *pairs(20), np.zeros(200)


def csr_case(term):
    left, right = (sp.random_array((20, 30), density=0.3, format="csr", rng=rng) for _ in range(2))
    left.data, right.data = np.ceil(left.data * 4), np.ceil(right.data * 4).astype(np.float32)
    parts = (left.indptr, left.indices, left.data, right.indptr, right.indices, right.data)
    return term, *parts, *pairs(20), np.zeros(200)


def list_case(n=12, size=5):
    """Empty lists of n objects and pairs to offer; a pair that comes again has the same similarity."""
    lists, (i, j) = _lists.NeighborLists.empty(n, size), pairs(n, 40 * size)
    return lists.indices, lists.similarities, lists.states, i, j, (i + 7 * j) % 4 / 4


def move_entries(array, row, place, count):
    """What `make_room` asks the processor to do."""
    array[row, place + 1 : place + 1 + count] = array[row, place : place + count].copy()


def filled_lists():
    arrays = list_case()
    _lists.insert.py_func(*arrays)
    arrays[2][:] = rng.integers(0, 2, arrays[2].shape)
    return arrays


def bitmap(n):
    pair_set = pair_memory.BitmapPairs(n)
    return pair_set._words, pair_set._starts


def choose_case():
    indices, _, states, *_ = filled_lists()
    return indices, states, 100, 3, np.uint64(7), np.full((12, 6), -1, np.int32), np.full((12, 8), -1, np.int32)


def join_case(lasting):
    candidates = Candidates.sample(_lists.NeighborLists(*filled_lists()[:3]), 3, 4, 7, Executor(1))
    new_of, old_of = candidates.new_of, candidates.old_of
    marks = bitmap(12) if lasting else (np.zeros(1, np.uint64), np.zeros(12, np.int64))
    holders = (new_of.starts, new_of.objects, old_of.starts, old_of.objects)
    out = np.zeros((2, 2000), dtype=np.int32)
    return np.arange(12, dtype=np.int32), *marks, lasting, *holders, candidates.new, candidates.old, *out


def meet_case():
    others = np.unique(rng.integers(-1, 200, 9)).astype(np.int32)
    marks = rng.integers(0, 1 << 62, 5).astype(np.uint64)
    return np.int32(5), others, marks, 1, *np.zeros((2, 20), np.int32), 3


def full_shortlists():
    """Shortlists of nine objects for the three best, with seven places, all of which are filled."""
    return shortlists.Shortlists(
        rng.integers(0, 9, (9, 7)) / 1.0,
        rng.integers(0, 99, (9, 7)).astype(np.int32),
        np.full(9, 7),
        rng.choice([-np.inf, 0.0], 9),
        3,
    )


def spilled():
    return np.zeros((2, 300), dtype=np.int32)


def shortlist_case(shape):
    """A tile that is offered to the shortlists of six objects, and of which some entries are no pairs."""
    lists = full_shortlists()
    lists.sizes[:] = rng.integers(0, 7, 9)
    tile = rng.choice([-np.inf, *range(12)], shape).astype(np.float32)
    return lists, tile, rng.integers(0, 3, 6) / 1.0, 2, 40, *spilled()


def bytes_case():
    codes = rng.integers(-127, 128, (20, 37)).astype(np.int8)
    parts = np.column_stack([np.ones(20), rng.integers(0, 5, (20, 3)) ** 2])
    return codes, parts, *pairs(20), *np.zeros((3, 200))


def halve_case():
    sizes = np.array([7, 6, 1])
    leaning = rng.integers(0, 4, 14).astype(float)
    medians = np.array([np.sort(part)[part.size // 2] for part in np.split(leaning, [7, 13])])
    return rng.permutation(14).astype(np.int32), leaning, sizes, medians


def edges_case():
    """Edges of 40 objects, some of which do not lead anywhere."""
    graph = sp.random_array((40, 40), density=0.1, format="csr", rng=rng)
    coverers = np.where(rng.random(graph.nnz) < 0.9, graph.indices, -1)
    starts = graph.indptr.astype(np.int64)
    return Edges(starts[:-1], starts[1:], coverers.astype(np.int32), rng.integers(-1, 4, graph.nnz) / 2)


def kept_edges():
    graph = sp.random_array((40, 40), density=0.1, format="csr", rng=rng)
    return edges_from(graph.indptr, graph.indices, np.floor(graph.data * 4) / 4)


def weights_case():
    multiplicity = rng.integers(0, 3, 40)
    return np.ones(40, np.int64), multiplicity, multiplicity, scale_case()


def scale_case():
    return bool(rng.integers(2)), float(2 ** rng.integers(0, 9)), int(rng.integers(2))


def queue_case():
    gains = rng.integers(0, 9, 40) * 10 ** rng.integers(0, 6, 40)
    return queue.queue_of(gains, 3), gains


def pick_case():
    adjacency, weights, rounded = adjacency_of(kept_edges()), weights_case(), int(rng.integers(2))
    floor = (int(rng.integers(3)), int(rng.integers(40)))
    first = rng.permutation(40)[: rng.integers(3)]
    stop = (38, floor, int(rng.integers(2)), first, int(rng.integers(5, 40)))
    totals = weights[0].copy()
    gains.add_weights(Edges(*adjacency[:4]), *weights[2:], 0, 40, totals)
    state = (queue.queue_of(totals, rounded), totals, np.full(40, -1), *np.zeros((2, 40), np.int64))
    return adjacency, weights, rounded, stop, *state, np.array([0, 0, 0, queue.N_BUCKETS]), int(rng.integers(1, 300))


def primal_dual_case():
    adjacency = adjacency_of(kept_edges())
    return adjacency[4:], adjacency[:3], *(rng.integers(0, 5, (3, 40)) / 4)


def range_of_rows():
    """What 20 objects cover among 60 rows, some of which are covered already."""
    edges = sp.random_array((20, 60), density=0.2, format="csr", rng=rng)
    bits = np.packbits(rng.random(60) < 0.3)
    rows = np.sort(rng.choice(60, 20, replace=False)).astype(np.int32)
    return edges.indptr, edges.indices, edges.data, rows, rng.integers(1, 9, 20), bits


def keys_left_case():
    return *range_of_rows(), 2.0**20, int(rng.integers(20))


def edges_left_case():
    starts, covered, _, _, _, bits = range_of_rows()
    places = np.sort(rng.choice(20, 6, replace=False))
    left = ~np.unpackbits(bits)[:60].astype(bool)
    n = sum(int(left[covered[starts[p] : starts[p + 1]]].sum()) for p in places)
    return starts, covered, bits, places, n


def cover_graph(n=40):
    edges = sp.random_array((n, n), density=0.1, format="csr", rng=rng)
    adjacency = adjacency_of(edges_from(edges.indptr, edges.indices, edges.data))
    return *adjacency[:3], *adjacency[4:], rng.random(n) < 0.8, rng.integers(1, 4, n)


def steps_case():
    """A search for fewer representatives, all of which have been added."""
    graph = cover_graph()
    picked = np.unique(rng.integers(0, 40, 20))
    place, n_covering, gains = np.full(40, -1), np.zeros(40, np.int64), np.where(graph[5], graph[6], 0)
    refine.count_gains(*graph[:3], graph[6], 0, 40, gains)
    covered = refine.add_all(graph, picked, 0, picked.size, place, n_covering, gains)
    return graph, picked, picked.size, covered, refine.SEED, place, n_covering, gains, 2, covered, 50


def covered_case():
    """A graph with an object that represents, and one that does not."""
    return cover_graph(), 3, rng.integers(1, 4, 40), rng.integers(0, 9, 40)


def replace_case():
    chosen, place = rng.permutation(20)[:8], np.full(20, -1)
    place[chosen] = np.arange(8)
    others = np.setdiff1d(np.arange(20), chosen)
    return chosen, 8, place, rng.permutation(chosen)[:2], rng.permutation(others)[: rng.integers(3)]


def search_case(*arguments):
    """(state, lists, *arguments) of a small search, between two exchanges or in the midst of one."""
    problem = Problem(int(rng.integers(1000)), n=16, k=5, n_chosen=6, compared=bool(rng.integers(2)))
    return problem.state, problem.lists, *arguments


def of_search(change):
    """The same, with a representative and some other object first: `change` makes further arguments of the two."""
    state, lists = search_case()
    r, c = rng.choice(np.flatnonzero(state.chosen)), rng.choice(np.flatnonzero(~state.chosen))
    return state, lists, *change(int(r), int(c), state)


def put_back_case():
    state, lists = search_case()
    room = np.zeros(32, np.int32), np.zeros(32, np.int8), np.zeros(32)
    r = int(np.flatnonzero(state.chosen)[0])
    return state, lists, r, 0.25, *room, search.take_away(state, lists, r, 0.25, *room)[0]


def linked_case():
    state, _ = search_case()
    return state, int(rng.integers(16)), int(rng.integers(2))


def hurdle_case():
    n_groups = int(rng.integers(1, 4))
    estimates, slack = rng.integers(0, 9, (6, 50)).astype(np.float32), rng.integers(0, 2, 6).astype(float)
    groups = rng.integers(-1, n_groups, (6, 50)).astype(np.int8)
    hurdles = rng.choice([-np.inf, 0.0, 3.0, 5.0], (9, n_groups))
    return estimates, slack, groups, rng.permutation(9)[:6], hurdles, 3, *np.zeros((2, 300), dtype=np.int32)


def erased_case():
    words, starts = bitmap(200)
    i, j = pairs(200)
    pair_memory.set_bits.py_func(words, starts, i[:150], j[:150], np.zeros(150, bool))
    return words, starts, i[50:], j[50:]


def best_case():
    estimates, slack = rng.integers(0, 9, (6, 50)).astype(np.float32), rng.integers(0, 2, 6).astype(float)
    estimates[rng.random((6, 50)) < 0.1] = -np.inf
    hurdles = rng.choice([-np.inf, 0.0, 3.0, 5.0], 9)
    return estimates, slack, rng.permutation(9)[:6], hurdles, 3, 16, *np.zeros((2, 300), dtype=np.int32)


def pair_table():
    """A table of 64 slots with some keys in it, and what it stores for them."""
    table, stored = np.zeros(64, np.uint64), np.zeros(64)
    hash_table.put_values.py_func(table, stored, np.unique(rng.integers(1, 99, 20)).astype(np.uint64), rng.random(20))
    return table, stored


CASES = {
    gower_means: lambda: (*kernel_case(rng), *pairs(20), np.zeros(200)),
    hash_table.find_slot: lambda: (pair_table()[0], np.uint64(rng.integers(1, 99))),
    hash_table.find_keys: lambda: (
        *pair_table(),
        rng.integers(1, 99, 30).astype(np.uint64),
        np.zeros(30),
        np.zeros(30, bool),
    ),
    sums.add_by_exponent: lambda: (rng.normal(size=50).view(np.uint64), np.zeros((2048, 2), dtype=np.int64)),
    hash_table.put_values: lambda: (*pair_table(), np.arange(90, 100, dtype=np.uint64), rng.random(10)),
    candidate_lists.reverse: lambda: (
        np.array([0, 2, 4, 6]),
        np.array([1, 2, 0, 2, 0, 1], np.int32),
        rng.random(6),
        np.array([0, 2, 4]),
        np.zeros(6, np.int32),
        np.zeros(6),
    ),
    search.loss: lambda: (*rng.choice([-np.inf, 0.0, 0.5, 0.75], 2), 0.25),
    search.total_loss: lambda: (search_case()[0], 0.25),
    search.contribute: lambda: of_search(lambda r, c, state: (c, 0.25, float(rng.choice([-1, 1])))),
    search.set_best: lambda: of_search(
        lambda r, c, state: (c, int(state.classes[r] != state.classes[c]), r, 0.5, 0.25)
    ),
    search.link: linked_case,
    search.unlink: linked_case,
    search.first_chosen: lambda: (*linked_case(), int(rng.integers(2))),
    search.look_up_best: linked_case,
    search.look_up_all: lambda: search_case()[:1],
    search.begin: lambda: search_case(0.25),
    search.refresh: lambda: search_case(0.25),
    search.take_away: lambda: of_search(
        lambda r, c, state: (r, 0.25, np.zeros(32, np.int32), np.zeros(32, np.int8), np.zeros(32))
    ),
    search.put_back: put_back_case,
    search.choose: lambda: of_search(lambda r, c, state: (c, 0.25)),
    search.add: lambda: of_search(lambda r, c, state: (c, 0.25)),
    search.best_candidate: lambda: (search_case()[0], int(rng.integers(16)), rng.random() / 16),
    search.own_loss: lambda: (search_case()[0], int(rng.integers(16)), 0.25),
    search.exchange: lambda: of_search(lambda r, c, state: (np.array([r]), 0.25, np.zeros(1, np.intp))),
    search.grow: lambda: search_case(0.25, np.zeros(3, np.intp)),
    search.costs: lambda: (search_case()[0], 0.25),
    refine.count_gains: lambda: (*cover_graph()[:3], cover_graph()[6], 3, 30, rng.integers(0, 9, 40)),
    refine.add_all: lambda: (
        cover_graph(),
        rng.permutation(40)[:9],
        2,
        7,
        np.full(40, -1),
        rng.integers(0, 2, 40),
        rng.integers(0, 9, 40),
    ),
    refine.make_steps: steps_case,
    refine.add: covered_case,
    refine.remove: covered_case,
    refine.change_gains: lambda: (*cover_graph()[:3], rng.random(40) < 0.5, 7, 1, rng.integers(0, 9, 40)),
    refine.nearby: lambda: (cover_graph(), 3, rng.integers(-1, 2, 40), 0, np.uint64(rng.integers(1 << 40))),
    refine.best_near: lambda: (
        cover_graph(),
        np.array([3, 8]),
        rng.integers(0, 2, 40),
        rng.integers(0, 4, 40),
        np.uint64(rng.integers(1 << 40)),
    ),
    refine.better: lambda: (*rng.integers(-1, 9, 2).clip([-1, 0]), rng.integers(0, 2, 9), rng.integers(9)),
    refine.replace: replace_case,
    refine.draw: lambda: (np.uint64(rng.integers(1, 1 << 60)),),
    facility.add_gains: lambda: (cost_case()[0], rng.integers(0, 9, 15).astype(float), np.zeros(12)),
    facility.fill: fill_case,
    facility.nearest_two: nearest_case,
    facility.visit_rows: visits_case,
    facility.closing_saves: closing_case,
    admm.spend: lambda: (
        cost_case()[0],
        np.full(12, 2.0),
        rng.integers(1, 8, (12, 15)).astype(float),
        np.zeros(15),
        np.ones(1),
    ),
    admm.lower_columns: lambda: (admm_case()[0], rng.integers(0, 5, 15) / 4, rng.integers(0, 9, 12).astype(float)),
    admm.add_squares: lambda: (admm_case()[0], rng.integers(0, 9, 12).astype(float), np.zeros(15)),
    admm.lift: lift_case,
    admm.project: lambda: (rng.integers(-8, 8, 8) / 4, float(rng.integers(1, 3))),
    admm.aim: lambda: (*rng.integers(0, 8, (3, 5, 7)) / 4, 0.5, np.zeros((5, 7)), np.ones(7)),
    admm.advance: lambda: (
        rng.integers(0, 8, (5, 8)) / 4,
        rng.integers(0, 2, 8).astype(float),
        0.5,
        rng.integers(1, 3, 5).astype(float),
        *rng.integers(0, 8, (2, 5, 8)) / 4,
        np.ones(2),
    ),
    _kernels.dense_dot: lambda: dense_case(np.float32),
    _kernels.dense_squared: lambda: dense_case(np.float64),
    _kernels.dense_absolute: lambda: dense_case(np.float32),
    _kernels.dense_minimum: lambda: dense_case(np.float64),
    _kernels.dense_mismatches: lambda: dense_case(np.float32),
    _kernels.dense_weighted_sum: lambda: (
        rng.integers(-4, 5, (20, 37)).astype(np.float32),
        rng.integers(0, 5, 20) / 4,
        rng.integers(0, 5, 37) / 1.0,
    ),
    _kernels.csr_sum: lambda: csr_case(rng.integers(5)),
    _kernels.csr_shared_sum: lambda: (lambda term, *rest: (term, 30, *rest))(*csr_case(rng.integers(2))),
    _kernels.shared_term: lambda: (rng.integers(5), *rng.integers(0, 3, 2).astype(float)),
    _kernels.lone_term: lambda: (rng.integers(5), float(rng.integers(1, 3))),
    _lists.insert: lambda: list_case(*((12, 5) if rng.random() < 0.5 else (150, 80))),
    _lists.sort_ties: lambda: (
        rng.integers(-1, 9, (7, 5)).astype(np.int32),
        -np.sort(-rng.integers(0, 3, (7, 5)) / 2, axis=1),
        rng.integers(0, 3, (7, 5)).astype(np.uint8),
    ),
    _lists.drop_hopeless_pairs: lambda: (filled_lists()[1], *pairs(12), rng.integers(0, 5, 200) / 4),
    _lists.find_similarities: lambda: (*filled_lists()[:2], *pairs(12), np.zeros(200)),
    pair_memory.set_bits: lambda: (*bitmap(200), *pairs(200), np.zeros(200, bool)),
    pair_memory.erase_bits: erased_case,
    count_fallen: lambda: (-np.sort(-rng.integers(0, 4, (9, 6)) / 4.0, axis=1), np.zeros(6)),
    screen.correct: lambda: (*rng.random((2, 7), dtype=np.float32), np.float32(rng.random())),
    screen.move: lambda: (
        rng.random((9, 4), dtype=np.float32),
        np.array([2, 5, 7], np.int32),
        rng.random((9, 3), dtype=np.float32),
        rng.integers(-1, 9, (9, 5)).astype(np.int32),
        rng.random((9, 5), dtype=np.float32),
        2,
        8,
        np.zeros((9, 4), np.float32),
    ),
    pair_memory.put_keys: lambda: (
        np.zeros(512, np.uint64),
        rng.integers(1, 99, 200).astype(np.uint64),
        np.zeros(200, bool),
    ),
    pair_memory.put_bounded: bounded_case,
    _exact.clear_hurdles: hurdle_case,
    groups.find_best: best_case,
    groups.drop_listed: lambda: (
        filled_lists()[0],
        rng.permutation(12)[:8].astype(np.int32),
        rng.integers(0, 8, 40).astype(np.int32),
        rng.integers(0, 8, 40).astype(np.int32),
    ),
    threshold.drop_met: lambda: (
        int(rng.integers(9)),
        rng.permutation(12)[:8].astype(np.int32),
        rng.integers(0, 9, (12, 4)).astype(np.int32),
        *rng.integers(0, 8, (2, 40)).astype(np.int32),
    ),
    threshold.count_ends: lambda: (*rng.integers(0, 8, (2, 40)).astype(np.int32), np.zeros(8, np.int64)),
    shortlists.add_rows: lambda: shortlist_case((6, 20)),
    shortlists.add_columns: lambda: shortlist_case((20, 6)),
    shortlists.make_room: lambda: (full_shortlists(), int(rng.integers(9)), 0.5, np.zeros((2, 7)), *spilled(), 2),
    shortlists.cut: lambda: (full_shortlists(), int(rng.integers(9)), 0.5, np.zeros((2, 7))),
    shortlists.spill: lambda: (full_shortlists(), int(rng.integers(9)), *spilled(), 2),
    shortlists.spill_all: lambda: (full_shortlists(), np.full(6, 0.5), 3, *spilled()),
    shortlists.select_largest: lambda: (rng.integers(0, 9, 8) / 1.0, np.zeros(8), int(rng.integers(1, 9))),
    _candidates.mix: lambda: (np.uint64(1234567), np.int32(5), np.int32(99)),
    _candidates.keep_smallest: lambda: (
        np.array([4, 5, 6, 0], np.int32),
        np.array([1, 3, 8, 0], np.uint64),
        3,
        np.int32(9),
        np.uint64(2),
    ),
    _candidates.choose: choose_case,
    _candidates.invert: lambda: (filled_lists()[0], np.zeros(13, np.int64), np.zeros(60, np.int32)),
    _candidates.reverse: lambda: (
        np.array([0, 4, 4, 9]),
        rng.permutation(12)[:9].astype(np.int32),
        np.uint64(7),
        np.full((3, 3), -1, np.int32),
    ),
    _candidates.count_meetings: lambda: (join_case(True)[0], *(join_case(True)[at] for at in (4, 6, 8, 9))),
    _candidates.join: lambda: join_case(bool(rng.integers(2))),
    _candidates.meet: meet_case,
    bounds.round_rows: lambda: (rng.integers(-200, 200, (9, 5)) / 1.0, np.zeros((9, 5), np.int8), np.ones((9, 4))),
    bounds.byte_dot: lambda: bytes_case()[0][:2],
    bounds.largest_dot: bytes_case,
    bounds.smallest_squared: bytes_case,
    prefetch.look_ahead: lambda: (np.zeros((9, 99)), np.arange(5), int(rng.integers(9))),
    tree.halve: halve_case,
    _kernels.csr_products: lambda: (
        np.array([0, 2, 2, 5]),
        np.array([0, 3, 1, 2, 3], np.int32),
        rng.integers(1, 9, 5).astype(float),
        np.array([0, 1, 1, 3, 4]),
        np.array([1, 0, 1, 0], np.int32),
        rng.integers(1, 9, 4).astype(float),
        np.zeros((3, 2)),
    ),
    by_group.kth_largest: lambda: (rng.integers(0, 9, 7) / 1.0, np.zeros(int(rng.integers(1, 8)))),
    by_group.clear_group_hurdles: lambda: (
        rng.integers(0, 9, (5, 12)) / 1.0,
        np.full(5, 0.5),
        rng.integers(0, 4, 12),
        np.full((5, 4), -np.inf),
        int(rng.integers(1, 5)),
        np.zeros(60, np.int32),
        np.zeros(60, np.int32),
    ),
    hash_table.scrambled: lambda: (rng.integers(1 << 62, size=30).astype(np.uint64),),
    duplicates.hash_runs: lambda: (rng.integers(1 << 40, size=30).astype(np.uint64), np.array([0, 7, 7, 30])),
    cover.pick_some: pick_case,
    cover.cover_by: lambda: (
        np.int64(3),
        adjacency_of(kept_edges()),
        weights_case(),
        rng.integers(99, size=40),
        rng.integers(-1, 1, 40),
    ),
    edges.is_kept: lambda: (3, *rng.integers(-1, 5, 2), int(rng.integers(3)), bool(rng.integers(2))),
    edges.count_kept: lambda: (*edges_case(), 0.5, bool(rng.integers(2)), 3, 30, np.zeros(40, np.int64)),
    edges.copy_kept: lambda: (
        *(case := edges_case()),
        0.5,
        bool(rng.integers(2)),
        3,
        30,
        case.starts,
        np.zeros(case.coverers.size, np.int32),
        np.zeros(case.coverers.size),
    ),
    edges.count_covered: lambda: (*kept_edges()[:3], 3, 30, np.zeros(40, np.int64)),
    edges.list_covered: lambda: (*kept_edges()[:3], 3, 9, np.arange(40) * 9, np.zeros(400, np.int32)),
    edges.find_similarities: lambda: (*kept_edges(), *rng.integers(0, 40, (2, 30)), np.zeros(30)),
    gains.edge_weight: lambda: (rng.integers(-1, 4) / 4, rng.integers(3), scale_case()),
    gains.add_similarities: lambda: (kept_edges(), rng.integers(0, 3, 40), bool(rng.integers(2)), 3, 30, np.zeros(40)),
    gains.add_weights: lambda: (kept_edges(), rng.integers(0, 3, 40), scale_case(), 3, 30, rng.integers(0, 3, 40)),
    queue.bucket_of: lambda: (int(rng.integers(1 << rng.integers(1, 60))),),
    queue.enter_all: lambda: (*queue_case(), 2),
    queue.enter: lambda: (queue_case()[0], 3),
    queue.open_bucket: lambda: ((case := queue_case())[0], queue.bucket_of(int(case[0].keys.max())), case[1] // 2, 3),
    queue.without_top: lambda: (queue_case()[0]._replace(heap=rng.permutation(40).astype(np.int32)), 9),
    queue.sink: lambda: (np.arange(10), int(rng.integers(3)), 10, np.array([0, 5, 5, 4, 5, 2, 1, 1, 3, 0])),
    queue.before: lambda: (3, 4, np.array([0, 0, 0, 7, 7])),
    primal_dual.step_x: lambda: (*(case := primal_dual_case())[0], *case[2:], 3, 30),
    primal_dual.shift_to: lambda: (rng.integers(-9, 3, 40) / 8, int(rng.integers(1, 41)), rng.integers(9) / 8),
    primal_dual.step_y: lambda: (*rng.integers(-9, 9, (1, 40)) / 8, 0.25, rng.integers(0, 9, 40) / 8),
    primal_dual.step_u: lambda: (*(case := primal_dual_case())[1], *case[2:], 3, 30),
    primal_dual.add_loads: lambda: (*(case := primal_dual_case())[0], case[2], 3, 30, case[3]),
    primal_dual.cut_to_loads: lambda: (*(case := primal_dual_case())[1], *case[2:4], 3, 30, case[4]),
    lower_bound.add_each: lambda: (*kept_edges()[:3], *rng.integers(0, 5, (2, 40)) / 4),
    growing.place_edges: lambda: (
        *rng.integers(0, 4, (2, 20)).astype(np.uint16),
        rng.random(20),
        7,
        np.arange(4) * 20,
        np.zeros(80, np.int32),
        np.zeros(80),
    ),
    rounds.is_covered: lambda: (int(rng.integers(60)), np.packbits(rng.random(60) < 0.5)),
    rounds.keys_left: keys_left_case,
    rounds.edges_left: edges_left_case,
    gains.comparison_key: lambda: (np.int64(rng.integers(1 << 50)), int(rng.integers(30))),
    communities._visit: move_case,
    density.join: joining_case,
    density.condense: condense_case,
    **BIT_CASES,
    **EDIT_CASES,
}

ROUNDED = {
    admm.advance,
    primal_dual.step_x,
    primal_dual.step_u,
    screen.correct,
    screen.move,
    *(kernel for kernel in CASES if kernel.py_func.__module__ == search.__name__),
}
"""Kernels that add rounded numbers in any order the compiler chooses, or take exponentials, which the compiler and
NumPy round differently; the others add exact ones here."""


def run(function, arguments):
    """What the function returns, and what it leaves in its arrays."""
    copies = [copy(argument) for argument in arguments]
    with np.errstate(over="ignore"):  # hashes wrap around on purpose
        result = function(*copies)
    results = result if isinstance(result, tuple) else (result,)
    parts = [part for value in (*results, *copies) for part in (value if hasattr(value, "_fields") else [value])]
    return [np.asarray(part) for part in parts if not isinstance(part, tuple)]


def copy(argument):
    """A copy of an array, or of a named tuple of arrays; any other argument cannot be changed."""
    if hasattr(argument, "_fields"):
        return type(argument)(*map(copy, argument))
    return argument.copy() if isinstance(argument, np.ndarray) else argument


@pytest.mark.parametrize("kernel", CASES, ids=lambda kernel: kernel.py_func.__qualname__)
def test_kernel_does_what_its_source_says(kernel, monkeypatch):
    for _ in range(20):
        arguments = CASES[kernel]()
        compiled = run(kernel, arguments)
        with monkeypatch.context() as patch:  # kernels that it calls are plain Python then, too
            for name, value in kernel.py_func.__globals__.copy().items():
                if hasattr(value, "py_func"):
                    patch.setitem(kernel.py_func.__globals__, name, value.py_func)
            patch.setattr(prefetch, "prefetch", lambda array, row, offset: None)  # an instruction to the processor
            patch.setattr(_lists, "make_room", move_entries)
            plain = run(kernel.py_func, arguments)
        for a, b in zip(compiled, plain, strict=True):
            if kernel in ROUNDED and a.dtype.kind == "f":
                rounding = 45 * np.finfo(a.dtype).eps  # 1e-14 in double precision
                np.testing.assert_allclose(a, b, rtol=rounding, atol=rounding)
            else:
                np.testing.assert_array_equal(a, b)


def test_no_kernel_is_left_out():
    modules = [importlib.import_module(m.name) for m in pkgutil.walk_packages(covey.__path__, "covey.")]
    kernels = {value for module in modules for value in vars(module).values() if hasattr(value, "py_func")}
    assert kernels == set(CASES)
