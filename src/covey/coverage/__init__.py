"""Stage 3: coverage, which picks few objects that cover most of a cluster.

This stage gets a `NeighborGraph` (the stage before, `graph/`) and nothing else. An object r covers x if r is among x's
neighbors with a similarity of at least the threshold, or if r is x itself. The edges are followed backwards, from a
neighbor to those that list it; hence the name *reverse neighbor graph*.

1. `cover.py` is the entrance (`cover`): it picks the object with the largest gain, again and again, until enough is
   covered. `edges.py` cuts the graph at the threshold, `gains.py` says how gains are computed and compared, and
   `queue.py` finds the largest.
2. `refine.py` tries to get by with fewer representatives, by a local search that starts from those of `cover.py`.
3. `lower_bound.py` says how few representatives any choice needs (`cover_lower_bound`), so that one can judge the
   others. For large graphs `primal_dual.py` finds the multipliers that prove it.

Where one machine cannot hold the graph, `rounds.py` gives the picks of `cover.py` from several parts of it.
"""
