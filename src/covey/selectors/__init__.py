"""Selectors: each picks representatives of every cluster, one algorithm a file."""
