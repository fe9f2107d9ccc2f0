"""Linear programs, solved by HiGHS in a way that Ctrl-C can end.

HiGHS takes no notice of interrupts, but keeps to a limit of time. So a program is first given a short time in this
process, which is enough for most. One that takes longer is solved by a process of its own, which can be ended. The
answer is the same, because HiGHS does not depend on the time.
"""

import threading
from typing import Any

from covey.runtime.apart import call_apart

SHORT = 0.5
"""How many seconds a program may take in this process. Another process takes about as long to start. HiGHS was seen to
exceed a limit of 1 s by 0.04 s."""

OUT_OF_TIME = 1
"""The status that SciPy reports if HiGHS has reached a limit."""


def solve_program(objective: Any, constraints: Any, limits: Any, bounds: Any, method: str) -> Any:
    """Minimise ``objective @ x`` such that ``constraints @ x <= limits``, and return what SciPy's `linprog` returns."""
    from scipy.optimize import linprog

    problem, options = (objective, constraints, limits), {"bounds": bounds, "method": method}
    if threading.current_thread() is not threading.main_thread():  # only the main thread is ever interrupted
        return linprog(*problem, **options)
    solved = linprog(*problem, **options, options={"time_limit": SHORT})
    return call_apart(linprog, *problem, **options) if solved.status == OUT_OF_TIME else solved
