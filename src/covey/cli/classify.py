"""`covey classify`: a label for each row of a file, with the evidence, block by block."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from covey.cli.declaration import option
from covey.cli.files.formats import has_names
from covey.cli.files.standard import STANDARD
from covey.cli.misuse import MisuseError
from covey.cli.options import OBJECTS, Input, Output, Replacing, Running, finite
from covey.cli.terminal import log_to_terminal, say, unfinished
from covey.runtime.extras import require
from covey.runtime.progress import progress

if TYPE_CHECKING:
    from covey.cli.files.block import Block
    from covey.cli.model import Model


@dataclass(frozen=True)
class Answering:
    """By which model rows are classified, and how they are answered."""

    model: Annotated[str, option("--model", "-m", what="A model that covey select has written.")]
    reject: Annotated[
        str | None,
        option(
            "--reject",
            what="Answer unknown if the best similarity is lower than this: a number; threshold for the threshold of "
            "the cluster that wins; or calibrated for the bars that covey select --rejection-rate has set.",
        ),
    ] = None
    unknown: Annotated[
        str, option("--unknown", what="The label of rows that are rejected; it must not be one of the model's labels.")
    ] = "unknown"
    keep: Annotated[bool, option("--keep", what="Keep the columns of DATA beside the answers.")] = False
    similarity: Annotated[
        str | None,
        option(
            "--similarity",
            "-s",
            what="module:function again, if the model was made with a function of your own.",
            panel=OBJECTS,
        ),
    ] = None

    @property
    def lowest(self) -> float | str | None:
        """The parameter `reject` of the classifier."""
        if self.reject is None or self.reject in ("calibrated", "threshold"):
            return self.reject
        return finite(self.reject, "--reject", "calibrated, threshold")


def classify(source: Input, answering: Answering, output: Output, replacing: Replacing, running: Running) -> None:
    """Label each row by the most similar representative, and say which one decided.

    Answers have the columns covey_row (from 0), covey_label, covey_similarity, covey_representative (its row in the
    data that the model was made of), covey_representative_id, covey_runner_up (the next class) and covey_margin (by how
    much that class lost). Tables of any length are read and written block by block; .npz and svmlight files at once.

    Example: `covey classify new.csv --model flowers.covey --reject threshold -o answers.csv`
    """
    log_to_terminal(running.quiet)
    if source.hosts and source.path == STANDARD:
        raise MisuseError("--hosts takes a log file.")
    if answering.keep and not source.hosts and not has_names(source.path, source.form):
        raise MisuseError(f"--keep is for columns with names, and {source.path} has none; leave it out.")
    with unfinished("nothing was written; run the same command again."):
        n_rows, n_unknown = _classify(source, answering, output, replacing.force, running)
    if running.verbose:
        rejected = f", {n_unknown:,} of them {answering.unknown}" if answering.reject else ""
        say(f"{n_rows:,} rows classified{rejected}.")


def _classify(source: Input, answering: Answering, output: Output, force: bool, running: Running) -> tuple[int, int]:
    """Classify every row in the memory of a block; return how many rows there were, and how many are unknown."""
    from covey.cli.files.opening import check_exists
    from covey.cli.files.writing import check_output, writer
    from covey.cli.model import read_model
    from covey.persistence.loading import ModelFile

    lowest = answering.lowest
    kind = check_output(output.out, output.out_form, as_table=True, force=force)
    check_exists(answering.model)
    model = read_model(answering.model, ModelFile(answering.model), answering.similarity)
    _prepare(model.classifier, lowest, answering.unknown, running.jobs)
    numbers = model.recipe.settings.numbers if kind.facts.is_typed else []
    n_rows, n_unknown, likely = 0, 0, None
    with (
        writer(output.out, output.out_form, force=force) as put,
        progress("classifying", None, "rows", shown=running.verbose) as bar,
    ):
        bar.watch(lambda: (n_rows, likely))
        for block in _blocks(source, model, running.verbose):
            answers = answer(model, block, answering.unknown)
            put(_with_input(block, answers, numbers) if answering.keep else answers)
            n_rows += len(block)
            n_unknown += int((answers["covey_label"] == answering.unknown).sum())
            likely = n_rows / block.share if block.share else None
    return n_rows, n_unknown


def _blocks(source: Input, model: "Model", verbose: bool) -> Iterable["Block"]:
    """Yield the rows to classify."""
    from covey.cli.files.reading import blocks
    from covey.cli.source import read_hosts_block

    if source.hosts:
        return [read_hosts_block(source.path, verbose)]
    recipe = model.recipe
    return blocks(
        source.path,
        source.form,
        base=recipe.settings.base,
        columns=source.column_names,
        most_rows=recipe.most_rows,
    )


def _prepare(classifier: Any, reject: float | str | None, unknown: str, n_jobs: int) -> None:
    """Set how the classifier runs and answers now, whatever it was fitted with."""
    selector, classes = classifier.selector_, classifier.classes_
    running: dict[str, Any] = {"n_jobs": n_jobs, "verbose": 0}
    selector.set_params(**{key: value for key, value in running.items() if key in selector.get_params(deep=False)})
    if unknown in classes.astype(str):
        raise MisuseError(f"{unknown!r} is one of the labels; pass another word as --unknown.")
    if reject == "calibrated" and not hasattr(classifier, "rejection_bars_"):
        raise MisuseError(
            "--reject calibrated needs a model that was made with a rate; pass --rejection-rate to covey select."
        )
    # A label of numbers has no room for a word; one that is smaller than all labels marks what is unknown.
    classifier.set_params(reject=reject, unknown_label=unknown if classes.dtype.kind in "UO" else classes.min() - 1)


def answer(model: "Model", block: "Block", unknown: str) -> Any:
    """Return a frame of answers: for each row its label, who decided, the runner-up and by how much it lost."""
    import numpy as np

    from covey.cli.source import row_names

    found = model.classifier.explain(_widened(model.recipe.objects(block), model))
    names = row_names(block, model.recipe)
    answers: dict[str, Any] = {} if names is None else {str(model.recipe.settings.id): names}
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


def _widened(objects: Any, model: "Model") -> Any:
    """Give sparse rows the columns of the model: an svmlight file ends with the last column that is not all 0."""
    import scipy.sparse as sp

    n_columns = getattr(model.classifier, "n_features_in_", 0)
    if sp.issparse(objects) and objects.shape[1] < n_columns:
        return sp.csr_array((objects.data, objects.indices, objects.indptr), shape=(objects.shape[0], n_columns))
    return objects


def _with_input(block: "Block", answers: Any, numbers: list[str]) -> Any:
    """Return the input with the answers beside it; the name of a row is not repeated, earlier answers are replaced."""
    from covey.cli.files.writing import beside

    ours = answers.drop(columns=[name for name in answers.columns if not name.startswith("covey_")])
    return beside(block.frame, ours.to_dict("series"), numbers)
