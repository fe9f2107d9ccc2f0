"""Slow and obvious versions of every algorithm; the library must agree with them exactly.

*Equal on paper.* Sums of similarities decide who is picked, and 1/3 + 1/3 must tie with 2/3 although neither is a
float. A float is therefore read as the simple fraction that it was rounded from (`on_paper`), and sums are exact.
Where two sums differ by less than rounding may move them and are not equal on paper (sums of roots, say), either
order is right: `greedy` and `delta_medoids` then raise `CloseCallError` if they are given a `margin`.

*Copies.* Equal objects are one object with a multiplicity. `copies` lists the rows of each distinct object, ascending;
the first row stands for all of them. Distinct objects are numbered by their first rows.
"""

import itertools
import math
from fractions import Fraction
from functools import cache

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

SIMILARITIES = {
    "cosine": lambda x, y: cosine(x, y),
    "dot": lambda x, y: float(sum(a * b for a, b in zip(x, y, strict=True))),
    "euclidean": lambda x, y: CONVERSIONS["inverse"](DISTANCES["euclidean"](x, y)),
    "hamming": lambda x, y: sum(a == b for a, b in zip(x, y, strict=True)) / len(x),
    "jaccard": lambda x, y: share(sum(min(a, b) for a, b in zip(x, y, strict=True)), sum(x), sum(y)),
    "ruzicka": lambda x, y: share(sum(min(a, b) for a, b in zip(x, y, strict=True)), sum(x), sum(y)),
}

DISTANCES = {
    "euclidean": lambda x, y: math.sqrt(sum((a - b) ** 2 for a, b in zip(x, y, strict=True))),
    "sqeuclidean": lambda x, y: sum((a - b) ** 2 for a, b in zip(x, y, strict=True)),
    "manhattan": lambda x, y: sum(abs(a - b) for a, b in zip(x, y, strict=True)),
}
CONVERSIONS = {
    "inverse": lambda distance: 1 / (1 + distance),
    "negative": lambda distance: -distance,
    "exponential": lambda distance: float(np.exp(-distance)),
}


def cosine(x, y):
    """On whole numbers every sum is exact, so the rounding is that of one root and one division."""
    dot = sum(a * b for a, b in zip(x, y, strict=True))
    scale = math.sqrt(sum(a * a for a in x) * sum(b * b for b in y))
    return max(-1.0, min(1.0, dot / scale)) if scale else 0.0


def share(common, a, b):
    return common / (a + b - common) if a + b - common else 1.0


LOWERED = Fraction(1, 10**9)
"""The relative amount by which a threshold is lowered, so that the rounding of a mean cuts no edge equal to it."""


class CloseCallError(Exception):
    """Two sums differ by less than rounding may move them, so that the reference cannot say who is first."""


@cache
def on_paper(value):
    """The number that a float stands for: m * 2**e, with the simplest m in [1/2, 1) within 4 units of its last place.

    The simplest m counts only if its denominator is at most a million; else the float stands for itself. Powers of two
    are taken out first, so that the reading does not depend on the scale of the similarities.
    """
    mantissa, exponent = math.frexp(value)
    simple = Fraction(mantissa).limit_denominator(10**6)
    near = abs(simple - Fraction(mantissa)) <= 4 * Fraction(math.ulp(mantissa))
    return (simple if near else Fraction(mantissa)) * Fraction(2) ** exponent


def neighbors(similarity, n, k):
    """Each object's k best others as (index, similarity), by similarity descending, then index ascending."""
    lists = []
    for i in range(n):
        others = [(j, similarity(i, j)) for j in range(n) if j != i]
        lists.append(sorted(others, key=lambda item: (-item[1], item[0]))[:k])
    return lists


def homogeneity(similarity, n):
    """The exact mean over ordered pairs of different objects."""
    return float(mean(lambda i, j: Fraction(similarity(i, j)), range(n)))


def mean(similarity, rows):
    """The mean over ordered pairs of different rows; None for a single one."""
    total = sum(similarity(i, j) for i in rows for j in rows if i != j)
    return total / (len(rows) * (len(rows) - 1)) if len(rows) > 1 else None


def lowered(homogeneity):
    """The least similarity of an edge that is kept where the threshold is a mean, which is rounded."""
    return None if homogeneity is None else Fraction(homogeneity) - LOWERED * abs(Fraction(homogeneity))


def covers(lists, threshold):
    """For each candidate r the objects that it covers by an edge, with their similarity."""
    covered = [{} for _ in lists]
    for x, others in enumerate(lists):
        for r, similarity in others:
            if threshold is None or Fraction(similarity) >= threshold:
                covered[r][x] = similarity
    return covered


def first_of_largest(candidates, worth, margin=0):
    """The first candidate with the largest worth, unless another's is within `margin`, relatively, but not equal."""
    worths = [worth(candidate) for candidate in candidates]
    largest = max(worths)
    if any(0 < largest - other < margin * abs(largest) for other in worths):
        raise CloseCallError
    return candidates[worths.index(largest)]


def greedy(
    lists,
    coverage,
    threshold,
    gain="similarity",
    on_orphan="self",
    own=None,
    multiplicities=None,
    margin=0,
    *,
    weights=None,
    include=(),
    size=None,
):
    """(picked, gains, covered_by) by recomputing every gain from the sets at every step.

    `weights` count instead of multiplicities. The objects of `include` are picked first. With a `size`, so many are
    picked; where nothing is left to cover, those follow that are least similar to what covers them.
    """
    n = len(lists)
    edges = covers(lists, threshold)
    own = [1.0] * n if own is None else own
    times = [1] * n if multiplicities is None else multiplicities
    counts = times if weights is None else [on_paper(float(weight)) for weight in weights]
    orphans = {x for x in range(n) if times[x] == 1 and not any(x in covered for covered in edges)}

    def weight(x, similarity):
        return counts[x] * (max(on_paper(float(similarity)), 0) if gain == "similarity" else 1)

    def worth(r, uncovered):
        itself = weight(r, own[r]) if r in uncovered and not (on_orphan == "outlier" and r in orphans) else 0
        return itself + sum(weight(x, s) for x, s in edges[r].items() if x in uncovered)

    uncovered, picked, gains, covered_by = set(range(n)), [], [], [-1] * n
    enough = sum(counts) * (on_paper(float(coverage)) if size is None else 1)
    most = n if size is None else size
    first = list(include)
    while first or (sum(counts) - sum(counts[x] for x in uncovered) < enough and len(picked) < most):
        left = [r for r in range(n) if r not in picked]
        if first:
            best = first.pop(0)
        elif picked and not any(worth(r, uncovered) for r in left):
            break
        else:
            best = first_of_largest(left, lambda r: worth(r, uncovered), margin)  # noqa: B023
        gains.append(float(worth(best, uncovered)))
        picked.append(best)
        for x in {best, *edges[best]} & uncovered:
            covered_by[x] = best
        uncovered -= {best, *edges[best]}
    if size is not None:
        spare = [x for x in range(n) if x not in picked and covered_by[x] >= 0 and counts[x]]
        more = sorted(spare, key=lambda x: (edges[covered_by[x]][x], x))[: max(size - len(picked), 0)]
        picked, gains = picked + more, gains + [0.0] * len(more)
    for r in picked:
        covered_by[r] = r
    return picked, gains, covered_by


def crs(similarity, copies, own, k, coverage, threshold, gain="similarity", on_orphan="self", margin=0):
    """The neighbor graph of distinct objects, cut and covered: a dict of the fields of `covey.Prototype`."""
    firsts, rows = [rows[0] for rows in copies], sorted(row for rows in copies for row in rows)
    lists = neighbors(lambda a, b: similarity(firsts[a], firsts[b]), len(firsts), k)
    homogeneity = mean(lambda i, j: on_paper(similarity(i, j)), rows)
    if threshold == "homogeneity":
        threshold = lowered(homogeneity)
    times = [len(rows) for rows in copies]
    own = [own[first] for first in firsts]
    picked, gains, covered_by = greedy(lists, coverage, threshold, gain, on_orphan, own, times, margin)
    owners = {row: covered_by[place] for place, rows in enumerate(copies) for row in rows}
    return {
        "indices": [firsts[r] for r in picked],
        "gains": gains,
        "covered_by": [firsts[owners[row]] if owners[row] >= 0 else -1 for row in rows],
        "coverage": sum(owners[row] >= 0 for row in rows) / len(rows),
        "homogeneity": homogeneity,
    }


def assign(similarity, n, delta, seeds):
    """{representative: members}: in the order of the data, each object joins the most similar one or becomes one."""
    groups = {r: [r] for r in sorted(seeds)}
    for x in range(n):
        if x in groups:
            continue
        best = min(groups, key=lambda r: (-similarity(x, r), r), default=None)
        if best is not None and delta is not None and Fraction(similarity(x, best)) >= delta:
            groups[best].append(x)
        else:
            groups[x] = [x]
    return groups


def medoid(similarity, delta, members, strict, times, margin=0):
    """The member with the largest sum of similarities to it, of its own copies as well; the lowest of equal ones."""
    eligible = [
        u for u in sorted(members) if not strict or all(Fraction(similarity(x, u)) >= delta for x in members if x != u)
    ]

    def worth(u):
        return sum((times[x] - (x == u)) * on_paper(similarity(x, u)) for x in members)

    return first_of_largest(eligible, worth, margin)


def delta_medoids(similarity, n, delta, strict=True, one_shot=False, max_iter=50, multiplicities=None, margin=0):
    """({medoid: members}, number of iterations, what ended them)."""
    times = [1] * n if multiplicities is None else multiplicities
    history = []
    while True:
        groups = assign(similarity, n, delta, history[-1] if history else set())
        if one_shot:
            return groups, 1, "one_shot"
        groups = {medoid(similarity, delta, group, strict, times, margin): group for group in groups.values()}
        if history and set(groups) == history[-1]:
            return groups, len(history) + 1, "unchanged"
        if set(groups) in history:
            return groups, len(history) + 1, "cycle"
        history.append(set(groups))
        if len(history) == max_iter:
            return groups, max_iter, "max_iter"


def smallest_cover(lists, coverage, threshold):
    """The fewest objects that cover enough, by integer programming."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    n = len(lists)
    edges = covers(lists, threshold)
    reach = np.eye(n)  # reach[x, r] = 1 if r covers x
    for r, covered in enumerate(edges):
        reach[list(covered), r] = 1
    link = LinearConstraint(np.hstack([reach, -np.eye(n)]), lb=0)  # y_x <= sum of x's picked coverers
    enough = LinearConstraint(np.concatenate([np.zeros(n), np.ones(n)])[None, :], lb=math.ceil(coverage * n - 1e-9))
    integrality = np.concatenate([np.ones(n), np.zeros(n)])
    cost = np.concatenate([np.ones(n), np.zeros(n)])
    solution = milp(cost, constraints=[link, enough], integrality=integrality, bounds=Bounds(0, 1))
    return round(solution.fun)


def dissimilarities(similarities):
    """The cost of representing x by r, in row r and column x: how far s(x, r) falls short, at most 1, 0 for r = x."""
    n = len(similarities)
    different = ~np.eye(n, dtype=bool)
    if n == 1:
        return np.zeros((1, 1))
    costs = np.where(different, similarities[different].max() - similarities.T, 0.0)
    return costs / costs.max() if costs.any() else costs


def sparse_selection(costs, price=0.0, budget=np.inf, spared=None):
    """The least cost of DS3 with p = inf by one linear program: a variable for each share and each row's largest."""
    m, n = costs.shape
    spared = np.full(n, np.inf) if spared is None else spared
    entries = m * n
    may_stay = np.flatnonzero(np.isfinite(spared))
    objective = np.concatenate([costs.astype(float).ravel(), np.full(m, price), spared[may_stay]])
    served = np.hstack([np.kron(np.ones(m), np.eye(n)), np.zeros((n, m)), np.eye(n)[:, may_stay]])
    linked = np.hstack([np.eye(entries), -np.kron(np.eye(m), np.ones((n, 1))), np.zeros((entries, may_stay.size))])
    limits = np.zeros(entries)
    if np.isfinite(budget):
        linked = np.vstack([linked, np.repeat([0.0, 1.0, 0.0], [entries, m, may_stay.size])])
        limits = np.append(limits, budget)
    return linprog(objective, sp.csr_array(linked), limits, sp.csr_array(served), np.ones(n)).fun


def rejection_bars(similarity, kinds, labels, chosen, rate, nothing=-math.inf):
    """{label: the similarity below which an object that the class wins is rejected}, for matrices of row and column.

    The representative that stands for an object is the equal one, or else the most similar one; of g objects that one
    stands for, each shows the best other one with the weight 1 / g, unless this is of another class because the class
    has no other, and the first one with the rest, unless it is the representative. What is not more similar than
    `nothing` does not count. Classes with too small samples share what they have, or what all have.
    """
    first = [r for r in sorted(chosen) if not any(kinds[q] == kinds[r] for q in chosen if q < r)]
    different = [x for x, kind in enumerate(kinds) if kind not in kinds[:x]]
    ranked = {x: sorted(first, key=lambda r: (kinds[r] != kinds[x], -similarity[x][r], r)) for x in different}
    samples = {label: [] for label in labels}
    for x, (r, *others) in ranked.items():
        share = Fraction(1, sum(best == r for best, *_ in ranked.values()))
        if kinds[x] != kinds[r]:
            samples[labels[r]].append((similarity[x][r], 1 - share))
        if others and [labels[q] for q in first].count(labels[r]) > 1:
            samples[labels[others[0]]].append((similarity[x][others[0]], share))
    samples = {label: [(s, w) for s, w in sample if s > nothing and w] for label, sample in samples.items()}
    bars = {label: rejection_bar(sample, rate) for label, sample in samples.items()}
    small = [label for label, bar in bars.items() if bar == -math.inf]
    together = rejection_bar([value for label in small for value in samples[label]], rate)
    if together == -math.inf:
        together = rejection_bar([value for sample in samples.values() for value in sample], rate)
    return bars | dict.fromkeys(small, together)


def rejection_bar(sample, rate):
    """The value at the rank rate * (n + 1), on the lines between the mean ranks of different values."""
    rank = on_paper(rate) * (sum(weight for _, weight in sample) + 1)
    if rank < 1:
        return -math.inf
    points = [
        (
            sum(weight for other, weight in sample if other < value)
            + (sum(weight for other, weight in sample if other == value) + 1) / 2,
            value,
        )
        for value in sorted({value for value, _ in sample})
    ]
    if rank <= points[0][0]:
        return points[0][1]
    for (before, low), (after, high) in itertools.pairwise(points):
        if rank <= after:
            return low + float((rank - before) / (after - before)) * (high - low)
    return points[-1][1]


def sharpening_loss(s, classes, weights, chosen, temperature):
    """The smooth error of all objects that are not chosen, each by its best own and its best other representative."""
    total = 0.0
    for x, weight in enumerate(weights):
        if x not in chosen:
            own = max(s[x][r] for r in chosen if classes[r] == classes[x])
            other = max(s[x][r] for r in chosen if classes[r] != classes[x])
            total += weight / (1 + math.exp((own - other) / temperature))
    return total


def sharpening_exchange(s, classes, weights, chosen, r, temperature):
    """{object: the loss if it stands in the place of representative r}, r itself included; a class keeps at least one.

    An object that is chosen already cannot take the place of r.
    """
    losses = {}
    for candidate in range(len(weights)):
        if candidate == r or candidate not in chosen:
            tried = (set(chosen) - {r}) | {candidate}
            if any(classes[t] == classes[r] for t in tried):
                losses[candidate] = sharpening_loss(s, classes, weights, tried, temperature)
    return losses


def best_of_sides(s, classes, chosen):
    """For each object the best chosen other of its own class, and of all other classes, as (index, similarity) or None.

    Of equally similar ones it is the first.
    """
    found = []
    for x, row in enumerate(s):
        ranked = sorted((-row[r], r) for r in chosen if r != x)
        sides = ([pair for pair in ranked if (classes[pair[1]] == classes[x]) == same] for same in (True, False))
        found.append([(side[0][1], -side[0][0]) if side else None for side in sides])
    return found
