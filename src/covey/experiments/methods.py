"""The methods that are compared: the paper's, by its names for them, and those that some figures add."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

from sklearn.base import clone

from covey.selectors.crs import CRS
from covey.selectors.delta_medoids import DeltaMedoids
from covey.selectors.ds3 import DS3
from covey.selectors.simple import KeepAll, RandomSelector


@dataclass(frozen=True)
class Method:
    """How to make a selector from a similarity, a seed and a number of jobs; whether the seed changes anything."""

    make: Callable[[Any, int, int | None], Any]
    drawn: bool = True


class RandomOfSameSize(RandomSelector):
    """A random choice that takes from each cluster as many as another selector does."""

    def __init__(self, selector: Any, *, random_state: Any = None, verbose: int = 0) -> None:
        self.selector = selector
        self.random_state = random_state
        self.verbose = verbose

    @property
    def similarity(self) -> Any:
        return self.selector.similarity

    def fit(self, X: Any, y: Any = None) -> Self:
        prototypes = clone(self.selector).fit(X, y).prototypes_
        self.n = {label: prototype.indices.size for label, prototype in prototypes.items()}
        return super().fit(X, y)


def crs(k: int, **options: Any) -> Method:
    return Method(lambda s, seed, n_jobs: CRS(k, similarity=s, random_state=seed, n_jobs=n_jobs, **options))


DELTA_MEDOIDS, SPARSE, RANDOM, ALL = "delta-medoids", "DS3", "random-5%", "full-100%"
SAME_SIZE = "random, as many as CRS-k10"
DESCENT_KS = (2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 25, 30, 40, 50)


def by_descent(k: int) -> str:
    return f"CRS-k{k}, NN-Descent"


PAPER_METHODS = (DELTA_MEDOIDS, SPARSE, RANDOM, ALL, "CRS-k5", "CRS-k10", "CRS-k15")
METHODS: dict[str, Method] = {
    DELTA_MEDOIDS: Method(lambda s, seed, n_jobs: DeltaMedoids(similarity=s, random_state=seed, n_jobs=n_jobs)),
    SPARSE: Method(lambda s, seed, n_jobs: DS3(budget=3, similarity=s, n_jobs=n_jobs), drawn=False),
    RANDOM: Method(lambda s, seed, n_jobs: RandomSelector(0.05, similarity=s, random_state=seed)),
    ALL: Method(lambda s, seed, n_jobs: KeepAll(similarity=s), drawn=False),
    **{f"CRS-k{k}": crs(k) for k in (3, 5, 10, 12, 15)},
    "CRS-k1, all covered, threshold .955": crs(1, coverage=1.0, threshold=0.955),
    SAME_SIZE: Method(
        lambda s, seed, n_jobs: RandomOfSameSize(
            CRS(10, similarity=s, random_state=seed, n_jobs=n_jobs), random_state=seed
        )
    ),
    **{by_descent(k): crs(k, graph="nn-descent") for k in DESCENT_KS},
}
