"""Real data sets that covey has no loader for, read from the folder named by COVEY_DATA."""

import os
from pathlib import Path

import numpy as np
import pandas as pd


def surnames():
    """(names, languages)"""
    table = pd.read_csv(find("names-nationality/names.tsv.gz"), sep="\t", names=["name", "language"], na_filter=False)
    return table["name"].tolist(), table["language"].tolist()


def globins():
    """The dissimilarity matrix and labels of 213 proteins."""
    with np.load(find("protein213/protein213.npz")) as content:
        return content["D"], content["y"]


def find(name):
    path = Path(os.environ["COVEY_DATA"], name)
    if not path.exists():
        raise FileNotFoundError(f"needs {name} in the folder named by COVEY_DATA")
    return path
