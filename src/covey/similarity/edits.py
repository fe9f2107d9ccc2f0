"""Edit distances of short strings, and what they cannot fall below, by operations on words of 64 bits.

A word holds a column of the table that an edit distance is computed with: one bit for each letter of one string, which
may have up to 64. Each letter of the other string then takes about ten operations, whatever the length of the first
one (Myers [1]_, Hyyrö [2]_ [3]_). Distances are whole numbers, so that any correct program finds the same ones.

A string also has a *bag*, which is one more word. It says which letters the string has, and how many of each. A letter
that only one of two strings has takes an edit. This gives a number of edits that no way from one string to the other
falls below, for a few operations a pair.

References
----------
.. [1] G. Myers, "A fast bit-vector algorithm for approximate string matching based on dynamic programming", Journal of
   the ACM, 1999.
.. [2] H. Hyyrö, "A bit-vector algorithm for computing Levenshtein and Damerau edit distances", Nordic Journal of
   Computing, 2003.
.. [3] H. Hyyrö, "Bit-parallel LCS-length computation revisited", Australasian Workshop on Combinatorial Algorithms,
   2004.
"""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numba import njit
from numpy.typing import NDArray

from covey.arrays import Floats, Indices, Integers
from covey.runtime.executor import Executor
from covey.similarity.kinds.bits import n_set_bits

LEVENSHTEIN, OSA, INDEL = 0, 1, 2
"""Which edits count. Letters may be inserted and removed, and except for INDEL also replaced. For OSA, two neighboring
letters may also change places."""
LONGEST = 64
"""The most letters of a string whose distances are computed here: it must have a bit for each of them."""
GROUPS, RANKS = 32, 8
"""Letters are divided into this many groups, and up to this many letters of a group are told apart. A bag keeps the 64
of these 256 facts that divide the strings most evenly. An alphabet with both cases has more letters than groups."""
ONE, ALL = np.uint64(1), np.uint64(0xFFFFFFFFFFFFFFFF)


@dataclass(frozen=True)
class Letters:
    """Strings as runs of numbers, one for each letter.

    The letters of string t are codes[starts[t] : starts[t + 1]]. They are numbered from 0 to `n_letters` - 1.
    """

    codes: NDArray[Any]
    starts: Integers
    n_letters: int


def letters_of(*sides: Sequence[str] | NDArray[np.object_]) -> list[Letters]:
    """Return the letters of the strings of each side; all sides number them alike. Letters are code points."""
    points = [np.frombuffer("".join(side).encode("utf-32-le", "surrogatepass"), dtype="<u4") for side in sides]
    used = np.zeros(1 + max((int(side.max()) for side in points if side.size), default=0), dtype=np.bool_)
    for side in points:
        used[side] = True
    n_letters = int(np.count_nonzero(used))
    numbers = (np.cumsum(used) - 1).astype(np.uint16 if n_letters <= 1 << 16 else np.uint32)
    ends = [np.cumsum([0, *map(len, side)], dtype=np.int64) for side in sides]
    return [Letters(numbers[side], starts, n_letters) for side, starts in zip(points, ends, strict=True)]


def edit_similarities(left: Letters, right: Letters, edits: int, i: Indices, j: Indices) -> Floats:
    """Return 1 less the number of edits between left[i[t]] and right[j[t]], as a share of the most there can be.

    The strings of the left side may have up to `LONGEST` letters.
    """
    out = np.empty(i.size)
    score_edits(left.codes, left.starts, right.codes, right.starts, left.n_letters, i, j, edits, out)
    return out


class EditBounds:
    """Upper bounds of the similarities of strings, from their bags and lengths.

    Parameters
    ----------
    letters : Letters
        The strings.
    edits : int
        Which edits count.
    executor : Executor
        Its threads compute the bounds.
    """

    exact = False

    def __init__(self, letters: Letters, edits: int, executor: Executor) -> None:
        self._bags, self._lengths = bags_of(letters), np.diff(letters.starts)
        self._edits, self._executor = edits, executor

    def renumbered(self, order: Indices) -> Self:
        """Return the bounds of the same strings under new numbers: string order[t] gets the number t."""
        other = copy(self)
        other._bags, other._lengths = self._bags[order], self._lengths[order]
        return other

    def of(self, i: Indices, j: Indices) -> Floats:
        """Return numbers that s(i[t], j[t]) does not exceed."""
        return self._executor.in_batches(self._of, i, j)

    def _of(self, i: Indices, j: Indices) -> Floats:
        """Compute the bounds of one batch of pairs."""
        out = np.empty(i.size)
        bound_edits(self._bags, self._lengths, i, j, self._edits, out)
        return out


def bags_of(letters: Letters) -> NDArray[np.uint64]:
    """Return the bag of each string.

    Letters are put into groups, frequent ones into different groups as far as possible. Bit b of a bag says that the
    string has more than r letters of a group g. The bits stand for those g and r that divide the strings most evenly.
    """
    n = letters.starts.size - 1
    frequent = np.argsort(-np.bincount(letters.codes, minlength=letters.n_letters), kind="stable")
    groups = np.empty(letters.n_letters, dtype=np.int64)
    groups[frequent] = np.arange(letters.n_letters) % GROUPS
    having = np.zeros((GROUPS, RANKS), dtype=np.int64)
    count_ranks(letters.codes, letters.starts, groups, having)
    bits = np.full(GROUPS * RANKS, -1, dtype=np.int64)
    most_even = np.argsort(-(having * (n - having)).ravel(), kind="stable")[:64]
    bits[most_even] = np.arange(64)
    bags = np.zeros(n, dtype=np.uint64)
    pack_bags(letters.codes, letters.starts, groups, bits.reshape(GROUPS, RANKS), bags)
    return bags


@njit(cache=True, nogil=True)
def count_ranks(codes, starts, groups, having):  # type: ignore[no-untyped-def]
    """Count for each group g and each r how many strings have more than r letters of the group."""
    seen = np.zeros(having.shape[0], dtype=np.int64)
    for t in range(starts.size - 1):
        seen[:] = 0
        for place in range(starts[t], starts[t + 1]):
            group = groups[codes[place]]
            if seen[group] < having.shape[1]:
                having[group, seen[group]] += 1
            seen[group] += 1


@njit(cache=True, nogil=True)
def pack_bags(codes, starts, groups, bits, bags):  # type: ignore[no-untyped-def]
    """Set bit bits[g, r] of a bag if its string has more than r letters of the group g; -1 stands for no bit."""
    seen = np.zeros(bits.shape[0], dtype=np.int64)
    for t in range(bags.size):
        seen[:] = 0
        for place in range(starts[t], starts[t + 1]):
            group = groups[codes[place]]
            if seen[group] < bits.shape[1] and bits[group, seen[group]] >= 0:
                bags[t] |= ONE << np.uint64(bits[group, seen[group]])
            seen[group] += 1


@njit(cache=True, nogil=True)
def similarity_of(distance, n, m, edits):  # type: ignore[no-untyped-def]
    """Return 1 less a number of edits as a share of the most that strings of n and m letters can need."""
    most = n + m if edits == INDEL else max(n, m)
    return 1.0 - distance / most if most > 0 else 1.0


@njit(cache=True, nogil=True)
def bound_edits(bags, lengths, i, j, edits, out):  # type: ignore[no-untyped-def]
    """Write similarities to `out` that those of the pairs do not exceed.

    The first string must lose the letters that only its bag has, and gain those that only the other bag has. It loses
    as many more than it gains as it is longer. Replacing a letter does both at once.
    """
    for t in range(i.size):
        x, y = bags[i[t]], bags[j[t]]
        n, m = lengths[i[t]], lengths[j[t]]
        lost = max(np.int64(n_set_bits(x & ~y)), np.int64(n_set_bits(y & ~x)) + n - m)
        gained = lost - n + m
        out[t] = similarity_of(lost + gained if edits == INDEL else max(lost, gained), n, m, edits)


@njit(cache=True, nogil=True)
def levenshtein(places, n, codes, start, stop, transposing):  # type: ignore[no-untyped-def]
    """Return how many letters must be inserted, removed or replaced between a string of n letters and another one.

    Bit b of places[c] says that letter b of the first string is c. The second one is codes[start:stop]. The rows of the
    table belong to the letters of the first string: `up` and `down` say where its numbers rise and fall from one row to
    the next, `right_up` and `right_down` the same from one column to the next, and `level` where they do not rise along
    the diagonal. If `transposing`, two neighboring letters may also change places.
    """
    if n == 0:
        return stop - start
    last = ONE << np.uint64(n - 1)
    up, down, level, before = ALL, np.uint64(0), np.uint64(0), np.uint64(0)
    distance = n
    for place in range(start, stop):
        here = places[codes[place]]
        swapped = ((~level & here) << ONE) & before if transposing else np.uint64(0)
        level = (((here & up) + up) ^ up) | here | down | swapped
        right_up, right_down = down | ~(level | up), level & up
        distance += np.int64((right_up & last) != 0) - np.int64((right_down & last) != 0)
        right_up = (right_up << ONE) | ONE
        up, down = (right_down << ONE) | ~(level | right_up), right_up & level
        before = here
    return distance


@njit(cache=True, nogil=True)
def indel(places, n, codes, start, stop):  # type: ignore[no-untyped-def]
    """Return how many letters must be inserted or removed between a string of n letters and another one.

    The strings are given as to `levenshtein`. Each bit that is 0 in the end is a letter of the longest string that can
    be got from both by removing letters.
    """
    rows = ALL
    for place in range(start, stop):
        found = rows & places[codes[place]]
        rows = (rows + found) | (rows - found)
    return n + stop - start - 2 * np.int64(n_set_bits(~rows))


@njit(cache=True, nogil=True)
def score_edits(left, left_starts, right, right_starts, n_letters, i, j, edits, out):  # type: ignore[no-untyped-def]
    """Write the similarities of pairs to `out`.

    The places of the letters of a left string are noted once for pairs of the same string that follow each other.
    """
    places = np.zeros(n_letters, dtype=np.uint64)
    noted, first, n = -1, 0, 0
    for t in range(i.size):
        if i[t] != noted:
            for letter in range(n):
                places[left[first + letter]] = 0
            noted = i[t]
            first, n = left_starts[noted], left_starts[noted + 1] - left_starts[noted]
            for letter in range(n):
                places[left[first + letter]] |= ONE << np.uint64(letter)
        start, stop = right_starts[j[t]], right_starts[j[t] + 1]
        if edits == INDEL:
            distance = indel(places, n, right, start, stop)
        else:
            distance = levenshtein(places, n, right, start, stop, edits == OSA)
        out[t] = similarity_of(distance, n, stop - start, edits)
