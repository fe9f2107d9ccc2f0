"""`covey select`: the few rows that stand for the many.

`options.py` has the options, `rules.py` says which go together, and `command.py` has the steps: load, fit, write.

- `local_fit.py` and `dask_fit.py` load and fit, each in its place; `dask_tasks.py` is what workers do for the latter.
  `selector.py` says which selector is fitted.
- `pairs.py` loads pairs that another program has scored. `clusters.py` finds labels for rows that have none, and
  `request.py` reads what the user says about single rows: how much they count, and which are included.
- `output.py` writes.
"""
