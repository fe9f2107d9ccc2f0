"""One class of collections for each kind of objects.

- `rows.py`: rows of numbers (an array, a CSR matrix, a frame) under a named similarity.
- `profiles.py`: sets, or dicts of numbers, under a named similarity.
- `strings.py`: strings under a named similarity of strings.
- `matrix.py`: a matrix of similarities or distances that the user has computed.
- `sequence.py`: any objects under a function of the user's own.
"""
