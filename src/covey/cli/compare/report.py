"""The results of `covey compare`: the page of the report, and all numbers in CSV and JSON."""

import csv
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from covey.cli.compare.advice import Advice
from covey.cli.compare.methods import Methods
from covey.cli.compare.similarities import Trials, Way, section
from covey.displays.report import Report
from covey.experiments import figures, tables
from covey.experiments.methods import ALL
from covey.experiments.runner import report
from covey.experiments.specs import Problem, Spec
from covey.experiments.tables import Row
from covey.storage.atomic import whole

SIMILARITIES, METHODS = "similarities", "methods"
"""The two stages of a comparison: which similarity, then which method under it."""


@dataclass(frozen=True)
class CompareResult:
    """What a comparison comes to.

    Attributes
    ----------
    data : str
        The path of the data.
    n_rows, n_folds : int
        How many rows took part, and in how many folds they were cut.
    way : Way
        How the objects were compared.
    trials : Trials or None
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
    trials: Trials | None
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
        trials = [] if self.trials is None else self.trials.ways
        return [
            *(_line(SIMILARITIES, row, way, chosen=way == self.way) for way, row in trials),
            *(_line(METHODS, row, self.way, chosen=row.method == self.recommended) for row in self.methods),
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
        methods: Methods,
        folder: Path,
        opening: Sequence[str],
        **running: Any,
    ) -> None:
        """Write the report on the methods, whose records are in a folder; it calls the problem by its name."""
        looked_at = self.recommended or self.best
        options: Any = {"problems": {name: problem}, "methods": methods.by_name, **running}
        summary = [*opening, *self.remarks]
        title = f"{name}: representatives compared"
        specs = sections(name, methods, looked_at, self.recommended)
        page_of_methods = report(folder, specs, title=title, summary=summary, seeds=self.n_folds, **options)
        trials = [] if self.trials is None else [section(self.trials, self.n_folds)]
        Report(title, summary, [*page_of_methods.sections, *trials], self.advice.verdict).write_page(page)


def _line(stage: str, row: Row, way: Way, *, chosen: bool) -> dict[str, Any]:
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


def sections(name: str, methods: Methods, looked_at: str, recommended: str | None) -> list[Spec]:
    """Return the sections of the report on the problem `name`; one of the methods is looked at more closely."""
    one, names, beside = (looked_at,), tuple(methods.by_name), methods.beside(looked_at)
    with_all = tuple(dict.fromkeys((looked_at, *(method for method in names if method == ALL))))
    first_fold = "Selected to answer for the first fold, each with the number of objects that it stands for."
    some = "" if len(beside) == len(names) else f" Of all k, only {methods.candidates[looked_at].k} is shown."
    note = (
        f"Means over clusters, then over folds, ± the standard deviation over folds. {tables.MEASURED} Sharpening also "
        "compares objects of different clusters, so that its scan rate can be above 1."
    )
    size = f"Up and to the left is better: the same quality with fewer objects. {figures.ERRORS} {figures.CHANCE}"
    evaluations = f"Up and to the left is better: the same quality with fewer evaluations. {figures.ERRORS}"
    by_size = partial(figures.quality_against_size, marked=recommended)
    by_evaluations = partial(figures.quality_against_evaluations, marked=recommended)
    table = partial(tables.methods_table, marked=recommended)
    confused = "The largest first; all folds are counted together, so each object is asked about once."
    heat = "A color means the same share in every report."
    ranked = f"{figures.RANKED}{some}"
    ordered = "Means over folds, ± the standard deviation over folds; the clusters that are hardest to tell come first."
    return [
        Spec("Quality against size", size, by_size, (name,), names),
        Spec("All methods", note, table, (name,), names),
        Spec(f"What {looked_at} confuses", confused, figures.largest_confusions, (name,), one),
        Spec("Confusion matrix", heat, figures.confusion_matrices, (name,), one),
        Spec("Representatives to look at", first_fold, figures.galleries, (name,), one, seeds=1),
        Spec("What small selections can do", "", figures.quality_by_budget, (name,), names, folded=True),
        Spec("Quality against evaluations", evaluations, by_evaluations, (name,), names, folded=True),
        Spec("By cluster", ordered, tables.by_cluster, (name,), with_all, folded=True),
        Spec("Critical differences", ranked, figures.critical_differences, (name,), beside, folded=True),
    ]
