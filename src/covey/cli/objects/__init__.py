"""How a table becomes X: one file a kind of objects that the command line reads."""
