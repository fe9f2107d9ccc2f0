"""Fashion-MNIST: 70 000 images of clothes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey.datasets.files import missing, quiet, read
from covey.exceptions import MissingDataError

FOLDER = "fashion-mnist"
FILES = {
    "train-images-idx3-ubyte.gz": "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888",
    "train-labels-idx1-ubyte.gz": "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
    "t10k-images-idx3-ubyte.gz": "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b",
    "t10k-labels-idx1-ubyte.gz": "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34",
}
"""The files, and the SHA-256 checksums of what they hold once unpacked."""
REMEDY = (
    "put the files into a folder and pass it as data_home (--data-home) or in COVEY_DATA, or install Debian's package "
    "dataset-fashion-mnist"
)
"""How to get the files without OpenML."""
N_TRAIN = 60_000
"""OpenML has all images in one table, those to train first."""
NAMES = ("T-shirt", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot")


def load_fashion_mnist(
    subset: str = "train", *, data_home: Any = None, download: bool = False, return_X_y: bool = False
) -> Any:
    """Load Fashion-MNIST: 28 x 28 gray images of ten kinds of clothes, in the official split.

    The images were published by Xiao and others [1]_.

    Parameters
    ----------
    subset : {"train", "test"}, default="train"
        60 000 or 10 000 images.
    data_home : path, optional
        The folder of the four IDX files. By default, or if they are not there, COVEY_DATA and the folder of Debian's
        package dataset-fashion-mnist are tried.
    download : bool, default=False
        Whether OpenML is asked for the images if they are in none of these folders. scikit-learn keeps what it has
        downloaded. Nothing is sent over the network otherwise.
    return_X_y : bool, default=False
        Return only (data, target).

    Returns
    -------
    Bunch
        With `data` (bytes, a row of 784 pixels for each image), `target` (0 to 9) and `target_names`.

    Raises
    ------
    MissingDataError
        If the files are in none of the folders. The message says where they were looked for, and how to get them.
    ValueError
        If a file does not hold what it should, which its checksum shows.

    References
    ----------
    .. [1] H. Xiao, K. Rasul and R. Vollgraf, "Fashion-MNIST: a Novel Image Dataset for Benchmarking Machine Learning
       Algorithms", arXiv:1708.07747, 2017.

    Examples
    --------
    >>> from covey.datasets import load_fashion_mnist
    >>> images = load_fashion_mnist("test")
    >>> images.data.shape, str(images.target_names[images.target[0]])
    ((10000, 784), 'Ankle boot')
    """
    from sklearn.utils import Bunch

    if subset not in ("train", "test"):
        raise ValueError(f"subset must be 'train' or 'test', got {subset!r}.")
    images, labels = _images(subset, data_home, download=download)
    if return_X_y:
        return images, labels
    return Bunch(data=images, target=labels, target_names=np.array(NAMES))


def _images(subset: str, data_home: Any, *, download: bool) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Return images and labels from the files, or from OpenML if they are not there and may be downloaded."""
    part = "train" if subset == "train" else "t10k"
    try:
        images, labels = (
            read_idx(read(FOLDER, name, sum_, data_home)) for name, sum_ in FILES.items() if name.startswith(part)
        )
    except MissingDataError as error:
        if not download:
            remedy = f"pass download=True (covey reproduce: --download) to get them from OpenML, or {REMEDY}"
            raise missing("Fashion-MNIST", FOLDER, tuple(FILES), remedy, data_home) from error
        return _fetch(subset, data_home)
    return images.reshape(len(images), -1), labels


def read_idx(content: bytes) -> NDArray[np.uint8]:
    """Return the array in a file of the IDX format, which holds its dimensions, their sizes, and the bytes."""
    n_dimensions = content[3]
    shape = np.frombuffer(content, ">i4", n_dimensions, offset=4)
    return np.frombuffer(content, np.uint8, offset=4 + 4 * n_dimensions).reshape(shape)


def _fetch(subset: str, data_home: Any) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Return images and labels from OpenML."""
    from sklearn.datasets import fetch_openml

    try:
        with quiet():
            X, y = fetch_openml("Fashion-MNIST", version=1, data_home=data_home, return_X_y=True, as_frame=False)
    except Exception as error:
        remedy = f"OpenML could not be reached ({type(error).__name__}); {REMEDY}"
        raise missing("Fashion-MNIST", FOLDER, tuple(FILES), remedy, data_home) from error
    part = slice(None, N_TRAIN) if subset == "train" else slice(N_TRAIN, None)
    return X[part].astype(np.uint8), y[part].astype(np.uint8)
