"""Values and errors come back from workers as they were, and warnings stay with the thread that has given them."""

import time
import warnings

import joblib
import pytest

from covey.runtime.executor import Executor, n_threads
from covey.runtime.workers import attempt, recorder


def test_recorded_warnings_stay_with_their_thread():
    def task(number):
        with recorder() as told:
            time.sleep(0.01)
            for _ in range(3):
                warnings.warn(f"task {number}", stacklevel=1)
            time.sleep(0.01 * (number % 3))
        return list(told)

    filters = list(warnings.filters)
    expected = [[f"UserWarning: task {number}"] for number in range(12)]
    assert Executor(4).run(task, range(12)) == expected
    assert warnings.filters == filters


@pytest.mark.parametrize("n_jobs", [None, 1, 3, -1])
def test_without_a_cluster_threads_are_those_of_joblib(n_jobs):
    assert n_threads(n_jobs) == joblib.effective_n_jobs(n_jobs)


def test_an_outcome_gives_the_value_or_the_error():
    assert attempt(lambda: 3).result() == 3
    with pytest.raises(ZeroDivisionError) as caught:
        attempt(lambda: 1 / 0).result()
    assert caught.value.__cause__ is None
