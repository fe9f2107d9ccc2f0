"""What a checkpoint has done for a run, as the user sees it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class CheckpointReport:
    """What a checkpoint has done for a run.

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
    """

    path: str
    n_saved: int
    n_asked_again: int
    n_kept: int
