"""A process that answers requests with the covey that Python finds first, one JSON document a line.

A request is a number of a problem, or a case of commands with the files that they read (see `commands.py`).
"""

import base64
import json
import os
import re
import sys
import tempfile
import time
import warnings
from contextlib import chdir
from pathlib import Path

from tests.cli.commands import run_here
from tests.same_answers import answers, problems

ADDRESS = re.compile(r"0x[0-9a-f]{6,}|(?<=/tmp/)tmp\w{8}")
"""Addresses in memory, and temporary folders."""
SECONDS = re.compile(r"\b\d+(\.\d+)? (s|ms|seconds|minutes)\b")
PROGRESS = re.compile(r"\d:\d\d:\d\d")
"""What the lines have that tell of the progress of work, if that takes long."""


def solve(number):
    """Answer a problem: what it is, its results, warnings, and the error that has ended it."""
    name, call = problems.problem(number)
    answer = {"call": name}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            for part in call():
                answer |= part
        except Exception as error:
            answer["error"] = f"{type(error).__name__}: {error}"
    answer["what"] = " ".join(answer.get("what", "").split())
    answer["warnings"] = sorted(f"{warning.category.__name__}: {warning.message}" for warning in caught)
    return answer


def obey(case):
    """Run the commands of a case one after the other in a folder of its own; what each says and writes."""
    answer = {"call": " ".join(case["commands"][-1][:1])}
    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent, "folder")
        folder.mkdir()
        for name, content in case["files"].items():
            folder.joinpath(name).parent.mkdir(exist_ok=True)
            folder.joinpath(name).write_bytes(base64.b64decode(content))
        with chdir(folder):
            for number, words in enumerate(case["commands"], 1):
                code, out, err = run_here(words, base64.b64decode(case["standard"]))
                answer |= {
                    f"exit code {number}": code,
                    f"standard output {number}": out.splitlines(),
                    f"standard error {number}": [
                        SECONDS.sub("some time", line) for line in err.splitlines() if not PROGRESS.search(line)
                    ],
                }
        written = sorted(path for path in folder.rglob("*") if path.is_file())
        for path in written:
            name = str(path.relative_to(folder))
            content = path.read_bytes()
            if base64.b64encode(content).decode() != case["files"].get(name):
                answer[f"file {name}"] = answers.file_content(name, content)
    return answer


def as_line(answer):
    """Return an answer as JSON, without what differs from process to process."""
    return ADDRESS.sub("some", json.dumps(answer))


def main():
    """Answer until the requests end. Nothing that covey prints gets between the answers."""
    time.perf_counter = lambda: 0.0  # reports tell how long things took
    to_driver = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    for line in sys.stdin:
        request = json.loads(line)
        answer = solve(request) if isinstance(request, int) else obey(request)
        to_driver.write(as_line(answer) + "\n")
        to_driver.flush()


if __name__ == "__main__":
    main()
