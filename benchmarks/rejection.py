"""What calibrated rejection keeps and what it catches, beside the thresholds of the prototypes.

Two classes are left out of the training objects. The share of test objects of the other classes that are rejected
should be the rate that was asked for; the share of the classes that were left out should be as large as possible.

``COVEY_DATA=folder python -m benchmarks.rejection`` prints a row for each data set and number of neighbors (about five
minutes on two cores). Each share is a mean over several choices of the two classes; small sets are also split anew for
each choice.
"""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import covey

RATES = (0.01, 0.05, 0.1)
NEIGHBORS = (5, 10, 30)


def fashion_mnist():
    """2 000 training images of each class, and the official test set."""
    X, y = covey.datasets.load_fashion_mnist("train", return_X_y=True)
    rng = np.random.default_rng(0)
    few = np.concatenate([rng.choice(np.flatnonzero(y == label), 2_000, replace=False) for label in np.unique(y)])
    return lambda seed: (X[few], y[few], *covey.datasets.load_fashion_mnist("test", return_X_y=True))


def newsgroups():
    """The official split, which is by date."""
    train, test = (covey.datasets.load_20newsgroups(subset, return_X_y=True) for subset in ("train", "test"))
    return lambda seed: (*train, *test)


def halves(X, y):
    """Random halves of a small set. Classes of fewer than 10 objects are left out."""
    labels, counts = np.unique(y, return_counts=True)
    kept = np.flatnonzero(np.isin(y, labels[counts >= 10]))

    def split(seed):
        a, b = train_test_split(kept, test_size=0.5, random_state=seed, stratify=np.asarray(y)[kept])
        return some(X, a), np.asarray(y)[a], some(X, b), np.asarray(y)[b]

    return split


PROBLEMS = {
    "Fashion-MNIST, 2 000 a class": (fashion_mnist, 3),
    "20 Newsgroups": (newsgroups, 2),
    "WhoTracks.me": (lambda: halves(*covey.datasets.load_whotracksme(return_X_y=True)), 8),
    "email-Eu-core": (lambda: halves(*covey.datasets.load_email_eu_core(return_X_y=True)), 8),
    "digits": (lambda: halves(*load_digits(return_X_y=True)), 8),
}
"""How to get each data set, and how many choices of two classes are tried."""


def some(X, positions):
    return [X[position] for position in positions] if isinstance(X, list) else X[positions]


def measure(data, unknown, k):
    """The shares of known and of unknown test objects that are rejected, by thresholds and at each rate."""
    X, y, queries, truth = data
    known = np.flatnonzero(~np.isin(y, unknown))
    is_new = np.isin(truth, unknown)
    # Labels are counted from 0, so that -1 is free for what is unknown.
    y = np.unique(y, return_inverse=True)[1][known]
    models = [
        covey.NearestPrototypeClassifier(
            covey.CRS(k, random_state=0, n_jobs=-1), reject="calibrated", rejection_rate=rate
        ).fit(some(X, known), y)
        for rate in RATES
    ]
    answers = [model.predict(queries) for model in models]
    answers.insert(0, models[0].set_params(reject="threshold").predict(queries))
    return [((answer[~is_new] == -1).mean(), (answer[is_new] == -1).mean()) for answer in answers]


def main():
    print("Known test objects that are rejected / unknown ones that are rejected:\n")
    rates = " | ".join(f"rate {rate}" for rate in RATES)
    print(f"| data | k | threshold | {rates} |\n|---|---|---|{'---|' * len(RATES)}")
    for name, (load, n_choices) in PROBLEMS.items():
        split = load()
        for k in NEIGHBORS:
            found = []
            for seed in range(n_choices):
                data = split(seed)
                unknown = np.random.default_rng(seed).choice(np.unique(data[1]), 2, replace=False)
                found.append(measure(data, unknown, k))
            cells = " | ".join(f"{known:.1%} / {caught:.0%}" for known, caught in np.mean(found, axis=0))
            print(f"| {name} | {k} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
