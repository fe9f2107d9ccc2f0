"""Judging methods: tests of whether they differ over several clusters."""

from covey.evaluation._statistics import Comparison, compare, shaffer

__all__ = ["Comparison", "compare", "shaffer"]
