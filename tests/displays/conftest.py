"""Browsers that all tests of pages share."""

import pytest

from tests.browser import shared


@pytest.fixture
def desk():
    return shared()


@pytest.fixture
def phone():
    return shared(390, 844, phone=True)
