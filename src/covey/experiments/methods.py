"""The selectors of covey as methods of an experiment: CRS with any k, sharpened or not, and the baselines."""

from typing import Any

from covey.experiments.names import ALL, CRS_CURVE, DELTA_MEDOIDS, RANDOM, SHARPENED_CURVE, SPARSE
from covey.experiments.specs import SelectorFactory
from covey.selectors.baselines import KeepAll, RandomSelector
from covey.selectors.crs import CRS
from covey.selectors.delta_medoids import DeltaMedoids
from covey.selectors.ds3 import DS3


def crs(k: int, **options: Any) -> SelectorFactory:
    """CRS with k neighbors; the options go to `covey.CRS`.

    Examples
    --------
    >>> method = crs(10, coverage=0.9)
    >>> method.k, method.make("cosine", 0, None)
    (10, CRS(coverage=0.9, random_state=0))
    """

    def make(similarity: Any, seed: int, n_jobs: int | None) -> CRS:
        return CRS(k, similarity=similarity, random_state=seed, n_jobs=n_jobs, **options)

    return SelectorFactory(make, k=k, curve=CRS_CURVE)


def sharpened(k: int, **options: Any) -> SelectorFactory:
    """CRS with k neighbors, sharpened; the options go to `covey.Sharpened`. CRS is fitted as `crs` fits it.

    Examples
    --------
    >>> method = sharpened(10, size=0.02)
    >>> method.k, method.make("cosine", 0, None)
    (10, Sharpened(random_state=0, selector=CRS(random_state=0), size=0.02))
    """

    def make(similarity: Any, seed: int, n_jobs: int | None) -> Any:
        from covey.selectors.sharpened import Sharpened  # few experiments need it

        inner = CRS(k, similarity=similarity, random_state=seed, n_jobs=n_jobs)
        return Sharpened(inner, random_state=seed, n_jobs=n_jobs, **options)

    return SelectorFactory(make, k=k, curve=SHARPENED_CURVE)


BASELINES: dict[str, SelectorFactory] = {
    DELTA_MEDOIDS: SelectorFactory(
        lambda s, seed, n_jobs: DeltaMedoids(similarity=s, random_state=seed, n_jobs=n_jobs)
    ),
    SPARSE: SelectorFactory(lambda s, seed, n_jobs: DS3(budget=3, similarity=s, n_jobs=n_jobs), drawn=False),
    RANDOM: SelectorFactory(lambda s, seed, n_jobs: RandomSelector(0.05, similarity=s, random_state=seed)),
    ALL: SelectorFactory(lambda s, seed, n_jobs: KeepAll(similarity=s), drawn=False),
}
"""The methods that CRS is measured against, by name, with the parameters that the paper uses for them.

DS3's budget of 3 is what the authors' public code passes."""
