"""covey in code that is checked by a type checker.

``make lint`` checks this file with ``mypy --strict``, as it would check the code of any user: each `assert_type` fails
if covey's annotations lose the type. A test runs it as well. Run it yourself with ``python examples/typed.py``.
"""

import tempfile
from pathlib import Path
from typing import assert_type

import numpy as np
from numpy.typing import NDArray

import covey
from covey.typing import GraphLike, Labels, Objects, SimilarityLike


def shared_letters(a: str, b: str) -> float:
    """A similarity of one's own: the share of letters that two words have in common."""
    return len(set(a) & set(b)) / len(set(a) | set(b))


def gaussian(A: NDArray[np.float64], B: NDArray[np.float64]) -> NDArray[np.float64]:
    """A similarity of many aligned pairs at once."""
    return np.asarray(np.exp(-((A - B) ** 2).sum(axis=1)))


def representatives(X: Objects, similarity: SimilarityLike = "cosine", graph: GraphLike = "auto") -> NDArray[np.intp]:
    """A function of one's own whose parameters have covey's types."""
    selector = covey.CRS(n_neighbors=2, similarity=similarity, graph=graph)
    assert_type(selector.fit(X), covey.CRS)
    return selector.sample_indices_


def select_and_classify(X: Objects, y: Labels) -> covey.NearestPrototypeClassifier:
    """Every selector can stand in for another."""
    for selector in (covey.CRS(), covey.DS3(), covey.DeltaMedoids(), covey.RandomSelector(0.5), covey.KeepAll()):
        model = covey.NearestPrototypeClassifier(selector)
        assert_type(model.fit(X, y), covey.NearestPrototypeClassifier)
        for prototype in selector.fit(X, y).prototypes_.values():
            assert_type(prototype, covey.Prototype)
            assert_type(prototype.coverage, float)
    return model


def cover_a_graph(X: Objects) -> float:
    """The parts work alone."""
    graph = covey.neighbor_graph(X, n_neighbors=2, random_state=0)
    assert_type(graph, covey.NeighborGraph)
    assert_type(graph.similarities, NDArray[np.float64])
    cover = covey.cover(graph, 0.9)
    assert_type(cover, covey.results.Cover)
    assert_type(covey.cover_lower_bound(graph, 0.9), int)
    assert_type(covey.homogeneity(X), covey.results.Homogeneity)
    return cover.coverage


def main() -> None:
    X = np.eye(6)
    y = ["a", "a", "a", "b", "b", "b"]
    words = ["cat", "cart", "care", "dog", "dodge", "lodge"]
    distance = covey.from_distance("euclidean", how="exponential")
    assert_type(distance, covey.Similarity)
    assert_type(covey.__version__, str)

    for similarity in ("euclidean", distance, covey.batched(gaussian)):
        print(representatives(X, similarity))
    print(representatives(words, shared_letters), representatives(X, graph=covey.neighbor_graph(X, 2)))
    print(cover_a_graph(X))
    model = select_and_classify(X, y)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.covey"
        covey.save(model, path)
        loaded = covey.load(path)
        print(loaded.predict(X))


if __name__ == "__main__":
    main()
