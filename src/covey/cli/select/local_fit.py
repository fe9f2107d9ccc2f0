"""`covey select` in this process: load the rows, group them if they have no labels, and fit.

1. Read the objects, or the pairs that another program has scored, and what the user says about single rows.
2. With --cluster, find clusters, which take the place of labels.
3. Fit the selector inside a classifier, which a model needs.
"""

import logging

import scipy.sparse as sp

import covey
from covey.cli.errors import object_errors_of
from covey.cli.files.formats import has_names
from covey.cli.objects.load import LabelledObjects, load
from covey.cli.select.clusters import warn_of_strangers, with_clusters
from covey.cli.select.options import SelectOptions
from covey.cli.select.output import SelectResult
from covey.cli.select.pairs import load_pairs
from covey.cli.select.request import columns_aside, request_of
from covey.cli.select.selector import rejection_of, selector_of
from covey.runtime.wording import several, some_of

logger = logging.getLogger("covey")


def load_and_fit(options: SelectOptions) -> SelectResult:
    """Return what is selected of the rows that the options name."""
    with options.threads():
        loaded = load_pairs(options) if options.pairs else _load(options)
    request = request_of(options, loaded)
    if options.n_clusters is not None:
        loaded = with_clusters(options, loaded)
    labels = set(loaded.labels)
    if options.show is not None and options.show not in labels:
        raise ValueError(f"--show must be one of {some_of(sorted(labels))}, got {options.show!r}.")
    classifier = covey.NearestPrototypeClassifier(selector_of(options, loaded), **rejection_of(options, labels))
    with object_errors_of(options.files[0]):
        fitted = classifier.fit(loaded.objects, loaded.labels, **request)
    selector = fitted.selector_
    if options.n_clusters is not None:
        warn_of_strangers(selector, loaded)
    remarks = _of_checkpoint(selector.checkpoint_) if hasattr(selector, "checkpoint_") else []
    return SelectResult(fitted, loaded.recipe, loaded.block.take(selector.sample_indices_), loaded, remarks)


def _load(options: SelectOptions) -> LabelledObjects:
    """Read the labelled objects; say what of them cannot be written before the work begins."""
    loaded = load(options, verbose=options.verbose, aside=columns_aside(options))
    if sp.issparse(loaded.block.matrix) and has_names(options.out, options.out_form):
        logger.warning("a table has no room for the columns of a sparse matrix; write .npz or .svmlight to keep them.")
    return loaded


def _of_checkpoint(report: covey.results.CheckpointReport) -> list[str]:
    """Return in words what a checkpoint has done. The numbers add up to the evaluations of the summary."""
    if not report.n_kept:  # a named similarity, of which finished clusters are kept
        return [f"{report.n_saved:,} of these evaluations were taken from the checkpoint."] if report.n_saved else []
    again = f"; {report.n_asked_again} of them were asked again before" if report.n_asked_again else ""
    return [
        f"Of these evaluations, {report.n_saved:,} were taken from the checkpoint, {report.n_new:,} are new in it, and "
        f"{report.n_repeated:,} were of pairs that it held already.",
        f"{several(report.n_kept, 'pair')} {'is' if report.n_kept == 1 else 'are'} kept in the checkpoint now{again}.",
    ]
