"""`covey inspect`: what a model holds.

`options.py` has the options and their rules, `command.py` shows the clusters, and `representatives.py` makes a table of
the representatives.
"""
