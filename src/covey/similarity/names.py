"""The names of the similarities that covey has itself.

This module imports nothing, so that the command line can refuse a wrong name before it imports NumPy. `measures.py`
says what each name means.
"""

ROWS = ("cosine", "dot", "euclidean", "hamming", "jaccard", "ruzicka")
"""Similarities of rows of numbers."""
STRINGS = ("indel", "jaro-winkler", "levenshtein", "osa")
"""Similarities of strings. `kinds/strings.py` says which function of rapidfuzz computes each."""
MIXED = ("gower",)
"""Similarities of rows of mixed columns. `kinds/mixed.py` computes them."""
