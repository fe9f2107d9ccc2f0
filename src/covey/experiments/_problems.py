"""The data sets that methods are compared on, split into clusters to represent and objects to classify."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey import datasets
from covey.objects import Objects, pick

QUICK = 100
"""How many objects of each cluster a quick run keeps."""
SMALLEST = 10
"""Smaller clusters are left out, as in the paper."""


@dataclass(frozen=True, eq=False)
class Split:
    """Clusters X, y and the queries with their truth."""

    X: Objects
    y: NDArray[Any]
    queries: Objects
    truth: NDArray[Any]

    def sample(self, n: int, seed: int) -> "Split":
        """At most n objects of each cluster, and of each of the queries' classes."""
        rng = np.random.default_rng(seed)
        kept, asked = (_draw(labels, n, rng) for labels in (self.y, self.truth))
        return Split(pick(self.X, kept), self.y[kept], pick(self.queries, asked), self.truth[asked])


@dataclass(frozen=True)
class Problem:
    """A data set, how it is split for a seed, and what the paper reports by method: precision, recall, % selected."""

    load: Callable[[int, Any], Split]
    paper: dict[str, tuple[float, float, float]] = field(default_factory=dict)
    similarity: Any = "cosine"

    def split(self, seed: int, data_home: Any = None, quick: bool = False) -> Split:
        split = self.load(seed, data_home)
        return split.sample(QUICK, seed) if quick else split


def _draw(labels: NDArray[Any], n: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """The rows of at most n objects of each label, ascending."""
    members = (np.flatnonzero(labels == label) for label in np.unique(labels))
    return np.sort(np.concatenate([rng.choice(m, min(n, m.size), replace=False) for m in members]))


def _official(load: Callable[..., Any]) -> Callable[[int, Any], Split]:
    """The split that comes with the data, whatever the seed."""

    def split(seed: int, data_home: Any) -> Split:
        train, test = (load(subset, data_home=data_home, return_X_y=True) for subset in ("train", "test"))
        return Split(*train, *test)

    return split


def _halved(load: Callable[[int, Any], tuple[Any, NDArray[Any]]]) -> Callable[[int, Any], Split]:
    """Half of each cluster is represented, the other half classified; drawn by the seed."""

    def split(seed: int, data_home: Any) -> Split:
        from sklearn.model_selection import train_test_split

        X, y = load(seed, data_home)
        labels, sizes = np.unique(y, return_counts=True)
        rows = np.flatnonzero(np.isin(y, labels[sizes >= SMALLEST]))
        kept, asked = train_test_split(rows, test_size=0.5, random_state=seed, stratify=y[rows])
        return Split(pick(X, kept), y[kept], pick(X, asked), y[asked])

    return split


def _hosts(seed: int, data_home: Any) -> tuple[Any, NDArray[Any]]:
    hosts = datasets.make_network_hosts(seed)
    return hosts.data, hosts.target


NETWORK = {
    "delta-medoids": (0.865, 0.978, 7.38),
    "DS3": (0.87, 0.977, 1.88),
    "random-5%": (0.958, 0.97, 5.09),
    "full-100%": (0.987, 0.963, 100.0),
    "CRS-k5": (0.988, 0.958, 65.31),
    "CRS-k10": (0.985, 0.965, 7.74),
    "CRS-k15": (0.983, 0.982, 5.26),
}
"""Of the paper's private data, which the synthetic hosts imitate."""

PROBLEMS = {
    "Fashion-MNIST": Problem(
        _official(datasets.load_fashion_mnist),
        {
            "delta-medoids": (0.763, 0.744, 4.73),
            "DS3": (0.657, 0.563, 0.07),
            "random-5%": (0.793, 0.784, 5.0),
            "full-100%": (0.823, 0.817, 100.0),
            "CRS-k5": (0.855, 0.852, 87.71),
            "CRS-k10": (0.836, 0.826, 15.37),
            "CRS-k15": (0.828, 0.823, 5.08),
        },
    ),
    "20 Newsgroups": Problem(
        _official(datasets.load_20newsgroups),
        {
            "delta-medoids": (0.542, 0.515, 14.51),
            "DS3": (0.133, 0.132, 0.64),
            "random-5%": (0.452, 0.435, 5.06),
            "full-100%": (0.56, 0.548, 100.0),
            "CRS-k5": (0.635, 0.632, 56.58),
            "CRS-k10": (0.538, 0.516, 7.14),
            "CRS-k15": (0.522, 0.488, 5.17),
        },
    ),
    "Network (synthetic)": Problem(_halved(_hosts), NETWORK),
    "email-Eu-core": Problem(
        _halved(lambda seed, data_home: datasets.load_email_eu_core(data_home=data_home, return_X_y=True))
    ),
    "WhoTracks.me": Problem(
        _halved(lambda seed, data_home: datasets.load_whotracksme(data_home=data_home, return_X_y=True))
    ),
}
