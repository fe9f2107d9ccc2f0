"""One file a kind of objects, from its checks to its space; `dispatch.py` decides which
kind X is."""
