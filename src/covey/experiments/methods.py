"""The methods of an experiment: what they are called, and the selectors of covey as methods.

A record holds the name of its method, so a name must not change once records are written.
"""

from typing import Any

from covey.experiments.specs import SelectorFactory
from covey.selectors.baselines import KeepAll, RandomSelector
from covey.selectors.crs import CRS
from covey.selectors.delta_medoids import DeltaMedoids
from covey.selectors.ds3 import DS3

DELTA_MEDOIDS, SPARSE, RANDOM, ALL = "delta-medoids", "DS3", "random-5%", "full-100%"
"""The methods that CRS is measured against, as the paper's Table 1 calls them; DS3 selects by sparse optimisation."""
CRS_CURVE, SHARPENED_CURVE = "CRS", "sharpened CRS"
"""What the methods that differ only in k are called together. Figures draw each of the two as a curve along k."""


def crs_name(k: int) -> str:
    """Return the name of CRS with k neighbors.

    Examples
    --------
    >>> crs_name(10)
    'CRS-k10'
    """
    return f"CRS-k{k}"


def sharpened_name(k: int) -> str:
    """Return the name of sharpened CRS with k neighbors.

    Examples
    --------
    >>> sharpened_name(10)
    'sharpened-k10'
    """
    return f"sharpened-k{k}"


def slug(name: str) -> str:
    """Return the name as a part of a file's name: lower case, with hyphens for all but letters and digits.

    Examples
    --------
    >>> slug("Network (synthetic)")
    'network-synthetic'
    """
    return "-".join("".join(letter if letter.isalnum() else " " for letter in name.lower()).split())


def crs(k: int, **options: Any) -> SelectorFactory:
    """Return CRS with k neighbors; the options go to `covey.CRS`.

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
    """Return CRS with k neighbors, sharpened; the options go to `covey.Sharpened`. CRS is fitted as `crs` fits it.

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
