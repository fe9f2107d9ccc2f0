"""`covey classify`: a label for each row of a file, with the evidence, block by block."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from covey.classifier import NearestPrototypeClassifier
from covey.cli.files import STANDARD, TYPED, Block, beside, blocks, check_output, has_names, writer
from covey.cli.misuse import MisuseError
from covey.cli.model import Model, load_model
from covey.cli.recipe import names_of
from covey.cli.source import read_hosts_block
from covey.runtime.extras import require
from covey.runtime.progress import progress

UNKNOWN = "unknown"
LONG_ROWS = 2000
"""In a block of rows that hold much: texts, profiles."""


def classify(
    path: str,
    model_path: str,
    out: str,
    *,
    form: str | None = None,
    out_form: str | None = None,
    hosts: bool = False,
    similarity: str | None = None,
    reject: float | str | None = None,
    unknown: str = UNKNOWN,
    keep: bool = False,
    force: bool = False,
    columns: Sequence[str] = (),
    n_jobs: int | None = None,
    verbose: int = 0,
) -> tuple[int, int]:
    """Classify every row, in the memory of a block; returns how many there were, and how many are unknown."""
    if hosts and path == STANDARD:
        raise MisuseError("--hosts takes a log file.")
    if keep and not hosts and not has_names(path, form):
        raise MisuseError(f"--keep is for columns with names, and {path} has none; leave it out.")
    kind = check_output(out, out_form, streamed=True, force=force)
    model = load_model(model_path, similarity)
    _prepare(model.classifier, reject, unknown, n_jobs)
    numbers = model.recipe.numbers if kind in TYPED else []
    most_rows = LONG_ROWS if model.recipe.kind in ("text", "profile") else None
    n_rows, n_unknown, likely = 0, 0, None
    with writer(out, out_form, force=force) as put:
        parts = (
            [read_hosts_block(path, verbose)]
            if hosts
            else blocks(path, form, base=model.recipe.base, columns=columns, most_rows=most_rows)
        )
        with progress("classifying", None, "rows", shown=verbose > 0) as bar:
            bar.watch(lambda: (n_rows, likely))
            for block in parts:
                answers = answer(model, block, unknown)
                put(_with_input(block, answers, numbers) if keep else answers)
                n_rows += len(block)
                n_unknown += int((answers["covey_label"] == unknown).sum())
                likely = n_rows / block.share if block.share else None
    return n_rows, n_unknown


def _prepare(
    classifier: NearestPrototypeClassifier, reject: float | str | None, unknown: str, n_jobs: int | None
) -> None:
    """Say how it is to run now, whatever it was fitted with."""
    selector = classifier.selector_
    run: dict[str, Any] = {"n_jobs": n_jobs, "verbose": 0}
    selector.set_params(**{key: value for key, value in run.items() if key in selector.get_params(deep=False)})
    if unknown in classifier.classes_.astype(str):
        raise MisuseError(f"{unknown!r} is one of the labels; pass another word as --unknown.")
    classes = classifier.classes_
    classifier.set_params(reject=reject, unknown_label=unknown if classes.dtype.kind in "UO" else classes.min() - 1)


def answer(model: Model, block: Block, unknown: str) -> Any:
    """A row for each row of the block: label, similarity, who decided, the runner-up and by how much it lost."""
    found = model.classifier.explain(_widened(model.recipe.objects(block), model))
    names = names_of(block, model.recipe)
    answers: dict[str, Any] = {} if names is None else {str(model.recipe.id): names}
    answers |= {
        "covey_row": block.first + np.arange(len(block)),
        "covey_label": np.where(found.rejected, unknown, found.labels.astype(str)),
        "covey_similarity": found.similarities,
        "covey_representative": found.representatives,
        "covey_representative_id": [model.names.get(row, "") for row in found.representatives.tolist()],
    }
    if found.runners_up is not None:
        answers |= {"covey_runner_up": found.runners_up.astype(str), "covey_margin": found.margins}
    return require("pandas", "cli").DataFrame(answers)


def _widened(objects: Any, model: Model) -> Any:
    """Rows of an svmlight file end with their last number that is not 0; the model may know more columns."""
    n_columns = getattr(model.classifier, "n_features_in_", 0)
    if sp.issparse(objects) and objects.shape[1] < n_columns:
        return sp.csr_array((objects.data, objects.indices, objects.indptr), shape=(objects.shape[0], n_columns))
    return objects


def _with_input(block: Block, answers: Any, numbers: list[str]) -> Any:
    """The input beside the answers; its name for the row stands there once, and answers of an earlier run do not."""
    ours = answers.drop(columns=[name for name in answers.columns if not name.startswith("covey_")])
    return beside(block.frame, ours.to_dict("series"), numbers)
