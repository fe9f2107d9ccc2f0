"""A process that selects from real data, and prints the picks and the similarities behind them.

    python -m tests.determinism.real '{"images": 300}'

The settings say how many objects of each kind there are. The data sets are those of the folder named by COVEY_DATA.
"""

import json
import sys

import numpy as np

import covey
from tests import data


def images(n):
    X, y = covey.datasets.load_fashion_mnist("train", return_X_y=True)
    return X[:n].astype(np.float32), y[:n], "cosine"


def distances(n):
    X, y = covey.datasets.load_fashion_mnist("train", return_X_y=True)
    return X[:n] / 255.0, y[:n], covey.from_distance("euclidean", how="exponential")


def texts(n):
    X, y = covey.datasets.load_20newsgroups("train", return_X_y=True)
    return X[:n], y[:n], "cosine"


def surnames(n):
    names, languages = data.surnames()
    some = np.random.default_rng(0).permutation(len(names))[:n]
    return [names[at] for at in some], np.array(languages)[some], "jaro-winkler"


DATA = {"images": images, "distances": distances, "texts": texts, "surnames": surnames}
SELECTORS = {
    "CRS": lambda s: covey.CRS(5, similarity=s, random_state=0),
    "CRS, NN-Descent": lambda s: covey.CRS(5, similarity=s, graph="nn-descent", random_state=0),
    "DeltaMedoids": lambda s: covey.DeltaMedoids(similarity=s, random_state=0),
    "DS3": lambda s: covey.DS3(3, similarity=s),
    "Sharpened": lambda s: covey.Sharpened(covey.CRS(5, similarity=s, random_state=0), random_state=0),
}


def main(settings):
    picks, scores = {}, {}
    for name, n in settings.items():
        X, y, similarity = DATA[name](n)
        for selector, make in SELECTORS.items():
            fitted = covey.NearestPrototypeClassifier(make(similarity)).fit(X, y)
            picks[f"{name}, {selector}"] = fitted.selector_.sample_indices_.tolist()
            picks[f"{name}, {selector}, answers"] = fitted.predict(X[:200]).tolist()
            scores[f"{name}, {selector}"] = fitted.decision_function(X[:200]).ravel().tolist()
        picks[f"{name}, clusters"] = covey.find_clusters(X, 10, similarity, random_state=0).labels.tolist()
    print(json.dumps({"picks": picks, "scores": scores}))


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
