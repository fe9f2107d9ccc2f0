"""Tables and matrices in files: how rows come in block by block, and how they go out again. Needs the extra `cli`.

The way of the data:

1. `formats.py` finds the format of a file by its name, or takes the one that the user has named. `style.py` holds what
   else the user says about how values are written.
2. `reading.py` asks the reader of that format for `Block`s of rows (`block.py`), file by file if the table has several,
   and tells it `How` (`how.py`). Values stay as the file has them.
3. `writing.py` hands blocks to the writer of the output's format.

One file holds the reader and the writer of a format: `delimited.py` (CSV and TSV), `jsonl.py`, `parquet.py`, `npz.py`
and `svmlight.py`. `json_array.py`, `xlsx.py` and `npy.py` only have readers. `parts.py` finds the files of a table, and
the parts of Parquet files that workers of a cluster read. `opening.py` gives the readers the text of a file,
`checks.py` holds what several of them refuse, and `standard.py` names standard input and output.

`nested.py` finds values within the objects of a column, and `numbers.py` makes numbers of values.

To add a format, add a member to `Format`, write its file, and enter its reader in `READERS` and its writer, if it has
one, in one of the tables of `writing.py`.
"""
