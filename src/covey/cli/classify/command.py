"""`covey classify`: a label for each row of a file, with the evidence, block by block."""

import logging
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from covey.cli.classify.options import ClassifyOptions
from covey.cli.errors import MisuseError, object_errors_of
from covey.cli.files.block import bytes_in, name_of
from covey.cli.files.formats import format_of
from covey.cli.files.paths import check_output, may_write
from covey.cli.interrupts import WITH_FORCE, unfinished
from covey.cli.terminal import log_to_terminal, say
from covey.runtime.libraries import require
from covey.runtime.progress import progress
from covey.runtime.wording import several

if TYPE_CHECKING:
    from covey.cli.classify.scores import Examiner
    from covey.cli.files.block import Block
    from covey.cli.model_file import Model

logger = logging.getLogger("covey")


def classify(options: ClassifyOptions) -> None:
    """Label each row by the most similar representative, and say which one decided.

    Answers have the columns covey_row (from 0), covey_label, covey_similarity, covey_representative (its row in the
    data that the model was made of), covey_representative_id, covey_runner_up (the next class) and covey_margin (by how
    much that class lost). If DATA has the label column, the answers are scored: accuracy, precision, recall and the
    confusion matrix are shown. Tables of any length are read and written block by block; .npz and svmlight files at
    once. Several files are one table.

    Example: `covey classify new.csv --model flowers.covey --reject threshold -o answers.csv`
    """
    log_to_terminal(quiet=options.quiet)
    options.check_files()
    check_output(options.out, options.out_form, as_table=True, force=options.force)
    if options.scores is not None:
        may_write(options.scores, force=options.force)
    from covey.cli.classify.scores import Examiner, say_scores, write_scores

    with unfinished("nothing was written; run the same command again", WITH_FORCE), options.unpacking():
        model = _load_model(options)
        examiner = Examiner(model, label=options.label, unknown=options.unknown, must_score=options.scores is not None)
        n_rows, n_unknown = _answer_all(options, model, examiner)
        if options.scores is not None:
            write_scores(options, examiner)
    if options.verbose:
        rejected = f", {n_unknown:,} of them {options.unknown}" if options.reject else ""
        say(f"{several(n_rows, 'row')} classified{rejected}.")
        say_scores(examiner)


def _load_model(options: ClassifyOptions) -> "Model":
    """Return the model, set to answer as the options say."""
    from covey.cli.model_file import read_model
    from covey.cli.objects.missing import with_missing
    from covey.persistence.loading import ModelFile
    from covey.rejection import missing_bars

    model = read_model(name_of(options.model), ModelFile(bytes_in(options.model)), options.similarity)
    model = replace(model, recipe=with_missing(model.recipe, options.missing, options.model))
    classifier = model.classifier
    selector, classes = classifier.selector_, classifier.classes_
    running: dict[str, Any] = {"n_jobs": options.n_jobs, "verbose": 0}
    selector.set_params(**{key: value for key, value in running.items() if key in selector.get_params(deep=False)})
    if options.unknown in classes.astype(str):
        raise MisuseError(f"{options.unknown!r} is one of the labels; pass another word as --unknown.")
    if options.reject == "calibrated":
        if not hasattr(classifier, "rejection_bars_"):
            raise MisuseError(
                "--reject calibrated needs a model that was made with a rate; pass --rejection-rate to covey select."
            )
        without = missing_bars(classifier)
        if without is not None:
            logger.warning(without)
    # A label of numbers has no room for a word; one that is smaller than all labels marks what is unknown.
    unknown = options.unknown if classes.dtype.kind in "UO" else classes.min() - 1
    classifier.set_params(reject=options.reject, unknown_label=unknown)
    return model


def _answer_all(options: ClassifyOptions, model: "Model", examiner: "Examiner") -> tuple[int, int]:
    """Classify every row in the memory of a block; return how many rows there were, and how many are unknown.

    Where no scores are going to be read, none are counted.
    """
    from covey.cli.files.writing import writer
    from covey.cli.objects.missing import without_gaps

    scores_are_read = options.verbose or options.scores is not None
    n_rows, n_unknown, likely = 0, 0, None
    with (
        options.threads(),
        writer(options.out, options.out_form, force=options.force) as put,
        progress("classifying", None, "rows", shown=options.verbose) as bar,
    ):
        bar.watch(lambda: (n_rows, likely))
        for block in without_gaps(_blocks(options, model), model.recipe, options.missing):
            answers = answer(model, block, options.unknown)
            if scores_are_read:
                examiner.add(block, answers["covey_label"])
            with object_errors_of(block.path):
                put(_with_input(options, model, block, answers) if options.keep else answers)
            n_rows += len(block)
            n_unknown += int((answers["covey_label"] == options.unknown).sum())
            likely = n_rows / block.share if block.share else None
    return n_rows, n_unknown


def _blocks(options: ClassifyOptions, model: "Model") -> Iterable["Block"]:
    """Yield the rows to classify."""
    from covey.cli.files.reading import blocks
    from covey.cli.objects.load import read_hosts_block

    path, *more = options.files
    if options.hosts:
        return [read_hosts_block(path, verbose=options.verbose)]
    recipe = model.recipe
    return blocks(
        path,
        options.form,
        more=more,
        labels=options.label,
        base=recipe.settings.base,
        dialect=options.dialect,
        most_rows=recipe.most_rows,
    )


def answer(model: "Model", block: "Block", unknown: str) -> Any:
    """Return a frame of answers: for each row its label, who decided, the runner-up and by how much it lost."""
    import numpy as np

    from covey.cli.objects.load import row_names

    with object_errors_of(block.path):
        explanation = model.classifier.explain(_widened(model.recipe.objects(block), model))
    rows = model.rows[np.searchsorted(model.indices, explanation.representatives)]
    names = row_names(block, model.recipe)
    answers: dict[str, Any] = {} if names is None else {str(model.recipe.settings.id): names}
    answers |= {
        "covey_row": block.row_numbers,
        "covey_label": np.where(explanation.rejected, unknown, explanation.labels.astype(str)),
        "covey_similarity": explanation.similarities,
        "covey_representative": rows,
        "covey_representative_id": [model.names.get(row, "") for row in rows.tolist()],
    }
    if explanation.runners_up is not None:
        answers |= {"covey_runner_up": explanation.runners_up.astype(str), "covey_margin": explanation.margins}
    return require("pandas", "cli").DataFrame(answers)


def _widened(objects: Any, model: "Model") -> Any:
    """Give sparse rows the columns of the model: an svmlight file ends with the last column that is not all 0."""
    import scipy.sparse as sp

    n_columns = getattr(model.classifier, "n_features_in_", 0)
    if sp.issparse(objects) and objects.shape[1] < n_columns:
        return sp.csr_array((objects.data, objects.indices, objects.indptr), shape=(objects.shape[0], n_columns))
    return objects


def _with_input(options: ClassifyOptions, model: "Model", block: "Block", answers: Any) -> Any:
    """Return the input with the answers beside it; the name of a row is not repeated, earlier answers are replaced."""
    from covey.cli.files.writing import beside

    is_typed = format_of(options.out, options.out_form).traits.is_typed
    ours = answers.drop(columns=[name for name in answers.columns if not name.startswith("covey_")])
    numbers = model.recipe.settings.numbers if is_typed else []
    return beside(block.frame, ours.to_dict("series"), numbers, block.decimal)
