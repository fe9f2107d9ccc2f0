"""Same seed, same bytes: every selector on every kind of input, in processes that differ in all that must not matter.

`cases.py` holds the inputs and the selectors. `worker.py` is a process of its own: it fits all of them under the
settings that it is started with, and prints a digest of every result. `commands.py` does so for the files that commands
write, and `real.py` for picks on real data. `settings.py` starts such processes under different settings, and says
where their results differ. The tests compare a few of the settings; ``python -m tests.determinism`` compares all.
"""
