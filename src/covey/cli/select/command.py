"""`covey select`: pick representatives of each cluster of a table, and write them, a model and a picture.

Options are read and checked (`options.py`). Then data walk through three steps: load, fit, write. The
first two take place in this process (`local_fit.py`) or on a Dask cluster (`dask_fit.py`).
"""

from covey.cli.files.formats import has_names
from covey.cli.files.paths import check_output, may_write
from covey.cli.interrupts import WITH_FORCE, unfinished
from covey.cli.select.options import SelectOptions
from covey.cli.terminal import log_to_terminal


def select(options: SelectOptions) -> None:
    """Select the few rows that stand for the many, cluster by cluster.

    OUT gets the selected rows with all their columns, and four more: covey_row (the number of the row in DATA, from 0),
    covey_cluster, covey_rank (1 for the row that was selected first; with --sharpen, for the row that stands for most)
    and covey_covers (how many rows it stands for).

    Example: `covey select flowers.csv --label species -k 5 -o few.csv --model flowers.covey --picture map.html`

    Several files are one table: `covey select part-*.parquet --dask local --label kind -o few.csv`

    What other programs have compared: `covey select hits.m8 --pairs 1,2,3 --threshold 0.5 -o few.csv`
    """
    log_to_terminal(quiet=options.quiet)
    options.check_files()
    check_outputs(options)
    from covey.cli.select.output import summarise, write_outputs

    checkpoint = "" if options.checkpoint is None else ", which goes on with what the checkpoint holds"
    with unfinished(f"nothing was written; run the same command again{checkpoint}", WITH_FORCE), options.unpacking():
        if options.dask is None:
            from covey.cli.select.local_fit import load_and_fit
        else:
            from covey.cli.select.dask_fit import load_and_fit
        result = load_and_fit(options)
        remarks = write_outputs(options, result)
    if options.verbose:
        summarise(options, result, remarks)


def check_outputs(options: SelectOptions) -> None:
    """Refuse what cannot be written before the work, not after it."""
    is_table = options.hosts or bool(options.pairs) or has_names(options.files[0], options.form)
    check_output(options.out, options.out_form, as_table=is_table, force=options.force)
    for path in (options.model, options.picture):
        if path is not None:
            may_write(path, force=options.force)
    if options.members is not None:
        check_output(options.members, None, as_table=True, force=options.force)
