"""A process that fits everything under the settings of its command line, and prints a digest of every result.

    python -m tests.determinism.worker '{"n_jobs": 2, "blocks": 7}'

The settings are JSON: `n_jobs` is passed to estimators and functions that take it; `backend` and `backend_jobs` are
those of a joblib context; `blocks` is the size of all blocks; `eager` lets processes call even the fastest function;
`days_later` sets the clock; `n` is the number of objects; `only` names the kinds of input. All else comes from the
environment.
"""

import dataclasses
import hashlib
import importlib
import inspect
import json
import sys
import time
import warnings
from contextlib import contextmanager, nullcontext
from io import BytesIO

import joblib
import numpy as np
import scipy.sparse as sp

import covey
from covey.graph import descent, groups, pair_memory
from tests.determinism.cases import INPUTS, SELECTORS, first, labels

BLOCKS = {
    "covey.graph.candidates": ["CHUNK_ROWS"],
    "covey.graph.descent": ["OWNERS"],
    "covey.graph.evaluator": ["ALL_PAIRS_BLOCK", "BATCH"],
    "covey.graph.exact": ["TILE"],
    "covey.graph.groups": ["AT_ONCE", "STRIP"],
    "covey.runtime.executor": ["BATCH"],
    "covey.selectors.delta_medoids": ["BATCH", "BLOCK"],
    "covey.similarity.kinds.bits": ["CHUNK_ROWS", "WORDS_AT_ONCE"],
    "covey.similarity.bounds": ["CHUNK_ROWS"],
    "covey.similarity.duplicates": ["CHUNK_ROWS"],
    "covey.similarity.kinds.rows": ["COLUMNS_A_PAIR"],
    "covey.similarity.kinds.matrix": ["CHUNK"],
}
"""The numbers that say how much is done at a time, by the modules that read them. They must not change any result."""

LARGE = {
    "landmarks": {(descent, "FEW"): 100},
    "upper bounds": {(descent, "MANY"): 100, (descent, "MANY_COSTLY"): 100},
    "forgotten pairs": {(descent, "MANY"): 100, (descent, "MANY_COSTLY"): 100, (pair_memory, "BITMAP_LIMIT"): 100},
}
"""The numbers of objects from which on NN-Descent works in other ways, and lower ones for each way."""

SMALL_GROUPS = {(groups, "LARGEST"): 30, (groups, "FULL"): 3, (groups, "CELLS_NEAR"): 2}
"""Sizes of groups at which some hundred objects need many of them, and some are split."""

LARGE_KINDS = ("float64", "csr", "bits", "strings", "callable")
"""One kind of input for each way in which NN-Descent scores pairs: by bounds, with hubs, by words of bits, with bounds
and hubs, by calls."""


def main(settings):
    warnings.simplefilter("ignore")  # DS3 says that it has stopped early, and small cases are of no use to processes
    if "blocks" in settings:
        set_blocks(settings["blocks"])
    if settings.get("eager"):
        pool = importlib.import_module("covey.similarity.calls.pool")
        pool.WORTH_IT, pool.TIMED, pool.BATCH_SECONDS = 0.0, 5, 1e-4
    backend = settings.get("backend")
    context = joblib.parallel_config(backend, n_jobs=settings["backend_jobs"]) if backend else nullcontext()
    set_clock(settings.get("days_later", 0))
    digests, n, n_jobs = {}, settings.get("n", 60), settings.get("n_jobs")
    with context:
        for kind in settings.get("only", INPUTS):
            add_results(digests, kind, n, n_jobs)
            if kind in LARGE_KINDS:
                add_large_graphs(digests, kind, 4 * n, n_jobs)
    print(json.dumps(digests))


def set_clock(days):
    """Let the time be so many days later than it is."""
    now = time.time
    time.time = lambda: now() + 86_400 * days


def set_blocks(size):
    """Give all blocks this size."""
    for name, constants in BLOCKS.items():
        module = importlib.import_module(name)
        for constant in constants:
            assert hasattr(module, constant), f"{name} has no {constant} any more"
            setattr(module, constant, size)
    executor = importlib.import_module("covey.runtime.executor")
    for name in ("by_group", "descent", "exact", "threshold"):
        module = importlib.import_module(f"covey.graph.{name}")
        module.share_out = lambda n, most: executor_share(n, size)
    assert callable(executor.share_out)


def executor_share(n, size):
    """How many of n objects make one task if tasks have this size."""
    return max(1, min(n, size))


def add_large_graphs(digests, kind, n, n_jobs):
    """Enter the digests of graphs that are made as for many objects, by lowering the numbers that decide about it."""
    X, similarity = INPUTS[kind](n)
    ways = {what: ("nn-descent", limits) for what, limits in LARGE.items()}
    if kind not in ("callable", "strings"):
        ways["groups"] = "groups", SMALL_GROUPS
    for what, (method, limits) in ways.items():
        with lowered(limits):
            graph = covey.neighbor_graph(X, 4, similarity, method, random_state=0, n_jobs=n_jobs)
            fitted = with_jobs(covey.CRS(4, graph=method, similarity=similarity, random_state=0), n_jobs).fit(X)
        found = [graph.indices, graph.similarities, graph.n_evaluations, graph.estimated_recall]
        digests[f"{kind}, {n}: graph with {what}"] = digest(found)
        digests[f"{kind}, {n}: CRS with {what}"] = digest(state(fitted))


@contextmanager
def lowered(limits):
    """Give constants other values for a while."""
    before = {(module, name): getattr(module, name) for module, name in limits}
    try:
        for (module, name), value in limits.items():
            setattr(module, name, value)
        yield
    finally:
        for (module, name), value in before.items():
            setattr(module, name, value)


def add_results(digests, kind, n, n_jobs):
    """Enter the digests of all results on one input."""
    X, similarity = INPUTS[kind](n)
    named, y = f"{kind}, {n}", labels(n)
    for selector in SELECTORS:
        model = with_jobs(SELECTORS[selector](similarity), n_jobs)
        reject = "threshold" if selector.startswith("CRS") else None
        fitted = covey.NearestPrototypeClassifier(model, reject=reject).fit(X, y)
        few = first(X, 20)
        answers = {
            "predict": fitted.predict(few),
            "scores": fitted.decision_function(few),
            "nearest": fitted.nearest_prototypes(few, 2),
            "state": state(fitted.selector_),
            "file": saved(fitted),
        }
        for what, value in answers.items():
            digests[f"{named}, {selector}: {what}"] = digest(value)
    for what, value in functions(X, similarity, n_jobs).items():
        digests[f"{named}: {what}"] = digest(value)


def with_jobs(selector, n_jobs):
    """The selector, told to use so many threads or processes, if it can, like the selectors that it holds."""
    names = [name for name in selector.get_params() if name.split("__")[-1] == "n_jobs"]
    return selector.set_params(**dict.fromkeys(names, n_jobs))


def saved(classifier):
    """The bytes of the model file.

    A file keeps the parameters of its estimators, so that n_jobs is set back to its default first.
    """
    chosen = classifier.selector_
    for selector in (classifier.selector, chosen, *([chosen.selector_] if hasattr(chosen, "selector_") else [])):
        with_jobs(selector, None)
    file = BytesIO()
    covey.save(classifier, file, notes={"names": {"alpha", "beta", "gamma", "delta"}})
    return file.getvalue()


def state(selector):
    """All that a selector has found out: its own attributes and all fields of its prototypes."""
    own = {name: value for name, value in vars(selector).items() if name.endswith("_") and not name.startswith("_")}
    return {name: own[name] for name in sorted(own)}


def functions(X, similarity, n_jobs):
    """The results of the functions that need no selector."""
    options = {"similarity": similarity, "n_jobs": n_jobs}
    exact = covey.neighbor_graph(X, 5, method="exact", **options)
    descent = covey.neighbor_graph(X, 3, method="nn-descent", random_state=0, **options)
    mean = covey.homogeneity(X, similarity, random_state=0)
    above = covey.threshold_graph(X, mean.value, **options)
    return {
        "exact graph": [exact.indices, exact.similarities, exact.n_evaluations],
        "NN-Descent graph": [descent.indices, descent.similarities, descent.n_evaluations],
        "homogeneity": mean,
        "threshold graph": above,
        "cover": covey.cover(exact, threshold=mean.value, refine=True),
        "cover of the threshold graph": covey.cover(above, coverage=1.0),
        "lower bound": covey.cover_lower_bound(exact, threshold=mean.value),
        "clusters": covey.find_clusters(X, random_state=0, **options),
        "three clusters": covey.find_clusters(X, 3, random_state=0, **options),
        "clusters by density": covey.find_clusters(X, "hdbscan", random_state=0, **options),
    }


def digest(value):
    """A digest of all bytes of a value."""
    hashed = hashlib.sha256()
    for part in parts(value):
        hashed.update(len(part).to_bytes(8, "little") + part)
    return hashed.hexdigest()[:16]


def parts(value):
    """Yield a value as bytes, part by part, with its types."""
    yield type(value).__name__.encode()
    if isinstance(value, bytes):
        yield value
    elif isinstance(value, np.ndarray) and value.dtype == object:
        yield from parts([value.shape, value.ravel().tolist()])
    elif isinstance(value, np.ndarray | np.generic):
        yield str((value.shape, value.dtype.str)).encode()
        yield value.tobytes()
    elif sp.issparse(value):
        yield from parts([value.shape, value.data, value.indices, value.indptr])
    elif dataclasses.is_dataclass(value):
        yield from parts({field.name: getattr(value, field.name) for field in dataclasses.fields(value)})
    elif isinstance(value, dict):
        for key, content in value.items():
            yield from parts(key)
            yield from parts(content)
    elif isinstance(value, list | tuple):
        for content in value:
            yield from parts(content)
    elif hasattr(value, "get_params"):
        yield from parts(state(value))
    elif isinstance(value, float):
        yield value.hex().encode()
    elif value is None or isinstance(value, int | str):
        yield repr(value).encode()
    else:
        raise TypeError(f"No digest is known for {value!r}, an object of {inspect.getmodule(type(value))}.")


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
