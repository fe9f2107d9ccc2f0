"""Clusters found in a neighbor graph, for objects without labels.

`search.py` is the entrance (`find_clusters`). Edges become links that weigh what they are worth (`links.py`). Clusters
are groups with many links among them (`communities.py`), or dense places (`density.py`).
"""
