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
        How many of the evaluations of this run an earlier one had made.
    n_asked_again : int
        How many kept pairs were evaluated again when the file was opened, to see whether the similarity is still the
        same. They are not among the evaluations of the run.
    n_kept : int
        How many evaluations the file holds now.

    See Also
    --------
    covey.CRS : Takes a checkpoint.
    covey.OtherRunError : Is raised if the file belongs to another run.

    Examples
    --------
    The second fit has one object more. It evaluates only the five pairs that are new:

    >>> import covey, tempfile
    >>> def nearness(a, b):
    ...     return -abs(a - b)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for numbers in ([1, 2, 4, 8, 9], [1, 2, 4, 8, 9, 16]):
    ...         selector = covey.CRS(2, similarity=nearness, checkpoint=f"{folder}/numbers").fit(numbers)
    ...         print(selector.n_evaluations_, selector.checkpoint_.n_saved, selector.checkpoint_.n_kept)
    10 0 10
    15 10 15
    """

    path: str
    n_saved: int
    n_asked_again: int
    n_kept: int
