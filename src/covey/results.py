"""Types of what covey's functions return, for annotations and `isinstance`. Nothing here is made by hand.

Examples
--------
>>> import covey
>>> graph = covey.neighbor_graph([[9, 1], [8, 1], [1, 8], [1, 9]], 1)
>>> isinstance(covey.cover(graph), covey.results.Cover)
True
"""

from covey.classifier import Explanation
from covey.coverage.cover import Cover
from covey.evaluation import Comparison, Difference
from covey.graph.clusters.search import Clustering
from covey.graph.recall import Recall
from covey.similarity.checkpoint import CheckpointReport
from covey.similarity.mean import Homogeneity

__all__ = [
    "CheckpointReport",
    "Clustering",
    "Comparison",
    "Cover",
    "Difference",
    "Explanation",
    "Homogeneity",
    "Recall",
]
