"""What `covey compare` has found: what is recommended, the page of the report, and all numbers in CSV and JSON."""

import csv
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from covey.cli.compare.advice import Advice, Chosen, sections
from covey.cli.compare.similarities import Tried, Way, section
from covey.displays.report import Report
from covey.experiments.names import ALL
from covey.experiments.runner import report
from covey.experiments.specs import Problem
from covey.experiments.tables import Row
from covey.storage.atomic import whole

SIMILARITIES, METHODS = "similarities", "methods"
"""The two stages of a comparison: which similarity, then which method under it."""


@dataclass(frozen=True)
class Compared:
    """What a comparison has found.

    Attributes
    ----------
    data : str
        The path of the data.
    n_rows, n_folds : int
        How many rows took part, and in how many folds they were cut.
    way : Way
        How the objects were compared.
    tried : Tried or None
        The ways that were tried, if the user has named none.
    methods : sequence of Row
        How well each method did.
    left_out : sequence of str
        The methods for which there was no time.
    chance : float
        The F1 of labels that are drawn at random.
    advice : Advice
        What is recommended.
    remarks : sequence of str
        What was left out.
    """

    data: str
    n_rows: int
    n_folds: int
    way: Way
    tried: Tried | None
    methods: Sequence[Row]
    left_out: Sequence[str]
    chance: float
    advice: Advice
    remarks: Sequence[str] = ()

    @property
    def recommended(self) -> str | None:
        """The name of the method that is recommended."""
        return self.advice.method

    @property
    def best(self) -> str:
        """The name of the method with the best F1, all objects only if nothing else was tried."""
        return max(self.methods, key=lambda row: (row.method != ALL, row.f1)).method

    @property
    def sentences(self) -> list[str]:
        """What is recommended, how to select by it, and what was left out."""
        return [*self.advice.sentences, *self.remarks]

    def lines(self) -> list[dict[str, Any]]:
        """Return a line for each way that was tried and for each method."""
        trials = [] if self.tried is None else self.tried.ways
        return [
            *(_line(SIMILARITIES, row, way, way == self.way) for way, row in trials),
            *(_line(METHODS, row, self.way, row.method == self.recommended) for row in self.methods),
        ]

    def write_csv(self, path: str) -> None:
        """Write the lines as a table."""
        lines = self.lines()
        with whole(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(lines[0]))
            writer.writeheader()
            writer.writerows(lines)

    def write_json(self, path: str) -> None:
        """Write the lines and what is said about them."""
        values = {
            "data": self.data,
            "rows": self.n_rows,
            "folds": self.n_folds,
            "similarity": self.way.similarity,
            "scaled": self.way.scale,
            "recommended": self.recommended,
            "chance_f1": self.chance,
            "left_out": list(self.left_out),
            "remarks": list(self.sentences),
            "results": self.lines(),
        }
        with whole(path) as temporary:
            temporary.write_text(json.dumps(values, indent=2) + "\n", encoding="utf-8")

    def write_page(
        self,
        page: Path,
        name: str,
        problem: Problem,
        chosen: Chosen,
        folder: Path,
        opening: Sequence[str],
        **running: Any,
    ) -> None:
        """Write the report on the chosen methods, whose records are in a folder; it calls the problem by its name."""
        looked_at = self.recommended or self.best
        options: Any = {"problems": {name: problem}, "methods": chosen.methods, **running}
        summary = [*opening, *self.remarks]
        title = f"{name}: representatives compared"
        specs = sections(name, chosen, looked_at, self.recommended)
        made = report(folder, specs, title=title, summary=summary, seeds=self.n_folds, **options)
        trials = [] if self.tried is None else [section(self.tried, self.n_folds)]
        Report(title, summary, [*made.sections, *trials], self.advice.verdict).write_page(page)


def _line(stage: str, row: Row, way: Way, chosen: bool) -> dict[str, Any]:
    precision, recall, percentage = row.spread
    return {
        "stage": stage,
        "method": row.method,
        "k": row.k,
        "similarity": way.similarity,
        "scaled": way.scale,
        "precision": row.precision,
        "precision_std": precision,
        "recall": row.recall,
        "recall_std": recall,
        "f1": row.f1,
        "f1_std": row.f1_spread,
        "f1_error": row.f1_error,
        "selected_percent": row.percentage,
        "selected_percent_std": percentage,
        "scan_rate": row.scan_rate,
        "evaluations": row.n_evaluations,
        "seconds": row.seconds,
        "folds": row.n_seeds,
        "chosen": chosen,
    }
