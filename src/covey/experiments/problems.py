"""The data sets that methods are compared on, split into clusters to represent and objects to classify."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey import datasets
from covey.evaluation import Card
from covey.selectors.base import pick
from covey.similarity.named import from_distance

QUICK = 100
"""How many objects of each cluster a quick run keeps."""
SMALLEST = 10
"""Smaller clusters are left out, as in the paper."""


@dataclass(frozen=True, eq=False)
class Split:
    """Clusters X, y, the queries with their truth, and what to show of X if not X itself."""

    X: Any
    y: NDArray[Any]
    queries: Any
    truth: NDArray[Any]
    shown: Any | None = None

    def sample(self, n: int, seed: int) -> "Split":
        """At most n objects of each cluster, and of each of the queries' classes."""
        rng = np.random.default_rng(seed)
        kept, asked = (_draw(labels, n, rng) for labels in (self.y, self.truth))
        shown = None if self.shown is None else pick(self.shown, kept)
        return Split(pick(self.X, kept), self.y[kept], pick(self.queries, asked), self.truth[asked], shown)


@dataclass(frozen=True)
class Problem:
    """A data set to compare methods on.

    Attributes
    ----------
    load : callable
        The split for a seed and a data_home.
    drawn : bool
        Whether the seed changes the split.
    paper : dict
        What the paper reports by method: precision, recall, % selected.
    similarity : str, callable or Similarity
    card : callable or None
        What a person can look at of one object (see `covey.evaluation.Card`).
    """

    load: Callable[[int, Any], Split]
    drawn: bool = True
    paper: dict[str, tuple[float, float, float]] = field(default_factory=dict)
    similarity: Any = "cosine"
    card: Callable[[Any], Card] | None = None

    def split(self, seed: int, data_home: Any = None, quick: bool = False) -> Split:
        split = self.load(seed, data_home)
        return split.sample(QUICK, seed) if quick else split


def _draw(labels: NDArray[Any], n: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """The rows of at most n objects of each label, ascending."""
    members = (np.flatnonzero(labels == label) for label in np.unique(labels))
    return np.sort(np.concatenate([rng.choice(m, min(n, m.size), replace=False) for m in members]))


def _official(load: Callable[..., Any], shown: str) -> Callable[[int, Any], Split]:
    """The split that comes with the data, whatever the seed."""

    def split(seed: int, data_home: Any) -> Split:
        train, test = (load(subset, data_home=data_home) for subset in ("train", "test"))
        names = train.target_names
        return Split(train.data, names[train.target], test.data, names[test.target], train[shown])

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


def _members(seed: int, data_home: Any) -> tuple[Any, NDArray[Any]]:
    """Of email-Eu-core, those who mail somebody: nothing can be said of the others."""
    X, y = datasets.load_email_eu_core(data_home=data_home, return_X_y=True)
    active = np.flatnonzero([len(profile) > 0 for profile in X])
    return pick(X, active), y[active]


def _sites(seed: int, data_home: Any) -> tuple[Any, NDArray[Any]]:
    X, y = datasets.load_whotracksme(data_home=data_home, return_X_y=True)
    return X, y


def _blobs(seed: int, data_home: Any) -> Split:
    """One cluster, whatever its parts."""
    X, _ = datasets.make_blob_structure(random_state=seed)
    one = np.zeros(len(X), dtype=int)
    return Split(X, one, X, one)


def _spirals(seed: int, data_home: Any) -> Split:
    return Split(*datasets.make_spirals(random_state=seed), *datasets.make_spirals(random_state=seed + 1))


def _image(pixels: NDArray[np.uint8]) -> Card:
    return Card(pixels=255 - pixels.reshape(28, 28))


def _post(text: str) -> Card:
    """The subject and the first lines of what was written."""
    head, _, body = text.partition("\n\n")
    subject = next((line for line in head.splitlines() if line.lower().startswith("subject:")), "")
    lines = [line.strip() for line in body.splitlines() if line.strip() and not _quotes(line)]
    return Card.of_text(subject[len("subject:") :].strip() or "(no subject)", lines)


def _quotes(line: str) -> bool:
    """Whether a line of a post repeats, or announces, what somebody else wrote."""
    return line.lstrip().startswith((">", "|", ":", "In article")) or line.rstrip().endswith(("writes:", "wrote:"))


def _profile(profile: dict[Any, float]) -> Card:
    return Card.of_profile(f"{len(profile)} contacted", profile)


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
        _official(datasets.load_fashion_mnist, "data"),
        drawn=False,
        card=_image,
        paper={
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
        _official(datasets.load_20newsgroups, "texts"),
        drawn=False,
        card=_post,
        paper={
            "delta-medoids": (0.542, 0.515, 14.51),
            "DS3": (0.133, 0.132, 0.64),
            "random-5%": (0.452, 0.435, 5.06),
            "full-100%": (0.56, 0.548, 100.0),
            "CRS-k5": (0.635, 0.632, 56.58),
            "CRS-k10": (0.538, 0.516, 7.14),
            "CRS-k15": (0.522, 0.488, 5.17),
        },
    ),
    "Network (synthetic)": Problem(_halved(_hosts), paper=NETWORK, card=_profile),
    "email-Eu-core": Problem(_halved(_members), card=_profile),
    "WhoTracks.me": Problem(_halved(_sites), card=_profile),
    "Blobs": Problem(_blobs, similarity=from_distance("euclidean")),
    "Spirals": Problem(_spirals, similarity=from_distance("euclidean")),
}
