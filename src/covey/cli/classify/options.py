"""The options of `covey classify`."""

from dataclasses import dataclass
from typing import Annotated

from covey.cli.files.paths import check_model
from covey.cli.options import OBJECTS, ManyFiles, Output, Replacing, Running, finite
from covey.cli.similarity_option import OWN, check_function_file, similarity_in
from covey.cli.typer_dataclasses import option


def reject_in(text: str) -> float | str:
    """Return the parameter `reject` of the classifier."""
    return finite(text, "calibrated", "threshold")


@dataclass(frozen=True, kw_only=True)
class AnswerOptions(ManyFiles):
    """By which model rows are classified, and how they are answered."""

    model: Annotated[str, option("--model", "-m", what="A model that covey select has written; - is standard input.")]
    reject: Annotated[
        float | str | None,
        option(
            "--reject",
            read=reject_in,
            what="Answer unknown if the best similarity is lower than this: a number; threshold for the threshold of "
            "the cluster that wins; or calibrated for the bars that covey select --rejection-rate has set. A row that "
            "has nothing in common with any representative is unknown in any case.",
        ),
    ] = None
    unknown: Annotated[
        str, option("--unknown", what="The label of rows that are rejected; it must not be one of the model's labels.")
    ] = "unknown"
    label: Annotated[
        str | None,
        option(
            "--label",
            "-l",
            what="The column that holds the right label, to score the answers by. By default this is the one that the "
            "model was made with, if it is there.",
        ),
    ] = None
    scores: Annotated[
        str | None,
        option("--scores", what="Write accuracy, precision, recall and the confusion matrix to this JSON file."),
    ] = None
    keep: Annotated[bool, option("--keep", what="Keep the columns of DATA beside the answers.")] = False
    similarity: Annotated[
        str | None,
        option(
            "--similarity",
            "-s",
            read=similarity_in,
            what=f"{OWN} again, if the model was made with a custom function.",
            panel=OBJECTS,
        ),
    ] = None


@dataclass(frozen=True)
class ClassifyOptions(Running, Replacing, Output, AnswerOptions):
    """All options of the command. The help shows those of the last base first."""

    def check_files(self) -> None:
        """Refuse files that are not there, the model among them."""
        super().check_files()
        check_model(self.model)
        check_function_file(self.similarity)
