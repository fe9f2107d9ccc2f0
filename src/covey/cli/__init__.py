"""The command `covey`. Needs the extra `cli`.

`app.py` assembles the commands, orders their help, and turns every error into one line; `covey/__main__.py` starts it.
A command is a folder: `select/`, `classify/`, `compare/` and `inspect/` each have `options.py` (dataclasses),
`rules.py` (a table: which options go together, and what is said if they do not), `command.py` (the steps, in order) and
what the steps need. `reproduce.py` is a whole command.

A command begins with typer, which reads the options (`typer_dataclasses.py`), and with the rules. `options.py` and
`rules.py` of this folder have those that commands share. Only then it imports what takes time, so that help and wrong
usage are answered at once. Rows come from `files/`, one file a format. `objects/` decides what of a row is the object,
now and again when a model is used.

`similarity_option.py` knows the similarities by name, and imports custom functions. `model_file.py` reads a model and
what `select` has noted in it. `terminal.py` prints. `errors.py` has the error of options that make no sense.
`interrupts.py` says how Ctrl-C ends a command, and `startup.py` how while the command is being imported.
"""
