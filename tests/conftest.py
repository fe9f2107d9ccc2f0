"""Shared fixtures. Tests on real data sets read them from COVEY_DATA and are skipped where it is not set."""

import os
import signal
import sys

os.environ.setdefault("SCIPY_ARRAY_API", "1")  # before SciPy is imported: one of scikit-learn's checks needs it

import pytest
from hypothesis import settings

from covey import __main__ as cli
from covey import datasets
from covey.similarity import measures
from tests import browser, data, steady

signal.signal(signal.SIGINT, signal.default_int_handler)  # shells let what runs in the background ignore Ctrl-C

settings.register_profile("covey", deadline=None, max_examples=40, derandomize=True)
settings.load_profile("covey")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Mark what does more than compute, if this is asked for, because reading the source of all tests takes time."""
    for item in items if "processes" in config.option.markexpr else ():
        if hasattr(item, "function") and steady.does_more_than_compute(item):
            item.add_marker("processes")


def pytest_sessionfinish():
    browser.stop()


@pytest.fixture(scope="session", autouse=True)
def clean_folder():
    """No test leaves anything in the folder in which the tests were started. Caches of tools are hidden, mostly."""
    before = set(os.listdir())
    yield
    left = {name for name in os.listdir() if not name.startswith((".", "__pycache__"))} - before
    assert not left, "a test must write to tmp_path"


@pytest.fixture(autouse=True)
def names_of_similarities():
    """Names that a test has registered are free again after it."""
    before = [dict(table) for table in (measures.NAMED, measures.MEASURES)]
    yield
    for table, content in zip((measures.NAMED, measures.MEASURES), before, strict=True):
        table.clear()
        table.update(content)


def real(load):
    """The data set, or a skip that says what is missing; nothing is downloaded."""
    if not os.environ.get("COVEY_DATA"):
        pytest.skip("needs real data in the folder named by COVEY_DATA")
    try:
        return load()
    except FileNotFoundError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def fashion():
    """(X_train, y_train, X_test, y_test), images as rows of 784 bytes."""
    return real(
        lambda: tuple(
            part for subset in ("train", "test") for part in datasets.load_fashion_mnist(subset, return_X_y=True)
        )
    )


@pytest.fixture(scope="session")
def surnames():
    return real(data.surnames)[0]


@pytest.fixture(scope="session")
def globins():
    return real(data.globins)


@pytest.fixture(scope="session")
def newsgroups():
    """Both subsets."""
    return real(lambda: tuple(datasets.load_20newsgroups(subset) for subset in ("train", "test")))


@pytest.fixture(scope="session")
def email():
    return real(datasets.load_email_eu_core)


@pytest.fixture(scope="session")
def sites():
    return real(datasets.load_whotracksme)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder to itself."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(folder, monkeypatch, capsys):
    """Run a command in this process: exit code, standard output and standard error."""

    def command(*args):
        monkeypatch.setattr(sys, "argv", ["covey", *map(str, args)])
        capsys.readouterr()
        try:
            cli.main()
            code = 0
        except SystemExit as stop:
            code = stop.code or 0
        out, err = capsys.readouterr()
        return code, out, err

    return command
