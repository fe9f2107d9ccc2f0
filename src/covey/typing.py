"""The types of what covey's functions take, for annotations.

These types are as wide as what is accepted. What depends on values is checked when the function is called: that strings
need a similarity of strings, for example, or that a precomputed matrix must be square.

`Objects` is what may be passed as X: rows of an array, of a sparse matrix or of a frame, or a sequence of any objects.
`Labels` is what may be passed as y: one label for each object. `SimilarityLike` is what may be passed as similarity: a
name, a function of two objects, or a `covey.Similarity`. `GraphLike` is what may be passed as graph: the name of a
method, a `covey.NNDescent`, a `covey.NeighborGraph`, or a sparse matrix. `SparseMatrix`, `Frame` and `Column` are
protocols: they say what covey needs of the objects of other libraries.

Examples
--------
>>> import covey
>>> from covey.typing import GraphLike, Labels, Objects, SimilarityLike
>>> def representatives(
...     X: Objects, y: Labels, similarity: SimilarityLike = "cosine", graph: GraphLike = "auto"
... ) -> Objects:
...     return covey.CRS(2, similarity=similarity, graph=graph).fit_resample(X, y)[0]
>>> representatives([[9, 1], [8, 1], [1, 8], [1, 9]], ["wide", "wide", "tall", "tall"])
[[1, 8], [9, 1]]
"""

from covey.graph.build import GraphLike
from covey.similarity.inputs import Column, Frame, Labels, Objects, SparseMatrix
from covey.similarity.similarity import SimilarityLike

__all__ = ["Column", "Frame", "GraphLike", "Labels", "Objects", "SimilarityLike", "SparseMatrix"]
