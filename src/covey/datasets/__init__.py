"""Data sets of the paper's experiments: loaders for real ones, generators for the rest, and a reader of host logs.

A loader looks for its files in `data_home`, then in the folder that the environment variable COVEY_DATA names, then in
the system's data folders, and last downloads them if scikit-learn knows from where. Contents are checked.
"""

from covey.datasets.files import MissingDataError
from covey.datasets.hosts import load_email_eu_core, load_whotracksme
from covey.datasets.images import load_fashion_mnist
from covey.datasets.logs import read_hosts
from covey.datasets.network import make_network_hosts
from covey.datasets.shapes import make_blob_structure, make_spirals
from covey.datasets.texts import load_20newsgroups

__all__ = [
    "MissingDataError",
    "load_20newsgroups",
    "load_email_eu_core",
    "load_fashion_mnist",
    "load_whotracksme",
    "make_blob_structure",
    "make_network_hosts",
    "make_spirals",
    "read_hosts",
]
