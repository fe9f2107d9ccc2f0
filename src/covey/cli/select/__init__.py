"""`covey select`: the few rows that stand for the many.

`options.py` has the options and their rules, and `command.py` the steps: load, fit, write.

- `in_process.py` and `on_dask.py` load and fit, each in its place. `selector.py` says which selector is fitted.
- `pairs.py` loads pairs that another program has scored. `clusters.py` finds labels for rows that have none, and
  `constraints.py` reads what the user says about single rows.
- `output.py` writes.
"""
