"""Short values that say whether two data sets, or two similarities, are the same.

A run that goes on with what an earlier run has stored compares both, so that it never mixes the results of different
data or of different similarities.
"""

from covey.arrays import Hashes, Positions
from covey.similarity.content import code_fingerprint
from covey.similarity.hashing import scrambled
from covey.similarity.named import MEASURES, is_built_in
from covey.similarity.similarity import Similarity


def data_fingerprint(rows: Positions, hashes: Hashes) -> int:
    """Return a number below 2^64 that changes when the objects of X, or their order, change.

    `rows` are the rows of X that the objects came from, and `hashes` are their content hashes. The number is a sum
    modulo 2^64 with one term for each object. So the fingerprint of X is the sum, modulo 2^64, of those of its parts,
    however X was divided.
    """
    terms = scrambled(scrambled(rows.astype(hashes.dtype)) + hashes)
    return int(terms.sum(dtype=hashes.dtype))


def similarity_fingerprint(similarity: Similarity) -> str:
    """Return 16 hexadecimal digits that change when the similarity does. They are the same in every process.

    A similarity that covey has counts by its name, one that was registered by its name and its measure, and a function
    by its byte code, its constants, its defaults and what it has closed over. Of what it reads from its module,
    functions of the same module count, and numbers, texts and tuples. An object that can be called counts by its
    methods and by what pickle would store of it. Byte code depends on the version of Python. If a function or an object
    has an attribute ``fingerprint``, it counts by this alone. That is for functions that are edited without another
    meaning, and for objects whose content changes although the similarity does not, such as a cache.
    """
    function = getattr(similarity.function, "fingerprint", similarity.function)
    if isinstance(function, str) and not is_built_in(similarity):
        function = (function, MEASURES.get(function))
    return code_fingerprint(similarity.kind, function, similarity.symmetric, similarity.conversion)
