"""Assemble the explorable page: ``python docs/explorable/assemble.py FOLDER`` writes `how-covey-picks.html` there.

The page holds all it needs, so that it opens offline. It has the policy of all pages of covey: the browser may run the
one script and use the one style sheet whose hashes the policy names, and may load nothing.
"""

import base64
import hashlib
import sys
from pathlib import Path

from covey.displays.page import POLICY

FOLDER = Path(__file__).parent
NAME = "how-covey-picks.html"
SCRIPTS = (
    "crs.js",
    "regions.js",
    "datasets.js",
    "model.js",
    "drawing.js",
    "histogram.js",
    "telling.js",
    "controls.js",
    "points.js",
    "start.js",
)
"""The parts of the script, in the order in which they use each other."""


def write(folder: Path) -> Path:
    """Write the page to a folder, which is made if it is not there, and return where it is."""
    folder.mkdir(parents=True, exist_ok=True)
    page = folder / NAME
    page.write_text(assembled(), encoding="utf-8", newline="\n")
    return page


def assembled() -> str:
    """Return the page that the parts make."""
    style = _read("page.css")
    script = '"use strict";\n\n' + "\n".join(_read(name) for name in SCRIPTS)
    page = _read("page.html")
    policy = POLICY.format(script=_hash(script), style=_hash(style))
    for name, text in {"policy": policy, "style": style, "script": script}.items():
        page = page.replace(f"<!-- {name} -->", text)
    return page


def _read(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """Return the hash of a script or a style sheet, as a policy names it."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


if __name__ == "__main__":
    print(write(Path(sys.argv[1])))
