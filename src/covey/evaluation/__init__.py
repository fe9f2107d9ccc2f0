"""Evaluation: do methods differ over several clusters (statistics.py), and what a report of it is made of.

`compare` ranks methods over clusters and tests which of them differ. The parts of a report (`Table`, `Picture`,
`Gallery`) and the page that shows them are defined in `covey.displays.report`, with everything else that is drawn.
"""

from covey.displays.report import Card, Column, Gallery, Picture, Report, Section, Table
from covey.evaluation.statistics import Comparison, compare, shaffer

__all__ = ["Card", "Column", "Comparison", "Gallery", "Picture", "Report", "Section", "Table", "compare", "shaffer"]
