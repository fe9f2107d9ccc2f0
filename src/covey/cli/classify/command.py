"""`covey classify`: a label for each row of a file, with the evidence, block by block."""

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

from covey.cli.errors import MisuseError, about
from covey.cli.files.block import STANDARD, bytes_in, name_of
from covey.cli.files.formats import Format, format_of, has_names
from covey.cli.files.paths import check_model, check_output, expanded, may_write
from covey.cli.interrupts import WITH_FORCE, unfinished
from covey.cli.options import OBJECTS, Input, Output, Replacing, Running, finite
from covey.cli.similarity_option import OWN, check_named
from covey.cli.terminal import log_to_terminal, say
from covey.cli.typer_dataclasses import argument, option
from covey.runtime.libraries import require
from covey.runtime.progress import progress
from covey.runtime.wording import several

if TYPE_CHECKING:
    from covey.cli.classify.scores import Examiner
    from covey.cli.files.block import Block
    from covey.cli.model_file import Model

logger = logging.getLogger("covey")


@dataclass(frozen=True)
class More:
    """More files of the same table."""

    more: Annotated[
        list[str] | None,
        argument("MORE", "More files of the same table. Rows are counted through all files, in the order given."),
    ] = None


@dataclass(frozen=True)
class Answering:
    """By which model rows are classified, and how they are answered."""

    model: Annotated[str, option("--model", "-m", what="A model that covey select has written; - is standard input.")]
    reject: Annotated[
        str | None,
        option(
            "--reject",
            what="Answer unknown if the best similarity is lower than this: a number; threshold for the threshold of "
            "the cluster that wins; or calibrated for the bars that covey select --rejection-rate has set. A row that "
            "has nothing in common with any representative is unknown in any case.",
        ),
    ] = None
    unknown: Annotated[
        str, option("--unknown", what="The label of rows that are rejected; it must not be one of the model's labels.")
    ] = "unknown"
    label: Annotated[
        str | None,
        option(
            "--label",
            "-l",
            what="The column that holds the right label, to score the answers by. By default this is the one that the "
            "model was made with, if it is there.",
        ),
    ] = None
    scores: Annotated[
        str | None,
        option("--scores", what="Write accuracy, precision, recall and the confusion matrix to this JSON file."),
    ] = None
    keep: Annotated[bool, option("--keep", what="Keep the columns of DATA beside the answers.")] = False
    similarity: Annotated[
        str | None,
        option(
            "--similarity",
            "-s",
            what=f"{OWN} again, if the model was made with a function of your own.",
            panel=OBJECTS,
        ),
    ] = None

    def check(self) -> None:
        """Refuse values that cannot be meant, and a model that is not there."""
        check_model(self.model)
        if self.similarity is not None:
            check_named(self.similarity)
        _ = self.lowest

    @property
    def lowest(self) -> float | str | None:
        """The parameter `reject` of the classifier."""
        if self.reject is None or self.reject in ("calibrated", "threshold"):
            return self.reject
        return finite(self.reject, "--reject", "calibrated, threshold")


def classify(
    source: Input, parts: More, answering: Answering, output: Output, replacing: Replacing, running: Running
) -> None:
    """Label each row by the most similar representative, and say which one decided.

    Answers have the columns covey_row (from 0), covey_label, covey_similarity, covey_representative (its row in the
    data that the model was made of), covey_representative_id, covey_runner_up (the next class) and covey_margin (by how
    much that class lost). If DATA has the label column, the answers are scored: accuracy, precision, recall and the
    confusion matrix are shown. Tables of any length are read and written block by block; .npz and svmlight files at
    once. Several files are one table.

    Example: `covey classify new.csv --model flowers.covey --reject threshold -o answers.csv`
    """
    log_to_terminal(running.quiet)
    if source.path == answering.model == STANDARD:
        raise MisuseError("DATA and --model cannot both be standard input; pass one of them as a file.")
    if source.hosts and (source.path == STANDARD or parts.more or source.dialect.given() or source.missing):
        raise MisuseError("--hosts takes one log file; leave out options about how tables are read.")
    path, *more = [source.path] if source.hosts else expanded([source.path, *(parts.more or ())])
    source, parts = replace(source, path=path), replace(parts, more=more)
    if answering.label is not None and (source.hosts or format_of(source.path, source.form) is Format.svmlight):
        raise MisuseError("--label names a column or an array of labels, and DATA has none; leave it out.")
    if answering.scores is not None and answering.scores == output.out:
        raise MisuseError("--out and --scores must be different files.")
    if answering.keep and not source.hosts and not has_names(source.path, source.form):
        raise MisuseError(f"--keep is for columns with names, and {source.path} has none; leave it out.")
    with unfinished("nothing was written; run the same command again", WITH_FORCE):
        n_rows, n_unknown, examiner = _classify(source, parts, answering, output, replacing.force, running)
        if answering.scores is not None:
            _write_scores(answering.scores, source.path, answering.model, examiner)
    if running.verbose:
        from covey.cli.classify.scores import say_scores

        rejected = f", {n_unknown:,} of them {answering.unknown}" if answering.reject else ""
        say(f"{several(n_rows, 'row')} classified{rejected}.")
        say_scores(examiner)


def _write_scores(path: str, data: str, model: str, examiner: "Examiner") -> None:
    """Write the scores as JSON."""
    import json

    from covey.storage.atomic import whole

    values = {"data": data, "model": model, **examiner.scores().as_values()}
    text = json.dumps(values, indent=2)
    if path == STANDARD:
        print(text)
        return
    with whole(path) as temporary:
        temporary.write_text(f"{text}\n", encoding="utf-8")


def _classify(
    source: Input, parts: More, answering: Answering, output: Output, force: bool, running: Running
) -> tuple[int, int, "Examiner"]:
    """Classify every row in the memory of a block; return how many rows there were, how many unknown, and who scores.

    Where nobody is going to read scores, nothing is counted for them.
    """
    kind = check_output(output.out, output.out_form, as_table=True, force=force)
    if answering.scores is not None:
        may_write(answering.scores, force=force)
    from covey.cli.classify.scores import Examiner
    from covey.cli.files.writing import writer
    from covey.cli.model_file import read_model
    from covey.cli.objects.missing import answered, as_asked
    from covey.persistence.loading import ModelFile
    from covey.rejection import missing_bars

    model = read_model(name_of(answering.model), ModelFile(bytes_in(answering.model)), answering.similarity)
    model = replace(model, recipe=as_asked(model.recipe, source.missing, answering.model))
    _prepare(model.classifier, answering.lowest, answering.unknown, running.jobs)
    without = missing_bars(model.classifier) if answering.lowest == "calibrated" else None
    if without is not None:
        logger.warning(without)
    numbers = model.recipe.settings.numbers if kind.traits.is_typed else []
    must_score = answering.scores is not None
    examiner = Examiner(
        model.data,
        model.recipe.settings.label,
        model.classifier.classes_.astype(str).tolist(),
        label=answering.label,
        unknown=answering.unknown,
        must_score=must_score,
    )
    n_rows, n_unknown, likely = 0, 0, None
    with (
        running.threads(),
        writer(output.out, output.out_form, force=force) as put,
        progress("classifying", None, "rows", shown=running.verbose) as bar,
    ):
        bar.watch(lambda: (n_rows, likely))
        rows = _blocks(source, parts.more or (), model, answering.label, running.verbose)
        for block in answered(rows, model.recipe, source.missing):
            answers = answer(model, block, answering.unknown)
            if must_score or running.verbose:
                examiner.add(block, answers["covey_label"])
            with about(block.path):
                put(_with_input(block, answers, numbers) if answering.keep else answers)
            n_rows += len(block)
            n_unknown += int((answers["covey_label"] == answering.unknown).sum())
            likely = n_rows / block.share if block.share else None
    return n_rows, n_unknown, examiner


def _blocks(source: Input, more: Sequence[str], model: "Model", label: str | None, verbose: bool) -> Iterable["Block"]:
    """Yield the rows to classify."""
    from covey.cli.files.reading import blocks
    from covey.cli.objects.load import read_hosts_block

    if source.hosts:
        return [read_hosts_block(source.path, verbose=verbose)]
    recipe = model.recipe
    return blocks(
        source.path,
        source.form,
        more=more,
        labels=label,
        base=recipe.settings.base,
        dialect=source.dialect,
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

    from covey.cli.objects.load import row_names

    with about(block.path):
        found = model.classifier.explain(_widened(model.recipe.objects(block), model))
    rows = model.rows[np.searchsorted(model.indices, found.representatives)]
    names = row_names(block, model.recipe)
    answers: dict[str, Any] = {} if names is None else {str(model.recipe.settings.id): names}
    answers |= {
        "covey_row": block.row_numbers,
        "covey_label": np.where(found.rejected, unknown, found.labels.astype(str)),
        "covey_similarity": found.similarities,
        "covey_representative": rows,
        "covey_representative_id": [model.names.get(row, "") for row in rows.tolist()],
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
    return beside(block.frame, ours.to_dict("series"), numbers, block.decimal)
