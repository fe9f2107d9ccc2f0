"""Files as bytes: how covey writes them safely, and how it reads files that may be damaged or hostile.

Other folders say what a file means; this one only gets its content in and out.

- `atomic.py` writes a file under a temporary name and renames it, so that a file is there whole or not at all.
- `limits.py` says how much memory a file of a given size may claim.
- `archive.py` reads the members of a zip archive within these limits.
- `compression.py` opens text and bytes that may be compressed by gzip, bzip2, xz or Zstandard, within the same limits.
- `text.py` finds the encoding of a text, and the character between the columns of a text table.
- `journal.py` is a file that grows block by block and keeps all whole blocks if its writer is stopped.
- `serialization.py` writes values with arrays as bytes, and reads such bytes without trusting them.
- `errors.py` says of what file an error speaks.
"""
