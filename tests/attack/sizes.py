"""Numbers of representatives, and rows that must be among them: CRS and Sharpened against slow references."""

import warnings

import numpy as np

import covey
from tests import reference
from tests.attack._outcomes import FaultError, sentence, tally
from tests.attack._problem import draw
from tests.attack._wishes import check_wishes, kinds_of
from tests.attack.problems import call, check_sharpened, clusters, draw_labels, draw_threshold

POOLED = (170, 400)
"""How many objects make a pool pay for a single representative, or for two."""


def attack(rng, n_cases):
    return tally(one_case, rng, n_cases)


def one_case(rng):
    check = [crs, sharpened, pooled][rng.choice(3, p=[0.6, 0.2, 0.2])]
    try:
        return check(rng)
    except reference.CloseCallError:
        return f"undecided {check.__name__}"


def draw_size(rng, n, least):
    """A number or a share, from too few to more than there are."""
    if rng.random() < 0.3:
        return float(rng.choice([0.001, 0.1, 0.5, 0.9, 0.999]))
    return int(rng.choice([1, least, least + 1, rng.integers(1, n + 1), n, n + 3]))


def fit_quietly(selector, *arguments, **wishes):
    """Fit, and return the messages of warnings about the size."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.simplefilter("error", RuntimeWarning)
        selector.fit(*arguments, **wishes)
    return [str(warning.message) for warning in caught if "size asks for" in str(warning.message)]


def crs(rng):
    """A size takes what greedy picking from all clusters side by side takes, or is refused if it is too small."""
    problem = draw(rng)
    y = draw_labels(rng, problem.n)
    labels = clusters(y, problem.n)
    options = {
        "coverage": 0.95,
        "threshold": "homogeneity" if rng.random() < 0.3 else draw_threshold(rng, problem.values),
        "gain": str(rng.choice(["similarity", "count"])),
        "on_orphan": str(rng.choice(["self", "outlier"])),
    }
    k, size = int(rng.integers(1, problem.n + 3)), draw_size(rng, problem.n, len(labels))
    include = rng.permutation(problem.n)[: int(rng.choice([0, 0, 1, 2, 4]))].tolist()
    selector = covey.CRS(k, similarity=problem.similarity, graph="exact", size=size, **options)
    example = f"{call(selector)}.fit(X, {y}, include={include})", problem
    kinds = kinds_of(problem, y, k, options["threshold"], include)
    of_row = {row: number for number, kind in enumerate(kinds) for row in kind.rows}
    wanted = [{of_row[row] for row in include if row in rows} for _, rows in labels]
    least = sum(max(1, len(numbers)) for numbers in wanted)
    if isinstance(size, int) and size < least:
        try:
            selector.fit(problem.objects, y, include=include)
        except ValueError as error:
            if "size must allow for" not in str(error) or "1 clusters" in str(error) or "1 rows" in str(error):
                raise FaultError("CRS: the error of a small size", *example, sentence(error)) from error
            return "refused a small size"
        raise FaultError("CRS: a size below what must be there is accepted", *example)
    rows = size if isinstance(size, int) else max(round(size * problem.n), least)
    told = fit_quietly(selector, problem.objects, y, include=include)
    if bool(told) != (selector.sample_indices_.size < rows):
        raise FaultError("CRS: the warning does not follow the number", *example, told, selector.sample_indices_)
    wishes = {"options": options, "size": rows, "include": include, "example": example}
    check_wishes("CRS(size=)", selector.prototypes_, problem, y, k, **wishes)
    return "right CRS"


def sharpened(rng):
    """There are as many representatives as asked for, or as there are distinct objects."""
    problem = draw(rng)
    while problem.n < 2:  # there must be two classes to tell apart
        problem = draw(rng)
    n_classes = int(rng.integers(2, min(problem.n, 5) + 1))
    y = [*range(n_classes), *rng.integers(0, n_classes, problem.n - n_classes).tolist()]
    return check_size(rng, problem, [f"class {number}" for number in rng.permutation(y)])


def pooled(rng):
    """The same where few representatives are drawn from pools; an inner selector may begin with any number."""
    n = int(rng.choice(POOLED)) + int(rng.integers(0, 20))
    problem = draw(rng, ["dense"])
    rows = rng.integers(-4, 5, (n, 3)) if rng.random() < 0.5 else rng.normal(size=(n, 3))
    problem.objects, problem.similarity = rows.astype(float), str(rng.choice(["euclidean", "cosine", "dot"]))
    values = covey.neighbor_graph(problem.objects, n - 1, problem.similarity, "exact").to_csr().toarray()
    np.fill_diagonal(values, np.inf)
    problem.values, problem.same = values.tolist(), list(map(tuple, problem.objects.tolist()))
    if problem.similarity == "cosine":
        problem.same = [(0,) * 3 if not any(row) else tuple(np.round(row / np.abs(row).max(), 12)) for row in rows]
    return check_size(rng, problem, rng.integers(0, 2, n).tolist())


def check_size(rng, problem, y):
    labels = clusters(y, problem.n)
    inner = [
        covey.KeepAll(),
        covey.CRS(1, coverage=1.0, gain="count"),
        covey.CRS(int(rng.integers(1, 6)), gain="count"),
        covey.RandomSelector(float(rng.choice([0.01, 0.4, 1.0])), random_state=0),
        covey.DeltaMedoids(),
    ][rng.integers(5)]
    size = draw_size(rng, problem.n, len(labels))
    if problem.n > 100:
        size = [int(rng.choice([1, 2, 3, problem.n // 160])), 0.001, 0.01][rng.integers(3)]
    margins = str(rng.choice(["exact", "exact", "listed"]))
    seed = int(rng.integers(100))
    selector = covey.Sharpened(
        inner.set_params(similarity=problem.similarity), size=size, margins=margins, random_state=seed
    )
    example = f"{call(selector)}.fit(X, {y})", problem if problem.n < 100 else problem.form
    if isinstance(size, int) and size < len(labels):
        try:
            selector.fit(problem.objects, y)
        except ValueError as error:
            if "size must allow for one representative of each" not in str(error):
                raise FaultError("Sharpened: the error of a small size", *example, sentence(error)) from error
            return "refused a small size"
        raise FaultError("Sharpened: a size below the number of classes is accepted", *example)
    rows = size if isinstance(size, int) else max(round(size * problem.n), len(labels))
    distinct = len({(label, key) for label, key in zip(y, problem.same, strict=True)})
    told = fit_quietly(selector, problem.objects, y)
    n_found = selector.sample_indices_.size
    if n_found != min(rows, distinct) or bool(told) != (rows > distinct):
        raise FaultError("Sharpened: the number of representatives", *example, n_found, rows, distinct, told)
    for label, members in labels:
        if margins == "exact":
            check_sharpened(selector, problem, label, members, *example)
        elif not set(selector.prototypes_[label].indices.tolist()) & set(members):
            raise FaultError("Sharpened: a class without a representative", *example, label)
    return f"right Sharpened{' of many' if problem.n > 100 else ''}"
