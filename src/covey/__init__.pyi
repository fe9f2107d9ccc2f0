# This is the only list of covey's public names; `__init__.py` reads it when the first name is asked for.
# To make a name public, add one line `from covey.module import Name as Name`. The words `as Name` tell type checkers
# that the name is meant for users.

from covey import dask as dask
from covey import datasets as datasets
from covey import displays as displays
from covey import evaluation as evaluation
from covey import exceptions as exceptions
from covey import results as results
from covey import typing as typing
from covey.classifier import NearestPrototypeClassifier as NearestPrototypeClassifier
from covey.coverage.cover import cover as cover
from covey.coverage.lower_bound import cover_lower_bound as cover_lower_bound
from covey.graph.build import neighbor_graph as neighbor_graph
from covey.graph.clusters.search import find_clusters as find_clusters
from covey.graph.descent import NNDescent as NNDescent
from covey.graph.graph import NeighborGraph as NeighborGraph
from covey.graph.threshold import threshold_graph as threshold_graph
from covey.persistence.loading import load as load
from covey.persistence.saving import save as save
from covey.prototype import Prototype as Prototype
from covey.selectors.base import Selector as Selector
from covey.selectors.baselines import KeepAll as KeepAll
from covey.selectors.baselines import RandomSelector as RandomSelector
from covey.selectors.cluster import Cluster as Cluster
from covey.selectors.crs import CRS as CRS
from covey.selectors.delta_medoids import DeltaMedoids as DeltaMedoids
from covey.selectors.ds3 import DS3 as DS3
from covey.selectors.sharpened import Sharpened as Sharpened
from covey.similarity.mean import homogeneity as homogeneity
from covey.similarity.measures import batched as batched
from covey.similarity.measures import from_distance as from_distance
from covey.similarity.measures import register_similarity as register_similarity
from covey.similarity.measures import similarity_names as similarity_names
from covey.similarity.packed_bits import PackedBits as PackedBits
from covey.similarity.similarity import Measure as Measure
from covey.similarity.similarity import Similarity as Similarity

__version__: str
