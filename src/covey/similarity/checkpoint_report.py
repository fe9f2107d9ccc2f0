"""What a checkpoint has done for a run, as the user sees it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class CheckpointReport:
    """What a checkpoint has done for a run.

    A fit with ``checkpoint=`` sets it as `checkpoint_`, and a `covey.NeighborGraph` has it as `checkpoint`.

    Attributes
    ----------
    path : str
        The file.
    n_saved : int
        How many of the evaluations of this run were looked up in the file, because an earlier run had made them.
    n_new : int
        How many pairs this run has evaluated that the file did not hold. It holds them now.
    n_repeated : int
        How many evaluations of this run were of pairs that the file held already: those of the spot check, which asks
        some pairs twice, those that had failed before, and those of objects that are equal to others in another
        cluster.
    n_asked_again : int
        How many kept pairs were evaluated again when the file was opened, to see whether the similarity is still the
        same: five, or all if there are fewer. They are not among the evaluations of the run.
    n_kept : int
        How many pairs the file holds now.

    See Also
    --------
    covey.CRS : Takes a checkpoint.
    covey.OtherRunError : Is raised if the file belongs to another run.

    Notes
    -----
    For a function of your own, the evaluations of a run are ``n_saved + n_new + n_repeated``, which is `n_evaluations_`
    of the selector. The function was really asked for ``n_new + n_repeated + n_asked_again`` pairs. The file held
    ``n_kept - n_new`` pairs before. For a named similarity, such as cosine, the file holds finished clusters and no
    pairs: `n_saved` evaluations were not made again, and the other numbers are 0.

    Examples
    --------
    The second fit has one object more. It evaluates only the five pairs that are new:

    >>> import covey, tempfile
    >>> def nearness(a, b):
    ...     return -abs(a - b)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for numbers in ([1, 2, 4, 8, 9], [1, 2, 4, 8, 9, 16]):
    ...         selector = covey.CRS(2, similarity=nearness, checkpoint=f"{folder}/numbers").fit(numbers)
    ...         told = selector.checkpoint_
    ...         print(selector.n_evaluations_, told.n_saved, told.n_new, told.n_kept)
    10 0 10 10
    15 10 5 15
    """

    path: str
    n_saved: int
    n_new: int
    n_repeated: int
    n_asked_again: int
    n_kept: int
