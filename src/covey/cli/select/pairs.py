"""Scored pairs: objects that another program has compared, such as MMseqs2, Splink or chemfp.

1. The file is read block by block. Objects are numbered in the order in which they appear, and only two numbers and a
   score are kept of each pair.
2. Of a pair that is listed several times, the best score counts. An object's score with itself is ignored.
3. If no pair is listed both ways, all pairs count both ways, unless the user says otherwise.
4. The scores become a sparse matrix: row x holds the scores of x, and what is not listed is not similar.

Memory is that of the pairs: 16 bytes for each while they are read, and some 60 while they are put in order.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from covey.cli.files.block import Block, name_of
from covey.cli.files.columns import (
    check_filled,
    column_of,
    numbers_of,
    numbers_with_gaps,
    require_columns,
    strings_missing,
)
from covey.cli.files.dialect import Dialect, listed
from covey.cli.files.formats import Format
from covey.cli.files.reading import blocks
from covey.cli.objects.load import ONE_CLUSTER, LabelledObjects, labels_by_name, say_without_labels
from covey.cli.objects.recipe import Recipe, Settings
from covey.cli.options import Missing
from covey.cli.select.options import SelectOptions
from covey.displays.cards import Card
from covey.runtime.libraries import require
from covey.runtime.progress import progress
from covey.runtime.wording import agreeing, several
from covey.similarity.similarity import CONVERSIONS

logger = logging.getLogger("covey")

ID = "id"
"""The column of the objects' names in what is written, and in the table of --labels."""
MOST_PAIRS = 200_000
"""The most pairs of a block. Names that repeat within a block are looked up once, and the strings of a block of twelve
columns take some 150 MB."""
M8 = "query,target,fident,alnlen,mismatch,gapopen,qstart,qend,tstart,tend,evalue,bits"
"""The columns of an .m8 file, which has no header, by the names that MMseqs2 gives them. BLAST writes the same ones."""


@dataclass(frozen=True, eq=False)
class ListedPairs:
    """The scores of pairs: `query` and `target` are numbers of objects, and `names` their names."""

    names: list[str]
    query: NDArray[np.int32]
    target: NDArray[np.int32]
    score: NDArray[np.float64]


@dataclass(frozen=True)
class PairRecipe(Recipe):
    """Pairs that another program has scored. Nothing but their names is known of the objects.

    Attributes
    ----------
    n_pairs, n_objects : int
        How many pairs were scored, and how many objects they are made of.
    """

    n_pairs: int
    n_objects: int

    def from_table(self, block: Block) -> Any:
        raise TypeError(
            "A row that holds a scored pair is not an object by itself; `load_pairs` reads all pairs at once."
        )

    def function(self) -> Any:
        return "precomputed"

    def described(self) -> str:
        objects, pairs = several(self.n_objects, "object"), several(self.n_pairs, "pair")
        return f"{objects} by {pairs} scored in column {self.columns[2]}"

    def summary(self) -> str:
        return self.described()

    def has_similarity(self, objects: Any, rows: NDArray[np.intp], others: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Return whether the pair of each row and its other row is listed; an object's score with itself is not."""
        listed = sp.csr_array((np.ones(objects.nnz), objects.indices, objects.indptr), shape=objects.shape)
        return np.asarray(listed[rows, others] > 0)

    def card(self, block: Block, objects: Any, row: int, title: str) -> Card:
        return Card(title)


def load_pairs(options: SelectOptions) -> LabelledObjects:
    """Read the pairs that the options name, and return the objects with their labels."""
    columns = options.pairs or []
    scores = read_scores(options, columns)
    if options.distances:
        scores = _from_distances(scores, columns[2])
    matrix = matrix_of(scores, symmetric=options.symmetric)
    names: Any = np.array(scores.names, dtype=object)
    labels = np.full(names.size, ONE_CLUSTER)
    if options.labels is not None:
        labelled, labels = _labelled(scores.names, options.labels)
        names, matrix = names[labelled], sp.csr_array(matrix[labelled][:, labelled])
    frame = require("pandas", "cli").DataFrame({ID: names})
    settings = Settings("pairs", list(columns), "precomputed", id=ID)
    recipe = PairRecipe(settings, scores.score.size, len(scores.names))
    return LabelledObjects(Block(options.files[0], frame=frame), recipe, matrix, labels, names.tolist(), "precomputed")


def read_scores(options: SelectOptions, columns: Sequence[str]) -> ListedPairs:
    """Read all pairs, block by block."""
    path, *more = options.files
    numbers: dict[str, int] = {}
    n_left_out = 0
    pairs: list[NDArray[np.int32]] = []
    scores: list[NDArray[np.float64]] = []
    with progress("reading", None, "MB", shown=options.verbose) as bar:
        dialect = _dialect(options, columns)
        for block in blocks(path, options.form, more=more, dialect=dialect, most_rows=MOST_PAIRS, bar=bar):
            query, target, score = names = _names(block, columns, options.dialect.columns)
            whole = _without_gaps(block, names) if options.missing is Missing.drop else block
            n_left_out += len(block) - len(whole)
            if len(whole):
                pairs.append(_numbered(whole, [query, target], numbers))
                scores.append(numbers_of(whole, [score])[score].to_numpy())
    if n_left_out:
        are = agreeing(n_left_out, "is", "are")
        logger.warning("%s %s left out, because a value is missing.", several(n_left_out, "pair"), are)
    if not pairs:
        raise ValueError(f"{name_of(path)}: a value is missing in every row, so --missing drop leaves none.")
    both = np.concatenate(pairs)
    return ListedPairs(list(numbers), both[:, 0], both[:, 1], np.concatenate(scores))


def _dialect(options: SelectOptions, columns: Sequence[str]) -> Dialect:
    """Return how the file is written. A file without a header has columns with numbers, or those of an .m8 file."""
    dialect = options.dialect
    if dialect.columns or options.format not in (Format.csv, Format.tsv):
        return dialect
    if all(name.isdecimal() for name in columns):
        return replace(dialect, numbered=True)
    return replace(dialect, columns=listed(M8)) if ".m8" in Path(options.files[0]).suffixes else dialect


def _names(block: Block, columns: Sequence[str], given: Sequence[str]) -> list[str]:
    """Return the names of the columns, which may be numbers in the list that the user has given."""
    named = [
        given[int(column) - 1] if column.isdecimal() and 0 < int(column) <= len(given) else column for column in columns
    ]
    require_columns(block.frame, named, block.path)
    return named


def _without_gaps(block: Block, names: Sequence[str]) -> Block:
    """Return the pairs of which both objects and the score are there."""
    query, target, score = names
    lacking = np.isnan(numbers_with_gaps(block, score))
    for name in (query, target):
        lacking |= strings_missing(block, name, empty=False)
    return block.take(np.flatnonzero(~lacking))


def _numbered(block: Block, columns: list[str], numbers: dict[str, int]) -> NDArray[np.int32]:
    """Return the numbers of both objects of each pair; objects that are new get the next ones."""
    pandas = require("pandas", "cli")
    both = pandas.concat([column_of(block.frame, name) for name in columns], ignore_index=True)
    codes, different = pandas.factorize(both)
    names = [str(name) for name in different]
    if codes.min() < 0 or not all(name.strip() for name in names):
        for name in columns:
            check_filled(block, name)  # it says which row has a gap
    in_order, used = pandas.factorize(codes.reshape(2, -1).T.ravel())  # row by row, as the objects appear
    numbered = np.array([numbers.setdefault(names[code], len(numbers)) for code in used], dtype=np.int32)
    return numbered[in_order].reshape(-1, 2)


def _from_distances(scores: ListedPairs, column: str) -> ListedPairs:
    """Return similarities instead of distances, as --distances makes them of a matrix: 1 / (1 + distance)."""
    if scores.score.min() < 0:
        at = int(scores.score.argmin())
        pair = f"{scores.names[scores.query[at]]!r} and {scores.names[scores.target[at]]!r}"
        raise ValueError(
            f"--distances must not be negative, got {scores.score[at]} in column {column!r} for {pair}; leave out "
            "--distances if larger scores are closer."
        )
    return ListedPairs(scores.names, scores.query, scores.target, CONVERSIONS["inverse"](scores.score))


def matrix_of(scores: ListedPairs, *, symmetric: bool | None) -> sp.csr_array:
    """Return the scores as a matrix, and say what of them does not count as it stands there."""
    n = len(scores.names)
    others = scores.query != scores.target
    keys = scores.query[others].astype(np.int64) * n + scores.target[others]
    keys, best = _best(keys, scores.score[others])
    if others.sum() > keys.size:
        again = several(int(others.sum()) - keys.size, "pair")
        logger.warning("%s listed again; the best score of each counts.", again)
    if symmetric is None and keys.size:
        symmetric = not np.isin(keys % n * n + keys // n, keys, assume_unique=True).any()
        if symmetric:
            logger.warning("no pair is listed both ways, so each counts both ways; --directed keeps them as they are.")
    if symmetric:
        keys, best = _best(np.append(keys, keys % n * n + keys // n), np.append(best, best))
    starts = np.append(0, np.cumsum(np.bincount(keys // n, minlength=n)))
    return sp.csr_array((best, (keys % n).astype(np.int32), starts), shape=(n, n))


def _best(keys: NDArray[np.int64], scores: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return each key once, in ascending order, with the best of its scores."""
    if not keys.size:
        return keys, scores
    order = np.argsort(keys)
    keys, scores = keys[order], scores[order]
    first = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
    return keys[first], np.maximum.reduceat(scores, first)


def _labelled(names: list[str], path: str) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Return which objects have a label in a table, and these labels."""
    labels = labels_by_name(path, ID)
    labelled = np.flatnonzero([name in labels for name in names])
    if not labelled.size:
        raise ValueError(f"{path} has no label for any object of the pairs.")
    n_without = len(names) - labelled.size
    if n_without:
        say_without_labels(n_without, several(len(names), "object"), path)
    return labelled, np.array([labels[names[at]] for at in labelled])
