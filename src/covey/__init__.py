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
    from covey.graph.build import neighbor_graph
    from covey.graph.graph import NeighborGraph
    from covey.graph.recall import Recall
    from covey.persistence.loading import load
    from covey.persistence.saving import save
    from covey.prototype import Prototype
    from covey.selectors.crs import CRS
    from covey.selectors.simple import KeepAll, RandomSelector
    from covey.similarity.homogeneity import homogeneity
    from covey.similarity.mean import Homogeneity
    from covey.similarity.named import batched, from_distance
    from covey.similarity.pool import OneProcessWarning
    from covey.similarity.similarity import Similarity
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
    "Homogeneity": "covey.similarity.mean",
    "KeepAll": "covey.selectors.simple",
    "NearestPrototypeClassifier": "covey.classifier",
    "NeighborGraph": "covey.graph.graph",
    "OneProcessWarning": "covey.similarity.pool",
    "Prototype": "covey.prototype",
    "PrototypeMapDisplay": "covey.displays",
    "RandomSelector": "covey.selectors.simple",
    "Recall": "covey.graph.recall",
    "Measure": "covey.similarity.similarity",
    "Selector": "covey.selectors.base",
    "Similarity": "covey.similarity.similarity",
    "register_similarity": "covey.similarity.named",
    "similarity_names": "covey.similarity.named",
    "Cluster": "covey.selectors.cluster",
    "batched": "covey.similarity.named",
    "cover": "covey.coverage.greedy",
    "cover_lower_bound": "covey.coverage.lower_bound",
    "from_distance": "covey.similarity.named",
    "homogeneity": "covey.similarity.homogeneity",
    "load": "covey.persistence.loading",
    "neighbor_graph": "covey.graph.build",
    "save": "covey.persistence.saving",
}

_MODULES = ("datasets", "displays", "evaluation", "experiments")

__all__ = [
    "CRS",
    "DS3",
    "Cluster",
    "Cover",
    "CoverageDisplay",
    "DeltaMedoids",
    "Explanation",
    "FileFormatError",
    "Homogeneity",
    "KeepAll",
    "Measure",
    "NearestPrototypeClassifier",
    "NeighborGraph",
    "OneProcessWarning",
    "Prototype",
    "PrototypeMapDisplay",
    "RandomSelector",
    "Recall",
    "Selector",
    "Similarity",
    "batched",
    "cover",
    "cover_lower_bound",
    "from_distance",
    "homogeneity",
    "load",
    "neighbor_graph",
    "register_similarity",
    "save",
    "similarity_names",
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
