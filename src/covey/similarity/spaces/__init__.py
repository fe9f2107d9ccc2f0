"""One class of spaces for each way to compute similarities.

The collections in `collections/` make these spaces, and all later stages use them through the interface in `space.py`.

- `rows.py`: rows of numbers, scored by compiled sums over coordinates.
- `strings.py`: strings, scored by rapidfuzz.
- `matrix.py`: a matrix that the user has computed, of which entries are read.
- `functions.py`: any objects, scored by a function of the user's own, in this process or in several.
"""
