"""The names of methods, as records, tables and figures show them.

A record holds the name of its method, so a name must not change once records are written.
"""

DELTA_MEDOIDS, SPARSE, RANDOM, ALL = "delta-medoids", "DS3", "random-5%", "full-100%"
"""The methods that CRS is measured against, as the paper's Table 1 calls them; DS3 selects by sparse optimisation."""


def crs_name(k: int) -> str:
    """The name of CRS with k neighbors.

    Examples
    --------
    >>> crs_name(10)
    'CRS-k10'
    """
    return f"CRS-k{k}"
