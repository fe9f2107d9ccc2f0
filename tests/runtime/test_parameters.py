"""No parameter that is a number takes a truth value, nor an int that no float holds."""

import inspect

import numpy as np
import pytest
from sklearn.utils._param_validation import Interval as LooseInterval
from sklearn.utils._param_validation import InvalidParameterError, validate_parameter_constraints

import covey
import covey.dask
from covey.runtime.parameters import RUNNING, Interval, is_number, is_whole

ESTIMATORS = [
    *(kind for _, kind in inspect.getmembers(covey, inspect.isclass) if hasattr(kind, "_parameter_constraints")),
    covey.dask.CRS,
    covey.dask.NearestPrototypeClassifier,
]
NUMBERS = {
    f"{kind.__module__}.{kind.__name__}, {name}": {name: constraints}
    for kind in ESTIMATORS
    for name, constraints in kind._parameter_constraints.items()
    if any(isinstance(constraint, LooseInterval) for constraint in constraints)
}
NUMBERS |= {"neighbor_graph, n_jobs": {"n_jobs": RUNNING["n_jobs"]}}


def test_the_parameters_of_all_estimators_are_known():
    assert {kind.__name__ for kind in ESTIMATORS} >= {"CRS", "Sharpened", "DS3", "DeltaMedoids", "RandomSelector"}
    assert len(NUMBERS) > 30


@pytest.mark.parametrize("name", NUMBERS)
def test_a_truth_value_is_no_number(name):
    (parameter,) = NUMBERS[name]
    for value in (True, False, np.True_):
        with pytest.raises(InvalidParameterError, match=parameter):
            validate_parameter_constraints(NUMBERS[name], {parameter: value}, "this")


@pytest.mark.parametrize("name", NUMBERS)
def test_an_int_that_no_float_holds_is_no_real_number(name):
    ((parameter, constraints),) = NUMBERS[name].items()
    if any(isinstance(constraint, Interval) and constraint.type.__name__ == "Real" for constraint in constraints):
        for value in (10**400, -(10**400)):
            whole = any(isinstance(c, Interval) and c.is_satisfied_by(value) for c in constraints)
            if not whole:
                with pytest.raises(InvalidParameterError, match=parameter):
                    validate_parameter_constraints(NUMBERS[name], {parameter: value}, "this")


def test_what_is_a_number():
    numbers = [1, 1.5, np.float32(2), np.int8(3), np.inf, -np.inf]
    others = [True, np.True_, None, "1", np.nan, 1j, 10**400, [1], np.array([1.0])]
    assert all(map(is_number, numbers))
    assert not any(map(is_number, others))
    assert [is_whole(value, 1) for value in (1, np.int8(1), 0, True, 1.0, 10**400)] == [True, True, *[False] * 3, True]
