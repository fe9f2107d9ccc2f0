"""Functions that fail, hang or end their process for a few odd pairs.

They stand apart from the tests because the processes that call them import this module, and little else.
"""

import os
import signal
import time

import numpy as np

ODD = {(3, 7), (4, 9), (20, 21)}


def nearness(a, b):
    return 1 / (1 + abs(a - b))


def is_odd(a, b):
    return (min(a, b), max(a, b)) in ODD


def raises(a, b):
    if is_odd(a, b):
        raise ValueError("no such service\nand more")
    return nearness(a, b)


def stops(a, b):
    if is_odd(a, b):
        raise StopIteration
    return nearness(a, b)


def returns(value):
    return lambda a, b: value if is_odd(a, b) else nearness(a, b)


def raises_in_a_batch(A, B):
    return np.array([raises(a, b) for a, b in zip(A, B, strict=True)])


def as_distance(a, b):
    return -1.0 if is_odd(a, b) else abs(a - b)


def always_text(a, b):
    return "0.3"


def hangs(a, b):
    if is_odd(a, b):
        time.sleep(3600)
    return nearness(a, b)


def hangs_without_letting_go(a, b):
    """A regular expression that takes for ever, in C, without releasing the interpreter lock."""
    import re

    if is_odd(a, b):
        re.match(r"(a|aa)+$", "a" * 60 + "b")
    return nearness(a, b)


def dies(a, b):
    if is_odd(a, b):
        os.kill(os.getpid(), signal.SIGSEGV)
    return nearness(a, b)


def hangs_in_a_batch(A, B):
    return np.array([hangs(a, b) for a, b in zip(A, B, strict=True)])


hangs_in_a_batch.trusted = True  # no pair is asked again to check the function, which would hang, too


def slowly_made():
    time.sleep(1)
    return nearness
