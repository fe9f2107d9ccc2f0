"""One class of collections for each kind of objects.

`collect.py` chooses the class by the similarity and by what X holds. Each class checks X, finds equal objects, and
makes the space of `spaces/` that computes the similarities.

- `rows.py`: rows of numbers (an array, a CSR matrix or a frame) under a named similarity.
- `profiles.py`: sets, or dicts of numbers, under a named similarity.
- `strings.py`: strings under a named similarity of strings.
- `matrix.py`: a matrix of similarities or distances that the user has computed.
- `sequence.py`: any objects under a function of the user's own.
"""
