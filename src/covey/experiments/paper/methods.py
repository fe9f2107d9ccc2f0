"""The methods of the paper's experiments, by name, and those that some figures add."""

from typing import Any, Self

from sklearn.base import clone

from covey.experiments.methods import BASELINES, crs
from covey.experiments.names import crs_name
from covey.experiments.paper.names import DESCENT_KS, EXACT_KS, SAME_SIZE, SELECTIVE, by_descent
from covey.experiments.specs import SelectorFactory
from covey.selectors.baselines import RandomSelector
from covey.selectors.crs import CRS


class RandomOfSameSize(RandomSelector):
    """A random choice that takes from each cluster as many objects as another selector does."""

    def __init__(self, selector: Any, *, random_state: Any = None, verbose: int = 0) -> None:
        self.selector = selector
        self.random_state = random_state
        self.verbose = verbose

    @property
    def similarity(self) -> Any:
        """That of the other selector."""
        return self.selector.similarity

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the other selector to learn how many objects it takes, then draw as many."""
        prototypes = clone(self.selector).fit(X, y).prototypes_
        self.n = {label: prototype.indices.size for label, prototype in prototypes.items()}
        return super().fit(X, y)


METHODS: dict[str, SelectorFactory] = {
    **BASELINES,
    **{crs_name(k): crs(k) for k in EXACT_KS},
    SELECTIVE: crs(1, coverage=1.0, threshold=0.955),
    SAME_SIZE: SelectorFactory(
        lambda s, seed, n_jobs: RandomOfSameSize(
            CRS(10, similarity=s, random_state=seed, n_jobs=n_jobs), random_state=seed
        )
    ),
    **{by_descent(k): crs(k, graph="nn-descent") for k in DESCENT_KS},
}
