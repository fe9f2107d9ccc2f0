"""What is the paper's: its problems, its methods, its numbers, its tables and figures, and `reproduce`, which runs all.

problems.py   PROBLEMS: the data sets, split as in the paper; names, and the numbers that the paper prints
report.py     PAPER: every section of the report, with the paper's METHODS, tables and figure
reproduce.py  runs everything and writes the report

The generic parts (`covey.experiments.runner` and its neighbors) know nothing of this folder.
"""
