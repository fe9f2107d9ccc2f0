"""Packed bits: rows of 0 and 1 that are stored eight to a byte, or 64 to a word.

Fingerprints of molecules, hashes of documents and other long rows of 0 and 1 take an eighth of the memory in this form
that an array of bytes takes, and compiled code counts many of their bits at once.
"""

from typing import Any, Self

import numpy as np
from numba import njit
from numpy.typing import NDArray

TYPES = (np.dtype(np.uint8), np.dtype(np.uint64))
"""The types of arrays that may hold packed bits."""


class PackedBits(np.ndarray[Any, np.dtype[Any]]):
    """Rows of bits that are packed into bytes or words, as `numpy.packbits` and RDKit pack them.

    It is an array that says what its numbers are. A row of 256 bytes stands for 2048 columns of 0 and 1, and "jaccard"
    compares these columns, not the bytes. The order of the bits within a row does not matter.

    An array of type uint8 or uint64 that holds a number above 1 is read as packed bits anyway, where a similarity takes
    nothing but 0 and 1, as "jaccard" does. An array without such a number is read as columns of 0 and 1, unless it is
    wrapped in this class. So wrap arrays of few or short rows. Objects to classify are always read as the objects of
    the fit were.

    Parameters
    ----------
    values : array of shape (n_objects, n_columns), of type uint8 or uint64
        The packed bits. They are not copied.

    Raises
    ------
    TypeError
        If the array has another type. Pack rows of 0 and 1 by ``np.packbits(X, axis=1)``.
    ValueError
        If the array does not have two dimensions.

    Notes
    -----
    RDKit packs its fingerprints as well. Given a list of its molecules::

        from rdkit.Chem.rdFingerprintGenerator import GetMorganGenerator
        from rdkit.DataStructs import BitVectToBinaryText

        fingerprints = GetMorganGenerator(radius=2, fpSize=2048).GetFingerprints(molecules)
        X = covey.PackedBits([np.frombuffer(BitVectToBinaryText(each), dtype=np.uint8) for each in fingerprints])

    Examples
    --------
    >>> import covey
    >>> import numpy as np
    >>> rows = np.array([[1, 1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 1]])
    >>> fingerprints = covey.PackedBits(np.packbits(rows, axis=1))
    >>> fingerprints.shape
    (3, 1)
    >>> covey.neighbor_graph(fingerprints, 1, similarity="jaccard").similarities.ravel()
    array([0.5, 0.5, 0. ])
    """

    __array_priority__ = 1.0  # lets numpy.concatenate return packed bits

    def __new__(cls, values: Any) -> Self:
        array = np.asarray(values)
        if array.dtype not in TYPES:
            raise TypeError(
                f"Packed bits must be an array of type uint8 or uint64, got {array.dtype}; pack rows of 0 and 1 by "
                "np.packbits(X, axis=1)."
            )
        if array.ndim != 2:
            raise ValueError(f"Packed bits must have two dimensions, a row for each object, got shape {array.shape}.")
        return array.view(cls)

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: Any = None) -> Any:
        """Return the result of a calculation as a plain array, because its numbers need not be packed bits."""
        return array[()] if return_scalar else np.asarray(array)


def are_packed(X: Any, domain: str) -> bool:
    """Return whether X holds packed bits, for a similarity that takes the numbers of this domain."""
    if isinstance(X, PackedBits):
        return True
    may_be = domain == "binary" and isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype in TYPES
    return bool(may_be and X.size and X.max() > 1)


def as_words(bits: PackedBits) -> NDArray[np.uint64]:
    """Return packed bits as rows of 64-bit words. Bytes that fill up the last word are 0."""
    array = np.ascontiguousarray(bits).view(np.ndarray)
    if array.dtype == np.uint8:
        array = np.pad(array, ((0, 0), (0, -array.shape[1] % 8))) if array.shape[1] % 8 else array
        array = array.view(np.uint64)
    return array if array.flags.aligned else array.copy()


@njit(cache=True, nogil=True)
def n_set_bits(word):  # type: ignore[no-untyped-def]
    """Count the bits of a word that are set.

    Neighboring bits are added, then pairs of bits, then groups of four; the product adds up the eight bytes. LLVM
    recognises this and uses the instruction of the processor: calling LLVM's function by its name was not faster.
    """
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (word * np.uint64(0x0101010101010101)) >> np.uint64(56)
