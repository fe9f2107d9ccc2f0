"""A call in another process gives the same answer, and leaves no process behind."""

import math
import os
import sys

import pytest

from covey.runtime.processes import call_apart

pytestmark = pytest.mark.processes


def test_another_process_computes_the_answer():
    assert call_apart(os.getpid) != os.getpid()
    assert call_apart(math.pow, 2, 5) == 32
    assert call_apart(int, "ff", base=16) == 255


def test_an_error_of_the_function_is_raised_here():
    with pytest.raises(ZeroDivisionError):
        call_apart(divmod, 1, 0)


@pytest.mark.parametrize("executable", ["", "/no/such/python"])
def test_where_no_other_process_can_be_had_this_one_computes(executable, monkeypatch):
    monkeypatch.setattr(sys, "executable", executable)
    assert call_apart(os.getpid) == os.getpid()
