"""What CRS selects if a user asks for a number of rows, for certain rows, or weighs them, by the slow reference.

The graphs of all clusters are put side by side and covered as one, after each cluster has got its first representative.
"""

from dataclasses import dataclass

from tests import reference
from tests.attack.problems import MARGIN, check_prototype, clusters

MOST_DIGITS = 1e9
"""How many times what another object counts for itself an object may count, so that gains are right in nine digits."""


@dataclass
class Kind:
    """A distinct object of a cluster: its rows, the row that stands for it, and its neighbors as (kind, similarity)."""

    label: object
    rows: list
    first: int
    neighbors: list


def kinds_of(problem, y, k, threshold, include):
    """All distinct objects of all clusters, by the rows that stand for them; edges below the threshold are cut."""
    kinds = []
    for label, rows in clusters(y, problem.n):
        copies = problem.copies(rows)
        homogeneity = reference.mean(lambda x, r: reference.on_paper(problem.s(x, r)), rows)
        least = reference.lowered(homogeneity) if threshold == "homogeneity" else threshold
        firsts = [copy[0] for copy in copies]
        lists = reference.neighbors(lambda a, b: problem.s(firsts[a], firsts[b]), len(copies), k)  # noqa: B023
        for copy, others in zip(copies, lists, strict=True):
            kept = [(firsts[r], s) for r, s in others if least is None or s >= least]
            kinds.append(Kind(label, copy, copy[0], kept))
    number_of = {kind.rows[0]: number for number, kind in enumerate(sorted(kinds, key=lambda kind: kind.rows[0]))}
    kinds.sort(key=lambda kind: kind.rows[0])
    for kind in kinds:
        kind.first = next((row for row in include if row in kind.rows), kind.first)
        kind.neighbors = [(number_of[row], s) for row, s in kind.neighbors]
    return kinds


def check_wishes(name, prototypes, problem, y, k, *, options, size=None, include=(), weights=None, example=()):
    """Compare the prototypes of a selector with the reference, cluster by cluster."""
    if max(problem.own) > MOST_DIGITS * min(problem.own):  # the unit of gains may be larger than the smaller ones
        raise reference.CloseCallError
    kinds = kinds_of(problem, y, k, options["threshold"], include)
    of_row = {row: number for number, kind in enumerate(kinds) for row in kind.rows}
    forced = list(dict.fromkeys(of_row[row] for row in include))
    weights = [1.0] * problem.n if weights is None else weights
    counts = [sum(reference.on_paper(float(weights[row])) for row in kind.rows) for kind in kinds]
    how = {
        "gain": options["gain"],
        "on_orphan": options["on_orphan"],
        "own": [problem.own[kind.rows[0]] for kind in kinds],
        "multiplicities": [len(kind.rows) for kind in kinds],
    }

    def covered(numbers, **wishes):
        """The greedy cover of some of the objects alone, as their numbers."""
        place = {number: at for at, number in enumerate(numbers)}
        lists = [[(place[r], s) for r, s in kinds[number].neighbors] for number in numbers]
        parts = {
            key: [part[number] for number in numbers] if isinstance(part, list) else part for key, part in how.items()
        }
        first = [place[number] for number in wishes.pop("include")]
        picked, gains, by = reference.greedy(
            lists,
            options["coverage"],
            None,
            **parts,
            margin=MARGIN,
            weights=[counts[number] for number in numbers],
            include=first,
            **wishes,
        )
        return [numbers[r] for r in picked], gains, {numbers[x]: numbers[r] if r >= 0 else -1 for x, r in enumerate(by)}

    groups = {}
    for number, kind in enumerate(kinds):
        groups.setdefault(kind.label, []).append(number)
    if size is None:
        found = [covered(group, include=[number for number in forced if number in group]) for group in groups.values()]
    else:
        for group in groups.values():
            if not set(group) & set(forced):
                forced += covered(group, include=[], size=1)[0]
        found = [covered(list(range(len(kinds))), include=forced, size=max(size, len(forced)))]
    picked, gains, by = [], [], {}
    for some, their_gains, their_by in found:
        picked, gains, by = picked + some, gains + their_gains, by | their_by
    for label, rows in clusters(y, problem.n):
        here = [at for at, number in enumerate(picked) if kinds[number].label == label]
        coverers = [by[of_row[row]] for row in rows]
        weight = sum(weights[row] for row in rows)
        expected = {
            "indices": [kinds[picked[at]].first for at in here],
            "gains": [gains[at] for at in here],
            "covered_by": [kinds[r].first if r >= 0 else -1 for r in coverers],
            "coverage": sum(weights[row] / weight for row, r in zip(rows, coverers, strict=True) if r >= 0),
            "homogeneity": None,
        }
        check_prototype(name, prototypes[label], rows, expected, *example)
