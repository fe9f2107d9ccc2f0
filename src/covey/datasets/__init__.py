"""Data sets: loaders for real ones, generators for others, and a reader of logs of network hosts.

A loader looks for its files in `data_home`, then in the folder that the environment variable COVEY_DATA names, then in
the system's data folders. If they are in none of them, it raises an error. Nothing is downloaded unless a loader is
asked to by `download=True`; two loaders can be, because scikit-learn knows from where. The contents of files are
checked.

files.py      where data files are, and whether they hold what they should
images.py     Fashion-MNIST
texts.py      20 Newsgroups
hosts.py      email-Eu-core and WhoTracks.me: profiles of who contacts whom
network.py    a generator of network hosts like those of the paper
shapes.py     generators of points in the plane
logs.py       `read_hosts`: profiles of hosts from a log of connections
"""

from covey.datasets.hosts import load_email_eu_core, load_whotracksme
from covey.datasets.images import load_fashion_mnist
from covey.datasets.logs import read_hosts
from covey.datasets.network import make_network_hosts
from covey.datasets.shapes import make_blob_structure, make_spirals
from covey.datasets.texts import load_20newsgroups

__all__ = [
    "load_20newsgroups",
    "load_email_eu_core",
    "load_fashion_mnist",
    "load_whotracksme",
    "make_blob_structure",
    "make_network_hosts",
    "make_spirals",
    "read_hosts",
]
