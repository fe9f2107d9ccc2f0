"""Errors and warnings of covey.

Examples
--------
>>> import covey
>>> issubclass(covey.exceptions.FileFormatError, ValueError)
True
"""

__all__ = [
    "AsymmetryWarning",
    "CheckpointMismatchError",
    "FailedPairsWarning",
    "FileFormatError",
    "MissingBarsWarning",
    "MissingDataError",
    "NondeterminismWarning",
    "UnpicklableSimilarityWarning",
]


class FileFormatError(ValueError):
    """A file is damaged, is not what it is said to be, or holds what no version of covey has written.

    The message names the file and says what is wrong with it. It is a ValueError, and the only error that the content
    of a file can raise; `covey.load` runs no code of a file. A file that is not there raises
    FileNotFoundError instead. Get the file again, or make it again by `covey.save`.

    Examples
    --------
    >>> import io
    >>> import covey
    >>> try:
    ...     model = covey.load(io.BytesIO(b"some other file"))
    ... except covey.exceptions.FileFormatError as error:
    ...     print(error)
    'the given file' is not a model, but another kind of file; pass what covey.save or covey select --model has written.
    """


class CheckpointMismatchError(ValueError):
    """A checkpoint was made with other data, with another similarity or with other parameters.

    It is a ValueError. The message names the file and what is different. Choose another file, or remove the old one if
    it is not needed any more. A file that is refused keeps all its evaluations.

    Attributes
    ----------
    names_file : bool
        Always True: the message is about the checkpoint that it names, and not about the file that X was read from.

    See Also
    --------
    covey.CRS : Says which runs may share a checkpoint.

    Examples
    --------
    >>> import covey, tempfile
    >>> def nearness(a, b):
    ...     return -abs(a - b)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     selector = covey.CRS(2, similarity=nearness, checkpoint=f"{folder}/numbers").fit([1, 2, 4, 8])
    ...     try:
    ...         selector.fit([100, 200, 300])
    ...     except covey.exceptions.CheckpointMismatchError as error:
    ...         print(str(error).partition(", but")[0])
    checkpoint must be of the same data
    """

    names_file = True


class MissingDataError(FileNotFoundError):
    """A data file is not on the machine and could not be fetched.

    It is a FileNotFoundError. The message says where the file was looked for and how to get it. Put it into a folder,
    and pass the folder as `data_home` or name it in the environment variable COVEY_DATA.

    Examples
    --------
    >>> from covey.exceptions import MissingDataError
    >>> def images():
    ...     from covey.datasets import load_fashion_mnist
    ...     try:
    ...         return load_fashion_mnist(return_X_y=True)
    ...     except MissingDataError:  # small images will do
    ...         from sklearn.datasets import load_digits
    ...         return load_digits(return_X_y=True)
    >>> X, y = images()
    >>> len(X) == len(y)
    True
    """


class UnpicklableSimilarityWarning(UserWarning):
    """A similarity cannot be sent to other processes, so that one process does all the work.

    The result is the same, but the work takes longer than it needs to. The warning is given once for each similarity.
    Define the function and the classes of the objects at the top of a module that other processes can import, or pass
    ``n_jobs=1``.

    Examples
    --------
    This function uses a lock, which no other process can have:

    >>> import threading, time, warnings
    >>> import covey
    >>> lock = threading.Lock()
    >>> def nearness(a, b):
    ...     with lock:
    ...         time.sleep(0.006)
    ...     return -abs(a - b)
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     selector = covey.CRS(5, similarity=nearness, n_jobs=2).fit(list(range(20)))
    >>> caught[0].category.__name__
    'UnpicklableSimilarityWarning'
    """


class AsymmetryWarning(UserWarning):
    """A similarity depends on the order of the two objects, but is used as if it did not.

    The result may then be wrong, because only one order of each pair is evaluated. At most 10 pairs of a cluster of at
    least 1 000 pairs are checked, which takes at most 1 % of the evaluations, and the warning is given once for each
    fit. Say that the order matters, by ``covey.Similarity(f, symmetric=False)`` or by an attribute ``symmetric`` of the
    function. A function with an attribute ``trusted`` that is true is not checked.

    Examples
    --------
    >>> import warnings
    >>> import covey
    >>> def share(a, b):
    ...     return len(set(a) & set(b)) / len(set(a))
    >>> words = [f"{number:b}{number:o}" for number in range(50)]
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     selector = covey.CRS(5, similarity=share).fit(words)
    >>> caught[0].category.__name__
    'AsymmetryWarning'

    The remedy is to declare it. A pair then costs two evaluations:

    >>> selector = covey.CRS(5, similarity=covey.Similarity(share, symmetric=False)).fit(words)
    """


class NondeterminismWarning(UserWarning):
    """A similarity gives another answer when it is asked again for the same pair.

    The same seed does not give the same result then, and a checkpoint that was made with such a similarity may be
    refused later. At most 5 pairs of a cluster of at least 1 000 pairs are asked twice, and the warning is given once
    for each fit. Let the function use no random numbers, or draw them from a generator that depends on the two objects
    only. A function with an attribute ``trusted`` that is true is not checked.

    Examples
    --------
    >>> import random, warnings
    >>> import covey
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     selector = covey.CRS(5, similarity=lambda a, b: random.random()).fit(list(range(50)))
    >>> [each.category.__name__ for each in caught]
    ['NondeterminismWarning']
    """


class FailedPairsWarning(UserWarning):
    """A similarity has failed for some pairs, which count as least similar because of ``on_error="lowest"``.

    The message tells how many pairs there were and describes the first five. A fit sets `n_failed_` to their number. If
    the first 100 pairs all fail, the fit ends with a RuntimeError all the same, because then the function is at fault.

    See Also
    --------
    covey.CRS : Says what counts as a failure.

    Examples
    --------
    This function divides by zero for two equal numbers of different types, which are not merged:

    >>> import warnings
    >>> import covey
    >>> def nearness(a, b):
    ...     return 1 / (a - b) ** 2
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     selector = covey.CRS(2, similarity=nearness, on_error="lowest").fit([1, 2, 3, 2.0])
    >>> selector.n_failed_, caught[0].category.__name__
    (1, 'FailedPairsWarning')
    """


class MissingBarsWarning(UserWarning):
    """The bars of a classifier with ``reject="calibrated"`` reject nothing, because it was fitted to too few objects.

    The message says how many different objects the rate needs. The bars in `rejection_bars_` are then -inf.

    See Also
    --------
    covey.NearestPrototypeClassifier : Says how bars are set.

    Examples
    --------
    >>> import warnings
    >>> import covey
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     model = covey.NearestPrototypeClassifier(reject="calibrated", rejection_rate=0.1)
    ...     bars = model.fit([[9, 1], [8, 1], [1, 8], [1, 9]], ["wide", "wide", "tall", "tall"]).rejection_bars_
    >>> bars, caught[0].category.__name__
    (array([-inf, -inf]), 'MissingBarsWarning')
    """
