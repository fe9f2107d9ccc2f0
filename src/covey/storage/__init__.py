"""Files as bytes: how covey writes them safely, and how it reads files that nobody vouches for.

Other folders say what a file means; this one only gets its content in and out.

- `whole.py` writes a file under a temporary name and renames it, so that a file is there whole or not at all.
- `limits.py` says how much memory a file of a given size may claim.
- `archive.py` reads the members of a zip archive within these limits.
- `packed.py` opens text and bytes that may be packed by gzip, bzip2, xz or Zstandard, within the same limits.
- `encoding.py` finds the encoding of a text.
- `delimiter.py` finds the sign between the columns of a text table.
- `journal.py` is a file that grows block by block and survives whatever stops its writer.
- `arrays.py` writes arrays and plain values as bytes, and reads such bytes without trusting them.
- `errors.py` holds `FileFormatError`, the one error that a broken file raises.
"""
