"""The types of what covey's functions take, for annotations in your own code.

    from covey.typing import Objects, SimilarityLike

    def representatives(X: Objects, similarity: SimilarityLike = "cosine") -> Objects: ...

These types are as wide as what is accepted. What depends on values is checked when the function is called: that strings
need a similarity of strings, for example, or that a precomputed matrix must be square.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from covey.graph.graph import NeighborGraph
from covey.similarity.similarity import Similarity
from covey.similarity.types import Column, Frame, Labels, Objects, SparseMatrix

__all__ = ["Column", "Frame", "GraphLike", "Labels", "Objects", "SimilarityLike", "SparseMatrix"]

SimilarityLike = str | Callable[[Any, Any], float | np.floating[Any] | np.integer[Any]] | Similarity
"""A similarity: its name, a function of two objects, or what `covey.Similarity`, `batched` and `from_distance` make."""

GraphLike = str | NeighborGraph | SparseMatrix
"""A way to make a neighbor graph ("auto", "exact" or "nn-descent"), or a graph that was made before."""
