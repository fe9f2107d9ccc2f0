"""Real data like those of network hosts: each member or web site is a profile of those it contacts."""

import json
from typing import Any

import numpy as np

from covey.datasets.files import missing, read
from covey.exceptions import MissingDataError

EMAIL, SITES = "email-eu-core", "whotracksme"
"""The folders of the two data sets."""
EDGES = ("email-Eu-core.txt", "52583871255368570372333457e854951e7e85f30cab4aa1afc5f5ce3cc1d2f8")
DEPARTMENTS = (
    "email-Eu-core-department-labels.txt",
    "015c8cee3eb7d15a03d1c5ceed87a9dc0964c978c16db01542e5ff8b93741c6d",
)
TRACKERS = (
    "site_trackers_2018-04.jsonl.gz",
    "4b5790232865acf6378fbe5800d4122877c430682abb306c5a45478a8f613092",
)
"""The files, and the SHA-256 checksums of what they hold once unpacked."""


def load_email_eu_core(*, data_home: Any = None, return_X_y: bool = False) -> Any:
    """Load the members of a European research institution and whom they mail (SNAP email-Eu-core).

    Parameters
    ----------
    data_home : path, optional
        The folder of email-Eu-core.txt and email-Eu-core-department-labels.txt. By default, or if they are not there,
        COVEY_DATA and the system's folders are tried.
    return_X_y : bool, default=False
        Return only (data, target).

    Returns
    -------
    Bunch
        With `data` (for each of 1 005 members a profile {member: 1} of those whom they mail, themselves left out; 181
        mail no one), `target` (one of 42 departments) and `ids`.

    Raises
    ------
    MissingDataError
        If the files are in none of the folders. The message says where they were looked for, and how to get them.
    ValueError
        If a file does not hold what it should, which its checksum shows.

    Examples
    --------
    >>> from covey.datasets import load_email_eu_core
    >>> members = load_email_eu_core()
    >>> len(members.data), sum(not whom for whom in members.data)
    (1005, 181)
    """
    from sklearn.utils import Bunch

    try:
        edges, departments = (_pairs(read(EMAIL, *file, data_home)) for file in (EDGES, DEPARTMENTS))
    except MissingDataError as error:
        names, remedy = (EDGES[0], DEPARTMENTS[0]), "get them from SNAP's page of email-Eu-core, unpacked"
        raise missing("email-Eu-core", EMAIL, names, remedy, data_home) from error
    profiles: list[dict[int, int]] = [{} for _ in departments]
    for sender, receiver in edges:
        if sender != receiver:
            profiles[sender][receiver] = 1
    target = np.array([department for _, department in sorted(departments)])
    return (profiles, target) if return_X_y else Bunch(data=profiles, target=target, ids=np.arange(target.size))


def load_whotracksme(*, data_home: Any = None, return_X_y: bool = False) -> Any:
    """Load web sites and the trackers that they load (WhoTracks.me, April 2018, CC BY 4.0).

    Parameters
    ----------
    data_home : path, optional
        The folder of site_trackers_2018-04.jsonl.gz, which has an object with `site`, `label` and `trackers` on each
        line. By default, or if it is not there, COVEY_DATA and the system's folders are tried.
    return_X_y : bool, default=False
        Return only (data, target).

    Returns
    -------
    Bunch
        With `data` (for each of 1 330 sites a profile {tracker: share of page loads}), `target` (one of 8 categories)
        and `ids` (the sites' names).

    Raises
    ------
    MissingDataError
        If the files are in none of the folders. The message says where they were looked for, and how to get them.
    ValueError
        If a file does not hold what it should, which its checksum shows.

    Examples
    --------
    >>> from covey.datasets import load_whotracksme
    >>> sites = load_whotracksme()
    >>> str(sites.ids[0]), len(sites.data[0])
    ('google.com', 12)
    """
    from sklearn.utils import Bunch

    try:
        content = read(SITES, *TRACKERS, data_home)
    except MissingDataError as error:
        remedy = "make it from the package whotracksme 2018.5.17, a line for each site of its sites.csv"
        raise missing("WhoTracks.me", SITES, (TRACKERS[0],), remedy, data_home) from error
    sites = [json.loads(line) for line in content.decode("utf-8").splitlines()]
    profiles = [site["trackers"] for site in sites]
    target = np.array([site["label"] for site in sites])
    if return_X_y:
        return profiles, target
    return Bunch(data=profiles, target=target, ids=np.array([site["site"] for site in sites]))


def _pairs(content: bytes) -> list[tuple[int, int]]:
    """Return the two numbers on each line."""
    return [(int(a), int(b)) for a, b in (line.split() for line in content.decode("ascii").splitlines())]
