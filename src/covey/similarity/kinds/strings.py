"""Strings under a named similarity, which rapidfuzz computes for many pairs in one call.

rapidfuzz releases the interpreter lock while it computes, so that threads share the work and no other processes are
needed. It has one function for a list of pairs and another for whole blocks. Both give the same bits. It prepares each
pair of a list anew, which takes longer than finding the distance of two words.

So a list of pairs is scored by covey's own code, where the similarity follows from a number of edits and one of the two
strings is short. These numbers are whole, so that the similarities have the same bits. They are found by operations on
words of 64 bits. A word holds a column of the table that an edit distance is computed with: one bit for each letter of
one string, which may have up to 64. Each letter of the other string then takes about ten operations, which
do not depend on the length of the first one (Myers [1]_, Hyyrö [2]_ [3]_).

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
from functools import cached_property
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numba import njit
from numpy.typing import NDArray

from covey.arrays import Floats, Hashes, Indices, Integers, Positions
from covey.runtime.executor import Executor
from covey.runtime.interruptible import in_steps
from covey.runtime.libraries import require
from covey.similarity.calls.callers import objects_at
from covey.similarity.collection import Collection
from covey.similarity.duplicates import Distinct, distinct_objects
from covey.similarity.fingerprint import string_hashes
from covey.similarity.inputs import check_input, is_frame, is_missing
from covey.similarity.packed_bits import n_set_bits
from covey.similarity.similarity import Similarity
from covey.similarity.space import Space, UpperBounds

MODULES = {"indel": "Indel", "jaro-winkler": "JaroWinkler", "levenshtein": "Levenshtein", "osa": "OSA"}
"""The module of rapidfuzz that computes each named similarity of strings."""

LEVENSHTEIN, OSA, INDEL = 0, 1, 2
"""Which edits count. Letters may be inserted and removed, and except for INDEL also replaced. For OSA, two neighboring
letters may also change places."""
LONGEST = 64
"""The most letters of a string that may stand for the rows of the table: it must have a bit for each of them."""
GROUPS, RANKS = 32, 8
"""Letters are divided into this many groups, and up to this many letters of a group are told apart. A bag keeps the 64
of these 256 facts that divide the strings most evenly. An alphabet with both cases has more letters than groups."""
ONE, ALL = np.uint64(1), np.uint64(0xFFFFFFFFFFFFFFFF)

EDITS = {"indel": INDEL, "levenshtein": LEVENSHTEIN, "osa": OSA}
"""The similarities that follow from a number of edits, and which edits count."""

EXACT_UP_TO = 5_000
"""Of short strings, all pairs of this many take about as long as the few that NN-Descent scores, because blocks are
several times as fast as lists of pairs (`benchmarks/strings.py`)."""

MOSTLY = 0.9
"""If at least this share of the strings is short, lists of pairs are scored by covey's own code. Only the few pairs of
two long strings are then left to rapidfuzz."""

LONG = 500
"""Longer strings are not compared in blocks. A block computes a pair on the diagonal twice, and pairs that it keeps are
scored again, which takes two to three times as long for a few dozen strings. A block saves a fifth of the time at most
from about 640 letters on, but two thirds for 80 letters under "indel" (`benchmarks/strings.py`)."""


class StringSpace(Space):
    """Strings under one of rapidfuzz's similarities, from 0 to 1."""

    threaded = True

    def __init__(
        self,
        similarity: Similarity,
        left: NDArray[np.object_],
        right: NDArray[np.object_],
        *,
        square: bool,
        n_jobs: int | None,
    ) -> None:
        super().__init__(left.size, right.size, symmetric=square, n_jobs=n_jobs)
        self._process = require("rapidfuzz.process", "text")
        self._distance = getattr(require("rapidfuzz.distance", "text"), MODULES[similarity.function])
        self._left, self._right = left, right
        self._step = 1  # how many rows of a block are computed at a time; adapted to how long they take
        lengths = [np.fromiter(map(len, side), dtype=np.int64, count=side.size) for side in (left, right)]
        mostly_short = bool((lengths[0] <= LONGEST).mean() >= MOSTLY) if left.size else True
        self.screened = lengths[0].max(initial=0) <= LONG
        self.exact_up_to = EXACT_UP_TO if mostly_short else 0
        self._edits = EDITS.get(similarity.function) if mostly_short else None
        if self._edits is not None:
            short = [side <= LONGEST for side in lengths]
            self._short = None if all(side.all() for side in short) else short
            # Few numbers of edits are possible, so that most lists end among equally similar strings. Of these the
            # ones with the lowest numbers are taken, which are then near to very many others.
            self.cheap = self.hubs = True
            self._letters = letters_of(left) if square else letters_of(left, right)

    def _evaluate(self, i: Indices, j: Indices) -> Floats:
        if self._edits is None:
            return self._similarities(self._process.cpdist, self._left[i], self._right[j])
        left, right = self._letters[0], self._letters[-1]
        if self._short is None:
            return edit_similarities(left, right, self._edits, i, j)
        out = np.empty(i.size)
        left_short, right_short = self._short[0][i], self._short[1][j]
        out[left_short] = edit_similarities(left, right, self._edits, i[left_short], j[left_short])
        turned = ~left_short & right_short
        out[turned] = edit_similarities(right, left, self._edits, j[turned], i[turned])
        both_long = ~left_short & ~right_short
        out[both_long] = self._similarities(self._process.cpdist, self._left[i[both_long]], self._right[j[both_long]])
        return out

    def bounds(self) -> UpperBounds | None:
        return None if self._edits is None else EditBounds(self._letters[0], self._edits, self.executor)

    def orders(self) -> list[Indices]:
        """Return the orders in which strings with a common beginning, and those with a common end, are neighbors."""
        backward = np.fromiter((text[::-1] for text in self._left), dtype=object, count=self.n_left)
        return [np.argsort(strings, kind="stable").astype(np.int32) for strings in (self._left, backward)]

    def estimates(self, rows: slice, columns: slice) -> NDArray[Any]:
        """Return the similarities of a whole block.

        This is many times faster than pair by pair, because rapidfuzz prepares each string only once.
        """
        left, right = self._left[rows], self._right[columns]
        estimates = np.empty((left.size, right.size))

        def estimate(part: slice) -> None:
            estimates[part] = self._similarities(self._process.cdist, left[part], right)

        self._step = in_steps(left.size, estimate, self._step)
        return estimates

    def slack(self, rows: slice) -> Floats:
        return np.zeros(len(range(*rows.indices(self.n_left))))

    def _similarities(self, compute: Any, left: NDArray[Any], right: NDArray[Any]) -> Floats:
        """Return one less the normalized distance, which is how rapidfuzz defines the normalized similarity of one
        pair.

        rapidfuzz's own batches of Jaro-Winkler similarities differ from that in the last bit. Its batches of distances
        do not.
        """
        distances = compute(left, right, scorer=self._distance.normalized_distance, dtype=np.float64)
        return np.subtract(1.0, distances, out=distances)


class StringCollection(Collection):
    """A list of strings."""

    @classmethod
    def of(cls, X: Any, similarity: Similarity) -> "StringCollection":
        """Check X and make a collection of it."""
        return cls(similarity, _check_strings(X, similarity), given=X)

    @property
    def nothing_in_common(self) -> float:
        return 0.0

    def against(self, others: Self, n_jobs: int | None = None) -> StringSpace:
        return StringSpace(self.similarity, self._array, others._array, square=others is self, n_jobs=n_jobs)

    def space_of_queries(self, X: Any, estimator: Any = None, n_jobs: int | None = None) -> StringSpace:
        queries = StringCollection.of(check_input(X), self.similarity)
        return StringSpace(self.similarity, queries._array, self._array, square=False, n_jobs=n_jobs)

    def distinct(self) -> Distinct:
        return distinct_objects(self.objects)

    def content_hashes(self) -> Hashes:
        return string_hashes(self.objects)

    @cached_property
    def _array(self) -> NDArray[np.object_]:
        return np.fromiter(self.objects, dtype=object, count=len(self))

    def _take(self, positions: Positions) -> Self:
        return type(self)(self.similarity, objects_at(self.objects, positions), self.rows[positions])


def _check_strings(X: Any, similarity: Similarity) -> list[str]:
    """Return X as a list of strings. Refuse tables, and objects that are not strings."""
    if is_frame(X) or sp.issparse(X) or (isinstance(X, np.ndarray) and X.ndim != 1):
        raise TypeError(
            f"X must be a sequence of strings for similarity={similarity.function!r}, got {type(X).__name__} of shape "
            f"{X.shape}; pass one column of it, or use a similarity of rows."
        )
    strings = X.tolist() if isinstance(X, np.ndarray) else list(X)
    for position, value in enumerate(strings):
        if not isinstance(value, str):
            shown = value if is_missing(value) else type(value).__name__
            raise TypeError(
                f"X must hold only strings for similarity={similarity.function!r}, got {shown} at position {position}; "
                "drop such objects or turn them into strings."
            )
    return strings


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
