"""Print the oldest version of every dependency that `pyproject.toml` allows, as constraints for pip.

``make test-oldest`` installs exactly these versions into an environment of its own and runs the tests there, so that
the lower bounds which covey declares are known to work.
"""

import re
import tomllib
from pathlib import Path

DECLARED = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())
PROJECT = DECLARED["project"]


def requirements():
    """Every requirement of the core, of all extras and of the build, without those that name covey itself."""
    extras = PROJECT["optional-dependencies"].values()
    parts = [PROJECT["dependencies"], *extras, DECLARED["build-system"]["requires"]]
    declared = {line for lines in parts for line in lines}
    return sorted(line for line in declared if not line.startswith("covey["))


def oldest(requirement):
    """The constraint ``name==version`` for a requirement ``name>=version``, which may name extras."""
    match = re.fullmatch(r"([\w.-]+)(?:\[[\w,]+\])?>=([\w.]+)", requirement)
    if match is None:
        raise ValueError(f"a requirement must read name>=version, got {requirement!r} in pyproject.toml.")
    return f"{match[1]}=={match[2]}"


if __name__ == "__main__":
    print("\n".join(map(oldest, requirements())))
