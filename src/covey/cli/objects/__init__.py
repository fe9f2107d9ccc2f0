"""Objects: how a table becomes X, one recipe for each kind of objects that the command line reads.

load.py           labelled objects from the file that a user names: read, choose, fill gaps, learn, label
infer.py          which recipe the options ask for
recipe.py         Recipe, the base of all kinds, and Settings, what a model file keeps of one
rows.py           rows of numbers, vectors, dicts and mixed columns; matrices of all pairs; profiles
texts.py          strings in one column, as TF-IDF vectors or as they are
molecules.py      molecules in one column
registry.py       the kinds of recipes by the names that model files use
missing.py        rows in which a value is missing: refused, left out, or filled
lint.py           warnings about columns and labels that most likely are not meant
"""
