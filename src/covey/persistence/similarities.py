"""The similarity of an estimator as JSON, and back.

A similarity that covey knows by name is written by its name. The code of any other is not written, only how it is
wrapped: whoever loads the file passes the function again.
"""

from reprlib import repr as shown
from types import FunctionType
from typing import Any

from covey.persistence.format import UnknownNameError
from covey.persistence.values import tagged, typed
from covey.selectors.saved_state import Constraint, check_fields
from covey.similarity.measures import from_distance, resolve, similarity_names
from covey.similarity.similarity import CONVERSIONS, Similarity

WRAPPING = {
    "symmetric": Constraint("true or false", lambda value: type(value) is bool),
    "kind": Constraint("'objects' or 'batches'", lambda value: value in ("objects", "batches")),
    "conversion": Constraint(
        f"null or one of {sorted(CONVERSIONS)}", lambda value: value is None or value in CONVERSIONS
    ),
    "batch_size": Constraint("an integer of at least 1", lambda value: type(value) is int and value >= 1),
}
"""How a function is wrapped: the fields of a `Similarity` but for its function."""


class SimilarityWriter:
    """Writes the similarities of an estimator and of those within it; all must use the same function.

    `callable` is the name of that function, or None as long as every similarity has a name.
    """

    def __init__(self) -> None:
        self.callable: str | None = None
        self._function: Any = None

    def encode(self, similarity: Any) -> Any:
        if type(similarity) is str:
            return similarity
        wrapped = resolve(similarity)
        if isinstance(wrapped.function, str):
            conversion = wrapped.conversion
            form: Any = {"from_distance": [wrapped.function, conversion]} if conversion else {"named": wrapped.function}
            if _named(form) != wrapped:
                raise ValueError(f"similarity must be a name or covey.from_distance to be saved, got {wrapped!r}.")
            return form
        self._note(wrapped.function)
        return {"callable": {name: getattr(wrapped, name) for name in WRAPPING}}

    def _note(self, function: Any) -> None:
        # When scikit-learn clones a selector, functions stay the same objects; other callables are copied, so only
        # their types can be compared.
        compared = function if isinstance(function, FunctionType) else type(function)
        if self._function not in (None, compared):
            raise ValueError(
                f"estimator must have one callable as similarity to be saved, got {self.callable} and another in its "
                "selector; fit it again."
            )
        self._function, self.callable = compared, getattr(function, "__name__", type(function).__name__)


class SimilarityReader:
    """Reads similarities; a function that is not in the file is replaced by the `given` one."""

    def __init__(self, given: Any) -> None:
        self._given = given

    def decode(self, encoded: Any) -> Any:
        if type(encoded) is str:
            if encoded not in similarity_names():
                raise UnknownNameError(
                    f"the similarity {shown(encoded)}, which covey does not have and this program has not registered; "
                    "call covey.register_similarity first"
                )
            return encoded
        if not lacks_code(encoded):
            return _named(encoded)
        _, content = tagged(encoded)
        wrapping = check_fields(typed(content, dict), WRAPPING)
        return Similarity(self._given, **wrapping) if callable(self._given) else self._given


def lacks_code(encoded: Any) -> bool:
    """Say whether the JSON of a similarity leaves out a function, which must be passed again."""
    return type(encoded) is dict and encoded.keys() == {"callable"}


def _named(encoded: Any) -> Similarity:
    """Return the similarity that is written by its name, or by the name of a distance and how that is converted."""
    tag, content = tagged(encoded)
    if tag == "named":
        return resolve(typed(content, str))
    if tag == "from_distance":
        distance, how = typed(content, list)
        return from_distance(typed(distance, str), how)
    raise ValueError(f"unknown similarity {shown(tag)}")
