"""`covey inspect`: what a model holds.

`options.py` has the options, `rules.py` says which go together, `command.py` shows the clusters, and
`representatives.py` makes a table of the representatives.
"""
