"""Sharpened CRS as a method of an experiment.

It has a module of its own, so that experiments without it do not import `covey.selectors.sharpened`.
"""

from typing import Any

from covey.experiments.names import SHARPENED_CURVE
from covey.experiments.specs import SelectorFactory
from covey.selectors.crs import CRS
from covey.selectors.sharpened import Sharpened


def sharpened(k: int, **options: Any) -> SelectorFactory:
    """CRS with k neighbors, sharpened; the options go to `covey.Sharpened`. CRS is fitted as `crs` fits it.

    Examples
    --------
    >>> method = sharpened(10, size=0.02)
    >>> method.k, method.make("cosine", 0, None)
    (10, Sharpened(random_state=0, selector=CRS(random_state=0), size=0.02))
    """

    def make(similarity: Any, seed: int, n_jobs: int | None) -> Sharpened:
        inner = CRS(k, similarity=similarity, random_state=seed, n_jobs=n_jobs)
        return Sharpened(inner, random_state=seed, n_jobs=n_jobs, **options)

    return SelectorFactory(make, k=k, curve=SHARPENED_CURVE)
