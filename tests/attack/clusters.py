"""Random objects of several kinds, in groups of 1 to 40, whose clusters must keep what `covey.find_clusters` promises.

Rows are grouped in space, profiles and sets share no key with those of other groups, strings have other letters, and
similarities of one kind have ties everywhere. Some objects are copies of others. Every tenth case is a mixture of
normal distributions, whose groups must not be mixed if they lie 10 standard deviations apart.
"""

import numpy as np

import covey
from tests.attack._outcomes import FaultError, sentence, tally
from tests.graph.clusters.mixtures import mixture

KINDS = ("rows", "profiles", "sets", "strings", "ties", "function")


def attack(rng, n_cases):
    """How many cases ended in which way."""
    return tally(case, rng, n_cases)


def case(rng):
    """Find clusters of random objects, and check what is promised about them."""
    if rng.random() < 0.1:
        return mixture_case(rng)
    kind = str(rng.choice(KINDS))
    sizes = rng.integers(1, 41, int(rng.integers(1, 6)))
    X, groups, similarity, joins_across = draw(rng, kind, sizes)
    asked = [str(rng.choice(["auto", "hdbscan"])), int(rng.integers(1, 8))][int(rng.random() < 0.4)]
    least = 2 if asked == "hdbscan" else 1
    options = {"min_cluster_size": None if rng.random() < 0.5 else int(rng.integers(least, 9)), "random_state": 0}
    options["n_neighbors"] = int(rng.integers(1, 20))
    lines = f"{kind} {sizes.tolist()} {asked} {options}"
    try:
        found = covey.find_clusters(X, asked, similarity, **options)
    except ValueError as error:
        if not str(error).startswith("n_clusters must be"):
            raise FaultError("another error than the one that is documented", sentence(error), lines) from error
        return "refused a number of clusters"
    check(found, X, asked, options, lines)
    if not joins_across:
        for label in range(found.sizes.size):
            if len(set(groups[found.labels == label])) > 1:
                raise FaultError("a cluster joins what has nothing in common", lines)
    again = covey.find_clusters(X, asked, similarity, **options, n_jobs=2)
    if not same(found, again):
        raise FaultError("another answer with two jobs", lines)
    return f"right, {kind}, {asked if isinstance(asked, str) else 'a number'}"


def mixture_case(rng):
    """Find clusters of a mixture, which must not mix what lies 10 standard deviations apart."""
    seed, number = int(rng.integers(1 << 31)), rng.random() < 0.3
    one = mixture(seed)
    asked = int(one.groups.max()) + 1 if number else str(rng.choice(["auto", "hdbscan"]))
    labels = covey.find_clusters(one.X, asked, "euclidean").labels
    if one.n_mixed(labels):
        raise FaultError("a cluster mixes what lies apart", f"mixture {seed} {asked}", labels.tolist())
    return f"right, mixture, {'a number' if number else asked}"


def draw(rng, kind, sizes):
    """Objects, the group of each, their similarity, and whether objects of different groups may be joined."""
    groups = np.repeat(np.arange(sizes.size), sizes)
    if kind == "rows":
        X = rng.normal(size=(groups.size, 3)) + 20 * rng.normal(size=(sizes.size, 3))[groups]
        X = np.round(X, int(rng.integers(0, 6)))
        return X, groups, str(rng.choice(["euclidean", "cosine"])), True
    if kind == "ties":
        return rng.integers(0, 3, (groups.size, 4)) / 1.0, groups, "hamming", True
    if kind == "function":
        values = rng.integers(0, 50, groups.size) + 500 * groups
        return values.tolist(), groups, lambda a, b: -abs(a - b), True
    if kind == "strings":
        letters = np.array(list("abcdefghijklmno")).reshape(5, 3)
        X = ["".join(rng.choice(letters[group], int(rng.integers(3, 7)))) for group in groups]
        return X, groups, "levenshtein", False
    X = [{f"{group}.{key}": int(rng.integers(1, 9)) for key in rng.integers(0, 5, 3)} for group in groups]
    return ([set(one) for one in X], groups, "jaccard", False) if kind == "sets" else (X, groups, "cosine", False)


def check(found, X, asked, options, lines):
    """Refuse clusters that break a promise whatever the objects are."""
    labels, strength, sizes = found.labels, found.strength, found.sizes
    n = len(X)
    smallest = options["min_cluster_size"] or (5 if asked == "hdbscan" else 1)
    kept = labels >= 0
    promises = {
        "every row has a label and a strength": labels.shape == strength.shape == (n,),
        "labels are numbers from -1 to the number of clusters": set(labels[kept]) == set(range(sizes.size)),
        "the largest cluster comes first": bool((np.diff(sizes) <= 0).all()),
        "no cluster is smaller than the least size": not sizes.size or sizes.min() >= smallest,
        "a strength lies between 0 and 1": bool(((strength >= 0) & (strength <= 1)).all()),
        "the strength of what belongs to none is 0": not strength[~kept].any(),
        "separation lies between 0 and 1, or is NaN for fewer than two clusters": (
            0 <= found.separation <= 1 if sizes.size > 1 else np.isnan(found.separation)
        ),
        "there are as many clusters as asked for": isinstance(asked, str) or sizes.size == asked,
        "no object is left out without need": asked != "auto" or smallest > 1 or bool(kept.all()),
        "evaluations are no more than the pairs": 0 <= found.n_evaluations <= n * (n - 1) // 2,
    }
    first = {}
    copies = [first.setdefault(content(one), row) for row, one in enumerate(X)]
    promises["equal objects are in one cluster"] = np.array_equal(labels, labels[copies])
    for promise, is_kept in promises.items():
        if not is_kept:
            raise FaultError(f"broken promise: {promise}", lines, labels.tolist())


def content(one):
    """What makes an object equal to others."""
    return str(sorted(one.items() if isinstance(one, dict) else one) if isinstance(one, dict | set) else one)


def same(found, other):
    """Whether two answers are the same to the bit."""
    return (
        np.array_equal(found.labels, other.labels)
        and np.array_equal(found.strength, other.strength)
        and np.array_equal(found.separation, other.separation, equal_nan=True)
        and found.n_evaluations == other.n_evaluations
    )
