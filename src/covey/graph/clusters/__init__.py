"""Clusters found in a neighbor graph, for objects without labels: by communities, or by density."""
