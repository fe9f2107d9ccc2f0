"""What sharpening wins over CRS, beside what else a user could pick, and what it costs.

Run with ``COVEY_DATA=folder python -m benchmarks.sharpening`` (about two hours of one core). It has four parts, prints
each row and writes benchmarks/SHARPENING.md:

images  Fashion-MNIST with its official split, at several sizes, beside other methods.
texts   The same for 20 Newsgroups.
small   Small data sets of many kinds over ten random splits: does sharpening lose anywhere?
cost    Quality against evaluations, for a similarity that is slow.

Words after it choose parts; the file then keeps what it holds of the others. What depends on a seed is measured with
five of them, and the file tells the mean and the standard deviation. The peers are installed by ``pip install
".[bench]"``. A data set that is missing, or whose fingerprints need RDKit where it is not installed, is left out,
and the reason is printed.
"""

import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numba
import numpy as np
from sklearn.metrics import f1_score, precision_score, recall_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import normalize

import covey
from benchmarks import data
from benchmarks.small_sets import SETS, names_by_language
from benchmarks.spread import mean_and_spread
from covey import datasets

RESULTS = Path(__file__).with_name("SHARPENING.md")
TITLE = "# Sharpened prototypes\n\nWritten by `python -m benchmarks.sharpening`.\n"
SPLITS = 10
SEEDS = range(5)
"""What depends on chance is measured with each of these seeds."""


class TimedCRS(covey.CRS):
    """CRS that notes how long its fit took, so that the one inside `Sharpened` can be reported as well."""

    def fit(self, X: Any, y: Any = None, **fit_params: Any) -> "TimedCRS":
        start = time.process_time()
        super().fit(X, y, **fit_params)
        self.seconds_ = time.process_time() - start
        return self


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


# Parts 1 and 2, "images" and "texts"


@dataclass(frozen=True)
class Run:
    """What one fit selected of the objects, how well the nearest selected object classifies, and what it took."""

    selected: float
    precision: float
    recall: float
    evaluations: float | None
    seconds: float


def row(name: str, runs: list[Run]) -> str:
    """One row of the table: the mean of the runs, and the standard deviation of their quality if there are several."""
    evaluations = "" if runs[0].evaluations is None else f"{np.mean([run.evaluations for run in runs]):.0f}"
    quality = " | ".join(mean_and_spread([getattr(run, each) for run in runs]) for each in ("precision", "recall"))
    selected, seconds = (np.mean([getattr(run, each) for run in runs]) for each in ("selected", "seconds"))
    return f"| {name} | {selected:.2%} | {quality} | {evaluations} | {seconds:.1f} |"


def fitted_run(selector: Any, split: Split) -> tuple[Any, Run]:
    """Fit one of covey's selectors and measure it."""
    start = time.process_time()
    fitted = selector.fit(split.X, split.y)
    return fitted, run_of(fitted, split, time.process_time() - start)


def run_of(fitted: Any, split: Split, seconds: float) -> Run:
    """Measure what a fitted selector has selected."""
    return chosen_run(fitted.sample_indices_, fitted.n_evaluations_ / split.n, split, seconds)


def chosen_run(rows: Any, evaluations: float | None, split: Split, seconds: float) -> Run:
    """Measure a choice of rows of the split's objects."""
    model = covey.NearestPrototypeClassifier(covey.KeepAll()).fit(split.X[rows], split.y[rows])
    quality = precision_and_recall(split.truth, model.predict(split.queries))
    return Run(rows.size / split.n, *quality, evaluations, seconds)


def timed_run(choose: Callable[[], Any], evaluations: float | None, split: Split) -> Run:
    """Measure a function that returns the chosen rows of the split's objects."""
    start = time.process_time()
    rows = choose()
    return chosen_run(rows, evaluations, split, time.process_time() - start)


def precision_and_recall(truth: Any, guess: Any) -> tuple[float, float]:
    """Macro averages; a class that is never answered has precision 0."""
    options = {"average": "macro", "zero_division": 0}
    return precision_score(truth, guess, **options), recall_score(truth, guess, **options)


def medoids(similarities: Any, size: int, seed: int) -> Any:
    """The medoids of one class by FasterPAM."""
    import kmedoids

    return kmedoids.fasterpam(1 - similarities, size, random_state=seed).medoids


def facilities(similarities: Any, size: int, _: int) -> Any:
    """The members of one class that facility location picks first."""
    from apricot import FacilityLocationSelection

    selection = FacilityLocationSelection(size, metric="precomputed", optimizer="lazy")
    return selection.fit(similarities.astype(np.float64)).ranking


def by_class(select: Callable[[Any, int, int], Any], sizes: dict[Any, int], split: Split, seed: int) -> Any:
    """The rows that `select` chooses in each class from the cosines of all pairs of its members."""
    found = []
    for label, size in sizes.items():
        members = np.flatnonzero(split.y == label)
        Z = normalize(split.X[members].astype(np.float32))
        products = Z @ Z.T
        similarities = products if isinstance(products, np.ndarray) else products.toarray()
        found.append(members[np.asarray(select(similarities, size, seed), dtype=np.intp)])
    return np.concatenate(found)


def condensed(rows: Any, split: Split, seed: int) -> Any:
    """Those of the given rows that imbalanced-learn's condensed nearest neighbor keeps."""
    from imblearn.under_sampling import CondensedNearestNeighbour
    from sklearn.neighbors import KNeighborsClassifier

    neighbor = KNeighborsClassifier(1, algorithm="brute", metric="cosine")
    method = CondensedNearestNeighbour(n_neighbors=neighbor, random_state=seed)
    method.fit_resample(split.X[rows].astype(np.float32), split.y[rows])
    return rows[method.sample_indices_]


def condensed_together(rows: Any, split: Split, seed: int) -> Any:
    """Those of the given rows that Hart's rule keeps: in passes, each that the kept ones of all classes get wrong."""
    Z, y = normalize(split.X[rows].astype(np.float32)), split.y[rows]
    nearest, guess, kept = np.full(y.size, -np.inf), np.full(y.size, -1), np.zeros(y.size, dtype=bool)
    order, before = np.random.default_rng(seed).permutation(y.size), -1
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


def drawn_rows(split: Split, n: int, seed: int) -> Any:
    """This many of the rows, drawn with equal shares of each class, or all of them if there are no more."""
    rows = np.arange(split.n)
    if n >= split.n:
        return rows
    return np.sort(train_test_split(rows, train_size=n, random_state=seed, stratify=split.y)[0])


def at_one_size(k: int, size: float | None, split: Split) -> Iterator[str]:
    """CRS, what sharpening makes of it, and other methods that select as many of each class as CRS does."""
    pairs = [fitted_run(covey.Sharpened(TimedCRS(k), size=size, random_state=seed, n_jobs=1), split) for seed in SEEDS]
    inner = [fitted.selector_ for fitted, _ in pairs]
    yield row(f"CRS, k = {k}", [run_of(each, split, each.seconds_) for each in inner])
    name = f"**sharpened**, k = {k}" + ("" if size is None else f", size = {size:g}")
    yield row(name, [run for _, run in pairs])
    if k in SAME_SEED:
        same = [covey.CRS(k, random_state=seed) for seed in SEEDS]
        both = [covey.Sharpened(s, size=size, random_state=s.random_state, n_jobs=1) for s in same]
        yield row(f"{name}, CRS with the same seed", [fitted_run(each, split)[1] for each in both])
    if k not in PEERS:
        return
    sizes = {label: prototype.indices.size for label, prototype in inner[0].prototypes_.items()}
    n_pairs = sum(int(count) * (int(count) - 1) // 2 for count in np.unique(split.y, return_counts=True)[1])
    for name, select, seeds in (
        ("k-medoids (FasterPAM)", medoids, SEEDS),
        ("facility location (apricot)", facilities, SEEDS[:1]),  # no chance is in it
    ):
        ways = [lambda s=seed, m=select: by_class(m, sizes, split, s) for seed in seeds]
        yield row(name, [timed_run(way, n_pairs / split.n, split) for way in ways])
    random = [covey.RandomSelector(n=sizes, random_state=seed) for seed in SEEDS]
    yield row("random", [fitted_run(each, split)[1] for each in random])


@dataclass(frozen=True)
class Large:
    """A large data set: its loader, the numbers of neighbors of CRS with the size for sharpening, and how many of its
    training objects condensed nearest neighbor chooses from. It classifies a class again after each object that it
    keeps, which takes too long for 60 000 images.
    """

    name: str
    load: Callable[..., Any]
    ks: dict[int, float | None]
    few: int

    def split(self) -> Split:
        """The official split."""
        train, test = (self.load(subset, return_X_y=True) for subset in ("train", "test"))
        return Split(*train, *test)


IMAGES = Large(
    "Fashion-MNIST, cosine", datasets.load_fashion_mnist, {30: None, 60: 0.0105, 120: 0.006, 200: 0.004}, 6_000
)
TEXTS = Large("20 Newsgroups, cosine of TF-IDF", datasets.load_20newsgroups, {10: 0.056, 15: 0.033}, 11_314)
PEERS = (60, 15)
"""With these numbers of neighbors of CRS, other methods are run as well."""
SAME_SEED = (30, 60, 15)
"""With these, a seed that is set on both selectors is tried as well."""


def large(data: Large) -> Iterator[str]:
    try:
        split = data.split()
    except FileNotFoundError as error:
        print(f"{data.name} is left out: {error}")
        return
    covey.Sharpened(covey.CRS(5), random_state=0).fit(split.X[:500], split.y[:500])  # compiles
    yield f"{split.n} training objects.\n"
    yield "| method | selected | precision | recall | evaluations an object | CPU seconds of fit |"
    yield "|---|---|---|---|---|---|"
    for k, size in data.ks.items():
        yield from at_one_size(k, size, split)
    label = "condensed nearest neighbor" + (f" of {data.few} drawn objects" if data.few < split.n else "")
    for remark, method in (
        (" (imbalanced-learn)", condensed),
        (", Hart's rule for all classes", condensed_together),
    ):
        ways = [lambda s=seed, m=method: m(drawn_rows(split, data.few, s), split, s) for seed in SEEDS]
        yield row(label + remark, [timed_run(way, None, split) for way in ways])
    yield row("all objects (1-NN)", [fitted_run(covey.KeepAll(), split)[1]])


LARGE_TEXT = f"""\
Official split, macro precision and recall on the test objects: mean ± standard deviation over the {len(SEEDS)} seeds
{SEEDS[0]} to {SEEDS[-1]}. A row without ± has nothing random in it. `Sharpened` has the seed, and CRS inside gets one
from it; the rows of CRS are those that sharpening has begun with. "CRS with the same seed" means that `random_state`
was set to the seed on both. The other methods select as many of each class as CRS does with seed {SEEDS[0]}.
k-medoids (PyPI `kmedoids`) and facility location (apricot-select) get all similarities within a class, and their
evaluations are these pairs; apricot compiles its loop again for each class.
Condensed nearest neighbor decides its size itself, and its evaluations are not counted. That of imbalanced-learn keeps
the smallest class whole and condenses each other class against this one alone. Hart's rule condenses all together.
Times are CPU seconds with one thread.
"""


# Part 3, "small"


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


# Part 4, "cost"


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
    for seed in SEEDS:
        rows = train_test_split(np.arange(len(y)), train_size=6_000, random_state=seed, stratify=y)[0]
        yield Split(X[rows].astype(np.float32), y[rows], queries.astype(np.float32), truth)


def some_names() -> Iterator[Split]:
    """6 000 surnames drawn at random to choose from, and as many to classify."""
    names, languages, _ = names_by_language(12_000)
    for seed in SEEDS:
        yield drawn_split(names, languages, edit, seed, share=0.5)


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
    """The means over the splits, and the standard deviation of the score."""
    found = []
    for split in splits:
        score, selector = f1(make(), split)
        size, evaluations = selector.sample_indices_.size, selector.n_evaluations_
        found.append((size / split.n, score, evaluations / split.n, evaluations / (split.n * (split.n - 1) / 2)))
    selected, _, evaluations, share = np.mean(found, axis=0)
    return f"| {name} | {selected:.1%} | {mean_and_spread([f[1] for f in found])} | {evaluations:.0f} | {share:.1%} |"


COST_TEXT = f"""\
Quality against evaluations, for similarities that cost: covey calls them pair by pair, without products of matrices
that would bound them. All figures are means over {len(SEEDS)} random splits, drawn with the seeds {SEEDS[0]} to
{SEEDS[-1]}; macro F1 comes with its standard deviation. CRS builds its graphs by NN-Descent. Its evaluations are
included in those of sharpening. "All pairs" are the pairs of all objects to choose from, also across classes.
"""


PARTS: dict[str, tuple[str, str, Callable[[], Iterator[str]]]] = {
    "images": (IMAGES.name, LARGE_TEXT, partial(large, IMAGES)),
    "texts": (TEXTS.name, "As for the images.\n", partial(large, TEXTS)),
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
    for part in sys.argv[1:] or PARTS:
        heading, text, run = PARTS[part]
        lines = []
        for line in run():
            print(line, flush=True)
            lines.append(line)
        sections = held()  # another process may have measured another part meanwhile
        sections[heading] = text + "\n" + "\n".join(lines).strip()
        written = [f"\n## {heading}\n\n{sections[heading]}\n" for heading, *_ in PARTS.values() if heading in sections]
        RESULTS.write_text(TITLE + "".join(written), encoding="utf-8")


if __name__ == "__main__":
    main()
