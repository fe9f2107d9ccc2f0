"""Judging methods: tests of whether they differ over several clusters, and reports that show it."""

from covey.evaluation.report import Card, Column, Gallery, Picture, Report, Section, Table
from covey.evaluation.statistics import Comparison, compare, shaffer

__all__ = ["Card", "Column", "Comparison", "Gallery", "Picture", "Report", "Section", "Table", "compare", "shaffer"]
