"""Which similarity suits the objects, and whether to scale their columns, if no option of `covey compare` says it.

1. `WAYS` lists the ways to compare objects that are worth a try for each kind of objects.
2. Each of them is cross-validated with CRS on a sample, in folds of their own.
3. The way with the best F1 is the one under which the methods are compared.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from covey.cli.compare.methods import USUAL_K
from covey.cli.objects.load import LabelledObjects
from covey.cli.options import Source
from covey.displays.report import Section
from covey.displays.table import Table, TableColumn
from covey.experiments.methods import crs_name
from covey.experiments.tables import Row

SAMPLED = 2000
"""About how many rows a trial uses. A fold of this many takes CRS less than a second, and with 400 rows to answer in
each of 5 folds, the standard error of an accuracy of .9 is below .01."""
SHORT = 100
"""Up to how many characters, on average, texts are also compared as strings. Names and titles are shorter. In long
texts the order of letters says little, and the time grows with the square of the length."""
TRIAL_SEED = 1
"""The seed of the folds and the sample of trials. The methods are compared with the folds of seed 0."""


@dataclass(frozen=True)
class Way:
    """A way to compare objects.

    Attributes
    ----------
    similarity : str
    scale : bool
        Whether each column is scaled to 0 .. 1 before.
    """

    similarity: str
    scale: bool = False

    def __str__(self) -> str:
        return f"{self.similarity}, scaled" if self.scale else self.similarity

    @property
    def slug(self) -> str:
        """A name for a folder."""
        return "-".join(re.findall(r"\w+", str(self)))

    def of(self, source: Source) -> Source:
        """Return the options that ask for this way."""
        return replace(source, similarity=self.similarity, scale=self.scale)


def _always(loaded: LabelledObjects) -> bool:
    return True


def _has_columns(loaded: LabelledObjects) -> bool:
    """Return whether there are several columns: of a single one, cosine knows only whether it is positive."""
    return bool(loaded.objects.shape[1] > 1)


def _is_uneven(loaded: LabelledObjects) -> bool:
    """Return whether scaling the columns would change anything. Sparse rows are not scaled."""
    if sp.issparse(loaded.objects):
        return False
    values = np.asarray(loaded.objects)
    lowest, highest = values.min(axis=0), values.max(axis=0)
    return bool(lowest.any() or np.unique(highest[highest > 0]).size > 1)


def _has_uneven_columns(loaded: LabelledObjects) -> bool:
    return _has_columns(loaded) and _is_uneven(loaded)


def _is_binary(loaded: LabelledObjects) -> bool:
    values = loaded.objects.data if sp.issparse(loaded.objects) else np.asarray(loaded.objects)
    return bool(((values == 0) | (values == 1)).all())


def _is_not_negative(loaded: LabelledObjects) -> bool:
    return all(weight >= 0 for profile in loaded.objects for weight in profile.values())


def _is_short(loaded: LabelledObjects) -> bool:
    """Return whether texts can be compared as strings: they are short, and the library for it is there."""
    column = loaded.block.frame[loaded.recipe.columns[0]]
    return find_spec("rapidfuzz") is not None and sum(len(str(text)) for text in column) <= SHORT * len(column)


WAYS: Mapping[str, Mapping[Way, Callable[[LabelledObjects], bool]]] = {
    "numbers": {
        Way("cosine"): _has_columns,
        Way("cosine", scale=True): _has_uneven_columns,
        Way("euclidean"): _always,
        Way("euclidean", scale=True): _is_uneven,
        Way("jaccard"): _is_binary,
    },
    "vectors": {  # the coordinates of embeddings are alike, so that scaling each by itself says nothing
        Way("cosine"): _has_columns,
        Way("euclidean"): _always,
    },
    "text": {
        Way("cosine"): _always,
        Way("levenshtein"): _is_short,
        Way("jaro-winkler"): _is_short,
    },
    "profile": {
        Way("cosine"): _always,
        Way("ruzicka"): _is_not_negative,
    },
}
"""The ways to compare objects that are tried, by the kind of their recipe, and for which objects each makes sense. A
kind that is not listed has only its default. Of two ways that do equally well, the first is taken."""


def is_said(source: Source) -> bool:
    """Return whether the user has said how to compare objects."""
    return source.similarity is not None or source.scale


def ways_for(loaded: LabelledObjects) -> list[Way]:
    """Return the ways to try; none if there is no choice."""
    ways = [way for way, suits in WAYS.get(loaded.recipe.settings.kind, {}).items() if suits(loaded)]
    return ways if len(ways) > 1 else []


def sample(labels: NDArray[Any], rows: NDArray[np.intp], n_folds: int) -> NDArray[np.intp]:
    """Return about `SAMPLED` of the rows, ascending: as many of each cluster, if it has them.

    If there are very many clusters, some of them are left out, because each needs a row for each fold.
    """
    rng = np.random.default_rng(TRIAL_SEED)
    if rows.size <= SAMPLED:
        return rows
    order = rng.permutation(rows)
    clusters, cluster_of = np.unique(labels[order], return_inverse=True)
    chosen = rng.permutation(clusters.size)[: max(SAMPLED // n_folds, 2)]
    each = max(SAMPLED // chosen.size, n_folds)
    return np.sort(np.concatenate([order[cluster_of == at][:each] for at in chosen]))


@dataclass(frozen=True)
class Trials:
    """How well each way did, and on how many rows. A way that took too long is not among them."""

    ways: Sequence[tuple[Way, Row]]
    n_rows: int

    @property
    def best(self) -> Way:
        """The way with the best F1; the first of several."""
        return max(self.ways, key=lambda own: own[1].f1)[0]


def section(trials: Trials, n_folds: int) -> Section:
    """Return the section of the report about the similarities that were trials."""
    best = (
        f"All else is under the best one, {trials.best}. Because the same rows chose it, the other scores flatter it a "
    )
    best += "little."
    only = f"There was time for no more than {trials.best}, which all else is under."
    note = (
        f"No option says how to compare the objects, so each of these similarities was tried: {crs_name(USUAL_K)} on "
        f"{trials.n_rows} rows, cross-validated in {n_folds} folds that are used for nothing else. "
        f"{best if len(trials.ways) > 1 else only} ± is the standard deviation over folds."
    )
    columns = [
        TableColumn("similarity"),
        TableColumn("F1", ".3f", spread=True),
        TableColumn("precision", ".3f"),
        TableColumn("recall", ".3f"),
    ]
    columns += [TableColumn("selected, %", ".2f"), TableColumn("scan rate", ".3f")]
    lines = [
        (str(way), (row.f1, row.f1_spread), row.precision, row.recall, row.percentage, row.scan_rate)
        for way, row in trials.ways
    ]
    marked = [way for way, _ in trials.ways].index(trials.best)
    return Section("Similarities", note, (Table("similarities", columns, lines, marked=marked),), folded=True)
