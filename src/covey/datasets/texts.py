"""20 Newsgroups: nearly 20 000 posts, as TF-IDF vectors."""

import json
from typing import Any

import numpy as np

from covey.datasets.files import missing, quiet, read
from covey.exceptions import MissingDataError

FOLDER = "20newsgroups"
FILE = "20news-bydate.jsonl.xz"
CHECKSUM = "13c358dac2523150dc6c9378af5ab08d4a729a5779ca0cd810f8f7b31ac80baa"
"""The SHA-256 checksum of what the file holds once unpacked."""
REMEDY = "put the file into a folder and pass it as data_home (--data-home) or in COVEY_DATA"
"""How to get the posts without a download."""


def load_20newsgroups(
    subset: str = "train", *, data_home: Any = None, download: bool = False, return_X_y: bool = False
) -> Any:
    """Load 20 Newsgroups, split by date, with the raw texts as TF-IDF vectors.

    The vocabulary and the weights are those of the training texts, in both subsets.

    Parameters
    ----------
    subset : {"train", "test"}, default="train"
        11 314 or 7 532 posts.
    data_home : path, optional
        The folder of 20news-bydate.jsonl.xz, which has an object with `split`, `label` and `text` on each line. By
        default, or if it is not there, COVEY_DATA and the system's folders are tried.
    download : bool, default=False
        Whether scikit-learn's `fetch_20newsgroups` is asked for the posts if they are in none of these folders. It
        keeps what it has downloaded in a pickle, so that `data_home` must be a folder that you trust. Nothing is sent
        over the network otherwise, and no pickle is read.
    return_X_y : bool, default=False
        Return only (data, target).

    Returns
    -------
    Bunch
        With `data` (a CSR matrix, a row for each post), `target` (0 to 19), `target_names` and `texts`.

    Raises
    ------
    MissingDataError
        If the file is in none of the folders. The message says where it was looked for, and how to get it.

    Examples
    --------
    >>> from covey.datasets import load_20newsgroups
    >>> posts = load_20newsgroups("test")
    >>> posts.data.shape, str(posts.target_names[0])
    ((7532, 130107), 'alt.atheism')
    """
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.utils import Bunch

    if subset not in ("train", "test"):
        raise ValueError(f"subset must be 'train' or 'test', got {subset!r}.")
    posts = _posts(data_home, download=download)
    texts, labels = posts[subset]
    vectorizer = TfidfVectorizer(dtype=np.float32)
    trained = vectorizer.fit_transform(posts["train"][0])
    data = trained if subset == "train" else vectorizer.transform(texts)
    names, target = np.unique(labels, return_inverse=True)
    return (data, target) if return_X_y else Bunch(data=data, target=target, target_names=names, texts=texts)


def _posts(data_home: Any, *, download: bool) -> dict[str, tuple[list[str], list[str]]]:
    """Return for each subset its texts and their labels."""
    try:
        content = read(FOLDER, FILE, CHECKSUM, data_home)
    except MissingDataError as error:
        if not download:
            remedy = f"pass download=True (covey reproduce: --download) to let scikit-learn download it, or {REMEDY}"
            raise missing("20 Newsgroups", FOLDER, (FILE,), remedy, data_home) from error
        return {subset: _fetch(subset, data_home) for subset in ("train", "test")}
    posts = [json.loads(line) for line in content.decode("utf-8").splitlines()]
    return {
        subset: (
            [post["text"] for post in posts if post["split"] == subset],
            [post["label"] for post in posts if post["split"] == subset],
        )
        for subset in ("train", "test")
    }


def _fetch(subset: str, data_home: Any) -> tuple[list[str], list[str]]:
    """Return texts and labels by scikit-learn."""
    from sklearn.datasets import fetch_20newsgroups

    try:
        with quiet():
            bunch = fetch_20newsgroups(subset=subset, data_home=data_home, shuffle=False)
    except Exception as error:
        remedy = f"scikit-learn could not download it ({type(error).__name__}); {REMEDY}"
        raise missing("20 Newsgroups", FOLDER, (FILE,), remedy, data_home) from error
    return bunch.data, [bunch.target_names[label] for label in bunch.target]
