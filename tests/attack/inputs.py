"""Odd types and values in every parameter: each call works, or refuses in a sentence that names the parameter."""

import re

import numpy as np

import covey
from tests.attack._odd_objects import ODD_X, ODD_Y, N
from tests.attack._odd_parameters import CALLS, PARAMETERS
from tests.attack._odd_parameters import X as ROWS
from tests.attack._odd_parameters import Y as LABELS
from tests.attack._outcomes import FaultError, sentence, tally

SELECTORS = ["CRS", "DeltaMedoids", "DS3", "RandomSelector", "KeepAll"]


def attack(rng, n_cases):
    return tally(one_case, rng, n_cases)


def one_case(rng):
    return [odd_objects, odd_labels, odd_parameter][rng.integers(3)](rng)


def odd_objects(rng):
    """An odd X under a named similarity, wherever an X is taken."""
    name = sorted(ODD_X)[rng.integers(len(ODD_X))]
    must, make = ODD_X[name]
    similarity = str(rng.choice(["cosine", "dot", "euclidean", "hamming", "jaccard", "ruzicka"]))
    if name == "frozensets":
        similarity = "jaccard"
    uses = {
        **{kind: lambda X, kind=kind: getattr(covey, kind)(similarity=similarity).fit(X) for kind in SELECTORS},
        "homogeneity": lambda X: covey.homogeneity(X, similarity),
        "neighbor_graph": lambda X: covey.neighbor_graph(X, 2, similarity),
        "classifier": lambda X: classifier(similarity).fit(X, LABELS),
        "predict": lambda X: classifier(similarity).fit(ROWS, LABELS).predict(X),
    }
    if must == "work" and name in ("frozensets", *NARROW):
        uses.pop("predict")  # it was fitted on rows of three numbers
    use = sorted(uses)[rng.integers(len(uses))]
    X = make(rng)
    refused, result = judge(f"X, {name}", "X", must, lambda: uses[use](X), f"{use}, similarity={similarity!r}", repr(X))
    if not refused and use in SELECTORS and not set(result.sample_indices_.tolist()) <= set(range(N)):
        raise FaultError(f"X, {name}: rows that X does not have are selected", use, result.sample_indices_)
    return "refused X" if refused else "took X"


def classifier(similarity):
    return covey.NearestPrototypeClassifier(covey.CRS(similarity=similarity, gain="count"))


NARROW = ("CSR that stores a column twice", "a frame of numbers", "a polars frame")


def odd_labels(rng):
    """Labels of every type; those that are taken make the clusters that Python's own equality makes."""
    name = sorted(ODD_Y)[rng.integers(len(ODD_Y))]
    must, make = ODD_Y[name]
    y = make(rng)
    use = [*SELECTORS, "classifier"][rng.integers(len(SELECTORS) + 1)]
    if use == "classifier":
        fit = covey.NearestPrototypeClassifier(covey.KeepAll(similarity="hamming")).fit
    else:
        fit = getattr(covey, use)().fit
    refused, fitted = judge(f"y, {name}", "y", must, lambda: fit(ROWS, y), use, repr(y))
    if refused:
        return "refused y"
    expected = np.asarray(y)[:, 0].tolist() if name == "a column" else list(y)
    prototypes = (fitted.selector_ if use == "classifier" else fitted).prototypes_
    clusters = {label: prototype.members.tolist() for label, prototype in prototypes.items()}
    if sorted(clusters.values()) != sorted(rows_by_label(expected).values()) or not set(clusters) <= set(expected):
        raise FaultError(f"y, {name}: other clusters", use, repr(y), clusters)
    if use == "classifier" and not all(a == b for a, b in zip(fitted.predict(ROWS), expected, strict=True)):
        raise FaultError(f"y, {name}: other labels", repr(y), repr(fitted.predict(ROWS)))
    return "took y"


def rows_by_label(labels):
    rows = {}
    for row, label in enumerate(labels):
        rows.setdefault(label, []).append(row)
    return rows


def odd_parameter(rng):
    """A wrong value of one parameter."""
    call = sorted(CALLS)[rng.integers(len(CALLS))]
    parameter = sorted(PARAMETERS[call])[rng.integers(len(PARAMETERS[call]))]
    values = PARAMETERS[call][parameter]
    at = int(rng.integers(len(values)))
    what = f"{call}({parameter}={brief(values[at], at)})"
    judge(what, parameter, "refuse", lambda: CALLS[call](**{parameter: values[at]}), repr(values[at]))
    return "refused a parameter"


def brief(value, at):
    """A short value as it is written; of any other the type and its place in the list."""
    plain = value is None or isinstance(value, str | bytes | int | float | complex | list | dict)
    return repr(value) if plain and len(repr(value)) < 30 else f"{type(value).__name__} {at}"


def judge(what, parameter, must, call, *example):
    """Whether the call is refused, and its result; a fault if the other must be, or if the refusal is unclear."""
    try:
        result = call()
    except (ValueError, TypeError) as error:
        if must == "work":
            raise FaultError(f"{what}: refused", *example, sentence(error)) from error
        if not is_clear(str(error), parameter):
            raise FaultError(f"{what}: the error does not name {parameter}", *example, sentence(error)) from error
        return True, None
    except Exception as error:
        raise FaultError(f"{what}: {type(error).__name__}", *example, sentence(error)) from error
    if must == "refuse":
        raise FaultError(f"{what}: accepted", *example, repr(result))
    return False, result


OTHER_WORDS = {
    "X": "array|samples?|features?|columns?|data",
    "y": "labels?|target",
    "matrix": "graph",
    "random_state": "seed",
}
"""What scikit-learn's own messages, which its checks of estimators ask for, call a parameter."""


def is_clear(message, parameter):
    """Whether a message says more than a few words, and in them what is wrong."""
    named = rf"\b({parameter}|{OTHER_WORDS.get(parameter, parameter)})"
    return bool(re.search(named, message)) and len(message.split()) > 4
