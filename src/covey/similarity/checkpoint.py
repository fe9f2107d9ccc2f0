"""A checkpoint: what a run has paid for, in a file, so that a later run does not pay for it again.

The file is a journal (`storage/journal.py`) with blocks of these kinds:

1. *About*, the first block: the similarity that the file belongs to, and a seed for runs without one of their own.
2. *Objects*: the hash of the content of each object, 8 bytes. An object is known by its number in this list.
3. *Pairs*: the numbers of two objects and their similarity, 16 bytes. NaN says that the similarity has failed.
4. *Run* and *result*: for similarities that covey computes itself, which takes less time than to read them from a file,
   what the run depends on, and its finished parts.

How a run goes on:

1. The file must belong to the same similarity, and X must hold at least half of its objects. X may hold others, too.
2. A few kept pairs are evaluated again. If they have other values now, the similarity has changed in a way that its
   fingerprint does not show, and the file is refused.
3. The run is made again from its beginning. All its choices follow from the seed and from similarities, and those that
   are kept are looked up. So it comes to where it was, and from there to the same end as a run that nothing has
   disturbed.

Kept pairs do not depend on what they were evaluated for. So a run with other parameters, or with more objects, finds
among them all that it needs.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from reprlib import repr as shown
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from covey.arrays import Flags, Floats, Hashes, Integers
from covey.exceptions import CheckpointMismatchError, FileFormatError
from covey.similarity.hash_table import Keys, numbers_in, pair_keys
from covey.similarity.similarity import LARGEST
from covey.storage.journal import Journal
from covey.storage.serialization import MOST_TEXT


@dataclass(frozen=True)
class CheckpointReport:
    """What a checkpoint has done for a run.

    A fit with ``checkpoint=`` sets it as `checkpoint_`, and a `covey.NeighborGraph` has it as `checkpoint`.

    Attributes
    ----------
    path : str
        The file.
    n_saved : int
        How many of the evaluations of this run were looked up in the file, because an earlier run had made them.
    n_new : int
        How many pairs this run has evaluated that the file did not hold. It holds them now.
    n_repeated : int
        How many evaluations of this run were of pairs that the file held already: those of the spot check, which asks
        some pairs twice, those that had failed before, and those of objects that are equal to others in another
        cluster.
    n_asked_again : int
        How many kept pairs were evaluated again when the file was opened, to see whether the similarity is still the
        same: five, or all if there are fewer. They are not among the evaluations of the run.
    n_kept : int
        How many pairs the file holds now.

    See Also
    --------
    covey.CRS : Takes a checkpoint.
    covey.exceptions.CheckpointMismatchError : Is raised if the file belongs to another run.

    Notes
    -----
    For a custom function, the evaluations of a run are ``n_saved + n_new + n_repeated``, which is `n_evaluations_`
    of the selector. The function was really asked for ``n_new + n_repeated + n_asked_again`` pairs. The file held
    ``n_kept - n_new`` pairs before. For a named similarity, such as cosine, the file holds finished clusters and no
    pairs: `n_saved` evaluations were not made again, and the other numbers are 0.

    Examples
    --------
    The second fit has one object more. It evaluates only the five pairs that are new:

    >>> import covey, tempfile
    >>> def nearness(a, b):
    ...     return -abs(a - b)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for numbers in ([1, 2, 4, 8, 9], [1, 2, 4, 8, 9, 16]):
    ...         selector = covey.CRS(2, similarity=nearness, checkpoint=f"{folder}/numbers").fit(numbers)
    ...         report = selector.checkpoint_
    ...         print(selector.n_evaluations_, report.n_saved, report.n_new, report.n_kept)
    10 0 10 10
    15 10 5 15
    """

    path: str
    n_saved: int
    n_new: int
    n_repeated: int
    n_asked_again: int
    n_kept: int


FORMAT = 1
"""The version of the blocks."""
ABOUT, OBJECTS, PAIRS, RUN, RESULT = range(1, 6)
"""The kinds of blocks."""
PAIR = np.dtype([("first", "<u4"), ("second", "<u4"), ("similarity", "<f8")])
"""How a pair is written."""

MOST_LOST = 0.5
"""Which share of the objects of a file may be missing in X. Kept pairs are right among any other objects, so
that the limit only protects from a wrong name."""


class Checkpoint:
    """A checkpoint that is open, and what it holds.

    Parameters
    ----------
    path : path
        The file. It is made if it is not there.
    fingerprint, in_words : str
        The similarity that evaluates the pairs, in short and for messages. A file that belongs to another similarity is
        refused.

    Attributes
    ----------
    n_saved, n_evaluated : int
        How many evaluations of this run were looked up in the file, and how many others there were.
    n_asked_again : int
        How many kept pairs were evaluated when the file was opened.
    seed : int
        A random seed that all runs with this file share.
    results : dict
        The finished parts of the run, by name.
    """

    def __init__(self, path: str | os.PathLike[str], fingerprint: str, in_words: str) -> None:
        self._journal = Journal(path)
        self.path = str(self._journal.path)
        self.n_saved = self.n_asked_again = self.n_evaluated = 0
        self._new: list[Keys] = []
        self.results: dict[str, bytes] = {}
        self._hashes: Hashes = np.empty(0, dtype=np.uint64)
        self._keys: Keys = np.empty(0, dtype=np.uint64)
        self._values = np.empty(0)
        self._run: str | None = None
        try:
            self.seed = self._read(fingerprint, in_words)
        except BaseException:
            self._journal.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._journal.close()

    def report(self) -> CheckpointReport:
        """Return what the checkpoint has done so far.

        A run can evaluate a pair more than once: equal objects of several clusters are one object in the file, and some
        pairs that had failed are asked again.
        """
        n_new = int(np.sum(~np.isin(np.unique(np.concatenate([*self._new, self._keys[:0]])), self._keys)))
        return CheckpointReport(
            self.path, self.n_saved, n_new, self.n_evaluated - n_new, self.n_asked_again, self._keys.size + n_new
        )

    def count(self, *, saved: int = 0, evaluated: int = 0, asked_again: int = 0) -> None:
        """Add to the numbers of the report."""
        self.n_saved += saved
        self.n_evaluated += evaluated
        self.n_asked_again += asked_again

    def admit(self, hashes: Hashes) -> Integers:
        """Return the numbers of objects, given the hashes of their contents. New objects are added to the file.

        Refuse objects that lack most of those in the file, because then the file was made with other data. Some may be
        missing, as they are in cross-validation.
        """
        lost = int(np.sum(~np.isin(self._hashes, hashes)))
        if lost > MOST_LOST * self._hashes.size:
            raise CheckpointMismatchError(
                f"checkpoint must be of the same data, but {lost} of the {self._hashes.size} objects of {self.path!r} "
                "are not in X; choose another file."
            )
        _, first = np.unique(hashes, return_index=True)
        new = hashes[np.sort(first)]
        new = new[~np.isin(new, self._hashes)]
        if new.size:
            self._journal.append(OBJECTS, new.astype("<u8").tobytes())
            self._hashes = np.concatenate([self._hashes, new])
        order = np.argsort(self._hashes)
        return order[np.searchsorted(self._hashes, hashes, sorter=order)].astype(np.int64)

    def look_up(self, keys: Keys) -> tuple[Floats, Flags]:
        """Return the kept similarities of pairs, and which of the pairs are kept at all."""
        if not self._keys.size:
            return np.empty(keys.size), np.zeros(keys.size, dtype=np.bool_)
        places = np.minimum(np.searchsorted(self._keys, keys), self._keys.size - 1)
        return self._values[places], self._keys[places] == keys

    def store(self, keys: Keys, values: Floats) -> None:
        """Write the similarities of pairs to the file."""
        pairs = np.empty(keys.size, dtype=PAIR)
        pairs["first"], pairs["second"] = numbers_in(keys)
        pairs["similarity"] = values
        self._journal.append(PAIRS, pairs.tobytes())
        self._new.append(keys)
        self.count(evaluated=keys.size)

    def sample(self, most: int, numbers: Integers) -> tuple[Keys, Floats]:
        """Return some of the kept pairs of these objects that have not failed: the first, the last, and others between
        them.
        """
        present = np.zeros(self._hashes.size, dtype=np.bool_)
        present[numbers] = True
        first, second = numbers_in(self._keys)
        sound = np.flatnonzero(~np.isnan(self._values) & present[first] & present[second])
        some = sound[np.unique(np.linspace(0, sound.size - 1, min(most, sound.size)).astype(np.intp))]
        return self._keys[some], self._values[some]

    def begin_run(self, depends_on: Mapping[str, Any]) -> None:
        """Say what the finished parts of the run depend on. Refuse a file that has those of another run."""
        text = json.dumps(depends_on, sort_keys=True)
        if self._run is None:
            self._run = text
            self._journal.append(RUN, text.encode())
        elif self._run != text:
            before, now = json.loads(self._run), json.loads(text)
            texts = [{name: json.dumps(run[name]) for name in run} for run in (before, now)]  # 1 and 1.0 differ
            different = [name for name in {**before, **now} if texts[0].get(name) != texts[1].get(name)]
            lacking = before.keys() ^ now.keys()
            if lacking.issuperset(different) and ("selector" in before) == ("selector" in now):
                raise CheckpointMismatchError(
                    f"checkpoint must be of the same version of covey, but {self.path!r} was made by another one: only "
                    f"one of the two has {shown(sorted(lacking)[0])[1:-1]}; choose another file."
                )
            name = next((name for name in different if name not in lacking), different[0])
            raise CheckpointMismatchError(
                f"checkpoint must be of the same run, but {self.path!r} was made with another {shown(name)[1:-1]}: it "
                f"has {shown(before.get(name))} and this run {shown(now.get(name))}; choose another file."
            )

    def finish(self, name: str, content: bytes) -> None:
        """Write a finished part of the run to the file."""
        encoded = name.encode()
        self._journal.append(RESULT, len(encoded).to_bytes(4, "little") + encoded + content)
        self.results[name] = content

    def _read(self, fingerprint: str, in_words: str) -> int:
        """Read the file, or begin a new one, and return its seed."""
        objects, pairs, about = [], [], None
        for kind, content in self._journal.blocks():
            if (kind == ABOUT) != (about is None):
                raise self.damaged("its blocks are not in order")
            if kind == ABOUT:
                about = self._check_about(content, fingerprint, in_words)
            elif not content and kind in (OBJECTS, PAIRS):
                continue  # millions of empty arrays would take far more memory than the file
            elif kind == OBJECTS:
                objects.append(self._array(content, np.dtype("<u8")))
            elif kind == PAIRS:
                pairs.append(self._array(content, PAIR))
            elif kind == RUN:
                self._read_run(content)
            elif kind == RESULT:
                self._read_result(content)
            else:
                raise self.damaged(f"it has a block of the unknown kind {kind}")
        if about is None:
            seed = int(np.random.SeedSequence().generate_state(1)[0])
            made = {"format": FORMAT, "similarity": fingerprint, "in_words": in_words, "seed": seed}
            self._journal.append(ABOUT, json.dumps(made).encode())
            return seed
        self._take_in(np.concatenate([self._hashes, *objects]), np.concatenate([np.empty(0, PAIR), *pairs]))
        return int(about["seed"])

    def _check_about(self, content: bytes, fingerprint: str, in_words: str) -> dict[str, Any]:
        """Refuse a file of another format, or of another similarity."""
        about = self._json(content)
        version = about.get("format")
        if type(version) is not int or version != FORMAT:
            raise self.damaged(f"its format is {shown(version)}, and this version of covey reads {FORMAT}")
        seed = about.get("seed")
        if type(seed) is not int or not 0 <= seed < 2**32:
            raise self.damaged("its seed is not a number below 2^32")
        if type(about.get("in_words")) is not str:
            raise self.damaged("it does not say in words which similarity it belongs to")
        if about.get("similarity") != fingerprint:
            raise CheckpointMismatchError(
                f"checkpoint must be of the same similarity, but {self.path!r} was made with another one, "
                f"{about['in_words'][:200]!a}, and this is {in_words}; choose another file."
            )
        return about

    def _take_in(self, hashes: Hashes, pairs: NDArray[Any]) -> None:
        """Take what the file holds: check it, and sort the pairs so that they can be looked up.

        Of several values of a pair the last one counts, because it may have failed when it was evaluated before.
        """
        if np.unique(hashes).size != hashes.size:
            raise self.damaged("an object is in it twice")
        if pairs.size and max(pairs["first"].max(), pairs["second"].max()) >= hashes.size:
            raise self.damaged("a pair has an object that is not in it")
        if (np.abs(pairs["similarity"]) >= LARGEST).any():
            raise self.damaged(f"a similarity is not below {LARGEST:g} in magnitude")
        pairs = pairs[::-1]
        self._keys, last = np.unique(pair_keys(pairs["first"], pairs["second"]), return_index=True)
        self._values, self._hashes = pairs["similarity"][last].astype(np.float64), hashes.astype(np.uint64)

    def _read_run(self, content: bytes) -> None:
        if self._run is not None:
            raise self.damaged("it has two runs")
        try:
            self._run = json.dumps(self._json(content), sort_keys=True)
        except RecursionError as error:  # Python reads deeper lists than it writes
            raise self.damaged("a block has lists in lists in lists") from error

    def _read_result(self, content: bytes) -> None:
        end = 4 + int.from_bytes(content[:4], "little")
        if len(content) < end:
            raise self.damaged("the name of a result is cut off")
        self.results[content[4:end].decode(errors="replace")] = content[end:]

    def _json(self, content: bytes) -> dict[str, Any]:
        try:
            value = json.loads(content) if len(content) <= MOST_TEXT else None
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict):
            raise self.damaged("a block is not a JSON object")
        return value

    def _array(self, content: bytes, dtype: np.dtype[Any]) -> NDArray[Any]:
        if len(content) % dtype.itemsize:
            raise self.damaged("a block has an odd length")
        return np.frombuffer(content, dtype=dtype)

    def damaged(self, what: str) -> FileFormatError:
        """Return the error for a file that holds something that cannot be."""
        return FileFormatError(f"{self.path} cannot be read as a checkpoint: {what}; remove the file.")
