"""A process that runs commands of `covey` in the present folder, so that the files they write can be compared.

    python -m tests.determinism.commands 2

The number is that of --jobs, and also of days by which the clock is set forward. All commands run in one process,
because starting takes longer than most of them.
"""

import json
import sys

from covey.__main__ import main
from tests.cli.commands import iris
from tests.determinism.cases import dicts
from tests.determinism.worker import set_clock

SELECT = ["select", "iris.csv", "--label", "species", "--features", "sepal_length,petal_length", "--seed", "3"]
TEXTS = ["select", "iris.csv", "--text", "name", "--label", "species", "--seed", "3", "-k", "3"]
PROFILES = ["select", "words.jsonl", "--profile", "words", "-k", "3", "--seed", "3", "--graph", "nn-descent"]
TABLES = ["csv.gz", "csv.xz", "csv.bz2", "csv.zst", "tsv", "jsonl", "parquet"]
PICTURES = ["html", "png", "svg", "pdf"]
COMMANDS = [
    [*SELECT, "-o", "few.csv", "-m", "few.covey", "--members", "members.csv", "--rejection-rate", "0.1"],
    *([*SELECT, "-k", "5", "-o", f"few.{form}"] for form in TABLES),
    *([*SELECT, "-o", f"{form}.csv", "--picture", f"map.{form}"] for form in PICTURES),
    *([*SELECT, "--method", method, "-o", f"{method}.csv"] for method in ("delta-medoids", "ds3", "random")),
    [*SELECT, "--sharpen", "-o", "sharp.csv", "-m", "sharp.covey"],
    [*TEXTS, "-o", "texts.csv", "-m", "texts.covey"],
    [*PROFILES, "-o", "profiles.csv", "-m", "profiles.covey"],
    ["classify", "iris.csv", "-m", "few.covey", "-o", "classified.csv"],
]


def run(command):
    """Run one command, which must succeed."""
    sys.argv = ["covey", *command]
    try:
        main()
    except SystemExit as stop:
        if stop.code:
            raise RuntimeError(f"This command has ended with {stop.code}: {command}") from stop


if __name__ == "__main__":
    iris().to_csv("iris.csv", index=False)
    with open("words.jsonl", "w", encoding="utf-8") as file:
        file.writelines(json.dumps({"words": words}) + "\n" for words in dicts(120))
    jobs = sys.argv[1]
    set_clock(int(jobs))
    for command in COMMANDS:
        run([*command, "--jobs", jobs])
