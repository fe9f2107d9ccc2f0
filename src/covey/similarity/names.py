"""The names of the similarities that covey has itself.

They are in a module that imports nothing, so that the command line can refuse a wrong name before it imports NumPy.
`named.py` says what each name means.
"""

ROWS = ("cosine", "dot", "euclidean", "hamming", "jaccard", "ruzicka")
"""Similarities of rows of numbers."""
STRINGS = ("indel", "jaro-winkler", "levenshtein", "osa")
"""Similarities of strings. `spaces/strings.py` says which function of rapidfuzz computes each."""
MIXED = ("gower",)
"""Similarities of rows of mixed columns. `spaces/mixed.py` computes them."""
