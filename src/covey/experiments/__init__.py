"""Experiments: methods are tried on problems with several seeds, and tables and figures are made of what is recorded.

specs.py    what an experiment is made of: SelectorFactory, Problem, Split, and Spec, a section of a report
methods.py  what methods are called, and the selectors of covey as methods
runner.py   `run` does trials and records them, `run_within` within a time, `report` makes the report of specs
records.py  Trial, TrialRecord (what a method did for one cluster), and the file of records
tables.py   tables made of records
figures.py  charts of quality against size and evaluations, confusions, and figures, all made of records
paper/      the paper's problems, methods and report, and `reproduce`, which runs all of it

The command line uses all of it: `covey compare` the generic parts, and `covey reproduce` the paper's. The package is
private: its names may change in any version.

Any method can be tried on any problem:

>>> import tempfile
>>> import covey
>>> from covey.datasets import make_spirals
>>> from covey.experiments.records import Trial
>>> from covey.experiments.runner import run
>>> from covey.experiments.specs import SelectorFactory, Problem, Split
>>> from covey.experiments.tables import summarise
>>> def spirals(seed, data_home):
...     return Split(*make_spirals(random_state=seed), *make_spirals(random_state=seed + 100))
>>> problems = {"spirals": Problem(spirals, similarity="euclidean")}
>>> methods = {"all": SelectorFactory(lambda s, seed, n_jobs: covey.KeepAll(similarity=s), drawn=False)}
>>> records = run(tempfile.mkdtemp(), [Trial("spirals", "all", 0)], problems=problems, methods=methods)
>>> [(row.method, row.percentage) for row in summarise(records, problems)]
[('all', 100.0)]
"""
