"""Tables and matrices in files: rows come in block by block, and go out again. Needs the extra `cli`.

The way of the data:

1. `formats.py` finds the format of a file by its name, or takes the one that the user has named; `dialect.py` holds
   what else the user says about how values are written, and `paths.py` checks the names of files.
2. `reading.py` asks the reader of that format for `Block`s of rows (`block.py`), file by file if the table has several,
   and passes it `ReadOptions` (`input.py`). Values stay as the file has them.
3. `columns.py` makes numbers, categories, profiles and vectors of the values of a block.
4. `writing.py` hands blocks to the writer of the output's format.

One file holds the reader and the writer of a format: `csv.py`, `json.py`, `excel.py`, `parquet.py`, `numpy.py` and
`svmlight.py`. `input.py` opens the text of a file for them, and refuses what none of them can take.

To add a format, add a member to `Format`, write its file, and enter its reader in `READERS` and its writer, if it has
one, in one of the tables of `writing.py`.
"""
