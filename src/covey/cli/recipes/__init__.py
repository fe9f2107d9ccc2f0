"""How the rows of a file become objects under a similarity.

A recipe is chosen once (`choosing.py`), kept with a model, and used again on new rows. There is a class for each kind
of object; nobody else has to ask which kind it is. `recipe.py` has what all kinds share, `settings.py` what a model
file keeps of a recipe, and `kinds.py` the list of all kinds.

To add a kind, write its class in a file of its own, enter it in `KINDS`, and let `choosing.py` choose it.
"""
