"""What is the paper's: its problems, its methods, its numbers, its tables and figures, and `reproduce`, which runs all.

names.py       what data sets and methods are called
printed.py     the numbers that the paper prints
problems.py    PROBLEMS: the data sets, split as in the paper
methods.py     METHODS: the methods, with the paper's parameters
tables.py      tables that stand beside the paper's, besides the generic ones
figures.py     the figure of the impact of k
specs.py       PAPER: every section of the report, declared
reproduce.py   runs everything and writes the report

The generic parts (`covey.experiments.runner` and its neighbors) know nothing of this folder.
"""
