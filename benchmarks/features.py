"""How well a linear model classifies 20 Newsgroups by the similarities to a few representatives, and what they cost.

``COVEY_DATA=folder python -m benchmarks.features`` takes the official split and the loader's TF-IDF under cosine. It
prints macro precision and recall on the test posts for the nearest prototype, for logistic regression on the
similarities to the same representatives, and for the nearest of all training posts (a few minutes on two cores).
It then prints the size of such features in both forms of storage, for three shares of zeros.
"""

import time

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import precision_score, recall_score

import covey
from covey.graph.exact import FEW_NONZERO


def selectors():
    """CRS that selects about 5.5 and 3.5 percent."""
    return {f"CRS k = {k}": covey.CRS(k, random_state=0, n_jobs=-1) for k in (10, 15)}


def row(name, share, truth, guess, seconds=None):
    precision, recall = (score(truth, guess, average="macro") for score in (precision_score, recall_score))
    shown = "" if seconds is None else f"{seconds:.1f} s"
    print(f"| {name} | {share:.2%} | {precision:.3f} | {recall:.3f} | {shown} |", flush=True)


def quality():
    X, y = covey.datasets.load_20newsgroups("train", return_X_y=True)
    queries, truth = covey.datasets.load_20newsgroups("test", return_X_y=True)
    print("| 20 Newsgroups | selected | precision | recall | features |\n|---|---|---|---|---|")
    for name, selector in selectors().items():
        model = covey.NearestPrototypeClassifier(selector).fit(X, y)
        share = model.selector_.sample_indices_.size / y.size
        row(f"{name}, nearest prototype", share, truth, model.predict(queries))
        start = time.perf_counter()
        features, asked = model.transform(X), model.transform(queries)
        seconds = time.perf_counter() - start
        # Similarities of texts are small numbers, on which the default penalty weighs too much.
        linear = LogisticRegression(C=10, max_iter=500)
        row(f"{name}, logistic regression", share, truth, linear.fit(features, y).predict(asked), seconds)
    everything = covey.NearestPrototypeClassifier(covey.KeepAll()).fit(X, y)
    row("all posts, nearest neighbor", 1, truth, everything.predict(queries))


def memory():
    """The bytes of features whose objects fall into groups that have nothing in common."""
    print(f"\n| not 0 | dense | CSR | chosen (CSR below {FEW_NONZERO:.2f}) |\n|---|---|---|---|")
    for n_groups in (2, 4, 20):
        group = np.arange(2_000) % n_groups
        X = sp.csr_array((np.ones(group.size), group, np.arange(group.size + 1)), shape=(group.size, n_groups))
        model = covey.NearestPrototypeClassifier(covey.KeepAll()).fit(X, group)
        found = model.transform(X)
        sparse = sp.csr_array(found)
        packed = sparse.data.nbytes + sparse.indices.nbytes + sparse.indptr.nbytes
        chosen = "CSR" if sp.issparse(found) else "dense"
        share = sparse.nnz / group.size**2
        print(f"| {share:.0%} | {8 * group.size**2 / 2**20:.1f} MiB | {packed / 2**20:.1f} MiB | {chosen} |")


def main():
    quality()
    memory()


if __name__ == "__main__":
    main()
