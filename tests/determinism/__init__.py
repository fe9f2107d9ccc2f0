"""Same seed, same bytes: every selector on every kind of input, in processes that differ in all that must not matter.

`cases.py` holds the inputs and the selectors. `worker.py` is a process of its own: it fits all of them under the settings
that it is started with, and prints a digest of every result. `settings.py` starts workers under different settings, and
says where their digests differ. The tests compare a few of the settings; ``python -m tests.determinism`` compares all.
"""
