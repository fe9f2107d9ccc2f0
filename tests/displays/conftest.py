"""Browsers that the tests of a module share."""

import pytest

from tests.browser import started


@pytest.fixture(scope="module")
def desk():
    with started() as browser:
        yield browser


@pytest.fixture(scope="module")
def phone():
    with started(390, 844, phone=True) as browser:
        yield browser
