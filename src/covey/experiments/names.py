"""The names of methods, as records, tables and figures show them.

A record holds the name of its method, so a name must not change once records are written.
"""

DELTA_MEDOIDS, SPARSE, RANDOM, ALL = "delta-medoids", "DS3", "random-5%", "full-100%"
"""The methods that CRS is measured against, as the paper's Table 1 calls them; DS3 selects by sparse optimisation."""
CRS_CURVE, SHARPENED_CURVE = "CRS", "sharpened CRS"
"""What the methods that differ only in k are called together. Figures draw each of the two as a curve along k."""


def crs_name(k: int) -> str:
    """Return the name of CRS with k neighbors.

    Examples
    --------
    >>> crs_name(10)
    'CRS-k10'
    """
    return f"CRS-k{k}"


def sharpened_name(k: int) -> str:
    """Return the name of sharpened CRS with k neighbors.

    Examples
    --------
    >>> sharpened_name(10)
    'sharpened-k10'
    """
    return f"sharpened-k{k}"


def slug(name: str) -> str:
    """Return the name as a part of a file's name: lower case, with hyphens for all but letters and digits.

    Examples
    --------
    >>> slug("Network (synthetic)")
    'network-synthetic'
    """
    return "-".join("".join(letter if letter.isalnum() else " " for letter in name.lower()).split())
