"""Random small problems against the slow references: graphs, covers, selectors, classification, counts."""

import math
import warnings
from fractions import Fraction
from unittest import mock

import numpy as np
import scipy.sparse as sp

import covey
from covey.graph import groups
from tests import reference
from tests.attack._outcomes import FaultError, tally
from tests.attack._problem import draw, table
from tests.forms import space_of

MARGIN = 1e-9
"""Sums nearer to each other than this, relatively, may come in either order unless they are equal on paper."""


def attack(rng, n_cases):
    return tally(one_case, rng, n_cases)


def one_case(rng):
    check = CHECKS[rng.integers(len(CHECKS))]
    try:
        check(rng)
    except reference.CloseCallError:
        return f"undecided {check.__name__}"
    return f"right {check.__name__}"


def compare(what, found, expected, *example):
    """Refuse anything but the expected value; floats may differ by rounding."""
    if not equal(found, expected):
        raise FaultError(what, *example, f"found    {found}", f"expected {expected}")


def equal(found, expected):
    found, expected = np.asarray(found), np.asarray(expected)
    if found.shape != expected.shape or "f" not in (found.dtype.kind, expected.dtype.kind):
        return np.array_equal(found, expected)
    scale = np.max(np.abs(expected), initial=0.0, where=np.isfinite(expected))
    return np.allclose(found, expected, rtol=1e-9, atol=1e-12 * scale, equal_nan=True)


def graph(rng):
    """Lists hold the true neighbors in the total order; approximate ones hold true similarities in that order."""
    problem = draw(rng)
    k = int(rng.integers(1, problem.n + 3))
    screened = space_of(problem.objects, problem.similarity).groups_from is not None
    method = str(rng.choice(["exact", "auto", "nn-descent", *["groups"] * screened]))
    options = {"method": method, "random_state": int(rng.integers(100)), "n_jobs": [None, 2][rng.integers(2)]}
    example = f"neighbor_graph(X, {k}, similarity, **{options})", problem
    with mock.patch.multiple(groups, LARGEST=int(rng.integers(2, 20)), CELLS_NEAR=int(rng.integers(2, 9))):
        found = covey.neighbor_graph(problem.objects, k, problem.similarity, **options)
    expected = reference.neighbors(problem.s, problem.n, k)
    if found.method == "exact":
        compare("neighbor_graph: its lists", found.indices, [[j for j, _ in row] for row in expected], *example)
        compare("neighbor_graph: similarities", found.similarities, [[s for _, s in row] for row in expected], *example)
        n_pairs = problem.n * (problem.n - 1) // (1 + problem.symmetric)
        compare("neighbor_graph: evaluations", found.n_evaluations, n_pairs, *example)
        return
    for x, (others, similarities) in enumerate(zip(found.indices.tolist(), found.similarities.tolist(), strict=True)):
        if x in others or len(set(others)) < min(k, problem.n - 1) or min(others) < 0:
            raise FaultError(f"neighbor_graph: {method} lists an object twice or itself", *example, x, others)
        compare("neighbor_graph: similarities", similarities, [problem.s(x, r) for r in others], *example)
        if others != sorted(others, key=lambda r: (-problem.s(x, r), r)):
            raise FaultError(f"neighbor_graph: {method} does not list in order", *example, x, others)


def recall(rng):
    """Where all objects are equally similar, any neighbor is a true one."""
    n, k, seed = int(rng.integers(300, 500)), int(rng.integers(1, 12)), int(rng.integers(100))
    found = covey.neighbor_graph(np.ones((n, n)), k, "precomputed", "nn-descent", random_state=seed)
    example = f"neighbor_graph(np.ones(({n}, {n})), {k}, 'precomputed', 'nn-descent', random_state={seed})"
    compare("neighbor_graph: recall where all are equally similar", found.estimated_recall.value, 1.0, example)


def cover(rng):
    """Greedy coverage of a ragged graph is what the sets say; refined, it is no larger and covers no less."""
    values, _ = table(rng)
    stored = rng.random(values.shape) < rng.choice([0.1, 0.4, 1.0])
    ragged = sp.csr_array((values[stored], np.nonzero(stored)), shape=values.shape)
    n = len(values)
    lists = [
        sorted([(r, values[x, r].item()) for r in range(n) if stored[x, r] and r != x], key=lambda e: (-e[1], e[0]))
        for x in range(n)
    ]
    options = {"gain": str(rng.choice(["similarity", "count"])), "on_orphan": str(rng.choice(["self", "outlier"]))}
    coverage, threshold = draw_coverage(rng), draw_threshold(rng, values)
    own = [None, values.diagonal(), rng.integers(1, 4, n) * values.max() / 3][rng.integers(3)]
    example = f"cover(graph, {coverage}, {threshold}, with_itself={own!r}, **{options})", ragged.toarray().tolist()
    found = covey.cover(ragged, coverage, threshold, with_itself=own, **options)
    refined = covey.cover(ragged, coverage, threshold, with_itself=own, refine=True, **options)
    check_refined(found, refined, coverage, *example)
    edges = reference.covers(lists, threshold)
    for cover in (found, refined):
        check_covered_by(cover, edges, *example)
    expected = reference.greedy(lists, coverage, threshold, **options, own=own, margin=MARGIN)
    for name, value in zip(["indices", "gains", "covered_by"], expected, strict=True):
        compare(f"cover: {name}", getattr(found, name), value, *example)
    if rng.random() < 0.1 and options["on_orphan"] == "self":
        bound, least = covey.cover_lower_bound(ragged, coverage, threshold), found.indices.size
        optimum = reference.smallest_cover(lists, coverage, threshold)
        if not bound <= optimum <= refined.indices.size <= least:
            raise FaultError("cover: bound, optimum and sizes", *example, bound, optimum, refined.indices.size, least)


def check_refined(found, refined, coverage, *example):
    """It is no larger, and covers what was asked for, or as much as could be covered."""
    if refined.indices.size > found.indices.size:
        raise FaultError("refine grows", *example, found.indices, refined.indices)
    if refined.coverage < min(found.coverage, coverage):
        raise FaultError("refine loses coverage", *example, found.coverage, refined.coverage)


def check_covered_by(cover, edges, *example):
    """Who covers an object is picked, and has an edge from it or is it."""
    picked = set(cover.indices.tolist())
    for x, r in enumerate(cover.covered_by.tolist()):
        if r >= 0 and (r not in picked or (r != x and x not in edges[r])):
            raise FaultError("cover: covered_by", *example, cover, x, r)
    if cover.coverage != np.mean(cover.covered_by >= 0):
        raise FaultError("cover: coverage", *example, cover)


def call(estimator):
    """How the estimator was made, on one line."""
    return " ".join(repr(estimator).split())


def draw_coverage(rng):
    return float(rng.choice([0.01, 0.5, 2 / 3, 0.9, 0.95, 1.0]))


def draw_threshold(rng, values):
    """None, one of the similarities, or the next float above one, which is equal to it on paper."""
    value = float(np.asarray(values).flat[rng.integers(np.size(values))])
    return [None, value, math.nextafter(value, math.inf)][rng.integers(3)]


def draw_labels(rng, n):
    """None, or labels of some type: a list with one for each object."""
    kinds = [None, ["only"], [0, 1], [True, False], ["a", "b", "c", "dd"], [2.0, -1.0, 7.0]]
    kind = kinds[rng.integers(len(kinds))]
    return None if kind is None else [kind[at] for at in rng.integers(0, len(kind), n)]


def clusters(y, n):
    """(label, rows) of each cluster, labels sorted."""
    labels = [0] * n if y is None else y
    return [(label, [row for row in range(n) if labels[row] == label]) for label in sorted(set(labels))]


def homogeneity(rng):
    """The mean over all pairs of rows, copies included."""
    problem = draw(rng)
    found = covey.homogeneity(problem.objects, problem.similarity)
    expected = reference.mean(lambda x, r: reference.on_paper(problem.s(x, r)), range(problem.n))
    compare("homogeneity: value", found.value, math.nan if expected is None else float(expected), problem)
    compare("homogeneity: standard error", found.standard_error, 0.0, problem)


def crs(rng):
    """CRS is the graph of distinct objects, cut and covered."""
    problem = draw(rng)
    threshold = "homogeneity" if rng.random() < 0.6 else draw_threshold(rng, problem.values)
    options = {
        "coverage": draw_coverage(rng),
        "threshold": threshold,
        "gain": str(rng.choice(["similarity", "count"])),
        "on_orphan": str(rng.choice(["self", "outlier"])),
    }
    k = int(rng.integers(1, problem.n + 3))
    y = draw_labels(rng, problem.n)
    selector = covey.CRS(k, similarity=problem.similarity, graph=str(rng.choice(["auto", "exact"])), **options)
    example = f"{call(selector)}.fit(X, {y})", problem
    selector.fit(problem.objects, y)
    for label, rows in clusters(y, problem.n):
        expected = reference.crs(problem.s, problem.copies(rows), problem.own, k, **options, margin=MARGIN)
        check_prototype(titled("CRS", problem), selector.prototypes_[label], rows, expected, *example)
    check_selection(selector, problem, y, *example)
    refined = covey.CRS(**{**selector.get_params(), "refine": True}).fit(problem.objects, y)
    for label, prototype in refined.prototypes_.items():
        check_refined(selector.prototypes_[label], prototype, options["coverage"], *example)


def titled(name, problem):
    """Copies are a theme of their own in the table of faults."""
    return f"{name} of copies" if problem.has_copies else name


def check_prototype(name, prototype, rows, expected, *example):
    compare(f"{name}: members", prototype.members, rows, *example)
    for field in ("indices", "gains", "covered_by", "coverage"):
        compare(f"{name}: {field}", getattr(prototype, field), expected[field], *example)
    if expected["homogeneity"] is not None and not np.isnan(prototype.homogeneity):
        compare(f"{name}: homogeneity", prototype.homogeneity, float(expected["homogeneity"]), *example)


def check_selection(selector, problem, y, *example):
    """Selected rows are those of the prototypes, and `fit_resample` picks them."""
    indices = np.concatenate([prototype.indices for prototype in selector.prototypes_.values()])
    compare("sample_indices_", selector.sample_indices_, indices, *example)
    few, labels = selector.fit_resample(problem.objects, y)
    if type(few) is not type(problem.objects):
        raise FaultError("fit_resample does not keep the type of X", *example, type(few))
    if y is not None:
        compare("fit_resample: labels", labels, [y[row] for row in indices], *example)


def delta_medoids(rng):
    """Delta-medoids is its pseudo-code on distinct objects."""
    problem = draw(rng)
    if problem.has_copies and len(set(problem.own)) > 1:
        problem = draw(rng, ["strings", "numbers", "matrix of levels"])
    delta = "homogeneity" if rng.random() < 0.5 else draw_threshold(rng, problem.values)
    options = {
        "delta": float(np.median(problem.values)) if delta is None else delta,
        "strict": bool(rng.random() < 0.5),
        "one_shot": bool(rng.random() < 0.3),
        "max_iter": int(rng.choice([1, 2, 50])),
    }
    y = draw_labels(rng, problem.n)
    selector = covey.DeltaMedoids(**options, similarity=problem.similarity)
    example = f"{call(selector)}.fit(X, {y})", problem
    selector.fit(problem.objects, y)
    n_iter = 0
    for label, rows in clusters(y, problem.n):
        expected, n_here, stopped_by = expected_medoids(problem, rows, **options)
        check_prototype(titled("DeltaMedoids", problem), selector.prototypes_[label], rows, expected, *example)
        compare("DeltaMedoids: stopped_by_", selector.stopped_by_[label], stopped_by, *example)
        n_iter = max(n_iter, n_here)
    compare("DeltaMedoids: n_iter_", selector.n_iter_, n_iter, *example)


def expected_medoids(problem, rows, delta, **options):
    """The fields of a prototype by the pseudo-code, the number of iterations and what ended them."""
    copies = problem.copies(rows)
    firsts, times = [copy[0] for copy in copies], [len(copy) for copy in copies]
    homogeneity = reference.mean(lambda x, r: reference.on_paper(problem.s(x, r)), rows)
    delta = reference.lowered(homogeneity) if delta == "homogeneity" else delta

    def similarity(x, r):
        return problem.s(firsts[x], firsts[r])

    groups, n_iter, stopped_by = reference.delta_medoids(
        similarity, len(firsts), delta, **options, multiplicities=times, margin=MARGIN
    )
    sizes = {r: sum(times[x] for x in group) for r, group in groups.items()}
    order = sorted(groups, key=lambda r: (-sizes[r], r))
    owners = {
        row: firsts[r] if x == r or Fraction(similarity(x, r)) >= delta else -1
        for r, group in groups.items()
        for x in group
        for row in copies[x]
    }
    fields = {
        "indices": [firsts[r] for r in order],
        "gains": [float(sizes[r]) for r in order],
        "covered_by": [owners[row] for row in rows],
        "coverage": sum(owner >= 0 for owner in owners.values()) / len(rows),
        "homogeneity": homogeneity,
    }
    return fields, n_iter, stopped_by


def classification(rng):
    """Answers and evidence are those of a search through all representatives."""
    problem = draw(rng)
    n_train = int(rng.integers(1, problem.n + 1))
    train, queries = list(range(n_train)), list(range(problem.n))
    y = draw_labels(rng, n_train) or ["all"] * n_train
    selector = [covey.CRS(3, gain="count"), covey.DeltaMedoids(), covey.KeepAll()][rng.integers(3)]
    selector.set_params(similarity=problem.similarity)
    model = covey.NearestPrototypeClassifier(selector).fit(problem.take(train), y)
    example = f"{call(model)}.fit(X[:{n_train}], {y})", problem
    asked = problem.take(queries, train)
    ranked = [sorted(model.selector_.sample_indices_.tolist(), key=lambda r: (-problem.s(q, r), r)) for q in queries]
    compare("predict", model.predict(asked), [y[row[0]] for row in ranked], *example)
    n = int(rng.integers(1, n_train + 2))
    rows, similarities = model.nearest_prototypes(asked, n)
    compare("nearest_prototypes: rows", rows, [row[:n] for row in ranked], *example)
    expected = [[problem.s(q, r) for r in row[:n]] for q, row in zip(queries, ranked, strict=True)]
    compare("nearest_prototypes: similarities", similarities, expected, *example)
    check_explanation(model.explain(asked), problem, y, ranked, *example)


def check_explanation(found, problem, y, ranked, *example):
    first = [row[0] for row in ranked]
    compare("explain: labels", found.labels, [y[r] for r in first], *example)
    compare("explain: representatives", found.representatives, first, *example)
    second = [next((r for r in row if y[r] != y[row[0]]), None) for row in ranked]
    if second[0] is None:
        compare("explain: runners-up of a single class", found.runners_up is None, True, *example)
        return
    compare("explain: runners-up", found.runners_up, [y[r] for r in second], *example)
    best = [problem.s(q, r) for q, r in enumerate(first)]
    compare("explain: similarities", found.similarities, best, *example)
    margins = [problem.s(q, a) - problem.s(q, b) for q, (a, b) in enumerate(zip(first, second, strict=True))]
    compare("explain: margins", found.margins, margins, *example)


def sharpened(rng):
    """Prototypes are true, the loss falls, every class keeps one, and no pair is asked for twice."""
    problem = draw(rng)
    y = draw_labels(rng, problem.n)
    n_classes = len(clusters(y, problem.n))
    inner = [covey.CRS(int(rng.integers(1, 5)), gain="count"), covey.DeltaMedoids(), covey.RandomSelector(0.3)]
    selector = covey.Sharpened(
        inner[rng.integers(3)].set_params(similarity=problem.similarity),
        size=[None, int(rng.integers(n_classes, problem.n + 2))][rng.integers(2)],
        n_neighbors=["auto", int(rng.integers(1, 8))][rng.integers(2)],
        random_state=int(rng.integers(100)),
        n_jobs=[None, 2][rng.integers(2)],
    )
    example = f"{call(selector)}.fit(X, {y})", problem
    with warnings.catch_warnings():
        warnings.simplefilter("error" if n_classes > 1 else "ignore")
        warnings.filterwarnings("ignore", "size asks for")
        selector.fit(problem.objects, y)
    if not (np.diff(selector.losses_) < 0).all():
        raise FaultError("Sharpened: the loss does not fall", *example, selector.losses_)
    if problem.counted is not None:
        compare("Sharpened: n_evaluations_", selector.n_evaluations_, len(problem.counted.calls), *example)
    for label, rows in clusters(y, problem.n):
        check_sharpened(selector, problem, label, rows, *example)


def check_sharpened(selector, problem, label, rows, *example):
    """Each member is covered by its most similar representative, which covers itself and its copies."""
    prototype = selector.prototypes_[label]
    compare("Sharpened: members", prototype.members, rows, *example)
    if not set(prototype.indices.tolist()) <= set(rows) or not prototype.indices.size:
        raise FaultError("Sharpened: representatives of another class, or none", *example, prototype.indices)
    if selector.sharpened_:
        chosen = sorted(prototype.indices.tolist())
        by = dict(zip(rows, prototype.covered_by.tolist(), strict=True))
        # A copy is covered like the first of its kind, and a representative covers itself.
        expected = {r: r for r in chosen}
        for x in rows:
            expected.setdefault(x, min(chosen, key=lambda r: (-problem.s(x, r), r)))
        alike = {row: copies[0] for copies in problem.copies(rows) for row in copies}
        wrong = [x for x in rows if by[x] != expected[x] and by[x] != expected[alike[x]]]
        if wrong or prototype.gains.sum() != len(rows):
            raise FaultError("Sharpened: covered_by", *example, wrong, by, expected)


def counts(rng):
    """The number of evaluations is that of the calls, and no pair of objects is asked for twice."""
    problem = draw(rng, ["numbers"])
    selectors = {
        "CRS": covey.CRS(2, gain="count"),
        "CRS, nn-descent": covey.CRS(2, gain="count", graph="nn-descent", random_state=0),
        "DeltaMedoids": covey.DeltaMedoids(),
        "DS3": covey.DS3(2),
    }
    name = sorted(selectors)[rng.integers(len(selectors))]
    selector = selectors[name].set_params(similarity=problem.similarity).fit(problem.objects)
    pairs = problem.counted.pairs
    compare(f"{name}: n_evaluations_", selector.n_evaluations_, len(pairs), problem)
    repeated = sorted({pair for pair in pairs if pairs.count(pair) > 1})
    if repeated:
        raise FaultError(f"{name}: a pair is evaluated twice", problem, repeated)


def jobs(rng):
    """Two jobs give what one gives, and so does the same fit once more."""
    problem = draw(rng)
    y = draw_labels(rng, problem.n)
    options = {"similarity": problem.similarity, "gain": "count", "random_state": int(rng.integers(100))}
    selector = covey.CRS(int(rng.integers(1, 5)), graph=str(rng.choice(["exact", "nn-descent"])), **options)
    example = f"{call(selector)}.fit(X, {y})", problem
    one = selector.fit(problem.objects, y).prototypes_
    two = selector.set_params(n_jobs=2).fit(problem.objects, y).prototypes_
    for label, prototype in one.items():
        for field in ("indices", "gains", "covered_by", "homogeneity", "threshold", "n_evaluations"):
            values = getattr(prototype, field), getattr(two[label], field)
            if not np.array_equal(*values, equal_nan=True):
                raise FaultError(f"two jobs change {field}", *example, *values)


CHECKS = [graph, recall, cover, homogeneity, crs, delta_medoids, classification, sharpened, counts, jobs]
