"""Whether two source trees give the same answers, for changes that must not change any.

    python -m tests.same_answers --old /path/to/another/checkout --problems 50000
    python -m tests.same_answers --old /path/to/another/checkout --commands

`problems.py` draws a random call of the library from each number: objects, a similarity, parameters. `commands.py` has
command lines and the files that they read. `worker.py` is a process that runs both with the covey of one tree, and
answers with all that can be seen: results, warnings and errors; exit codes, what is printed, and every file that is
written. `__main__.py` asks one worker of each tree, and lists the differences by kind. `renames.py` says which names
differ between the trees on purpose.
"""
