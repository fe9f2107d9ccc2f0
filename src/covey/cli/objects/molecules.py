"""Molecules in one column, written as SMILES and compared by their fingerprints. Needs the extra `chem`."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey.cli.files.block import Block
from covey.cli.files.columns import Gaps, check_filled, column_of, gaps_of, strings_missing
from covey.cli.objects.recipe import Recipe
from covey.displays.cards import Card
from covey.runtime.executor import Executor
from covey.runtime.libraries import require
from covey.similarity.packed_bits import PackedBits

RADIUS, N_BITS = 2, 2048
"""The radius and the length of Morgan fingerprints. These are the values that chemists use most; a fingerprint of
radius 2 is also called ECFP4. They belong to this kind of recipe: a model file does not repeat them."""
CHUNK = 1000
"""How many molecules a thread holds at once. RDKit takes several kilobytes for each, while a fingerprint takes 256
bytes. The value bounds memory."""


class MoleculeRecipe(Recipe):
    """Molecules in one column, written as SMILES."""

    def from_table(self, block: Block) -> Any:
        (name,) = self.columns
        check_filled(block, name)
        smiles = _strings(block, name)
        bits, readable = fingerprints(smiles)
        if not readable.all():
            first, n = int(np.argmin(readable)), int(np.sum(~readable))
            all_such = f" ({n:,} of {len(smiles):,} rows hold none)" if n > 1 else ""
            raise ValueError(
                f"{block.place(first)}: {smiles[first]!r:.60} in column {name!r} is not a molecule that RDKit can read"
                f"{all_such}; correct such rows, or pass --missing drop to leave them out."
            )
        return bits

    def gaps(self, block: Block) -> Gaps:
        """Return where no molecule is that RDKit can read."""
        (name,) = self.columns
        gaps = strings_missing(block, name, empty=False)
        gaps[~gaps] = ~fingerprints(_strings(block.take(np.flatnonzero(~gaps)), name))[1]
        return gaps_of(block, []).with_column(name, gaps)

    def described(self) -> str:
        return f"the molecules in {self.columns[0]}, as Morgan fingerprints of radius {RADIUS} and {N_BITS} bits"

    def card(self, block: Block, objects: Any, row: int, title: str) -> Card:
        return Card.of_text(title, list(self.fields(block, objects, row).values()))

    def fields(self, block: Block, objects: Any, row: int) -> dict[str, str]:
        return {"SMILES": str(column_of(block.frame, self.columns[0]).iat[row])}


def _strings(block: Block, name: str) -> list[str]:
    """Return the values of a column as strings."""
    return [str(value) for value in column_of(block.frame, name).tolist()]


def fingerprints(smiles: Sequence[str]) -> tuple[PackedBits, NDArray[np.bool_]]:
    """Return the fingerprints of molecules as packed bits, and which of the molecules RDKit could read.

    The others have no bits. RDKit works in as many threads as joblib's configuration allows.
    """
    chunks = [smiles[start : start + CHUNK] for start in range(0, len(smiles), CHUNK)]
    with require("rdkit.rdBase", "chem").BlockLogs():  # it would write several lines for each string it cannot read
        parts = Executor(None).run(_fingerprints, chunks)
    bits = np.concatenate([np.empty((0, N_BITS // 8), dtype=np.uint8), *(part for part, _ in parts)])
    return PackedBits(bits), np.concatenate([np.empty(0, dtype=bool), *(readable for _, readable in parts)])


def _fingerprints(smiles: Sequence[str]) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
    """Return what `fingerprints` does, for so few molecules that all of them can be held at once."""
    chem, data = require("rdkit.Chem", "chem"), require("rdkit.DataStructs", "chem")
    made = [chem.MolFromSmiles(text) for text in smiles]
    readable = np.array([molecule is not None for molecule in made])
    generator = require("rdkit.Chem.rdFingerprintGenerator", "chem").GetMorganGenerator(radius=RADIUS, fpSize=N_BITS)
    found = generator.GetFingerprints([molecule for molecule in made if molecule is not None], 1)
    bits = np.zeros((len(smiles), N_BITS // 8), dtype=np.uint8)
    packed = b"".join(data.BitVectToBinaryText(fingerprint) for fingerprint in found)
    bits[readable] = np.frombuffer(packed, dtype=np.uint8).reshape(-1, N_BITS // 8)
    return bits, readable
