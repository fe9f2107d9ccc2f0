"""covey picks the few objects that stand for the many.

    objects + similarity -> neighbor graph -> coverage -> prototypes -> classifier
    similarity.py, space.py  graph.py         coverage.py  selectors/    classifier.py

Names load when first used: ``import covey`` alone costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from covey.classifier import Explanation, NearestPrototypeClassifier
    from covey.coverage.greedy import Cover, cover
    from covey.displays import CoverageDisplay, PrototypeMapDisplay
    from covey.graph.graph import NeighborGraph, neighbor_graph
    from covey.graph.recall import Recall
    from covey.persistence.loading import load
    from covey.persistence.saving import save
    from covey.prototype import Prototype
    from covey.selectors.crs import CRS
    from covey.selectors.simple import KeepAll, RandomSelector
    from covey.similarity.homogeneity import Homogeneity, homogeneity
    from covey.similarity.pool import OneProcessWarning
    from covey.similarity.similarity import Similarity, batched, from_distance
    from covey.storage.errors import FileFormatError

__version__ = "0.2.0.dev0"

_HOME = {
    "CRS": "covey.selectors.crs",
    "Cover": "covey.coverage.greedy",
    "CoverageDisplay": "covey.displays",
    "DS3": "covey.selectors.ds3",
    "DeltaMedoids": "covey.selectors.delta_medoids",
    "Explanation": "covey.classifier",
    "FileFormatError": "covey.storage.errors",
    "Homogeneity": "covey.similarity.homogeneity",
    "KeepAll": "covey.selectors.simple",
    "NearestPrototypeClassifier": "covey.classifier",
    "NeighborGraph": "covey.graph.graph",
    "OneProcessWarning": "covey.similarity.pool",
    "Prototype": "covey.prototype",
    "PrototypeMapDisplay": "covey.displays",
    "RandomSelector": "covey.selectors.simple",
    "Recall": "covey.graph.recall",
    "Similarity": "covey.similarity.similarity",
    "batched": "covey.similarity.similarity",
    "cover": "covey.coverage.greedy",
    "cover_lower_bound": "covey.coverage.lower_bound",
    "from_distance": "covey.similarity.similarity",
    "homogeneity": "covey.similarity.homogeneity",
    "load": "covey.persistence.loading",
    "neighbor_graph": "covey.graph.graph",
    "save": "covey.persistence.saving",
}

_MODULES = ("datasets", "displays", "evaluation", "experiments")

__all__ = [
    "CRS",
    "DS3",
    "Cover",
    "CoverageDisplay",
    "DeltaMedoids",
    "Explanation",
    "FileFormatError",
    "Homogeneity",
    "KeepAll",
    "NearestPrototypeClassifier",
    "NeighborGraph",
    "OneProcessWarning",
    "Prototype",
    "PrototypeMapDisplay",
    "RandomSelector",
    "Recall",
    "Similarity",
    "batched",
    "cover",
    "cover_lower_bound",
    "from_distance",
    "homogeneity",
    "load",
    "neighbor_graph",
    "save",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"covey.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'covey' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
