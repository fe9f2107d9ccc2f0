"""The paper's experiments, run again: problems x methods x seeds, recorded as it goes, resumed where it stopped.

>>> from covey.experiments import PAPER_METHODS, PROBLEMS
>>> list(PAPER_METHODS)
['delta-medoids', 'DS3', 'random-5%', 'full-100%', 'CRS-k5', 'CRS-k10', 'CRS-k15']
>>> list(PROBLEMS)[:5]
['Fashion-MNIST', '20 Newsgroups', 'Network (synthetic)', 'email-Eu-core', 'WhoTracks.me']
"""

from covey.experiments.methods import METHODS, PAPER_METHODS, Method
from covey.experiments.paper import PAPER, reproduce
from covey.experiments.problems import PROBLEMS, Problem, Split
from covey.experiments.runner import Fit, Record, read_records, run
from covey.experiments.specs import Results, Spec, report
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
