"""Slow and obvious versions of every algorithm; the library must agree with them exactly."""

import math
from fractions import Fraction

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

SIMILARITIES = {
    "cosine": lambda x, y: cosine(x, y),
    "dot": lambda x, y: float(sum(a * b for a, b in zip(x, y, strict=True))),
    "euclidean": lambda x, y: 1 / (1 + math.sqrt(sum((a - b) ** 2 for a, b in zip(x, y, strict=True)))),
    "hamming": lambda x, y: sum(a == b for a, b in zip(x, y, strict=True)) / len(x),
    "jaccard": lambda x, y: share(sum(min(a, b) for a, b in zip(x, y, strict=True)), sum(x), sum(y)),
    "ruzicka": lambda x, y: share(sum(min(a, b) for a, b in zip(x, y, strict=True)), sum(x), sum(y)),
}


def cosine(x, y):
    """On whole numbers every sum is exact, so the rounding is that of one root and one division."""
    dot = sum(a * b for a, b in zip(x, y, strict=True))
    scale = math.sqrt(sum(a * a for a in x) * sum(b * b for b in y))
    return max(-1.0, min(1.0, dot / scale)) if scale else 0.0


def share(common, a, b):
    return common / (a + b - common) if a + b - common else 1.0


def neighbors(similarity, n, k):
    """Each object's k best others as (index, similarity), by similarity descending, then index ascending."""
    lists = []
    for i in range(n):
        others = [(j, similarity(i, j)) for j in range(n) if j != i]
        lists.append(sorted(others, key=lambda item: (-item[1], item[0]))[:k])
    return lists


def homogeneity(similarity, n):
    """The exact mean over ordered pairs of different objects."""
    total = sum(Fraction(similarity(i, j)) for i in range(n) for j in range(n) if i != j)
    return float(total / (n * (n - 1)))


def covers(lists, threshold):
    """For each candidate r the objects that it covers by an edge, with their similarity."""
    covered = [{} for _ in lists]
    for x, others in enumerate(lists):
        for r, similarity in others:
            if threshold is None or similarity >= threshold:
                covered[r][x] = similarity
    return covered


def greedy(lists, coverage, threshold, gain="similarity", on_orphan="self", own=None):
    """(picked, gains, covered_by) by recomputing every gain from the sets at every step."""
    n = len(lists)
    edges = covers(lists, threshold)
    orphans = {x for x in range(n) if not any(x in covered for covered in edges)}
    own = [1.0] * n if own is None else own

    def units(weight):
        return round(weight * 2**32) if gain == "similarity" else 1

    def worth(r, uncovered):
        itself = units(own[r]) if r in uncovered and not (on_orphan == "outlier" and r in orphans) else 0
        return itself + sum(units(s) for x, s in edges[r].items() if x in uncovered)

    uncovered, picked, gains, covered_by = set(range(n)), [], [], [-1] * n
    while n - len(uncovered) < math.ceil(coverage * n - 1e-9):
        best = min((r for r in range(n) if r not in picked), key=lambda r: (-worth(r, uncovered), r))
        if worth(best, uncovered) == 0 and picked:
            break
        gains.append(worth(best, uncovered) / (2**32 if gain == "similarity" else 1))
        picked.append(best)
        for x in {best, *edges[best]} & uncovered:
            covered_by[x] = best
        covered_by[best] = best
        uncovered -= {best, *edges[best]}
    return picked, gains, covered_by


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
