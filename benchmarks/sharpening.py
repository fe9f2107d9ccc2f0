"""What sharpening wins over CRS, beside what else a user could pick, and what it costs.

Run with ``COVEY_DATA=folder python -m benchmarks.sharpening`` (about twenty minutes on two cores). It has three parts,
prints each row and writes benchmarks/SHARPENING.md:

large   Fashion-MNIST and 20 Newsgroups with their official splits, at several sizes, beside other methods.
small   Small data sets of many kinds over ten random splits: does sharpening lose anywhere?
cost    Quality against evaluations, for a similarity that is slow.

Words after it choose parts; the file then keeps what it holds of the others. The peers are installed by ``pip install
".[bench]"``. A data set that is missing, or whose fingerprints need RDKit where it is not installed, is left out,
and the reason is printed.
"""

import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numba
import numpy as np
from sklearn.metrics import f1_score, precision_score, recall_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import normalize

import covey
from benchmarks.small_sets import SETS, names_by_language
from covey import datasets
from tests import data

RESULTS = Path(__file__).with_name("SHARPENING.md")
TITLE = "# Sharpened prototypes\n\nWritten by `python -m benchmarks.sharpening`.\n"
SPLITS = 10
SEEDS = 5


def crs(k: int, similarity: Any = "cosine", **options: Any) -> Any:
    return covey.CRS(k, similarity=similarity, random_state=0, n_jobs=-1, **options)


def sharpened(inner: Any, **options: Any) -> Any:
    """The selector under test around another one; it takes the similarity of that one."""
    return covey.Sharpened(inner, random_state=0, n_jobs=-1, **options)


@dataclass(frozen=True)
class Split:
    """Objects with labels to choose from, and queries with their true labels."""

    X: Any
    y: Any
    queries: Any
    truth: Any

    @property
    def n(self) -> int:
        return len(self.y)


# Part 1, "large"


@dataclass(frozen=True)
class Row:
    """What one method selected of how many objects, and how well the nearest selected object classifies."""

    name: str
    selected: float
    precision: float
    recall: float
    evaluations: float | None
    seconds: float

    def __str__(self) -> str:
        evaluations = "" if self.evaluations is None else f"{self.evaluations:.0f}"
        quality = f"{self.precision:.3f} | {self.recall:.3f}"
        return f"| {self.name} | {self.selected:.2%} | {quality} | {evaluations} | {self.seconds:.1f} |"


def fitted_row(name: str, selector: Any, split: Split) -> tuple[Any, Row]:
    """Fit one of covey's selectors and measure it."""
    start = time.perf_counter()
    model = covey.NearestPrototypeClassifier(selector).fit(split.X, split.y)
    seconds = time.perf_counter() - start
    selected = model.selector_
    quality = precision_and_recall(split.truth, model.predict(split.queries))
    shares = selected.sample_indices_.size / split.n, selected.n_evaluations_ / split.n
    return selected, Row(name, shares[0], *quality, shares[1], seconds)


def chosen_row(name: str, choose: Callable[[], Any], evaluations: float | None, split: Split) -> Row:
    """Measure a function that returns the chosen rows of the split's objects."""
    start = time.perf_counter()
    rows = choose()
    seconds = time.perf_counter() - start
    model = covey.NearestPrototypeClassifier(covey.KeepAll()).fit(split.X[rows], split.y[rows])
    quality = precision_and_recall(split.truth, model.predict(split.queries))
    return Row(name, rows.size / split.n, *quality, evaluations, seconds)


def precision_and_recall(truth: Any, guess: Any) -> tuple[float, float]:
    """Macro averages; a class that is never answered has precision 0."""
    options = {"average": "macro", "zero_division": 0}
    return precision_score(truth, guess, **options), recall_score(truth, guess, **options)


def medoids(similarities: Any, size: int) -> Any:
    """The medoids of one class by FasterPAM."""
    import kmedoids

    return kmedoids.fasterpam(1 - similarities, size, random_state=0).medoids


def facilities(similarities: Any, size: int) -> Any:
    """The members of one class that facility location picks first."""
    from apricot import FacilityLocationSelection

    selection = FacilityLocationSelection(size, metric="precomputed", optimizer="lazy")
    return selection.fit(similarities.astype(np.float64)).ranking


def by_class(select: Callable[[Any, int], Any], sizes: dict[Any, int], split: Split) -> Any:
    """The rows that `select` chooses in each class from the cosines of all pairs of its members."""
    found = []
    for label, size in sizes.items():
        members = np.flatnonzero(split.y == label)
        Z = normalize(split.X[members].astype(np.float32))
        products = Z @ Z.T
        similarities = products if isinstance(products, np.ndarray) else products.toarray()
        found.append(members[np.asarray(select(similarities, size), dtype=np.intp)])
    return np.concatenate(found)


def condensed(rows: Any, split: Split) -> Any:
    """Those of the given rows that imbalanced-learn's condensed nearest neighbor keeps."""
    from imblearn.under_sampling import CondensedNearestNeighbour
    from sklearn.neighbors import KNeighborsClassifier

    neighbor = KNeighborsClassifier(1, algorithm="brute", metric="cosine")
    method = CondensedNearestNeighbour(n_neighbors=neighbor, random_state=0)
    method.fit_resample(split.X[rows].astype(np.float32), split.y[rows])
    return rows[method.sample_indices_]


def condensed_together(rows: Any, split: Split) -> Any:
    """Those of the given rows that Hart's rule keeps: in passes, each that the kept ones of all classes get wrong."""
    Z, y = normalize(split.X[rows].astype(np.float32)), split.y[rows]
    nearest, guess, kept = np.full(y.size, -np.inf), np.full(y.size, -1), np.zeros(y.size, dtype=bool)
    order, before = np.random.default_rng(0).permutation(y.size), -1
    while kept.sum() > before:
        before = kept.sum()
        for row in order:
            if guess[row] != y[row] and not kept[row]:
                kept[row] = True
                products = Z @ Z[row].T
                similarities = products if isinstance(products, np.ndarray) else products.toarray().ravel()
                closer = similarities > nearest
                nearest[closer], guess[closer] = similarities[closer], y[row]
    return rows[kept]


def random_row(sizes: dict[Any, int], split: Split) -> Row:
    """The mean of several random choices with given class sizes."""
    runs = [fitted_row("random", covey.RandomSelector(n=sizes, random_state=seed), split)[1] for seed in range(SEEDS)]
    means = np.mean([[r.selected, r.precision, r.recall, 0, r.seconds] for r in runs], axis=0)
    return Row(f"random, mean of {SEEDS}", *means)


def at_one_size(k: int, size: float | None, split: Split) -> Iterator[Row]:
    """CRS, what sharpening makes of it, and other methods that select as many of each class as CRS does."""
    inner, row = fitted_row(f"CRS, k = {k}", crs(k), split)
    yield row
    name = f"**sharpened**, k = {k}" + ("" if size is None else f", size = {size:g}")
    yield fitted_row(name, sharpened(crs(k), size=size), split)[1]
    if k not in PEERS:
        return
    sizes = {label: prototype.indices.size for label, prototype in inner.prototypes_.items()}
    pairs = sum(int(count) * (int(count) - 1) // 2 for count in np.unique(split.y, return_counts=True)[1])
    for name, select in (("k-medoids (FasterPAM)", medoids), ("facility location (apricot)", facilities)):
        yield chosen_row(name, lambda s=select: by_class(s, sizes, split), pairs / split.n, split)
    yield random_row(sizes, split)


def official(load: Callable[..., Any]) -> Split:
    train, test = (load(subset, return_X_y=True) for subset in ("train", "test"))
    return Split(*train, *test)


LARGE = {
    "Fashion-MNIST, cosine": (datasets.load_fashion_mnist, {30: None, 60: 0.0105, 120: 0.006, 200: 0.004}, 6_000),
    "20 Newsgroups, cosine of TF-IDF": (datasets.load_20newsgroups, {10: 0.056, 15: 0.033}, 11_314),
}
"""The loader, the numbers of neighbors of CRS with the size for sharpening, and how many training objects condensed
nearest neighbor chooses from. It classifies a class again after each object that it keeps, which takes too long for
60 000 images."""
PEERS = (60, 15)
"""With these numbers of neighbors of CRS, other methods are run as well."""


def large() -> Iterator[str]:
    for name, (load, ks, few) in LARGE.items():
        try:
            split = official(load)
        except FileNotFoundError as error:
            print(f"{name} is left out: {error}")
            continue
        yield f"### {name}: {split.n} training objects\n"
        yield "| method | selected | precision | recall | evaluations an object | seconds of fit |"
        yield "|---|---|---|---|---|---|"
        for k, size in ks.items():
            yield from map(str, at_one_size(k, size, split))
        rows = np.arange(split.n)
        if few < split.n:
            rows = np.sort(train_test_split(rows, train_size=few, random_state=0, stratify=split.y)[0])
        label = "condensed nearest neighbor" + (f" of {few} drawn objects" if few < split.n else "")
        for remark, method in (
            (" (imbalanced-learn)", condensed),
            (", Hart's rule for all classes", condensed_together),
        ):
            yield str(chosen_row(label + remark, lambda m=method, r=rows, s=split: m(r, s), None, split))
        yield str(fitted_row("all objects (1-NN)", covey.KeepAll(), split)[1]) + "\n"


LARGE_TEXT = f"""\
Official splits, macro precision and recall on the test objects. The other methods select as many of each class as CRS
does. k-medoids (PyPI `kmedoids`) and facility location (apricot-select) get all similarities within a class, and their
evaluations are these pairs; apricot compiles its loop again for each class. The random rows are means of {SEEDS} seeds.
Condensed nearest neighbor decides its size itself, and its evaluations are not counted. That of imbalanced-learn keeps
the smallest class whole and condenses each other class against this one alone. Hart's rule condenses all together.
"""


# Part 2, "small"


def take(objects: Any, rows: Any) -> Any:
    return [objects[row] for row in rows] if isinstance(objects, list) else objects[rows]


def drawn_split(objects: Any, y: Any, similarity: Any, seed: int, share: float = 0.7) -> Split:
    """A random stratified split with this share of objects to choose from."""
    kept, asked = train_test_split(np.arange(len(y)), train_size=share, random_state=seed, stratify=y)
    if similarity == "precomputed":
        return Split(objects[np.ix_(kept, kept)], y[kept], objects[np.ix_(asked, kept)], y[asked])
    return Split(take(objects, kept), y[kept], take(objects, asked), y[asked])


def f1(selector: Any, split: Split) -> tuple[float, Any]:
    """Macro F1 of the nearest selected object, and the fitted selector."""
    model = covey.NearestPrototypeClassifier(selector).fit(split.X, split.y)
    guess = model.predict(split.queries)
    return f1_score(split.truth, guess, average="macro", zero_division=0), model.selector_


def small() -> Iterator[str]:
    yield "| data | objects | classes | k | selected | CRS | sharpened | difference | won / lost | all objects |"
    yield "|---|---|---|---|---|---|---|---|---|---|"
    for name, make in SETS.items():
        try:
            objects, y, similarity = make()
        except (FileNotFoundError, ImportError) as error:
            print(f"{name} is left out: {error}")
            continue
        splits = [drawn_split(objects, y, similarity, seed) for seed in range(SPLITS)]
        everything = np.mean([f1(covey.KeepAll(similarity=similarity), split)[0] for split in splits])
        for k in (5, 10):
            plain, sharp, shares = [], [], []
            for split in splits:
                score, selector = f1(crs(k, similarity), split)
                plain.append(score)
                shares.append(selector.sample_indices_.size / split.n)
                sharp.append(f1(sharpened(crs(k, similarity)), split)[0])
            yield (
                f"| {name} | {len(y)} | {np.unique(y).size} | {k} | {np.mean(shares):.1%} | {np.mean(plain):.3f} "
                f"| {np.mean(sharp):.3f} | {against(sharp, plain)} | {everything:.3f} |"
            )


def against(sharp: list[float], plain: list[float]) -> str:
    """The mean difference with its standard error, and how many splits were won and lost."""
    gains = np.subtract(sharp, plain)
    error = gains.std(ddof=1) / np.sqrt(gains.size)
    return f"{gains.mean():+.3f} ± {error:.3f} | {np.sum(gains > 0)} / {np.sum(gains < 0)}"


SMALL_TEXT = f"""\
Mean macro F1 over {SPLITS} random stratified splits, 70 % to choose from and 30 % to classify. The difference is the
mean over the splits with its standard error, as if the splits were independent. Selected is the share that CRS selects.
"""


# Part 3, "cost"


@numba.njit
def cosine(x: Any, y: Any) -> Any:
    """The cosine as a compiled function of a user: covey can only call it."""
    return np.dot(x, y) / np.sqrt(np.dot(x, x) * np.dot(y, y))


def edit(a: str, b: str) -> float:
    """The edit similarity as a Python function of a user."""
    from rapidfuzz.distance import Levenshtein

    return Levenshtein.normalized_similarity(a, b)


def some_images() -> Iterator[Split]:
    """6 000 training images drawn at random, and the official test images."""
    X, y, queries, truth = data.fashion_mnist()
    for seed in range(COST_SPLITS):
        rows = train_test_split(np.arange(len(y)), train_size=6_000, random_state=seed, stratify=y)[0]
        yield Split(X[rows].astype(np.float32), y[rows], queries.astype(np.float32), truth)


def some_names() -> Iterator[Split]:
    """6 000 surnames drawn at random to choose from, and as many to classify."""
    names, languages, _ = names_by_language(12_000)
    for seed in range(COST_SPLITS):
        yield drawn_split(names, languages, edit, seed, share=0.5)


COST_SPLITS = 2
WAYS: dict[str, dict[str, Any]] = {
    "margins listed, 10 neighbors": {"margins": "listed", "n_neighbors": 10},
    "margins listed, 20 neighbors": {"margins": "listed", "n_neighbors": 20},
    "margins listed": {"margins": "listed"},
    "10 neighbors, one round": {"n_neighbors": 10, "max_rounds": 1},
    "as it is": {},
}
"""Ways to sharpen, from few evaluations to many."""
COST: dict[str, tuple[Callable[[], Iterator[Split]], Any, tuple[int, ...]]] = {
    "Fashion-MNIST, cosine as a compiled function": (some_images, cosine, (10, 40)),
    "surnames, edit similarity as a Python function": (some_names, edit, (10,)),
}


def cost() -> Iterator[str]:
    for name, (make, similarity, ks) in COST.items():
        try:
            splits = list(make())
        except FileNotFoundError as error:
            print(f"{name} is left out: {error}")
            continue
        yield f"### {name}: {splits[0].n} objects to choose from\n"
        yield "| method | selected | macro F1 | evaluations an object | share of all pairs |"
        yield "|---|---|---|---|---|"
        for k in ks:
            yield cost_row(f"CRS, k = {k}", lambda k=k, s=similarity: crs(k, s, graph="nn-descent"), splits)
            for words, options in WAYS.items():
                yield cost_row(
                    f"sharpened, k = {k}, {words}",
                    lambda k=k, o=options, s=similarity: sharpened(crs(k, s, graph="nn-descent"), **o),
                    splits,
                )
        yield cost_row("all objects (1-NN)", lambda s=similarity: covey.KeepAll(similarity=s), splits) + "\n"


def cost_row(name: str, make: Callable[[], Any], splits: list[Split]) -> str:
    """The means over the splits."""
    found = []
    for split in splits:
        score, selector = f1(make(), split)
        size, evaluations = selector.sample_indices_.size, selector.n_evaluations_
        found.append((size / split.n, score, evaluations / split.n, evaluations / (split.n * (split.n - 1) / 2)))
    selected, score, evaluations, share = np.mean(found, axis=0)
    return f"| {name} | {selected:.1%} | {score:.3f} | {evaluations:.0f} | {share:.1%} |"


COST_TEXT = f"""\
Quality against evaluations, for similarities that cost: covey calls them pair by pair, without products of matrices
that would bound them. All figures are means over {COST_SPLITS} random splits. CRS builds its graphs by NN-Descent. Its
evaluations are included in those of sharpening. "All pairs" are the pairs of all objects to choose from, also across
classes.
"""


PARTS: dict[str, tuple[str, str, Callable[[], Iterator[str]]]] = {
    "large": ("Beside other methods", LARGE_TEXT, large),
    "small": ("Small sets of many kinds", SMALL_TEXT, small),
    "cost": ("Quality against evaluations", COST_TEXT, cost),
}


def held() -> dict[str, str]:
    """The sections that the file holds by their headings."""
    if not RESULTS.exists():
        return {}
    sections = RESULTS.read_text(encoding="utf-8").split("\n## ")[1:]
    return {heading: content.strip() for heading, _, content in (section.partition("\n") for section in sections)}


def main() -> None:
    warnings.simplefilter("ignore")
    wrong = set(sys.argv[1:]) - set(PARTS)
    if wrong:
        sys.exit(f"parts must be of {', '.join(PARTS)}, got {', '.join(sorted(wrong))}")
    sections = held()
    for part in sys.argv[1:] or PARTS:
        heading, text, run = PARTS[part]
        lines = []
        for line in run():
            print(line, flush=True)
            lines.append(line)
        sections[heading] = text + "\n" + "\n".join(lines).strip()
        written = [f"\n## {heading}\n\n{sections[heading]}\n" for heading, *_ in PARTS.values() if heading in sections]
        RESULTS.write_text(TITLE + "".join(written), encoding="utf-8")


if __name__ == "__main__":
    main()
