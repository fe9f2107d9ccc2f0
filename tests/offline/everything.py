"""What a user may do with covey, in one program that must need no network. It ends by printing what it has done."""

import json
import sys
import warnings
from pathlib import Path

import numpy as np

import covey
from covey import __main__ as cli
from covey import datasets

DONE = []


def close(a, b):
    return 1 / (1 + abs(a - b))


def library(rows, labels):
    """Fits of every selector, in this process and in others, predictions, and models in files."""
    selectors = (covey.CRS(3), covey.DeltaMedoids(), covey.DS3(), covey.RandomSelector(), covey.KeepAll())
    for selector in (*selectors, covey.Sharpened(covey.CRS(3)), covey.CRS(3, graph="nn-descent")):
        model = covey.NearestPrototypeClassifier(selector).fit(rows, labels)
        covey.save(model, "model.covey")
        assert covey.load("model.covey").predict(rows).tolist() == model.predict(rows).tolist()
        DONE.append(repr(selector))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        covey.CRS(3, similarity=close, n_jobs=2).fit(range(400))
    DONE.append("processes")


def command(*arguments):
    """Run one command of the command line in this process."""
    sys.argv = ["covey", *arguments]
    try:
        cli.main()
    except SystemExit as stop:
        if stop.code:
            raise
    DONE.append(arguments[0])


def command_line(rows, labels):
    """The commands, with all pages that they can write."""
    lines = [",".join([*map(str, row), label]) for row, label in zip(rows.tolist(), labels, strict=True)]
    Path("data.csv").write_text("\n".join(["a,b,c,kind", *lines, ""]))
    few = ("-o", "few.csv", "--model", "data.covey", "--picture", "map.html")
    command("select", "data.csv", "--label", "kind", "-k", "3", *few)
    command("classify", "data.csv", "--model", "data.covey", "-o", "answers.csv")
    command("inspect", "data.covey")
    command("compare", "data.csv", "--label", "kind", "--methods", "crs,all", "-k", "3", "--folds", "2")
    command("demo")


def loaders():
    """None of the loaders finds anything here, and none has been asked to download."""
    for name in ("load_fashion_mnist", "load_20newsgroups", "load_email_eu_core", "load_whotracksme"):
        try:
            getattr(datasets, name)(data_home="nothing")
        except covey.exceptions.MissingDataError:
            DONE.append(name)


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(size=(40, 3)).round(3), ["x", "y"] * 20
    library(rows, labels)
    command_line(rows, labels)
    loaders()
    print(json.dumps(DONE))
