"""The representatives in a model as a table: a row for each, with the values that the model keeps of it."""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from covey.cli.model_file import Model
from covey.runtime.libraries import require
from covey.similarity.kinds.mixed import MixedRows
from covey.similarity.packed_bits import PackedBits

VALUES = "covey_values"
"""The column for objects that are not made of columns with names."""
DIGITS = 12
"""How many digits of a value that was scaled back are kept. Double precision has between 15 and 17, and scaling there
and back takes four operations, each of which may be off in the last one."""


def representatives_of(model: Model) -> Any:
    """Return a frame of all representatives, cluster by cluster in the order in which they were picked.

    The first columns are those that `covey select` adds to the rows that it writes. Then come the names of the rows, if
    they have any, and the values that the model keeps. Of a matrix of similarities it keeps none.
    """
    selector = model.classifier.selector_
    prototypes = list(selector.prototypes_.values())
    sizes = [prototype.indices.size for prototype in prototypes]
    order = np.searchsorted(model.indices, np.concatenate([prototype.indices for prototype in prototypes]))
    rows = model.rows[order]
    columns: dict[str, Any] = {
        "covey_row": rows,
        "covey_cluster": np.repeat([str(prototype.label) for prototype in prototypes], sizes),
        "covey_rank": np.concatenate([np.arange(1, size + 1) for size in sizes]),
        "covey_covers": np.concatenate([prototype.stands_for for prototype in prototypes]),
    }
    if model.names:
        columns[model.recipe.settings.id or "covey_id"] = [model.names[row] for row in rows.tolist()]
    values = {name: [column[at] for at in order] for name, column in _values(model).items() if name not in columns}
    return require("pandas", "cli").DataFrame(columns | values)


def _values(model: Model) -> Mapping[str, Any]:
    """Return the columns of values that the model keeps of its representatives, in the order of their rows."""
    objects, settings = model.classifier.representatives_, model.recipe.settings
    if isinstance(objects, MixedRows):
        return _mixed(objects, settings.columns)
    if isinstance(objects, PackedBits):
        return {VALUES: [row.tobytes().hex() for row in np.asarray(objects)]}
    if sp.issparse(objects):
        return {VALUES: _nonzero(sp.csr_array(objects), settings.vocabulary)}
    if isinstance(objects, np.ndarray):
        return _numbers(objects, settings)
    if settings.columns and all(isinstance(one, dict) and list(one) == settings.columns for one in objects):
        return {name: [one[name] for one in objects] for name in settings.columns}
    name = settings.columns[0] if len(settings.columns) == 1 else VALUES
    return {name: [one if isinstance(one, str) else _in_json(one) for one in objects]}


def _numbers(objects: Any, settings: Any) -> dict[str, Any]:
    """Return the columns of rows of numbers, as they were before they were scaled."""
    if objects.ndim == 1:  # the numbers of rows of a matrix of similarities
        return {}
    values = objects.reshape(len(objects), -1)
    if settings.spread is not None:
        scaled_back = values * settings.spread + settings.lowest
        values = np.array([[float(f"{value:.{DIGITS}g}") for value in row] for row in scaled_back.tolist()])
    return dict(zip(_names(settings.columns, values.shape[1]), values.T, strict=True))


def _mixed(rows: MixedRows, names: list[str]) -> dict[str, Any]:
    """Return the columns of numbers and of categories as they were; what is missing is None."""
    numbers = iter([[None if np.isnan(value) else value for value in column] for column in rows.numbers.T.tolist()])
    known = zip(rows.categories, rows.codes.T.tolist(), strict=True)
    categories = iter([[None if code < 0 else kinds[code] for code in codes] for kinds, codes in known])
    columns = [next(numbers if is_number else categories) for is_number in rows.is_number.tolist()]
    keys = names if rows.keys is None else [str(key) for key in rows.keys]
    return dict(zip(_names(keys, len(columns)), columns, strict=True))


def _names(names: list[str], n_columns: int) -> list[str]:
    """Return the names of columns, or numbered names if there are not as many names."""
    return names if len(names) == n_columns else [f"x{at}" for at in range(n_columns)]


def _nonzero(rows: Any, vocabulary: list[str] | None) -> list[str]:
    """Return what is not 0 in sparse rows, as JSON; columns are called by their words or by their numbers."""
    lines = []
    for start, end in zip(rows.indptr[:-1], rows.indptr[1:], strict=True):
        names = (vocabulary[at] if vocabulary else str(at) for at in rows.indices[start:end].tolist())
        lines.append(_in_json(dict(zip(names, rows.data[start:end].tolist(), strict=True))))
    return lines


def _in_json(value: Any) -> str:
    """Return a value as JSON, and what JSON has no form for in Python's notation."""
    try:
        return json.dumps(value, ensure_ascii=False, default=lambda part: part.item())
    except (TypeError, ValueError, AttributeError):
        return repr(value)
