"""`covey classify`: answers, and their scores if the right labels are known.

`options.py` has the options, `rules.py` says which go together, `command.py` has the steps, and `scores.py` compares
answers with labels.
"""
