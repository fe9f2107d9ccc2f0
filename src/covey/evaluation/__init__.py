"""Evaluation: do methods differ over several clusters (statistics.py), and what a report of it is made of.

`compare` ranks methods over clusters and tests which of them differ, and `difference` compares two of them over folds.
The parts of a report (`Table`, `Picture`, `Gallery`, `Chart`, `ConfusionMatrix`) and the page that shows them are
defined in `covey.displays`, with everything else that is drawn.
"""

from covey.displays.chart import Axis, Chart, Level, Point, Series
from covey.displays.confusion import ConfusionMatrix
from covey.displays.picture import Picture
from covey.displays.report import Card, Gallery, Report, Section, Verdict
from covey.displays.table import Column, Table
from covey.evaluation.statistics import Comparison, Difference, compare, difference, shaffer

__all__ = [
    "Axis",
    "Card",
    "Chart",
    "Column",
    "Comparison",
    "ConfusionMatrix",
    "Difference",
    "Gallery",
    "Level",
    "Picture",
    "Point",
    "Report",
    "Section",
    "Series",
    "Table",
    "Verdict",
    "compare",
    "difference",
    "shaffer",
]
