"""Sets, or dicts of numbers, under a named similarity. Both are called profiles here.

A profile becomes a row with a column for each key that any profile has. The rows are made when they are first needed.
The queries of a classifier may have further keys. These become further columns, because they make a query less similar
to profiles that lack them.
"""

import math
from collections.abc import Set as AbstractSet
from decimal import Decimal
from functools import cached_property
from itertools import chain, repeat
from numbers import Real
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp

from covey.arrays import Hashes, Positions
from covey.similarity.calls.callers import objects_at
from covey.similarity.collection import Collection, Representatives
from covey.similarity.duplicates import Distinct, distinct_rows, row_hashes
from covey.similarity.fingerprint import key_hashes
from covey.similarity.inputs import check_domain, check_input, check_same_kind, nothing_in_common
from covey.similarity.kinds.rows import CsrRows, RowSpace
from covey.similarity.measures import measure_of
from covey.similarity.similarity import LARGEST, Measure, Similarity

LARGEST_NUMBER = float(LARGEST)
"""The same as a number of Python's, which integers of any size can be compared with, and quickly."""


class ProfileRows(NamedTuple):
    """Profiles as rows, and the column of each key."""

    rows: sp.csr_array
    columns: dict[Any, int]


class ProfileCollection(Collection):
    """A list of sets, or of dicts of numbers."""

    def __init__(
        self, similarity: Similarity, objects: list[Any], rows: Positions | None = None, given: Any = None
    ) -> None:
        super().__init__(similarity, objects, rows, given)
        if self._measure.statistic == "mismatches":
            raise ValueError(
                f"similarity={similarity.function!r} needs rows of one width, got sets or dicts; use 'jaccard'."
            )

    @classmethod
    def of(cls, X: Any, similarity: Similarity) -> "ProfileCollection":
        """Check X and make a collection of it."""
        profiles = _check_profiles(list(X))
        domain = measure_of(similarity).domain
        if domain != "real":
            values = chain.from_iterable(profile.values() for profile in profiles if isinstance(profile, dict))
            check_domain(np.fromiter(values, dtype=np.float64), domain, similarity.function)
        return cls(similarity, profiles, given=X)

    @property
    def _measure(self) -> Measure:
        """How rows are compared. It is looked up and not kept, because it holds functions that cannot be pickled."""
        return measure_of(self.similarity)

    def representatives(self, positions: Positions) -> Representatives:
        """Return the members at these positions. They get columns for their own keys alone."""
        return ProfileCollection(self.similarity, objects_at(self.objects, positions), self.rows[positions])

    @property
    def nothing_in_common(self) -> float | None:
        return nothing_in_common(self._encoded.rows, self._measure)

    def prepared(self) -> Self:
        self.space()
        return self

    def against(self, others: Self, n_jobs: int | None = None) -> RowSpace:
        if self._encoded.columns is not others._encoded.columns:
            raise RuntimeError("Profiles can be compared only if both parts were taken from one prepared collection.")
        return RowSpace(self.similarity, self._measure, self._rows, others._rows, n_jobs, names=self.rows)

    def space_of_queries(self, X: Any, estimator: Any = None, n_jobs: int | None = None) -> RowSpace:
        X = check_input(X)
        check_same_kind(X, profiles=True)
        queries = ProfileCollection.of(X, self.similarity)._encode(dict(self._encoded.columns)).rows
        right = self._rows.widened(queries.shape[1])
        return RowSpace(self.similarity, self._measure, CsrRows(queries), right, n_jobs)

    def distinct(self) -> Distinct:
        return distinct_rows(self._encoded.rows, up_to_length=self._measure.ignores_length)

    def content_hashes(self) -> Hashes:
        rows, keys = self._encoded.rows, list(self._encoded.columns)  # keys are in the order of their columns
        used = np.unique(rows.indices)
        hashes = np.zeros(rows.shape[1], dtype=np.uint64)
        hashes[used] = key_hashes(keys[column] for column in used)
        return row_hashes(rows, up_to_length=self._measure.ignores_length, column_hashes=hashes)

    @cached_property
    def _encoded(self) -> ProfileRows:
        return self._encode({})

    @cached_property
    def _rows(self) -> CsrRows:
        return CsrRows(self._encoded.rows)

    def _encode(self, columns: dict[Any, int]) -> ProfileRows:
        """Turn the profiles into rows. Keys that have no column yet get one."""
        keys = list(chain.from_iterable(self.objects))
        for key in dict.fromkeys(keys):  # each key once, because a loop in Python is slow
            columns.setdefault(key, len(columns))
        key_columns = np.fromiter(map(columns.__getitem__, keys), dtype=np.int32, count=len(keys))
        weights = (
            profile.values() if isinstance(profile, dict) else repeat(1.0, len(profile)) for profile in self.objects
        )
        values = np.fromiter(chain.from_iterable(weights), dtype=np.float64, count=len(keys))
        starts = np.cumsum([0, *map(len, self.objects)], dtype=np.int32)
        return ProfileRows(
            sp.csr_array((values, key_columns, starts), shape=(len(self), max(len(columns), 1))), columns
        )

    def _take(self, positions: Positions) -> Self:
        taken = type(self)(self.similarity, objects_at(self.objects, positions), self.rows[positions])
        if "_encoded" in vars(self):
            taken._encoded = ProfileRows(self._encoded.rows[positions], self._encoded.columns)
        return taken


def _check_profiles(profiles: list[Any]) -> list[Any]:
    """Return the profiles. Raise an error unless they are sets, or dicts of finite numbers."""
    if _are_plain(profiles):
        return profiles
    for position, profile in enumerate(profiles):
        if not isinstance(profile, dict | AbstractSet):
            raise TypeError(
                f"X must hold only sets or dicts of numbers once its first object is one, "
                f"got {type(profile).__name__} at position {position}."
            )
        if isinstance(profile, dict) and not all(map(_is_finite_number, profile.values())):
            wrong = next(value for value in profile.values() if not _is_finite_number(value))
            raise (ValueError if isinstance(wrong, Real) else TypeError)(
                f"X must hold dicts of numbers, all finite, for a named similarity, but object {position} holds "
                f"{wrong!r}; leave such values out or turn them into numbers."
            )
    return profiles


def _are_plain(profiles: list[Any]) -> bool:
    """Return whether all profiles are sets, or all are dicts of finite floats.

    This answers most inputs quickly, because no loop in Python looks at each value. Other profiles may be valid, too.
    """
    kinds = set(map(type, profiles))
    if kinds != {dict}:
        return kinds <= {set, frozenset}
    values = list(chain.from_iterable(map(dict.values, profiles)))
    if not set(map(type, values)) <= {float}:
        return False
    return not values or bool(np.abs(np.fromiter(values, dtype=np.float64, count=len(values))).max() < LARGEST)


def _is_finite_number(value: Any) -> bool:
    if type(value) is float or type(value) is int:  # this answers nearly all calls quickly
        return -LARGEST_NUMBER < value < LARGEST_NUMBER
    return isinstance(value, Real | Decimal | np.bool_) and math.isfinite(value)
