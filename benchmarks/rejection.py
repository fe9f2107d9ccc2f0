"""What calibrated rejection keeps and what it catches on ten data sets, beside the thresholds of the prototypes.

Run it with ``COVEY_DATA=folder python -m benchmarks.rejection`` (some minutes on one core). It prints each row and
writes benchmarks/REJECTION.md. Words after it choose the sets whose names hold one of them; nothing is written then.

A set is split into random halves, and two of its classes (one, if there are fewer than four) are left out of the half
that a classifier is fitted to. Test objects of the other classes should be rejected at the rate that was asked for.
Objects of the classes that were left out, and objects of another data set, should be rejected as often as possible.
"""

import csv
import gzip
import itertools
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import covey
from benchmarks import data
from benchmarks.small_sets import SETS, frequent, morgan, warped_pairs
from covey import datasets
from covey.similarity.kinds import collect
from covey.similarity.measures import resolve

RATES = (0.01, 0.05, 0.1)
SPLITS = 12
MOST = 4_000
"""How many objects of a larger set are drawn, so that the benchmark takes minutes."""
FOREIGN = 200
"""How many objects of another set are asked about."""
RESULTS = Path(__file__).with_name("REJECTION.md")
TITLE = """# Rejection of what is unknown

Written by `python -m benchmarks.rejection`, covey {version}, `CRS(10)`. Each number is the mean of {splits} random
splits into halves, with a standard error that takes the splits for independent, which they are not quite. Two classes
(one, if there are fewer than four) are left out of the half that a classifier is fitted to. "Known" are the test
objects of the other classes, and "left out" those of the classes left out. "Other data" are up to {foreign} objects of
another data set of the same kind. A rate is kept if the share of known objects that are rejected is within a fifth, or
two standard errors, of it. `reject="threshold"` is shown beside the rates; nobody asks it for one.

{verdict}

| data set | objects fitted | classes | rate | known rejected | kept | left out caught | other data | caught |
|---|---|---|---|---|---|---|---|---|
"""


class Problem(NamedTuple):
    """Objects, their classes and the similarity; the name and the objects of another data set, if one fits.

    If similarities are precomputed, X holds those of the other objects in its last rows and columns.
    """

    X: Any
    y: Any
    similarity: str
    other: str | None = None
    foreign: Any = None


def some(X: Any, positions: Any) -> Any:
    return [X[position] for position in positions] if isinstance(X, list) else X[positions]


def drawn(X: Any, y: Any, n: int) -> tuple[Any, Any]:
    """Some of the objects, as many of each class as their share."""
    if len(y) <= n:
        return X, np.asarray(y)
    positions = np.sort(train_test_split(np.arange(len(y)), train_size=n, random_state=0, stratify=y)[0])
    return some(X, positions), np.asarray(y)[positions]


def images() -> Problem:
    """Fashion-MNIST; others are digits, three times as large, in the middle of an image."""
    digits = np.kron(load_digits().images[:FOREIGN], np.ones((1, 3, 3))) * 255 / 16
    foreign = np.pad(digits, ((0, 0), (2, 2), (2, 2))).reshape(-1, 784)
    return Problem(*drawn(*datasets.load_fashion_mnist("train", return_X_y=True), MOST), "cosine", "digits", foreign)


def digits() -> Problem:
    """Others are images of Fashion-MNIST, of which a pixel is the mean of 4 by 4."""
    clothes = datasets.load_fashion_mnist("test", return_X_y=True)[0][:FOREIGN].reshape(-1, 28, 28)
    padded = np.pad(clothes, ((0, 0), (2, 2), (2, 2))).reshape(-1, 8, 4, 8, 4)
    foreign = padded.mean(axis=(2, 4)).reshape(-1, 64) * 16 / 255
    return Problem(*load_digits(return_X_y=True), "cosine", "Fashion-MNIST", foreign)


def posts() -> Problem:
    return Problem(*drawn(*datasets.load_20newsgroups("train", return_X_y=True), MOST), "cosine")


def hosts() -> Problem:
    made = datasets.make_network_hosts(0)
    return Problem(*drawn(made.data, made.target, MOST), "cosine", "WhoTracks.me", trackers()[:FOREIGN])


def trackers() -> Any:
    return datasets.load_whotracksme(return_X_y=True)[0]


def sites() -> Problem:
    X, y, similarity = SETS["WhoTracks.me, cosine"]()
    return Problem(X, y, similarity, "email-Eu-core", SETS["email-Eu-core, cosine"]()[0][:FOREIGN])


def members() -> Problem:
    return Problem(*SETS["email-Eu-core, cosine"](), "WhoTracks.me", trackers()[:FOREIGN])


def surnames() -> Problem:
    return Problem(*SETS["surnames, levenshtein"](), "BBBP, as SMILES", list(data.molecules()[0][:FOREIGN]))


def molecules() -> Problem:
    with gzip.open(data.find("moses", "molecules.csv.gz"), "rt", encoding="utf-8") as file:
        smiles = [row["SMILES"] for row in itertools.islice(csv.DictReader(file), FOREIGN)]
    return Problem(*SETS["BBBP fingerprints, jaccard"](), "MOSES", morgan(smiles)[0])


def leaves() -> Problem:
    """OSULeaf under time warping; others are the series of ArrowHead, stretched to the same length."""
    X, y = data.series("OSULeaf")
    arrows = data.series("ArrowHead")[0][:FOREIGN]
    at = np.linspace(0, 1, X.shape[1])
    stretched = np.array([np.interp(at, np.linspace(0, 1, row.size), row) for row in arrows])
    return Problem(warped_pairs(np.vstack([X, stretched]).astype(np.float64)), y, "precomputed", "ArrowHead")


PROBLEMS: dict[str, Callable[[], Problem]] = {
    "Fashion-MNIST, cosine": images,
    "20 Newsgroups, cosine": posts,
    "simulated hosts, cosine": hosts,
    "WhoTracks.me, cosine": sites,
    "email-Eu-core, cosine": members,
    "surnames, levenshtein": surnames,
    "BBBP fingerprints, jaccard": molecules,
    "OSULeaf, time warping": leaves,
    "globins, 1 / (1 + distance)": lambda: Problem(*SETS["globins, 1 / (1 + distance)"]()),
    "digits, cosine": digits,
}


class Split(NamedTuple):
    """The objects to fit to and their classes, and three groups of objects to ask about."""

    X: Any
    y: Any
    asked: list[Any]


def split(problem: Problem, seed: int) -> Split:
    """Classes of fewer than ten objects are left out altogether."""
    X, similarity = problem.X, problem.similarity
    y = np.unique(problem.y, return_inverse=True)[1]
    first, second = train_test_split(kept := frequent(y, 10), test_size=0.5, random_state=seed, stratify=y[kept])
    labels = np.unique(y[kept])
    unknown = np.random.default_rng(seed).choice(labels, 2 if labels.size > 3 else 1, replace=False)
    fitted, new = first[~np.isin(y[first], unknown)], np.isin(y[second], unknown)
    groups = [second[~new], second[new]]
    if similarity == "precomputed":
        groups += [np.arange(len(y), len(X))] if problem.other else []
        return Split(X[np.ix_(fitted, fitted)], y[fitted], [X[np.ix_(group, fitted)] for group in groups])
    foreign = [] if problem.other is None else [problem.foreign]
    return Split(some(X, fitted), y[fitted], [some(X, group) for group in groups] + foreign)


def rejected(model: Any, asked: list[Any]) -> list[float]:
    """The share of each group of objects that is rejected, and NaN for a group that is not there."""
    return [(model.predict(group) == -1).mean() for group in asked] + [np.nan] * (3 - len(asked))


def shares(found: Split, similarity: str) -> list[list[float]]:
    """What is rejected at each rate, and by the thresholds."""
    model = covey.NearestPrototypeClassifier(covey.CRS(10, similarity=similarity, random_state=0), reject="threshold")
    by_threshold = rejected(model.fit(found.X, found.y), found.asked)
    rows = []
    objects = collect(found.X, resolve(similarity))
    for rate in RATES:
        # Only the bars are set anew, because all rates have the same representatives.
        with warnings.catch_warnings(action="ignore", category=covey.exceptions.MissingBarsWarning):
            model.set_params(reject="calibrated", rejection_rate=rate)._calibrate(objects)
        rows.append(rejected(model, found.asked))
    return [*rows, by_threshold]


def is_kept(rate: float, mean: float, error: float) -> bool:
    return abs(mean - rate) <= max(rate / 5, 2 * error)


def measure(name: str) -> tuple[list[str], list[bool]]:
    """The rows of a set, and whether each rate is kept."""
    problem = PROBLEMS[name]()
    splits = [split(problem, seed) for seed in range(SPLITS)]
    found = np.array([shares(part, problem.similarity) for part in splits])  # splits, rates, groups
    means, errors = found.mean(axis=0), found.std(axis=0, ddof=1) / np.sqrt(SPLITS)
    n = int(np.mean([len(part.y) for part in splits]))
    n_classes = np.unique(splits[0].y).size
    lines, kept = [], []
    for at, rate in enumerate((*RATES, None)):
        cells = [f"{mean:.3f} ± {error:.3f}" for mean, error in zip(means[at], errors[at], strict=True)]
        if rate is not None:
            kept.append(is_kept(rate, means[at, 0], errors[at, 0]))
        verdict = "" if rate is None else "yes" if kept[-1] else "**no**"
        other = ["", ""] if problem.other is None else [problem.other, cells[2]]
        shown = ["threshold" if rate is None else rate, cells[0], verdict, cells[1], *other]
        lines.append(" | ".join(["", *map(str, [name, n, n_classes, *shown]), ""]).strip())
    return lines, kept


def main(words: list[str]) -> None:
    names = [name for name in PROBLEMS if not words or any(word.lower() in name.lower() for word in words)]
    lines, kept = [], []
    for name in names:
        rows, held = measure(name)
        print("\n".join(rows), flush=True)
        lines, kept = lines + rows, [*kept, held]
    counts = ", ".join(
        f"{sum(column)} of {len(names)} at {rate}" for rate, column in zip(RATES, zip(*kept, strict=True), strict=True)
    )
    verdict = f"Sets on which the rate is kept: **{counts}**."
    print(verdict)
    if not words:
        text = TITLE.format(version=covey.__version__, splits=SPLITS, foreign=FOREIGN, verdict=verdict)
        RESULTS.write_text(text + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
