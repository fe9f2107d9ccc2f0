"""Weights of objects: zeros, ratios, and sizes from the smallest float to the largest, against the slow reference."""

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

import covey
from tests import reference
from tests.attack._outcomes import FaultError, tally
from tests.attack._problem import draw, table
from tests.attack._wishes import check_wishes
from tests.attack.problems import (
    MARGIN,
    call,
    check_refined,
    clusters,
    compare,
    draw_coverage,
    draw_labels,
    draw_threshold,
)

SCALES = [1, 1 / 8, 0.1, 3, 2.0**40, 2.0**-498, 2.0**494]
"""What whole weights are multiplied by. The last two lead to about the smallest and the largest that a fit takes."""
EXTREME = [1e-300, 2.0**-1070, 2.0**1018]
"""What they are multiplied by for a cover alone: they become the smallest floats, and their sums exceed the largest."""


def attack(rng, n_cases):
    return tally(one_case, rng, n_cases)


def one_case(rng):
    check = [cover, crs][rng.integers(2)]
    try:
        return check(rng)
    except reference.CloseCallError:
        return f"undecided {check.__name__}"


def draw_weights(rng, n):
    """Whole numbers of at most 9, many of them 0 or equal."""
    weights = rng.integers(0, int(rng.choice([2, 4, 10])), n)
    weights[rng.integers(n)] = 1
    return weights


def cover(rng):
    """A cover is that of the reference, whatever the weights are multiplied by; refined, it covers no less."""
    values, _ = table(rng)
    n = len(values)
    stored = rng.random((n, n)) < rng.choice([0.1, 0.4, 1.0])
    graph = sp.csr_array((values[stored], np.nonzero(stored)), shape=(n, n))
    lists = [[(r, values[x, r].item()) for r in range(n) if stored[x, r] and r != x] for x in range(n)]
    options = {"gain": str(rng.choice(["similarity", "count"])), "on_orphan": str(rng.choice(["self", "outlier"]))}
    coverage, threshold = draw_coverage(rng), draw_threshold(rng, values)
    weights, scale = draw_weights(rng, n), float(rng.choice(SCALES + EXTREME))
    wishes = {"include": rng.permutation(n)[: int(rng.choice([0, 0, 1, 2]))].tolist()}
    if rng.random() < 0.5:
        wishes["size"] = max(int(rng.integers(1, n + 2)), len(wishes["include"]))
    how = f"cover(graph, {coverage}, {threshold}, sample_weight={scale} * {weights.tolist()}, **{options}, **{wishes})"
    example = how, graph.toarray().tolist()
    asked = {**options, **wishes, "with_itself": values.diagonal(), "sample_weight": scale * weights}
    found = covey.cover(graph, coverage, threshold, **asked)
    own = values.diagonal().tolist()
    picked, gains, covered_by = reference.greedy(
        lists, coverage, threshold, **options, own=own, margin=MARGIN, weights=weights.tolist(), **wishes
    )
    compare("cover: indices", found.indices, picked, *example)
    compare("cover: covered_by", found.covered_by, covered_by, *example)
    share = sum(weights[x] for x in range(n) if covered_by[x] >= 0) / sum(weights)
    compare("cover: coverage", found.coverage, share, *example)
    if 1e-290 < scale < 1e290:
        compare("cover: gains", found.gains / scale, gains, *example)
    if "size" not in wishes:
        refined = covey.cover(graph, coverage, threshold, **asked, refine=True)
        check_refined(found, refined, coverage, *example)
        useless = [r for r, worth in zip(refined.indices.tolist(), refined.gains, strict=True) if worth <= 0]
        if len(picked) > 1 and scale > 1e-290 and set(useless) - set(wishes["include"]):
            raise FaultError("cover: a refined representative without a gain", *example, refined)
    return "right cover"


def crs(rng):
    """CRS merges the weights of equal objects, and the reference selects the same."""
    problem = draw(rng)
    y = draw_labels(rng, problem.n)
    options = {
        "coverage": draw_coverage(rng),
        "threshold": "homogeneity" if rng.random() < 0.3 else draw_threshold(rng, problem.values),
        "gain": str(rng.choice(["similarity", "count"])),
        "on_orphan": str(rng.choice(["self", "outlier"])),
    }
    k, scale = int(rng.integers(1, problem.n + 3)), float(rng.choice(SCALES))
    weights = draw_weights(rng, problem.n)
    for _, rows in clusters(y, problem.n):
        weights[rng.choice(rows)] = 2  # a cluster without any weight is refused
    size = None if rng.random() < 0.5 else int(rng.integers(len(clusters(y, problem.n)), problem.n + 1))
    selector = covey.CRS(k, similarity=problem.similarity, graph="exact", size=size, **options)
    example = f"{call(selector)}.fit(X, {y}, sample_weight={scale} * {weights.tolist()})", problem
    selector.fit(problem.objects, y, sample_weight=scale * weights)
    found = selector.prototypes_
    gains = {label: prototype.gains / scale for label, prototype in found.items()}
    found = {label: replace(prototype, gains=gains[label]) for label, prototype in found.items()}
    wishes = {"options": options, "size": size, "weights": weights.tolist(), "example": example}
    check_wishes("CRS, weights", found, problem, y, k, **wishes)
    return "right CRS"
