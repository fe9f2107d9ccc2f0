"""The command `covey`, which is also ``python -m covey``.

Exit codes: 0 the work is done, 1 the input is at fault (one line says why; --debug shows where), 2 the command was used
wrongly, 130 Ctrl-C has stopped it.

This module imports next to nothing, so that Ctrl-C is heeded before the libraries are imported. The commands are
assembled in `cli/app.py`.
"""

import sys

from covey.cli.startup import heed_interrupts


def start() -> None:
    """Run the command of `sys.argv` as a process of its own, which ends with it."""
    heed_interrupts()
    from covey.cli.interrupts import leave, say_nothing_else

    say_nothing_else()
    leave(_run())


def main() -> None:
    """Run the command of `sys.argv` in a process that may go on; SystemExit tells the exit code."""
    from covey.cli.interrupts import restoring_handler, verdict

    with restoring_handler():
        code = verdict(_run())
    raise SystemExit(code)


def _run() -> int:
    try:
        from covey.cli.app import run
    except ModuleNotFoundError as error:  # the message says what to install
        print(f"covey: {error}", file=sys.stderr)
        return 1
    return run()


if __name__ == "__main__":
    start()
