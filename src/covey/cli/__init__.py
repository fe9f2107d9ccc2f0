"""The command `covey`: one file for each command, and what several commands share. Needs the extra `cli`.

`application.py` assembles the commands `select.py`, `classify.py`, `compare.py`, `inspect.py`, `demo.py` and
`reproduce.py`, and turns every error into one line; `covey/__main__.py` starts it. A command file declares the
command's options and says what the command does. It imports what costs time only when the options have been checked, so
that help and wrong usage are answered at once.

The way of the data through `select` and `compare`:

1. `declaration.py` reads dataclasses of options into options of the command line, and lets each check its values;
   `options.py` holds those that several commands share. `help.py` says how the help shows them.
2. `source.py` reads the labelled objects that the options describe. It gets the rows from `files/`, and
   `choosing.py` decides what of a row is the object.
3. A recipe (`recipes/`) is that decision: it makes objects of rows, now and again when the model is used. `values.py`
   makes numbers and profiles of the values in columns, `missing.py` does what the user wants about values that are
   missing, and `warnings.py` says what most likely is not meant.
4. The command hands the objects to the library and writes what comes back. For `select`, whose options are in
   `selection.py`, `methods.py` makes the selector, and `selected.py` does the writing.

More files of `select` alone: `pairs.py` reads pairs that another program has scored, in place of step 2;
`clustering.py` finds labels if there are none; `including.py` reads which rows must be selected and how much each
counts. With `--dask`, `on_dask.py` lets the workers of a cluster do steps 2 and 3, each for some parts of the table.

`similarities.py` knows the similarities by name, and finds functions of the user's own. `classify` and `inspect` read a
model file by `model.py`; `representatives.py` makes a table of what it keeps of its representatives. If the rows to
classify have labels, `scores.py` counts how often the answers agree with them, and `scored.py` says it.

The way of `compare`: `comparison.py` makes the methods that the user names (`chosen.py`). `contest.py` reads the rows,
tries the similarities that suit them (`ways.py`), and runs the methods. `recommend.py` finds the method and the number
of neighbors that the results speak for, and `results.py` writes them.

`terminal.py` prints, `listing.py` reads lists in options, and `misuse.py` holds the error of options that make no
sense. `interrupts.py` says how Ctrl-C ends a command, and `early.py` how while the command is being imported.
"""
