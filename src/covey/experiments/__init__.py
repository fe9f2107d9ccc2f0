"""Experiments: methods are tried on problems with several seeds, and tables and figures are made of what is recorded.

specs.py      what an experiment is made of: Method, Problem, Split, and Spec, a section of a report
names.py      what methods are called
methods.py    the selectors of covey as methods
sharpening.py sharpened CRS as a method
runner.py     `run` does fits and records them, `run_within` only in time; `report` makes the report that specs declare
limited.py    stops work that takes too long
records.py    Record, what a method did for one cluster, and the file of records
tables.py     tables made of records
figures.py    figures made of records
curves.py     charts of quality against size and against evaluations
confusions.py confusion matrices, and the largest confusions with examples
paper/        what is the paper's: PROBLEMS, METHODS, PAPER, and `reproduce`, which runs all of it

The paper's methods and problems are at hand:

>>> from covey.experiments import PAPER_METHODS, PROBLEMS
>>> list(PAPER_METHODS)
['delta-medoids', 'DS3', 'random-5%', 'full-100%', 'CRS-k5', 'CRS-k10', 'CRS-k15']
>>> list(PROBLEMS)[:5]
['Fashion-MNIST', '20 Newsgroups', 'Network (synthetic)', 'email-Eu-core', 'WhoTracks.me']

Any other method can be tried on any other problem:

>>> import tempfile
>>> import covey
>>> from covey.datasets import make_spirals
>>> from covey.experiments import Fit, Method, Problem, Split, run, summarise
>>> def spirals(seed, data_home):
...     return Split(*make_spirals(random_state=seed), *make_spirals(random_state=seed + 100))
>>> problems = {"spirals": Problem(spirals, similarity="euclidean")}
>>> methods = {"all": Method(lambda similarity, seed, n_jobs: covey.KeepAll(similarity=similarity), drawn=False)}
>>> records = run(tempfile.mkdtemp(), [Fit("spirals", "all", 0)], problems=problems, methods=methods)
>>> [(row.method, row.percentage) for row in summarise(records, problems)]
[('all', 100.0)]
"""

from covey.experiments.paper.methods import METHODS
from covey.experiments.paper.names import PAPER_METHODS
from covey.experiments.paper.problems import PROBLEMS
from covey.experiments.paper.reproduce import reproduce
from covey.experiments.paper.specs import PAPER
from covey.experiments.records import Fit, Record, read_records
from covey.experiments.runner import report, run
from covey.experiments.specs import Method, Problem, Results, Spec, Split
from covey.experiments.tables import Row, summarise

__all__ = [
    "METHODS",
    "PAPER",
    "PAPER_METHODS",
    "PROBLEMS",
    "Fit",
    "Method",
    "Problem",
    "Record",
    "Results",
    "Row",
    "Spec",
    "Split",
    "read_records",
    "report",
    "reproduce",
    "run",
    "summarise",
]
