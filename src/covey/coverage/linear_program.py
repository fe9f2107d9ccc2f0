"""Linear programs, solved by HiGHS in a way that Ctrl-C can end.

HiGHS takes no notice of interrupts. So a program that may take long is solved by a process of its own, which can be
ended. The answer is the same. To start a process takes about half a second; it is saved in two cases:

- A small program takes less than that, and is solved in this process.
- The simplex method keeps to a limit of time, so that a program is first given a short time in this process. (An
  interior point method does not. It was seen to take 2.4 s instead of 0.5 s for 4 000 objects, because it makes one
  large factorization after the other.)
"""

import threading
from typing import Any

from covey.runtime.apart import call_apart

SMALL = 1000
"""Up to this number of constraints, a program is small. The bound of a cover of 1 000 objects, each of which has ten
random neighbors, took 0.4 s of processor time."""

SHORT = 0.5
"""How many seconds a larger program may take in this process, which is about as long as another one takes to start."""

OUT_OF_TIME = 1
"""The status that SciPy reports if HiGHS has reached a limit."""


def solve_program(objective: Any, constraints: Any, limits: Any, bounds: Any, method: str) -> Any:
    """Minimise ``objective @ x`` such that ``constraints @ x <= limits``, and return what SciPy's `linprog` returns."""
    from scipy.optimize import linprog

    problem, options = (objective, constraints, limits), {"bounds": bounds, "method": method}
    only_here = threading.current_thread() is not threading.main_thread()  # other threads are never interrupted
    if only_here or len(limits) <= SMALL:
        return linprog(*problem, **options)
    if method == "highs-ds":
        solved = linprog(*problem, **options, options={"time_limit": SHORT})
        if solved.status != OUT_OF_TIME:
            return solved
    return call_apart(linprog, *problem, **options)
