"""Displays: how coverage grows with each representative, and a cluster as a map.

Compute first, draw after: a display is made from a fitted estimator and holds plain values; `plot` only draws them
with matplotlib, and the map's `to_html` puts it on a page (`map.html` beside this file) that opens offline.
"""

from covey.displays.coverage import CoverageDisplay
from covey.displays.map import PrototypeMapDisplay

__all__ = ["CoverageDisplay", "PrototypeMapDisplay"]
