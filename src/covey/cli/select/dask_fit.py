"""`covey select` on a Dask cluster.

Workers read the parts of a table themselves, by the functions of `dask_worker.py`. This process reads their metadata,
the first rows to warn about, and in the end the selected rows. What has to be known of all rows comes from the workers,
a few numbers from each part: which columns hold numbers, the range of each column, and in how many texts each word
occurs.
"""

import logging
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from covey.cli.files.block import Block
from covey.cli.files.columns import Evidence
from covey.cli.files.parquet import RowGroupPart, joined, parts_of
from covey.cli.files.reading import blocks
from covey.cli.objects.infer import infer_recipe, similarity_of
from covey.cli.objects.lint import warn_of_labels
from covey.cli.objects.load import labels_of
from covey.cli.objects.recipe import Recipe
from covey.cli.options import Missing, Source
from covey.cli.select import dask_tasks
from covey.cli.select.options import LOCAL, SelectOptions
from covey.cli.select.output import SelectResult
from covey.cli.select.selector import rejection_of
from covey.cli.similarity_option import function_of, is_in_file, module_of
from covey.dask.classifier import NearestPrototypeClassifier
from covey.dask.crs import CRS, SHARD_SIZE
from covey.dask.engine import Engine
from covey.runtime.libraries import require

logger = logging.getLogger("covey")

PATIENCE = "10s"
"""How long an answer of the scheduler is waited for. A scheduler that runs answers at once, but the network between may
be slow."""
PART_OF_X = re.compile(r"In part (\d+) of [Xy], whose rows are counted from 0 here: ")
"""How the messages of `covey.dask` begin that are about one part."""


def load_and_fit(options: SelectOptions) -> SelectResult:
    """Return what is selected of the rows that the options name."""
    require("distributed", "dask")
    function_of(similarity_of(options))  # refuses a function that there is not; local workers then find its module
    parameters = options.crs_parameters() | {"verbose": options.verbose, "checkpoint": options.checkpoint}
    if options.shard_size is not None:
        parameters["shard_size"] = options.shard_size
    parts = parts_of(options.files)
    with connected(str(options.dask), options.n_jobs) as client:
        table = PartedTable(client, parts, verbose=options.verbose)
        recipe = table.recipe(options)
        rejection = {}
        if options.refine or options.rejection_rate is not None:
            sizes = table.labels(recipe)
            rejection = rejection_of(options, sizes.keys())
            if options.refine:
                check_refinable(sizes, options.shard_size)
        fitted = table.fit(recipe, parameters, rejection)
        rows = table.take(fitted.selector_.sample_indices_)
        counts = {
            "of them were taken from the checkpoint": fitted.selector_.n_restored_evaluations_,
            "more were repeated, because workers were lost": fitted.selector_.n_repeated_evaluations_,
        }
        remarks = [f"{count:,} {what}." for what, count in counts.items() if count]
        return SelectResult(fitted.to_local(), recipe, rows, remarks=remarks)


@contextmanager
def connected(address: str, n_jobs: int) -> Iterator[Any]:
    """Yield a client of the cluster at an address. For "local" a cluster is started here, and stopped at the end."""
    with _without_log(), _local_client(n_jobs) if address == LOCAL else _client_at(address) as client:
        try:
            yield client
        except ModuleNotFoundError as error:
            if not str(error).startswith("No module named"):
                raise  # the message says how to install it
            raise ModuleNotFoundError(
                f"{error} where a worker runs; install it there, and the same covey as here.", name=error.name
            ) from error


def _local_client(n_jobs: int) -> Any:
    # Errors come back to this process, which says them once; workers would log them, too. The cluster ends with its
    # only client. Port 0 is any free port.
    client = require("distributed", "dask").Client(
        n_workers=effective_n_jobs(n_jobs),
        threads_per_worker=1,
        processes=True,
        dashboard_address="127.0.0.1:0",
        silence_logs=logging.CRITICAL,
    )
    client.run(dask_tasks.ignore_interrupts)
    return client


def _client_at(address: str) -> Any:
    try:
        client = require("distributed", "dask").Client(address, timeout=PATIENCE)
    except (OSError, ValueError, ImportError) as error:
        raise ValueError(
            f"--dask must be local or the address of a running Dask scheduler, such as tcp://host:8786, but none "
            f"answers at {address!r}: {error}."
        ) from error
    if not client.nthreads():
        logger.warning("the cluster at %s has no workers yet; waiting for the first.", address)
    return client


@contextmanager
def _without_log() -> Iterator[None]:
    """Keep what Dask logs about itself from the terminal, and what asyncio logs about Dask when it is stopped."""
    logs, nowhere = [logging.getLogger(name) for name in ("distributed", "asyncio")], logging.NullHandler()
    before = [log.propagate for log in logs]
    for log in logs:
        log.propagate = False
        log.addHandler(nowhere)
    try:
        yield
    finally:
        for log, propagate in zip(logs, before, strict=True):
            log.propagate = propagate
            log.removeHandler(nowhere)


@dataclass(frozen=True, eq=False)
class PartedTable:
    """A table whose parts the workers of a cluster read.

    Attributes
    ----------
    client : distributed.Client
    parts : list of RowGroupPart
    verbose : bool
    """

    client: Any
    parts: Sequence[RowGroupPart]
    verbose: bool

    def recipe(self, source: Source) -> Recipe:
        """Return the recipe that the options ask for. It has learned from all rows."""
        first = next(blocks(self.parts[0].path, source.form, dialect=source.dialect))

        def survey(names: Sequence[str]) -> dict[str, Evidence]:
            evidence = self._from_all("looking for numbers", dask_tasks.evidence, list(names))
            return {name: reduce(add, (part[name] for part in evidence)) for name in names}

        recipe = infer_recipe(first, source, survey)
        if source.missing is Missing.mean:
            recipe = recipe.with_means(sum(self._from_all("taking means", dask_tasks.sums, recipe)))
        warn_of_labels(labels_of(first, recipe))
        recipe.warn(recipe.objects(first), asked_for=source.feature_names, scaled=source.scale)
        if not recipe.must_learn(scale=source.scale):
            return recipe
        return recipe.learn_from(self._from_all("learning from all rows", dask_tasks.facts, recipe))

    def labels(self, recipe: Recipe) -> Counter[str]:
        """Return how many rows have each label."""
        return sum(self._from_all("counting labels", dask_tasks.counted_labels, recipe), Counter())

    def fit(self, recipe: Recipe, parameters: dict[str, Any], rejection: dict[str, Any]) -> Any:
        """Return a fitted `covey.dask.NearestPrototypeClassifier`."""
        delayed = require("dask", "dask").delayed
        self._send(recipe.settings.similarity)
        shared = delayed(recipe, pure=False, traverse=False)  # it travels once, and may hold many words
        X = [delayed(dask_tasks.objects, pure=False)(part, shared) for part in self.parts]
        y = [delayed(dask_tasks.labels, pure=False)(part, shared) for part in self.parts]
        selector = CRS(similarity=recipe.function(), client=self.client, **parameters)
        try:
            return NearestPrototypeClassifier(selector, **rejection).fit(X, y)
        except (ValueError, TypeError) as error:
            match = PART_OF_X.match(str(error))
            if match is None:
                raise
            part = self.parts[int(match[1])]
            place = f"{part.path}{f', where row {part.first} counts as row 0' if part.first else ''}: "
            raise type(error)(PART_OF_X.sub(place, str(error))) from error

    def take(self, rows: NDArray[np.intp]) -> Block:
        """Return some of the rows of the whole table, in this order. Only the parts that hold them are read."""
        sizes = [part.n_rows for part in self.parts]
        starts = np.cumsum(sizes) - sizes
        part_of = np.searchsorted(starts, rows, side="right") - 1
        used = np.unique(part_of).tolist()
        with Engine(self.client, "reading", shown=self.verbose) as engine:
            tasks = [
                engine.submit("take", dask_tasks.take, self.parts[at], rows[part_of == at] - starts[at]) for at in used
            ]
            frame = joined(engine.gather("fetching the selected rows", tasks))
        order = np.argsort(part_of, kind="stable")  # the frame is in this order of the rows
        return Block(self.parts[0].path, frame=frame.iloc[np.argsort(order)], numbers=rows)

    def _from_all(self, what: str, function: Callable[..., Any], argument: Any) -> list[Any]:
        """Return what a function makes of each part."""
        with Engine(self.client, "reading", shown=self.verbose) as engine:
            return engine.gather(
                what, [engine.submit(function.__name__, function, part, argument) for part in self.parts]
            )

    def _send(self, similarity: str) -> None:
        """Send the file of a custom similarity to the workers, which may have another current folder."""
        file = getattr(module_of(similarity), "__file__", None)
        if file is not None and (is_in_file(similarity) or Path(file).resolve().parent == Path.cwd()):
            self.client.upload_file(file)


def check_refinable(sizes: Counter[str], shard_size: int | None) -> None:
    """Refuse to refine a cluster that has to be cut into shards."""
    label, size = sizes.most_common(1)[0]
    if size > (shard_size or SHARD_SIZE):
        raise ValueError(
            f"--refine needs each cluster in one piece, but {label!r} has {size} rows; leave it out, or pass a "
            f"--shard-size of at least {size}."
        )
