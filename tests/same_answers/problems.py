"""A random call of the library for each number.

Half of the objects are those of `tests.attack`: few of them, with ties, copies, zero rows and constants. The other half
is larger and of every kind that `tests.determinism` knows. What is called, and with which parameters, is drawn from
those that a user may pass; a tenth of the calls passes something odd, which must be refused in the same words.
"""

import inspect
import tempfile
from contextlib import chdir
from io import BytesIO
from pathlib import Path

import numpy as np

import covey
from tests.attack import _odd_objects, _odd_parameters
from tests.attack._problem import draw as draw_small
from tests.determinism.cases import INPUTS
from tests.same_answers.answers import plain, state


def problem(number):
    """Return a description of a call, and a function that makes it and returns what it answers, part by part."""
    rng = np.random.default_rng(number)
    calls, chances = zip(*CALLS.items(), strict=True)
    call = calls[rng.choice(len(calls), p=np.array(chances) / sum(chances))]
    return call.__name__, lambda: call(rng)


class Objects:
    """Objects under a similarity, and how many there are."""

    def __init__(self, rng):
        if rng.random() < 0.5:
            small = draw_small(rng)
            self.kind, self.X, self.similarity, self.n = small.form, small.objects, small.similarity, small.n
        else:
            self.kind = str(rng.choice(sorted(INPUTS)))
            self.n = int(rng.choice([rng.integers(8, 60), rng.integers(60, 200)], p=[0.8, 0.2]))
            self.X, self.similarity = INPUTS[self.kind](self.n, int(rng.integers(1000)))

    @property
    def is_matrix(self):
        return "matrix" in self.kind

    def take(self, rows):
        """Some of the objects; of a matrix, the similarities of some to all."""
        if isinstance(self.X, list):
            return [self.X[row] for row in rows]
        return self.X.iloc[rows] if hasattr(self.X, "iloc") else self.X[rows]


def some(rng, *choices):
    """One of several values."""
    return choices[rng.integers(len(choices))]


def seed(rng):
    return int(rng.integers(100))


def labels(rng, n):
    """Labels of one to five clusters of any type, in no order; one may be alone."""
    kinds = [["a", "b", "c", "d", "e"], list(range(5)), [("x", 1), ("x", 2), ("y", 0)]]
    names = some(rng, *kinds)
    names = names[: int(rng.integers(1, len(names) + 1))]
    y = [names[at] for at in rng.integers(0, len(names), n)]
    return y if isinstance(names[0], tuple) or rng.random() < 0.3 else np.array(y)


def crs(rng, objects):
    options = {
        "n_neighbors": some(rng, 1, 2, 3, 5, 10, "auto", None),
        "coverage": some(rng, 0.3, 0.8, 0.95, 1.0),
        "threshold": some(rng, "homogeneity", "homogeneity", None, 0.2, 0.5, 0.8, -1.0),
        "gain": some(rng, "similarity", "count"),
        "on_orphan": some(rng, "self", "self", "outlier"),
        "size": some(rng, None, None, None, 1, 3, 7, 0.1, 0.5, objects.n),
        "graph": some(rng, "auto", "auto", "exact", "nn-descent", "given", "given csr"),
        "on_error": some(rng, "raise", "raise", "lowest"),
        "random_state": seed(rng),
        "n_jobs": some(rng, None, None, 2),
    }
    if options["size"] is None or rng.random() < 0.1:
        options["refine"] = bool(rng.random() < 0.4)
    if rng.random() < 0.2:
        options["graph"], options = with_descent(options["graph"], options)
    if str(options["graph"]).startswith("given"):
        graph = covey.neighbor_graph(objects.X, 5, objects.similarity, "exact")
        options["graph"] = graph if options["graph"] == "given" else graph.to_csr()
        options["n_neighbors"] = options["n_neighbors"] or 3
    return covey.CRS(**options)


def with_descent(way, options):
    """Return how a graph is made and the other options, with parameters of NN-Descent where this tree has them."""
    if way != "nn-descent":
        return way, options
    values = {"sample_rate": 0.4, "tol": 0.05}
    return (covey.NNDescent(**values), options) if hasattr(covey, "NNDescent") else (way, options | values)


def delta_medoids(rng, objects):
    return covey.DeltaMedoids(
        some(rng, "homogeneity", "homogeneity", 0.3, 0.7),
        strict=bool(rng.random() < 0.5),
        one_shot=bool(rng.random() < 0.3),
        max_iter=some(rng, 1, 2, 50),
        random_state=seed(rng),
        n_jobs=some(rng, None, 2),
    )


def ds3(rng, objects):
    options = {"outliers": bool(rng.random() < 0.2), "tol": some(rng, 0.001, 0.05)}
    if rng.random() < 0.3:
        options |= {"alpha": some(rng, 0.1, 0.3), "p": some(rng, np.inf, 2)}
    return covey.DS3(some(rng, 2, 3, 5), max_iter=300, **options)


def baseline(rng, objects):
    if rng.random() < 0.4:
        return covey.KeepAll()
    return covey.RandomSelector(some(rng, 0.05, 0.4), n=some(rng, None, None, 2), random_state=seed(rng))


def sharpened(rng, objects):
    inner = some(rng, crs, crs, delta_medoids, baseline)(rng, objects)
    return covey.Sharpened(
        inner.set_params(similarity=objects.similarity),
        size=some(rng, None, None, 4, 8, 0.3),
        temperature=some(rng, "auto", "auto", 0.1),
        n_neighbors=some(rng, "auto", 3),
        margins=some(rng, "exact", "exact", "listed"),
        max_rounds=some(rng, 1, 5),
        random_state=seed(rng),
        n_jobs=some(rng, None, 2),
    )


SELECTORS = {crs: 8, sharpened: 3, delta_medoids: 2, ds3: 1, baseline: 1}


def selector(rng, objects):
    """Return a selector with parameters and the similarity."""
    makers, chances = zip(*SELECTORS.items(), strict=True)
    make = makers[rng.choice(len(makers), p=np.array(chances) / sum(chances))]
    made = make(rng, objects)
    return made if make is sharpened else made.set_params(similarity=objects.similarity)


def wishes(rng, made, n):
    """Return what a fit may be asked for beside X and y, for selectors that take it."""
    asked = {}
    if "sample_weight" in inspect.signature(type(made).fit).parameters:
        if rng.random() < 0.2:
            asked["sample_weight"] = some(rng, rng.integers(0, 4, n), rng.random(n), np.ones(n))
        if rng.random() < 0.2:
            rows = rng.choice(n, min(n, 3), replace=False)
            asked["include"] = some(rng, rows.tolist(), np.isin(np.arange(n), rows))
    return asked


# What is called


def fit(rng):
    objects = Objects(rng)
    made = selector(rng, objects)
    y = labels(rng, objects.n) if rng.random() < 0.7 else None
    asked = wishes(rng, made, objects.n)
    yield {"what": f"{made!r} on {objects.n} of {objects.kind}, y={y!r}, {asked}"}
    made.fit(objects.X, y, **asked)
    yield {"fitted": state(made)}
    if rng.random() < 0.3:
        yield {"members": plain(made.members(objects.X))}
    if rng.random() < 0.2 and y is not None and not objects.is_matrix:
        yield {"resampled": plain(made.fit_resample(objects.X, y, **asked))}


def classify(rng):
    objects = Objects(rng)
    y = labels(rng, objects.n)
    options = {"reject": some(rng, None, None, "threshold", "calibrated", 0.4), "rejection_rate": some(rng, 0.05, 0.3)}
    made = covey.NearestPrototypeClassifier(selector(rng, objects), **options)
    asked = wishes(rng, made.selector, objects.n)
    yield {"what": f"{made!r} on {objects.n} of {objects.kind}, y={y!r}, {asked}"}
    made.fit(objects.X, y, **asked)
    yield {"fitted": state(made)}
    queries = objects.take(rng.integers(0, objects.n, int(rng.integers(1, 12))))
    yield {"scores": plain(made.decision_function(queries))}
    yield {"nearest": plain(made.nearest_prototypes(queries, some(rng, 1, 3)))}
    yield {"explained": plain(made.explain(queries))}
    yield {"classes": plain([made.class_evidence(queries), made.class_similarities(queries)])}
    yield {"answers": plain(made.predict(queries))}
    if rng.random() < 0.3:
        yield {"features": plain([made.transform(queries), made.get_feature_names_out()])}
    if rng.random() < 0.4:
        file = BytesIO()
        covey.save(made, file, notes={"some": ["notes", 1.5]})
        yield {"file": plain(file.getvalue())}
        function = objects.similarity if not isinstance(objects.similarity, str) else None
        for similarity in (function, None):  # a function is needed only if the file says so
            file.seek(0)
            yield {f"loaded, {similarity is not None}": loaded(file, similarity, queries)}


def loaded(file, similarity, queries):
    """Return the answers of the model in a file, or the error."""
    try:
        return plain(covey.load(file, similarity).decision_function(queries))
    except (TypeError, ValueError) as error:
        return f"{type(error).__name__}: {error}"


def checkpointed(rng):
    """The same fit twice with one file; then one with other parameters, which may use it or refuses it."""
    objects = Objects(rng)
    y = labels(rng, objects.n)
    makers = [make for make in SELECTORS if make is not baseline]
    made = some(rng, *makers)(rng, objects)
    other = type(made)()
    if "random_state" in other.get_params():
        other.set_params(random_state=0)  # else it would be drawn anew in each tree
    if not isinstance(made, covey.Sharpened):
        made.set_params(similarity=objects.similarity)
        other.set_params(similarity=objects.similarity)
    yield {"what": f"{made!r} on {objects.n} of {objects.kind}, y={y!r}, with a checkpoint"}
    path = Path("checkpoint")
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        for part, one in {"first": made, "second": made, "other": other}.items():
            one.set_params(checkpoint=path)
            try:
                one.fit(objects.X, y)
                yield {part: state(one)}
            except (RuntimeError, ValueError) as error:
                yield {part: f"{type(error).__name__}: {error}"}
            if path.exists():
                yield {f"file, {part}": plain(path.read_bytes())}


def graph(rng):
    objects = Objects(rng)
    options = {"random_state": seed(rng), "n_jobs": some(rng, None, 2)}
    k, method = some(rng, 1, 2, 5, 10), some(rng, "auto", "exact", "nn-descent")
    if rng.random() < 0.2:
        method, options = with_descent(method, options)
    yield {"what": f"neighbor_graph of {objects.n} of {objects.kind}, {k}, {method}, {options}"}
    found = covey.neighbor_graph(objects.X, k, objects.similarity, method, **options)
    yield {"graph": plain(found)}
    yield {"recall": plain(found.estimated_recall), "csr": plain(found.to_csr())}


def cover(rng):
    objects = Objects(rng)
    found = covey.neighbor_graph(objects.X, some(rng, 1, 3, 8), objects.similarity, "exact")
    n = objects.n
    given = some(rng, found, found.to_csr())
    options = {
        "coverage": some(rng, 0.4, 0.95, 1.0),
        "threshold": some(rng, None, None, 0.3, 0.6),
        "gain": some(rng, "similarity", "count"),
        "on_orphan": some(rng, "self", "outlier"),
        "with_itself": some(rng, None, None, rng.random(n)),
        "multiplicity": some(rng, None, None, rng.integers(1, 5, n)),
        "sample_weight": some(rng, None, None, rng.integers(0, 4, n)),
        "include": some(rng, (), (), [0], rng.choice(n, min(2, n), replace=False)),
        "size": some(rng, None, None, 2, 5),
    }
    if options["size"] is None:
        options["refine"] = bool(rng.random() < 0.5)
    yield {"what": f"cover of {n} of {objects.kind}, {options}"}
    yield {"cover": plain(covey.cover(given, **options))}
    yield {"bound": plain(covey.cover_lower_bound(given, options["coverage"], options["threshold"]))}


def clusters(rng):
    objects = Objects(rng)
    options = {"n_neighbors": some(rng, 3, 15), "random_state": seed(rng), "n_jobs": some(rng, None, 2)}
    options["min_cluster_size"] = some(rng, None, None, 3)
    wanted = some(rng, "auto", "auto", "hdbscan", 2, 5)
    yield {"what": f"find_clusters of {objects.n} of {objects.kind}, {wanted}, {options}"}
    yield {"clusters": plain(covey.find_clusters(objects.X, wanted, objects.similarity, **options))}


def mean(rng):
    objects = Objects(rng)
    options = {"random_state": seed(rng), "n_pairs": some(rng, 50, 2000)}
    yield {"what": f"homogeneity of {objects.n} of {objects.kind}, {options}"}
    found = covey.homogeneity(objects.X, objects.similarity, **options)
    yield {"homogeneity": plain(found)}
    threshold = some(rng, found.value, 0.5)
    yield {"edges": plain(covey.threshold_graph(objects.X, threshold, objects.similarity, n_jobs=some(rng, None, 2)))}


def odd_objects(rng):
    """Something odd as X or y."""
    name = str(rng.choice(["cosine", "dot", "euclidean", "hamming", "jaccard", "ruzicka", "gower"]))
    made = some(rng, covey.CRS, covey.DeltaMedoids, covey.KeepAll)(similarity=name)
    kinds = some(rng, _odd_objects.ODD_X, _odd_objects.ODD_Y)
    kind = str(rng.choice(sorted(kinds)))
    odd = kinds[kind][1](rng)
    yield {"what": f"{made!r} on {kind}"}
    arguments = (odd, None) if kinds is _odd_objects.ODD_X else (_odd_parameters.X, odd)
    yield {"fitted": state(made.fit(*arguments))}


def odd_parameter(rng):
    call = str(rng.choice(sorted(_odd_parameters.CALLS)))
    parameter = str(rng.choice(sorted(_odd_parameters.PARAMETERS[call])))
    values = _odd_parameters.PARAMETERS[call][parameter]
    at = int(rng.integers(len(values)))
    yield {"what": f"{call}, {parameter}, value {at}"}
    yield {"result": plain(_odd_parameters.CALLS[call](**{parameter: values[at]}))}


CALLS = {
    fit: 10,
    classify: 5,
    checkpointed: 1,
    graph: 3,
    cover: 3,
    clusters: 2,
    mean: 2,
    odd_objects: 1,
    odd_parameter: 2,
}
"""How often each is called."""
