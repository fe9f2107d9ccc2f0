"""Rows of numbers, and rows of packed bits, under a named similarity."""

from datetime import date, timedelta
from functools import cached_property
from typing import Any, Self

import numpy as np

from covey.arrays import Hashes, Positions
from covey.similarity.bit_rows import BitRows
from covey.similarity.bits import PackedBits, are_packed
from covey.similarity.collection import Collection
from covey.similarity.equal import Distinct, distinct_rows, row_hashes
from covey.similarity.frames import columns, is_frame, is_numeric, names
from covey.similarity.inputs import check_input, check_same_kind, first_is
from covey.similarity.named import measure_of
from covey.similarity.names import STRINGS
from covey.similarity.numbers import check_domain, check_rows, like, nothing_in_common
from covey.similarity.rows import Rows, float_type, rows_of
from covey.similarity.similarity import Measure, Similarity
from covey.similarity.spaces.rows import RowSpace

NO_NUMBERS: dict[str, Any] = {"text": str, "dates": (date, timedelta, np.datetime64, np.timedelta64)}
"""What a column of objects may hold that is not a number, and how an error calls it."""


class RowCollection(Collection):
    """Rows of an array or a CSR array."""

    @classmethod
    def of(cls, X: Any, similarity: Similarity, estimator: Any = None) -> "RowCollection":
        """Check X and make a collection of it."""
        _check_columns(X)
        objects = check_rows(X, estimator)
        check_domain(objects, measure_of(similarity).domain, similarity.function)
        return cls(similarity, objects, given=X)

    @property
    def _measure(self) -> Measure:
        """How rows are compared. It is looked up and not kept, because it holds functions that cannot be pickled."""
        return measure_of(self.similarity)

    @property
    def n_columns(self) -> int:
        return int(self.objects.shape[1])

    @property
    def nothing_in_common(self) -> float | None:
        return nothing_in_common(self.objects, self._measure)

    def prepared(self) -> Self:
        self.space()
        return self

    def against(self, others: Self, n_jobs: int | None = None) -> RowSpace:
        return RowSpace(self.similarity, self._measure, self._rows, others._rows, n_jobs, names=self.rows)

    def space_of_queries(self, X: Any, estimator: Any = None, n_jobs: int | None = None) -> RowSpace:
        X = check_input(X)
        check_same_kind(X, profiles=False)
        if are_packed(X, self._measure.domain):
            raise TypeError("X must not hold packed bits, because the X passed to fit did not; unpack X or pack both.")
        _check_columns(X)
        queries = like(check_rows(X, estimator, compared=True), self.objects)
        check_domain(queries, self._measure.domain, self.similarity.function)
        dtype = np.result_type(float_type(queries.dtype), float_type(self.objects.dtype))
        members = self._rows if self._rows.values.dtype == dtype else rows_of(self.objects, dtype)
        return RowSpace(self.similarity, self._measure, rows_of(queries, dtype), members, n_jobs)

    @cached_property
    def _rows(self) -> Rows:
        """The rows in the precision that fits them."""
        return rows_of(self.objects)

    def distinct(self) -> Distinct:
        return distinct_rows(self.objects, up_to_length=self._measure.ignores_length)

    def content_hashes(self) -> Hashes:
        return row_hashes(self.objects, up_to_length=self._measure.ignores_length)

    def _take(self, positions: Positions) -> Self:
        return type(self)(self.similarity, self.objects[positions], self.rows[positions])


class BitCollection(RowCollection):
    """Rows of packed bits. Each bit is a column of 0 and 1 for the similarity."""

    @classmethod
    def of(cls, X: Any, similarity: Similarity, estimator: Any = None) -> "BitCollection":
        """Check X, which holds packed bits, and make a collection of it."""
        if measure_of(similarity).domain != "binary":
            raise ValueError(
                f"X must hold rows of numbers for {similarity!r}, got packed bits; use 'jaccard', or unpack the bits "
                "by np.unpackbits."
            )
        return cls(similarity, PackedBits(check_rows(X, estimator)), given=X)

    def space_of_queries(self, X: Any, estimator: Any = None, n_jobs: int | None = None) -> RowSpace:
        found, wanted = getattr(check_input(X), "dtype", type(X).__name__), self.objects.dtype
        if found != wanted:
            raise TypeError(f"X must hold packed bits of type {wanted}, as the X passed to fit, got {found}.")
        queries = BitRows(PackedBits(check_rows(X, estimator, compared=True)))
        return RowSpace(self.similarity, self._measure, queries, self._rows, n_jobs)

    @property
    def nothing_in_common(self) -> float | None:
        return self._measure.nothing_in_common  # words of packed bits are no numbers

    @cached_property
    def _rows(self) -> BitRows:
        """The rows as words."""
        return BitRows(self.objects)

    def distinct(self) -> Distinct:
        return distinct_rows(self._rows.values)

    def content_hashes(self) -> Hashes:
        return row_hashes(self._rows.values)


def _check_columns(X: Any) -> None:
    """Refuse text and dates.

    The error says what a similarity of rows needs, where scikit-learn would only say that a string is no float.
    """
    if first_is(X, str):
        raise ValueError(
            "X must hold rows of numbers, sets or dicts of numbers for this similarity, got strings; "
            f"pass similarity= one of {sorted(STRINGS)} or a callable s(a, b)."
        )
    if not is_frame(X) or is_numeric(X) or np.asarray(X).dtype.kind != "O":
        return
    for name, column in zip(names(X), columns(X), strict=True):
        values = list(column)
        for found, types in NO_NUMBERS.items():
            if any(isinstance(value, types) for value in values):
                raise ValueError(
                    f"X must hold columns of numbers for this similarity, but column {name!r} holds {found}; drop or "
                    "encode it, or pass similarity='gower', which takes mixed columns, or a callable: rows then come "
                    "to it as dicts."
                )
