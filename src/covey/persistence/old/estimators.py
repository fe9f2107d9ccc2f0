"""The estimators of a model file, as JSON."""

from collections.abc import Iterator
from typing import Any


def estimators(encoded: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the parameters and the state of an estimator, and of those within it."""
    [content] = encoded.values()
    yield content
    for inner in (content["parameters"].get("selector"), content["state"].get("selector_")):
        if inner is not None:
            yield from estimators(inner)
