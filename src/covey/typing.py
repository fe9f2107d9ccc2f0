"""The types of what covey's functions take, for annotations in your own code.

    from covey.typing import Objects, SimilarityLike

    def representatives(X: Objects, similarity: SimilarityLike = "cosine") -> Objects: ...

These types are as wide as what is accepted. What depends on values is checked when the function is called: that strings
need a similarity of strings, for example, or that a precomputed matrix must be square.
"""

from covey.graph.graph import GraphLike
from covey.similarity.similarity import SimilarityLike
from covey.similarity.types import Column, Frame, Labels, Objects, SparseMatrix

__all__ = ["Column", "Frame", "GraphLike", "Labels", "Objects", "SimilarityLike", "SparseMatrix"]
