"""The methods that the paper compares, by its names for them."""

from collections.abc import Callable
from typing import Any

from covey.selectors.crs import CRS
from covey.selectors.delta_medoids import DeltaMedoids
from covey.selectors.ds3 import DS3
from covey.selectors.simple import KeepAll, RandomSelector

Make = Callable[[Any, int, int | None], Any]
"""A selector for a similarity, a seed and a number of jobs."""


def _crs(k: int) -> Make:
    return lambda similarity, seed, n_jobs: CRS(k, similarity=similarity, random_state=seed, n_jobs=n_jobs)


METHODS: dict[str, Make] = {
    "delta-medoids": lambda similarity, seed, n_jobs: DeltaMedoids(
        similarity=similarity, random_state=seed, n_jobs=n_jobs
    ),
    "DS3": lambda similarity, seed, n_jobs: DS3(budget=3, similarity=similarity, n_jobs=n_jobs),
    "random-5%": lambda similarity, seed, n_jobs: RandomSelector(0.05, similarity=similarity, random_state=seed),
    "full-100%": lambda similarity, seed, n_jobs: KeepAll(similarity=similarity),
    "CRS-k5": _crs(5),
    "CRS-k10": _crs(10),
    "CRS-k15": _crs(15),
}
