# This is the only list of covey's public names; `__init__.py` reads it when the first name is asked for.
# To make a name public, add one line `from covey.module import Name as Name`. The words `as Name` tell type checkers
# that the name is meant for users.

from covey import dask as dask
from covey import datasets as datasets
from covey import displays as displays
from covey import evaluation as evaluation
from covey import experiments as experiments
from covey import typing as typing
from covey.classifier import NearestPrototypeClassifier as NearestPrototypeClassifier
from covey.coverage.greedy import Cover as Cover
from covey.coverage.greedy import cover as cover
from covey.coverage.lower_bound import cover_lower_bound as cover_lower_bound
from covey.displays import CoverageDisplay as CoverageDisplay
from covey.displays import PrototypeMapDisplay as PrototypeMapDisplay
from covey.explanation import Explanation as Explanation
from covey.graph.above import threshold_graph as threshold_graph
from covey.graph.build import neighbor_graph as neighbor_graph
from covey.graph.clustering import Clusters as Clusters
from covey.graph.clustering import find_clusters as find_clusters
from covey.graph.graph import NeighborGraph as NeighborGraph
from covey.graph.recall import Recall as Recall
from covey.persistence.loading import load as load
from covey.persistence.saving import save as save
from covey.prototype import Prototype as Prototype
from covey.rejection import MissingBarsWarning as MissingBarsWarning
from covey.selectors.base import Selector as Selector
from covey.selectors.cluster import Cluster as Cluster
from covey.selectors.crs import CRS as CRS
from covey.selectors.delta_medoids import DeltaMedoids as DeltaMedoids
from covey.selectors.ds3 import DS3 as DS3
from covey.selectors.sharpened import Sharpened as Sharpened
from covey.selectors.simple import KeepAll as KeepAll
from covey.selectors.simple import RandomSelector as RandomSelector
from covey.similarity.bits import PackedBits as PackedBits
from covey.similarity.checkpoint import OtherRunError as OtherRunError
from covey.similarity.checkpoint_report import CheckpointReport as CheckpointReport
from covey.similarity.failures import FailedPairsWarning as FailedPairsWarning
from covey.similarity.homogeneity import homogeneity as homogeneity
from covey.similarity.mean import Homogeneity as Homogeneity
from covey.similarity.named import batched as batched
from covey.similarity.named import from_distance as from_distance
from covey.similarity.named import register_similarity as register_similarity
from covey.similarity.named import similarity_names as similarity_names
from covey.similarity.pool import OneProcessWarning as OneProcessWarning
from covey.similarity.similarity import Measure as Measure
from covey.similarity.similarity import Similarity as Similarity
from covey.similarity.spot_check import AsymmetryWarning as AsymmetryWarning
from covey.similarity.spot_check import NondeterminismWarning as NondeterminismWarning
from covey.storage.errors import FileFormatError as FileFormatError

__version__: str
