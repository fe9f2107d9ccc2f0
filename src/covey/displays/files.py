"""Tables in files: what a report writes beside its page."""

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from covey.storage.atomic import whole


def write_csv(path: Path, titles: Iterable[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a table, which replaces a file as a whole or not at all. Numbers are as exact as they are."""
    with whole(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(titles)
        writer.writerows(rows)
