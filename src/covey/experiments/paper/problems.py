"""The data sets of the paper's experiments, split into clusters to represent and objects to classify."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey import datasets
from covey.displays.cards import Card
from covey.experiments.paper.names import BLOBS, EMAIL, FASHION, NETWORK, NEWS, SITES, SPIRALS
from covey.experiments.paper.printed import TABLE_1
from covey.experiments.specs import Problem, Split
from covey.similarity.inputs import take_rows
from covey.similarity.measures import from_distance

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
    """Half of each cluster is represented and the other half classified; the seed decides the halves."""

    def split(seed: int, data_home: Any) -> Split:
        from sklearn.model_selection import train_test_split

        X, y = load(seed, data_home)
        labels, sizes = np.unique(y, return_counts=True)
        rows = np.flatnonzero(np.isin(y, labels[sizes >= SMALLEST]))
        kept, asked = train_test_split(rows, test_size=0.5, random_state=seed, stratify=y[rows])
        return Split(take_rows(X, kept), y[kept], take_rows(X, asked), y[asked])

    return split


def _hosts(seed: int, data_home: Any) -> tuple[Any, NDArray[Any]]:
    """Synthetic hosts of a network."""
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
    """Two spirals, a cluster each; the next seed draws the queries."""
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
    """Fashion-MNIST."""
    split = _official(partial(datasets.load_fashion_mnist, download=download), "data")
    return Problem(split, drawn=False, card=_image, paper=TABLE_1[FASHION])


def _posts(*, download: bool) -> Problem:
    """20 Newsgroups."""
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
