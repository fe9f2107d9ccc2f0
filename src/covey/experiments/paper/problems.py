"""The data sets of the paper's experiments, split as in the paper, and the numbers that the paper prints for them.

What data sets and methods are called stands here, because the printed numbers are by method.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey import datasets
from covey.displays.cards import Card
from covey.experiments.methods import ALL, DELTA_MEDOIDS, RANDOM, SPARSE, crs_name
from covey.experiments.specs import Problem, Split
from covey.similarity.inputs import take_rows
from covey.similarity.measures import from_distance

FASHION, NEWS, NETWORK = "Fashion-MNIST", "20 Newsgroups", "Network (synthetic)"
"""The paper's data sets. Its network data are private; synthetic hosts, made like them, take their place."""
EMAIL, SITES = "email-Eu-core", "WhoTracks.me"
"""Real data of a similar kind: profiles of who contacts whom."""
BLOBS, SPIRALS = "Blobs", "Spirals"
"""Points in the plane, for the paper's two figures of them."""

PAPER_METHODS = (DELTA_MEDOIDS, SPARSE, RANDOM, ALL, *map(crs_name, (5, 10, 15)))
"""The methods of the paper's Table 1, in its order."""

EXACT_KS = (3, 5, 10, 12, 15)
"""CRS on exact graphs. The paper's table has k = 5, 10 and 15; 3 serves the figures of points, and 12 is one more
candidate for selections that are smaller than the paper's and as good."""
DESCENT_KS = (2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 25, 30, 40, 50)
"""CRS on graphs by NN-Descent, for the figure of the impact of k: dense where the curves are steep."""
SELECTIVE = "CRS-k1, all covered, threshold .955"
"""CRS that keeps most objects, to be as good as the paper's CRS-k5 on Fashion-MNIST, which keeps 88 % of them."""
SAME_SIZE = "random, as many as CRS-k10"
"""A random choice that takes from each cluster as many objects as CRS-k10 does."""


def by_descent(k: int) -> str:
    """Return the name of CRS on a graph by NN-Descent."""
    return f"{crs_name(k)}, NN-Descent"


CRS_METHODS = (*map(crs_name, EXACT_KS), SELECTIVE, *map(by_descent, DESCENT_KS))
"""Every variant of CRS that is run."""


TABLE_1 = {
    FASHION: {
        DELTA_MEDOIDS: (0.763, 0.744, 4.73),
        SPARSE: (0.657, 0.563, 0.07),
        RANDOM: (0.793, 0.784, 5.0),
        ALL: (0.823, 0.817, 100.0),
        crs_name(5): (0.855, 0.852, 87.71),
        crs_name(10): (0.836, 0.826, 15.37),
        crs_name(15): (0.828, 0.823, 5.08),
    },
    NEWS: {
        DELTA_MEDOIDS: (0.542, 0.515, 14.51),
        SPARSE: (0.133, 0.132, 0.64),
        RANDOM: (0.452, 0.435, 5.06),
        ALL: (0.56, 0.548, 100.0),
        crs_name(5): (0.635, 0.632, 56.58),
        crs_name(10): (0.538, 0.516, 7.14),
        crs_name(15): (0.522, 0.488, 5.17),
    },
    NETWORK: {
        DELTA_MEDOIDS: (0.865, 0.978, 7.38),
        SPARSE: (0.87, 0.977, 1.88),
        RANDOM: (0.958, 0.97, 5.09),
        ALL: (0.987, 0.963, 100.0),
        crs_name(5): (0.988, 0.958, 65.31),
        crs_name(10): (0.985, 0.965, 7.74),
        crs_name(15): (0.983, 0.982, 5.26),
    },
}
"""Precision, recall and the percentage selected, of Table 1. The network's are those of the paper's private data."""

SCAN_RATES = {by_descent(10): "0.063", by_descent(15): "0.13", DELTA_MEDOIDS: "0.45 to 0.7", SPARSE: "1"}
"""The scan rates on Fashion-MNIST, from the text of the section "Evaluation of Results".

The paper's formula divides by four times as many pairs as there are, so CRS evaluated about 0.25 and 0.52 of them."""

FIGURE_CLUSTERS = {FASHION: ("Dress", "Sandal"), NETWORK: ("A", "B")}
"""The clusters of its figure of the impact of k: two kinds of clothes, a medium and the biggest cluster of hosts."""


SMALLEST = 10
"""Smaller clusters are left out, as in the paper."""


def _official(load: Callable[..., Any], shown: str) -> Callable[[int, Any], Split]:
    """Return the split that comes with the data, the same for every seed; `shown` names what a person can look at."""

    def split(seed: int, data_home: Any) -> Split:
        train, test = (load(subset, data_home=data_home) for subset in ("train", "test"))
        names = train.target_names
        return Split(train.data, names[train.target], test.data, names[test.target], train[shown], test[shown])

    return split


def _halved(load: Callable[[int, Any], tuple[Any, NDArray[Any]]]) -> Callable[[int, Any], Split]:
    """Return a function that halves each cluster by a seed: one half is represented and the other classified."""

    def split(seed: int, data_home: Any) -> Split:
        from sklearn.model_selection import train_test_split

        X, y = load(seed, data_home)
        labels, sizes = np.unique(y, return_counts=True)
        rows = np.flatnonzero(np.isin(y, labels[sizes >= SMALLEST]))
        kept, asked = train_test_split(rows, test_size=0.5, random_state=seed, stratify=y[rows])
        return Split(take_rows(X, kept), y[kept], take_rows(X, asked), y[asked])

    return split


def _hosts(seed: int, data_home: Any) -> tuple[Any, NDArray[Any]]:
    """Return synthetic hosts of a network."""
    hosts = datasets.make_network_hosts(seed)
    return hosts.data, hosts.target


def _members(seed: int, data_home: Any) -> tuple[Any, NDArray[Any]]:
    """Return the members of email-Eu-core who mail somebody; the others have empty profiles, which say nothing."""
    X, y = datasets.load_email_eu_core(data_home=data_home, return_X_y=True)
    active = np.flatnonzero([len(profile) > 0 for profile in X])
    return take_rows(X, active), y[active]


def _sites(seed: int, data_home: Any) -> tuple[Any, NDArray[Any]]:
    """Return the web sites of WhoTracks.me."""
    X, y = datasets.load_whotracksme(data_home=data_home, return_X_y=True)
    return X, y


def _blobs(seed: int, data_home: Any) -> Split:
    """Return all blobs as one cluster. The points themselves are classified: the figure shows the selection."""
    X, _ = datasets.make_blob_structure(random_state=seed)
    one = np.zeros(len(X), dtype=int)
    return Split(X, one, X, one)


def _spirals(seed: int, data_home: Any) -> Split:
    """Return two spirals, a cluster each; the next seed draws the queries."""
    return Split(*datasets.make_spirals(random_state=seed), *datasets.make_spirals(random_state=seed + 1))


def _image(pixels: NDArray[np.uint8]) -> Card:
    """Return the image, dark on light."""
    return Card(pixels=255 - pixels.reshape(28, 28))


def _post(text: str) -> Card:
    """Return the subject of a post and the first lines that its author wrote."""
    head, _, body = text.partition("\n\n")
    subject = next((line for line in head.splitlines() if line.lower().startswith("subject:")), "")
    lines = [line.strip() for line in body.splitlines() if line.strip() and not _quotes(line)]
    return Card.of_text(subject[len("subject:") :].strip() or "(no subject)", lines)


def _quotes(line: str) -> bool:
    """Return whether a line of a post repeats, or announces, what somebody else wrote."""
    return line.lstrip().startswith((">", "|", ":", "In article")) or line.rstrip().endswith(("writes:", "wrote:"))


def _profile(profile: dict[Any, float]) -> Card:
    """Return how many others are contacted, and which of them most."""
    return Card.of_profile(f"{len(profile)} contacted", profile)


def _images(*, download: bool) -> Problem:
    """Return Fashion-MNIST."""
    split = _official(partial(datasets.load_fashion_mnist, download=download), "data")
    return Problem(split, drawn=False, card=_image, paper=TABLE_1[FASHION])


def _posts(*, download: bool) -> Problem:
    """Return 20 Newsgroups."""
    split = _official(partial(datasets.load_20newsgroups, download=download), "texts")
    return Problem(split, drawn=False, card=_post, paper=TABLE_1[NEWS])


PROBLEMS = {
    FASHION: _images(download=False),
    NEWS: _posts(download=False),
    NETWORK: Problem(_halved(_hosts), card=_profile, paper=TABLE_1[NETWORK]),
    EMAIL: Problem(_halved(_members), card=_profile),
    SITES: Problem(_halved(_sites), card=_profile),
    BLOBS: Problem(_blobs, similarity=from_distance("euclidean")),
    SPIRALS: Problem(_spirals, similarity=from_distance("euclidean")),
}
DOWNLOADED = {FASHION: _images(download=True), NEWS: _posts(download=True)}
"""The problems whose data scikit-learn can download, with permission to do so."""
