"""covey picks the few objects that stand for the many.

    objects + similarity -> neighbor graph -> coverage -> prototypes -> classifier
    similarity.py, space.py  graph.py         coverage.py  selectors/    classifier.py

Names load when first used: ``import covey`` alone costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from covey._errors import FileFormatError
    from covey._homogeneity import Homogeneity, homogeneity
    from covey._pool import OneProcessWarning
    from covey._recall import Recall
    from covey.classifier import Explanation, NearestPrototypeClassifier
    from covey.coverage import Cover, cover
    from covey.displays import CoverageDisplay, PrototypeMapDisplay
    from covey.graph import NeighborGraph, neighbor_graph
    from covey.persistence import load, save
    from covey.prototype import Prototype
    from covey.selectors.crs import CRS
    from covey.selectors.simple import KeepAll, RandomSelector
    from covey.similarity import Similarity, batched, from_distance

__version__ = "0.2.0.dev0"

_HOME = {
    "CRS": "covey.selectors.crs",
    "Cover": "covey.coverage",
    "CoverageDisplay": "covey.displays",
    "DS3": "covey.selectors.ds3",
    "DeltaMedoids": "covey.selectors.delta_medoids",
    "Explanation": "covey.classifier",
    "FileFormatError": "covey._errors",
    "Homogeneity": "covey._homogeneity",
    "KeepAll": "covey.selectors.simple",
    "NearestPrototypeClassifier": "covey.classifier",
    "NeighborGraph": "covey.graph",
    "OneProcessWarning": "covey._pool",
    "Prototype": "covey.prototype",
    "PrototypeMapDisplay": "covey.displays",
    "RandomSelector": "covey.selectors.simple",
    "Recall": "covey._recall",
    "Similarity": "covey.similarity",
    "batched": "covey.similarity",
    "cover": "covey.coverage",
    "cover_lower_bound": "covey.lower_bound",
    "from_distance": "covey.similarity",
    "homogeneity": "covey._homogeneity",
    "load": "covey.persistence",
    "neighbor_graph": "covey.graph",
    "save": "covey.persistence",
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
