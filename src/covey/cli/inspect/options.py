"""The options of `covey inspect`."""

from dataclasses import dataclass
from typing import Annotated

from covey.cli.files.block import STANDARD
from covey.cli.files.formats import Format
from covey.cli.files.paths import check_model, check_output
from covey.cli.options import OUT_FORMATS, RUN, Replacing
from covey.cli.typer_dataclasses import argument, option


@dataclass(frozen=True, kw_only=True)
class InspectOptions(Replacing):
    """Which model is shown, and how."""

    model: Annotated[str, argument("MODEL", "A model that covey select has written; - is standard input.")]
    as_json: Annotated[bool, option("--json", what="Print JSON instead of a table.")] = False
    representatives: Annotated[
        bool,
        option(
            "--representatives",
            what="Show the representatives instead of the clusters: how many rows each stands for, and the values "
            "that the model keeps of it.",
        ),
    ] = False
    out: Annotated[
        str | None,
        option("--out", "-o", what="With --representatives: the file to write them to; - is standard output."),
    ] = None
    out_form: Annotated[Format | None, option("--out-format", what=OUT_FORMATS, panel=RUN, metavar="<name>")] = None

    def check_files(self) -> None:
        """Refuse a model that is not there, and an output that cannot be written."""
        check_model(self.model)
        check_output(self.out or STANDARD, self.out_form, as_table=True, force=self.force)
