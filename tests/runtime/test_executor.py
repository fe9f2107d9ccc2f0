"""Tasks run on threads; tasks within tasks run in the thread of the task that asks for them."""

import os
import platform
import subprocess
import sys
import threading

import numpy as np
import pytest

from covey.runtime import executor
from covey.runtime.executor import Executor


def test_results_come_in_the_order_of_the_tasks():
    assert Executor(3).run(lambda task: task**2, range(20)) == [task**2 for task in range(20)]


def test_several_threads_work_at_once():
    together = threading.Barrier(2, timeout=30)  # passed only if two tasks run at the same time
    Executor(2).run(lambda task: together.wait(), range(2))


def test_tasks_of_a_task_run_in_its_own_thread():
    def task(_):
        inner = Executor(2).run(lambda _: threading.get_ident(), range(4))
        return set(inner) == {threading.get_ident()}

    assert all(Executor(2).run(task, range(4)))


def test_after_a_failed_task_threads_are_used_again():
    def fail(_):
        raise KeyError("task")

    with pytest.raises(KeyError, match="task"):
        Executor(2).run(fail, range(2))
    test_several_threads_work_at_once()


@pytest.mark.parametrize("n", [0, 1, 5, 12])
def test_batches_make_up_the_whole(n, monkeypatch):
    monkeypatch.setattr(executor, "BATCH", 5)
    i, j = np.arange(n), np.arange(n) * 10
    np.testing.assert_array_equal(Executor(2).in_batches(lambda a, b: a + b, i, j), i + j)


MAKE_ARRAYS = """
import resource, sys
import numpy as np
from covey.runtime.executor import Executor

def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

def make(_):
    arrays = [np.zeros(1 << 20) for _ in range(3)]
    for array in arrays:
        array += 1

before = faults()
Executor(1).run(make, range(40), products=sys.argv[1] == "products")
print(faults() - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries decide themselves what they keep")
def test_the_memory_of_one_product_is_kept_for_the_next():
    """The system maps a page of memory when it is first touched, and counts that.

    If other programs need memory, it takes pages away and maps them again, which only adds. So the least of a few runs
    counts. Dask sets a variable that keeps glibc from adapting to the blocks that are freed.
    """
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
    kept, returned = [], []
    for _ in range(3):
        for word, counts in (("products", kept), ("others", returned)):
            counts.append(int(subprocess.check_output([sys.executable, "-c", MAKE_ARRAYS, word], env=environment)))
        if 4 * kept[-1] < returned[-1]:
            break
    assert 4 * min(kept) < min(returned)
