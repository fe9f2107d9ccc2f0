"""A small problem, the flowers of scikit-learn, and methods that are quick on it."""

import numpy as np
from sklearn.datasets import load_iris

from covey.experiments.paper.report import METHODS
from covey.experiments.records import Trial
from covey.experiments.runner import run as run_fits
from covey.experiments.specs import Problem, Results, Split

FEW = {name: METHODS[name] for name in ("random-5%", "full-100%", "CRS-k5")}


def run(folder, problems, methods, seeds=(0,), **options):
    """Every method on every problem."""
    fits = [Trial(problem, method, seed) for problem in problems for method in methods for seed in seeds]
    return run_fits(folder, fits, problems=problems, methods=methods, **options)


def iris(seed, data_home):
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(seed).permutation(150)
    kept, asked = order[:90], order[90:]
    return Split(X[kept], y[kept], X[asked], y[asked])


IRIS = {"iris": Problem(iris, paper={"CRS-k5": (0.9, 0.8, 7.0)})}


def shown_of(show, records, problems):
    """The only part that a spec's `show` makes of the records."""
    (part,) = show(Results(records, problems, lambda name, seed: problems[name].split(seed)))
    return part
