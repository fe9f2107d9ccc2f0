"""Arguments for the kernels that compare short strings."""

import numpy as np

from covey.similarity.kinds import strings as edits

rng = np.random.default_rng(0)


def letters():
    lengths = rng.integers(0, 65, 12)
    lengths[:2] = 0, 64
    starts = np.concatenate([[0], np.cumsum(lengths)])
    return rng.integers(0, 5, starts[-1]).astype(np.uint16), starts


def pairs(size=60):
    return np.sort(rng.integers(0, 12, size)).astype(np.int32), rng.integers(0, 12, size).astype(np.int32)


def one_pair():
    """A string of which each letter has a place of its own, and another one."""
    n = int(rng.integers(1, 65))
    places = np.zeros(5, np.uint64)
    for letter, code in enumerate(rng.integers(0, 5, n).tolist()):
        places[code] |= np.uint64(1) << np.uint64(letter)
    return places, n, rng.integers(0, 5, 40).astype(np.uint16), 3, 37


def bits():
    numbers = np.full(256, -1)
    numbers[rng.permutation(256)[:64]] = np.arange(64)
    return numbers.reshape(32, 8)


EDIT_CASES = {
    edits.count_ranks: lambda: (*letters(), rng.integers(0, 32, 5), np.zeros((32, 8), np.int64)),
    edits.pack_bags: lambda: (*letters(), rng.integers(0, 32, 5), bits(), np.zeros(12, np.uint64)),
    edits.similarity_of: lambda: (*map(int, rng.integers(0, 9, 3)), int(rng.integers(3))),
    edits.bound_edits: lambda: (
        rng.integers(0, 1 << 62, 12).astype(np.uint64),
        rng.integers(20, 65, 12),
        *pairs(),
        int(rng.integers(3)),
        np.zeros(60),
    ),
    edits.levenshtein: lambda: (*one_pair(), bool(rng.integers(2))),
    edits.indel: one_pair,
    edits.score_edits: lambda: (*letters(), *letters(), 5, *pairs(), int(rng.integers(3)), np.zeros(60)),
}
