"""Stage 4: from clusters to prototypes. Each selector picks representatives of every cluster.

Data goes through the files in this order:

1. `labels.py` checks y and splits the objects into clusters. `wishes.py` checks what else is asked of a fit: weights,
   rows to include, a number of representatives. `routing.py` brings these to a selector inside of other estimators.
2. `cluster.py` shows a cluster to a selector: its distinct objects, their similarities, and how many members each
   stands for. It also turns what a selector has found into a `Prototype` of all members.
3. `base.py` holds `Selector`, which all selectors share: `fit` lets a selector see one cluster after the other and sets
   the fitted state.
4. There is one algorithm a file: `crs.py`, `delta_medoids.py`, `ds3.py`, and `simple.py` with the random selector and
   the one that keeps all. `sharpened.py` improves what another selector has chosen; it sees all clusters together.
5. The other files belong to one selector each. `sharpened_search.py` is the search of `sharpened.py`,
   `sharpened_representatives.py` keeps its representatives and the margins of all objects, and `sharpened_lists.py`
   says which objects a candidate would serve. `delta_medoids_pairs.py` keeps the similarities that delta-medoids has
   evaluated. `ds3_facility.py` and `ds3_admm.py` solve the optimisation problems of DS3, and `ds3_certificate.py` says
   how good their answers are.

Two files concern the fitted state. `state.py` lets each class declare which attributes its `fit` sets, so that files
hold all of them. `fitting.py` makes sure that a fit which fails changes nothing.

`members.py` lists who stands for each object, `side_by_side.py` lets other machines work on the clusters, and
`finished.py` writes finished clusters into a checkpoint.
"""
