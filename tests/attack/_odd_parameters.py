"""FaultError values of every parameter, each of which must be refused in a sentence that names the parameter."""

import numpy as np
import scipy.sparse as sp

import covey

X = np.array([[0, 1, 1], [1, 1, 0], [1, 0, 1], [0, 0, 1], [1, 1, 1], [1, 0, 0], [0, 1, 0]], dtype=float)
Y = [0, 1, 0, 1, 0, 1, 0]
N = len(X)

NO_NUMBER = [None, "one", [1], {}, object(), 1j, np.array([1.0, 2.0]), np.nan, True, 10**400]
NO_WHOLE = [*NO_NUMBER[:-1], 1.5, np.inf, np.float64(2.5)]
NO_NAME = [None, "none such", 5, ["self"], object(), b"count"]
NO_FLAG = [None, "yes", 2, [True], object()]
NO_SEED = ["seed", -1, 1.5, [1], object(), 2**40]
NO_JOBS = ["two", 1.5, [2], object(), 0, True]
NO_SIMILARITY = [None, "none such", 5, ["cosine"], {}, object(), "Cosine", X]


def _graph(values):
    return sp.csr_array(np.asarray(values, dtype=float))


def _broken(attribute, value):
    graph = sp.csr_array(np.ones((N, N)))
    getattr(graph, attribute)[1] = value
    return graph


BROKEN_GRAPHS = [
    5,
    X.tolist(),
    X,
    _graph(X),
    _graph(np.full((N, N), np.nan)),
    _graph(np.full((N, N), np.inf)),
    sp.csr_array(np.ones((N, N)) * 1j),
    sp.csr_array((0, 0)),
    _broken("indices", N),
    _broken("indices", -1),
    _broken("indices", 2**31 - 1),
    _broken("indptr", 10**6),
    _broken("indptr", -3),
]
OTHER_SIZE = covey.neighbor_graph(X[:-1], 2)
GRAPH = covey.neighbor_graph(X, 2)

_SELECTOR = {"similarity": NO_SIMILARITY, "verbose": ["loud", [1], object(), -1]}
_SEEDED = {"random_state": NO_SEED}
_PARALLEL = {"n_jobs": NO_JOBS}
_COVER = {
    "coverage": [*NO_NUMBER, 0, -0.5, 1.5, np.inf],
    "gain": NO_NAME,
    "on_orphan": NO_NAME,
    "refine": NO_FLAG,
}
NO_COUNT = ["one", [1], object(), 1j, np.nan, np.inf, 1.5, True]
"""None and a dict may mean something where a count is asked for."""

PARAMETERS = {
    "CRS": {
        "n_neighbors": [*NO_COUNT, 0, -1],
        "threshold": [*NO_NUMBER[1:], np.inf],
        "graph": [None, "exactly", OTHER_SIZE, *BROKEN_GRAPHS],
        "recall": [*NO_NUMBER, 0, 1, -0.5, np.inf],
        "size": [*NO_COUNT, 0, 1, -1, 1.0],
        **_COVER,
        **_SELECTOR,
        **_SEEDED,
        **_PARALLEL,
    },
    "DeltaMedoids": {
        "delta": [*NO_NUMBER, np.inf],
        "strict": NO_FLAG,
        "one_shot": NO_FLAG,
        "max_iter": [*NO_WHOLE, 0],
        **_SELECTOR,
        **_SEEDED,
        **_PARALLEL,
    },
    "DS3": {
        "budget": [*NO_NUMBER, 0, 0.5],
        "alpha": [*NO_NUMBER[1:], 0, -1],
        "p": [*NO_NUMBER, 1, 3],
        "outliers": NO_FLAG,
        "beta": [*NO_NUMBER, 0],
        "sigma": [*NO_NUMBER, 0],
        "tol": [*NO_NUMBER, 0],
        "max_iter": [*NO_WHOLE, 0],
        **_SELECTOR,
        **_PARALLEL,
    },
    "RandomSelector": {
        "fraction": [*NO_NUMBER, 0, 1.5],
        "n": [*NO_COUNT, 0, {}, {0: 1}, {0: "one", 1: 1}, {0: 0, 1: 1}, {0: 1.5, 1: 1}],
        **_SELECTOR,
        **_SEEDED,
    },
    "KeepAll": _SELECTOR,
    "Sharpened": {
        "selector": [5, "CRS", object(), covey.CRS, [covey.CRS()]],
        "size": [*NO_COUNT, 0, 1, -1, 1.0],
        "temperature": [*NO_NUMBER, 0, -1],
        "n_neighbors": [*NO_WHOLE, 0],
        "margins": NO_NAME,
        "max_rounds": [*NO_WHOLE, -1],
        "verbose": _SELECTOR["verbose"],
        **_SEEDED,
        **_PARALLEL,
    },
    "homogeneity": {"similarity": NO_SIMILARITY, "n_pairs": [*NO_WHOLE, 0, 1], **_SEEDED},
    "threshold_graph": {"threshold": NO_NUMBER, "similarity": NO_SIMILARITY, **_PARALLEL},
    "find_clusters": {"n_clusters": [*NO_COUNT, 0, N + 1], "n_neighbors": [*NO_WHOLE, 0], "similarity": NO_SIMILARITY},
    "neighbor_graph": {
        "n_neighbors": [*NO_WHOLE, 0, -1],
        "similarity": NO_SIMILARITY,
        "method": [None, "none such", 5, ["exact"]],
        **_SEEDED,
        **_PARALLEL,
    },
    "cover": {
        "graph": BROKEN_GRAPHS,
        "threshold": [*NO_NUMBER[1:]],
        "with_itself": [1.0, "one", np.ones(N - 1), np.full(N, np.nan), np.full(N, np.inf), object(), np.ones((N, 2))],
        "size": [*NO_COUNT, 0],
        "sample_weight": [1.0, "one", np.ones(N - 1), np.full(N, np.nan), np.zeros(N), -np.ones(N), [10**400] * N],
        "include": [[N], [-1], [0.5], [0, 0], "one", np.ones(N, dtype=bool)],
        **_COVER,
    },
    "cover_lower_bound": {
        "graph": BROKEN_GRAPHS,
        "coverage": [*NO_NUMBER, 0, 1.5],
        "threshold": NO_NUMBER[1:],
    },
    "from_csr": {
        "matrix": [None, *BROKEN_GRAPHS],
        "n_neighbors": [*NO_COUNT, 0],
        "from_distance": ["none such", 5, ["inverse"]],
    },
    "batched": {"function": [None, 5, "cosine"], "batch_size": [*NO_WHOLE, 0]},
    "from_distance": {"distance": [None, 5, "none such", ["euclidean"], X], "how": NO_NAME},
    "Similarity": {"function": [None, 5, "cosine"]},
    "classifier": {
        "selector": [5, "CRS", object(), covey.CRS, [covey.CRS()]],
        "reject": ["yes", [1], np.nan, True, object(), 1j],
        "rejection_rate": ["much", [0.1], np.nan, 0, 1, -0.5, None],
        "unknown_label": [0, "unknown", None, 1.0, [1]],
    },
    "nearest_prototypes": {"n": [*NO_WHOLE, 0, -1]},
}


def _fit(kind):
    return lambda **parameters: kind(**parameters).fit(X, Y)


def _classifier(**parameters):
    parameters = {"reject": 0.5, **parameters}
    return covey.NearestPrototypeClassifier(**parameters).fit(X, Y).predict(X)


SELECTORS = ("CRS", "DeltaMedoids", "DS3", "RandomSelector", "KeepAll", "Sharpened")

CALLS = {
    **{name: _fit(getattr(covey, name)) for name in SELECTORS},
    "homogeneity": lambda **parameters: covey.homogeneity(X, **parameters),
    "threshold_graph": lambda **parameters: covey.threshold_graph(X, **{"threshold": 0.5, **parameters}),
    "find_clusters": lambda **parameters: covey.find_clusters(X, **parameters),
    "neighbor_graph": lambda **parameters: covey.neighbor_graph(X, **{"n_neighbors": 2, **parameters}),
    "cover": lambda **parameters: covey.cover(**{"graph": GRAPH, **parameters}),
    "cover_lower_bound": lambda **parameters: covey.cover_lower_bound(**{"graph": GRAPH, **parameters}),
    "from_csr": lambda **parameters: covey.NeighborGraph.from_csr(**{"matrix": GRAPH.to_csr(), **parameters}),
    "batched": lambda **parameters: covey.batched(**{"function": max, **parameters}),
    "from_distance": lambda **parameters: covey.from_distance(**{"distance": "euclidean", **parameters}),
    "Similarity": lambda **parameters: covey.Similarity(**parameters),
    "classifier": _classifier,
    "nearest_prototypes": lambda n: covey.NearestPrototypeClassifier().fit(X, Y).nearest_prototypes(X, n),
}
