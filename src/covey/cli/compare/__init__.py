"""`covey compare`: methods side by side on a user's data, and advice which one to take.

`options.py` has the options, `rules.py` says which go together, and `command.py` has the steps. `similarities.py` finds
out which similarity suits the objects, `methods.py` says which methods there are, and `run.py` tries them. `advice.py`
says which one to take, and `report.py` writes the results.
"""
