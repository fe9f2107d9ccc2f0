"""HDBSCAN on a neighbor graph."""

import numpy as np
import scipy.sparse as sp

from covey.graph.clusters.density import condense, core_lengths, join
from covey.graph.clusters.links import lengths_of
from covey.similarity.measures import resolve


def joins(rng, n=40):
    """A random tree on n objects, from the shortest join to the longest; some joins are equally long."""
    order = rng.permutation(n)
    a, b = order[1:], order[[rng.integers(at + 1) for at in range(n - 1)]]
    return a.astype(np.intp), b.astype(np.intp), np.sort(rng.integers(1, 30, n - 1)) / 1.0


def joining_case():
    joining_case.seed += 1
    a, b, _ = joins(np.random.default_rng(joining_case.seed))
    return a, b, 40


def condense_case():
    condense_case.seed += 1
    rng = np.random.default_rng(condense_case.seed)
    a, b, lengths = joins(rng)
    left, right = join.py_func(a, b, 40)
    sizes = np.append(rng.integers(1, 4, 40), np.zeros(39, dtype=np.int64))
    return left, right, 64 - lengths, sizes, int(rng.integers(2, 6)), 64.0


joining_case.seed = condense_case.seed = 0


def objects_under(node, left, right):
    """The objects below a node of a tree of 40 objects."""
    if node < 40:
        return {int(node)}
    return objects_under(left[node - 40], left, right) | objects_under(right[node - 40], left, right)


def test_every_object_leaves_one_group_and_stabilities_are_those_of_the_definition():
    for _ in range(20):
        left, right, levels, sizes, smallest, highest = condense_case()
        group, left_at, parent, stability, _ = condense(left, right, levels, sizes, smallest, highest)
        born = np.zeros(parent.size)
        expected = np.zeros(parent.size)
        inside = [set(np.flatnonzero(group == number).tolist()) for number in range(parent.size)]
        for number in range(parent.size - 1, 0, -1):
            inside[parent[number]] |= inside[number]
        for node in range(78, 39, -1):
            for child in (left[node - 40], right[node - 40]):
                leaves = {child} if child < 40 else objects_under(child, left, right)
                match = [number for number in range(1, parent.size) if inside[number] == leaves]
                for number in match:
                    born[number] = levels[node - 40]
        for number in range(parent.size):
            children = np.flatnonzero(parent == number)
            for x in inside[number]:
                down = [child for child in children if x in inside[child]]
                until = born[down[0]] if down else left_at[x]
                expected[number] += (until - born[number]) * sizes[x]
        np.testing.assert_allclose(stability, expected)


def test_core_lengths_count_equal_objects():
    similarities = sp.csr_array(-np.array([[0, 1.0, 3.0], [1.0, 0, 5.0], [3.0, 5.0, 0]]))
    lengths = lengths_of(similarities, resolve("cosine"), None)
    assert core_lengths(lengths, np.array([1, 1, 1]), 2).tolist() == [1, 1, 3]
    assert core_lengths(lengths, np.array([1, 1, 1]), 3).tolist() == [3, 5, 5]
    assert core_lengths(lengths, np.array([1, 2, 1]), 3).tolist() == [1, 1, 5]
    assert core_lengths(lengths, np.array([3, 1, 1]), 3).tolist() == [0, 1, 3]
