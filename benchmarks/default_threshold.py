"""What the default threshold adds to a prototype, and which known objects it rejects.

Run with ``COVEY_DATA=folder python -m benchmarks.default_threshold`` (about four minutes on one core). It prints each
row and writes benchmarks/DEFAULT_THRESHOLD.md. A data set that is missing, or whose fingerprints need RDKit where it is
not installed, is left out, and the reason is printed.
"""

import textwrap
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.metrics import f1_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import minmax_scale

import covey
from benchmarks import data
from benchmarks.sharpening import Split, drawn_split, take
from benchmarks.small_sets import SETS
from benchmarks.spread import mean_and_spread
from covey import datasets

RESULTS = Path(__file__).with_name("DEFAULT_THRESHOLD.md")
SEEDS = range(5)
K = 10


def scaled(load: Callable[..., Any]) -> Callable[[], Any]:
    """Columns of measurements, brought to one scale."""

    def make() -> tuple[Any, Any, Any]:
        X, y = load(return_X_y=True)
        return minmax_scale(X), y, "euclidean"

    return make


def some(y: Any, n: int) -> Any:
    """The rows of n objects, as many of each class as their share."""
    return np.sort(train_test_split(np.arange(len(y)), train_size=n, random_state=0, stratify=y)[0])


def images() -> tuple[Any, Any, Any]:
    X, y, *_ = data.fashion_mnist()
    rows = some(y, 6_000)
    return X[rows].astype(np.float32), y[rows], "cosine"


def hosts(n: int) -> Callable[[], Any]:
    """Simulated hosts of a network, by the servers that they contact."""

    def make() -> tuple[Any, Any, Any]:
        made = datasets.make_network_hosts(0)
        rows = some(made.target, n)
        return take(made.data, rows), made.target[rows], "cosine"

    return make


ALL: dict[str, Callable[[], tuple[Any, Any, Any]]] = {
    **SETS,
    "Fashion-MNIST, cosine": images,
    "simulated hosts, cosine": hosts(4_000),
    "few simulated hosts, cosine": hosts(400),
    "iris, scaled, euclidean": scaled(load_iris),
    "wine, scaled, euclidean": scaled(load_wine),
    "breast cancer, scaled, euclidean": scaled(load_breast_cancer),
}

TITLE = """# The default threshold

Written by `python -m benchmarks.default_threshold`: `CRS({k})` with the default threshold, the homogeneity of each
cluster, beside `threshold=None`, over {n} random stratified splits with the seeds {first} to {last}, 70 % to choose
from and 30 % to classify. "More" is how many more the default selects, with the lowest and the highest of the splits.
"Alone" is the share of its representatives that stand for nothing but themselves. F1 is macro F1 of the nearest
representative. "Rejected" is the share of the test objects, all of known classes, that `reject="threshold"` rejects. ±
is the standard deviation over the splits.

{verdict}

| data | objects | none selects | default selects | more | alone | F1, none | F1, default | rejected |
|---|---|---|---|---|---|---|---|---|
"""


def measured(split: Split, similarity: Any, threshold: Any) -> dict[str, float]:
    """How many are selected and stand alone, how well they classify, and how many known objects are rejected."""
    selector = covey.CRS(K, threshold=threshold, similarity=similarity, random_state=0)
    model = covey.NearestPrototypeClassifier(selector).fit(split.X, split.y)
    guess = model.predict(split.queries)
    found = {
        "selected": model.selector_.sample_indices_.size / split.n,
        "alone": np.mean(np.concatenate([p.stands_for for p in model.selector_.prototypes_.values()]) == 1),
        "f1": f1_score(split.truth, guess, average="macro", zero_division=0),
    }
    if threshold is not None:
        model.set_params(reject="threshold")
        found["rejected"] = model.explain(split.queries).rejected.mean()
    return found


def main() -> None:
    warnings.simplefilter("ignore")
    rows, most, worst = [], [], []
    for name, make in ALL.items():
        try:
            objects, y, similarity = make()
        except (FileNotFoundError, ImportError) as error:
            print(f"{name} is left out: {error}")
            continue
        splits = [drawn_split(objects, y, similarity, seed) for seed in SEEDS]
        none, default = ([measured(s, similarity, t) for s in splits] for t in (None, "homogeneity"))
        of = lambda runs, what: [run[what] for run in runs]  # noqa: E731
        more = np.array(of(default, "selected")) / of(none, "selected") - 1
        most.append(more.mean())
        worst.append(np.mean(of(default, "rejected")))
        rows.append(
            f"| {name} | {splits[0].n} | {np.mean(of(none, 'selected')):.1%} | {np.mean(of(default, 'selected')):.1%} "
            f"| {more.mean():.0%} ({more.min():.0%} to {more.max():.0%}) | {np.mean(of(default, 'alone')):.0%} "
            f"| {mean_and_spread(of(none, 'f1'))} | {mean_and_spread(of(default, 'f1'))} "
            f"| {np.mean(worst[-1]):.1%} ± {np.std(of(default, 'rejected'), ddof=1):.1%} |"
        )
        print(rows[-1], flush=True)
    verdict = (
        f"On {len(rows)} sets, the default selects {min(most):.0%} to {max(most):.0%} more than no threshold does, "
        f"{np.median(most):.0%} in the middle. It rejects {min(worst):.1%} to {max(worst):.1%} of known objects, "
        f"{np.median(worst):.1%} in the middle."
    )
    verdict = textwrap.fill(verdict, 120)
    head = TITLE.format(k=K, n=len(SEEDS), first=SEEDS[0], last=SEEDS[-1], verdict=verdict)
    RESULTS.write_text(head + "\n".join(rows) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
