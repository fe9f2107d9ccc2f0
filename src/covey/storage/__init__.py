"""Storage: files as bytes, written safely and read within limits; other folders say what they mean.

- `atomic.py` writes a file under a temporary name and renames it, so that it is there whole or not at all.
- `journal.py` is a file that grows block by block and survives a writer that is stopped.
- `archive.py` reads the members of a zip archive within the limits of `limits.py`.
- `serialization.py` writes values and arrays as bytes, and reads such bytes without running code.
- `compression.py` opens files that gzip, bzip2, xz or Zstandard has compressed, within the same limits.
- `text.py` finds the encoding and the delimiter of a text.
- `limits.py` says how much memory a file of a given size may claim.
"""
