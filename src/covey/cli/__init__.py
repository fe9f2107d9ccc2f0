"""The command `covey`: one file for each command, and what several commands share. Needs the extra `cli`.

`app.py` assembles the commands `select.py`, `classify.py`, `compare.py`, `inspect.py`, `demo.py` and `reproduce.py`,
and turns every error into one line. A command file declares the command's options and says what the command does. It
imports what costs time only when the command runs, so that `covey --help` answers at once.

The way of the data through `select` and `compare`:

1. `declaration.py` reads dataclasses of options into options of the command line; `options.py` holds those that
   several commands share.
2. `source.py` reads the labelled objects that the options describe. It gets the rows from `files/`, and
   `choosing.py` decides what of a row is the object.
3. A recipe (`recipes/`) is that decision: it makes objects of rows, now and again when the model is used. `values.py`
   makes numbers and profiles of the values in columns, and `warnings.py` says what most likely is not meant.
4. The command hands the objects to the library and writes what comes back. For `select`, whose options are in
   `selection.py`, `selected.py` does the writing.

With `select --dask`, `cluster.py` lets the workers of a cluster do steps 2 and 3, each for some parts of the table.

`similarities.py` knows the similarities by name. `classify` and `inspect` read a model file by `model.py`.
`comparison.py` says what `compare` runs and shows, and `recommend.py` finds the method and the number of neighbors
that the results speak for. `terminal.py` prints, and `misuse.py` holds the error of options that make no sense.
"""
