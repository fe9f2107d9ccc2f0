"""`covey classify`: a label for each row of a file, with the evidence, block by block."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from covey._extras import require
from covey._progress import progress
from covey.commands._model import Model, load_model
from covey.commands._recipe import names_of
from covey.commands._source import read_hosts_block
from covey.files import Block, blocks, writer

UNKNOWN = "unknown"


def classify(
    path: str,
    model_path: str,
    out: str,
    *,
    form: str | None = None,
    out_form: str | None = None,
    hosts: bool = False,
    similarity: str | None = None,
    reject: str | float | None = None,
    unknown: str = UNKNOWN,
    keep: bool = False,
    force: bool = False,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> int:
    """Classify every row; returns how many there were. Memory is that of a block, not of the file."""
    model = load_model(model_path, similarity)
    model.classifier.selector_.set_params(verbose=0)
    if "n_jobs" in model.classifier.selector_.get_params():
        model.classifier.selector_.set_params(n_jobs=n_jobs)
    _check_reject(model, reject, unknown)
    n_rows, likely = 0, None
    with writer(out, out_form, force=force) as put:
        parts = [read_hosts_block(path, verbose)] if hosts else blocks(path, form)
        with progress("classifying", None, "rows", shown=verbose > 0) as bar:
            bar.watch(lambda: (n_rows, likely))
            for block in parts:
                answers = answer(model, block, path, form, reject, unknown)
                put(_with_input(block, answers) if keep else answers)
                n_rows += len(block)
                likely = n_rows / block.share if block.share else None
    return n_rows


def answer(model: Model, block: Block, path: str, form: str | None, reject: str | float | None, unknown: str) -> Any:
    """A row for each row of the block: label, similarity, who decided, the runner-up and by how much it lost."""
    objects = _widened(model.recipe.objects(block, path, form), model)
    if not model.recipe.columns and block.frame is not None:
        raise ValueError(
            f"{path} has named columns, but the model was made of rows without; pass a file like that one."
        )
    rows, similarities = model.classifier.class_evidence(objects)
    classes = model.classifier.classes_
    winner = _best(rows, similarities)
    every = np.arange(len(rows))
    similarity = similarities[every, winner].copy()
    labels = classes[winner].astype(object)
    labels[similarity < _bars(model, reject)[winner]] = unknown
    decided = rows[every, winner]
    result = {
        "covey_row": block.first + every,
        "covey_label": labels,
        "covey_similarity": similarity,
        "covey_representative": decided,
        "covey_representative_id": [model.names.get(row, "") for row in decided.tolist()],
    }
    if classes.size > 1:
        similarities[every, winner] = -np.inf
        second = _best(rows, similarities)
        result |= {"covey_runner_up": classes[second], "covey_margin": similarity - similarities[every, second]}
    names = names_of(block, model.recipe) if _has_id(block, model) else None
    pandas = require("pandas", "cli")
    return pandas.DataFrame(({model.recipe.id: names} if names else {}) | result)


def _widened(objects: Any, model: Model) -> Any:
    """Rows of an svmlight file end with their last number that is not 0; the model may know more columns."""
    n_columns = getattr(model.classifier, "n_features_in_", 0)
    if sp.issparse(objects) and objects.shape[1] < n_columns:
        return sp.csr_array((objects.data, objects.indices, objects.indptr), shape=(objects.shape[0], n_columns))
    return objects


def _has_id(block: Block, model: Model) -> bool:
    return block.frame is not None and model.recipe.id in block.frame.columns


def _best(rows: NDArray[np.intp], similarities: NDArray[np.float64]) -> NDArray[np.intp]:
    """The class with the largest similarity; of equal ones, that of the lowest row: as `predict` decides."""
    tied = similarities == similarities.max(axis=1, keepdims=True)
    return np.where(tied, rows, np.iinfo(rows.dtype).max).argmin(axis=1)


def _bars(model: Model, reject: str | float | None) -> NDArray[np.float64]:
    """Below which similarity an answer of each class is unknown."""
    classes = model.classifier.classes_
    if reject is None:
        return np.full(classes.size, -np.inf)
    if reject != "threshold":
        return np.full(classes.size, float(reject))
    return np.array([model.classifier.selector_.prototypes_[label].threshold for label in classes.tolist()])


def _check_reject(model: Model, reject: str | float | None, unknown: str) -> None:
    if reject is None:
        return
    if reject != "threshold":
        try:
            float(reject)
        except ValueError:
            raise ValueError(f"--reject must be 'threshold' or a number, got {reject!r}.") from None
    if unknown in model.classifier.classes_.tolist():
        raise ValueError(f"{unknown!r} is one of the labels; pass another word as --unknown.")


def _with_input(block: Block, answers: Any) -> Any:
    pandas = require("pandas", "cli")
    if block.frame is None:
        return answers
    return pandas.concat([block.frame, answers.drop(columns=block.frame.columns, errors="ignore")], axis=1)
