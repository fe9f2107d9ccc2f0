"""`covey classify`: answers, and their scores if the right labels are known.

`options.py` has the options and their rules, `command.py` the steps, and `scores.py` compares answers with labels.
"""
