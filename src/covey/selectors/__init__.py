"""Stage 4: from clusters to prototypes. Each selector picks representatives of every cluster.

- `base.py`: `Selector`, whose `fit` is that of all selectors. Start here.
- `labels.py`, `request.py`: what a fit gets. Labels split the objects into clusters; a request holds weights, rows to
  include, a size and a given graph, and is routed to a selector inside of other estimators.
- `cluster.py`: a cluster as a selector sees it, and what is selected in it.
- `parallel.py`, `checkpointing.py`: clusters that other machines work on, and those that a checkpoint holds.
- One algorithm a file or folder: `crs.py` (with `budget.py`, a number of representatives for all clusters together),
  `delta_medoids.py`, `ds3/`, `baselines.py`, and `sharpened/`, which improves what another selector has chosen.
- `saved_state.py`: what a fit leaves behind, so that files hold all of it.
"""
