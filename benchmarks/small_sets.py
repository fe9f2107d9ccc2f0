"""Small labelled sets of many kinds: time series, strings, profiles, fingerprints, distances and images."""

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from benchmarks import data
from benchmarks.spaces import warped
from covey import datasets


@numba.njit(parallel=True)
def warped_pairs(X: Any) -> Any:
    """The similarity of all pairs of time series."""
    n = len(X)
    found = np.ones((n, n))
    for i in numba.prange(n):
        for j in range(i):
            found[i, j] = found[j, i] = warped(X[i], X[j])
    return found


def time_series(name: str) -> Callable[[], Any]:
    def make() -> tuple[Any, Any, Any]:
        X, y = data.series(name)
        return warped_pairs(X.astype(np.float64)), y, "precomputed"

    return make


def names_by_language(n: int | None = None) -> tuple[Any, Any, Any]:
    """Surnames of languages with 30 or more of them, or `n` of these."""
    names, languages = map(np.array, data.surnames())
    kept = frequent(languages, 30)
    if n is not None:
        kept = np.sort(train_test_split(kept, train_size=n, random_state=0, stratify=languages[kept])[0])
    return names[kept].tolist(), languages[kept], "levenshtein"


def members_by_department() -> tuple[Any, Any, Any]:
    """Those who mail somebody, in departments of five or more of them."""
    profiles, y = datasets.load_email_eu_core(return_X_y=True)
    active = np.flatnonzero([len(profile) > 0 for profile in profiles])
    kept = active[frequent(y[active], 5)]
    return [profiles[row] for row in kept], y[kept], "cosine"


def fingerprints() -> tuple[Any, Any, Any]:
    """Morgan fingerprints of the molecules that RDKit can read."""
    smiles, labels = map(np.array, data.molecules())
    bits, readable = morgan(smiles)
    return bits, labels[readable], "jaccard"


def morgan(smiles: Any) -> tuple[Any, Any]:
    """The fingerprints of the molecules that RDKit can read, and the positions of these."""
    from rdkit import RDLogger
    from rdkit.Chem import MolFromSmiles
    from rdkit.Chem.rdFingerprintGenerator import GetMorganGenerator

    RDLogger.DisableLog("rdApp.*")
    generator = GetMorganGenerator(radius=2, fpSize=2048)
    read = [(at, molecule) for at, molecule in enumerate(map(MolFromSmiles, smiles)) if molecule]
    bits = [generator.GetFingerprintAsNumPy(molecule) for _, molecule in read]
    return np.array(bits, dtype=bool), np.array([at for at, _ in read])


def frequent(y: Any, least: int) -> Any:
    """Positions of objects whose class has at least this many."""
    labels, sizes = np.unique(y, return_counts=True)
    return np.flatnonzero(np.isin(y, labels[sizes >= least]))


def proteins() -> tuple[Any, Any, Any]:
    distances, y = data.globins()
    return 1 / (1 + distances), y, "precomputed"


SETS: dict[str, Callable[[], tuple[Any, Any, Any]]] = {
    **{f"{name}, time warping": time_series(name) for name in ("ArrowHead", "Coffee", "GunPoint", "OSULeaf", "Plane")},
    "surnames, levenshtein": lambda: names_by_language(4_000),
    "email-Eu-core, cosine": members_by_department,
    "WhoTracks.me, cosine": lambda: (*datasets.load_whotracksme(return_X_y=True), "cosine"),
    "BBBP fingerprints, jaccard": fingerprints,
    "globins, 1 / (1 + distance)": proteins,
    "digits, cosine": lambda: (*load_digits(return_X_y=True), "cosine"),
}
"""What makes the objects, their classes and the similarity of each set. A set that cannot be made raises
FileNotFoundError or ImportError."""
