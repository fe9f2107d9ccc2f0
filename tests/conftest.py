"""Shared fixtures. Tests on real data sets read them from COVEY_DATA and are skipped where it is not set."""

import os

os.environ.setdefault("SCIPY_ARRAY_API", "1")  # before SciPy is imported: one of scikit-learn's checks needs it

import pytest
from hypothesis import settings

from tests import data

settings.register_profile("covey", deadline=None, max_examples=60, derandomize=True)
settings.load_profile("covey")


def real(load):
    """The data set, or a skip that says what is missing."""
    try:
        return load()
    except FileNotFoundError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def fashion():
    return real(data.fashion_mnist)


@pytest.fixture(scope="session")
def surnames():
    return real(data.surnames)[0]


@pytest.fixture(scope="session")
def globins():
    return real(data.globins)
