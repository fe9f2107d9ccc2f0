"""The paper's comparison of methods, run again: problems x methods x seeds, recorded as it goes, resumed where it
stopped.

>>> from covey.experiments import METHODS, PROBLEMS
>>> list(METHODS)
['delta-medoids', 'DS3', 'random-5%', 'full-100%', 'CRS-k5', 'CRS-k10', 'CRS-k15']
>>> list(PROBLEMS)
['Fashion-MNIST', '20 Newsgroups', 'Network (synthetic)', 'email-Eu-core', 'WhoTracks.me']
"""

from covey.experiments._methods import METHODS
from covey.experiments._problems import PROBLEMS, Problem, Split
from covey.experiments._runner import Record, read_records, run
from covey.experiments._table import Row, summarise

__all__ = ["METHODS", "PROBLEMS", "Problem", "Record", "Row", "Split", "read_records", "run", "summarise"]
