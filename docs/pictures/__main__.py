"""Draw the picture of the README, which a code host shows as a file: ``python docs/pictures`` writes few-of-many.png.

Other pictures of this folder are drawn when the site is built.
"""

import runpy
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

FOLDER = Path(__file__).parent

if __name__ == "__main__":
    drawn = runpy.run_path(str(FOLDER / "few_of_many.py"))["figure"]
    drawn.savefig(FOLDER / "few-of-many.png", dpi=90)
