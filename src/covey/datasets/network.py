"""Synthetic hosts of a network, in clusters like those of the paper's private data.

A host is a profile {server: number of 5-minute windows of a day in which the host contacted it}. The hosts of a cluster
have a common part and a varying part:

    common     the cluster's own servers, and a few that everybody contacts (updates, names, time)
    varying    how much each host uses these servers; servers of a group within the cluster; servers of another cluster
               that the host visits, which is more likely a large one; and servers of the host alone, drawn from all
               servers of the network by Zipf's law

One number, the weight of the varying part, decides how homogeneous the cluster is: with 0 all hosts look the same. It
is found by bisection on the exact homogeneity of the finished hosts.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from covey.arrays import Floats
from covey.runtime.parameters import generator

CLUSTERS = {
    "A": (1079, 0.58),
    "B": (2407, 0.14),
    "C": (75, 0.84),
    "D": (2219, 0.64),
    "E": (346, 0.60),
    "F": (59, 0.92),
    "G": (248, 0.34),
    "H": (49, 0.84),
    "I": (52, 0.69),
    "J": (108, 0.35),
    "K": (218, 0.78),
    "L": (44, 0.35),
    "M": (42, 0.79),
    "N": (32, 1.00),
}
"""Size and homogeneity of each cluster, from the paper's table of its network."""
WINDOWS = 288
"""How many windows of 5 minutes a day has."""
N_CORE, N_GROUPS, N_OF_GROUP, N_VISITED, N_OWN, N_SHARED, N_SERVERS = 12, 4, 5, 6, 20, 4, 20_000
"""The servers of a cluster, its groups and the servers of each; the servers that a host visits and its own; the servers
that everybody contacts, and all others of the network. These numbers, and those in `_draw`, were chosen so that 5 % of
the hosts at random and all hosts classify nearly as well as in the paper."""
N_COLUMNS = len(CLUSTERS) * (N_CORE + N_GROUPS * N_OF_GROUP) + N_SHARED + N_SERVERS


def make_network_hosts(random_state: Any = None) -> Any:
    """Make hosts that look like those of the paper's private network. No real traffic is behind them.

    The 14 clusters have the sizes of the paper's table and its homogeneities under cosine, within .02.

    Parameters
    ----------
    random_state : int, RandomState instance or None, default=None
        The seed. The same seed gives the same hosts.

    Returns
    -------
    Bunch
        With `data` (for each of 6 978 hosts a profile {server: number of windows, 1 to 288}), `target` (the clusters'
        letters) and `homogeneity` (that of each cluster, exact).

    Examples
    --------
    >>> from covey.datasets import make_network_hosts
    >>> hosts = make_network_hosts(random_state=0)
    >>> len(hosts.data), round(hosts.homogeneity["A"], 2)
    (6978, 0.58)
    """
    from sklearn.utils import Bunch

    rng = generator(random_state)
    names = _server_names()
    profiles: list[dict[str, int]] = []
    reached: dict[str, float] = {}
    for at, (label, (size, target)) in enumerate(CLUSTERS.items()):
        hosts = _draw(at, size, target, rng)
        counts = hosts.counts(_bisect(hosts, target))
        reached[label] = profile_homogeneity(counts)
        profiles.extend(
            dict(zip((names[c] for c in counts.indices[a:b]), counts.data[a:b].tolist(), strict=True))
            for a, b in zip(counts.indptr[:-1], counts.indptr[1:], strict=True)
        )
    target_ = np.repeat(list(CLUSTERS), [size for size, _ in CLUSTERS.values()])
    return Bunch(data=profiles, target=target_, homogeneity=reached)


@dataclass(frozen=True)
class Hosts:
    """The hosts of a cluster: what they have in common, and how they vary.

    Attributes
    ----------
    servers, common : arrays
        The servers that all hosts contact, and how much they do.
    spread : array
        For each host how much more, or less, it contacts each of these (a logarithm).
    varying : CSR array
        For each host how much it contacts all other servers.
    peak : array
        For each host the number of windows of the server that it contacts most.
    """

    servers: NDArray[np.intp]
    common: Floats
    spread: Floats
    varying: sp.csr_array
    peak: Floats

    def counts(self, weight: float) -> sp.csr_array:
        """Return the number of windows for each host and server, for a weight of the varying part."""
        used = self.common * np.exp(min(weight, 1) * self.spread)
        uses = _rows(np.broadcast_to(self.servers, used.shape), used) + weight * self.varying
        largest = uses.max(axis=1).toarray().ravel()
        scaled = sp.csr_array(sp.diags_array(self.peak / largest) @ uses)
        scaled.data = np.rint(scaled.data)
        scaled.eliminate_zeros()
        return scaled.astype(np.int64)


def _draw(at: int, size: int, target: float, rng: np.random.Generator) -> Hosts:
    """Return the hosts of one cluster. If all of them must be alike, they contact only one server."""
    peak = np.rint(rng.uniform(WINDOWS / 4, WINDOWS, size))
    core, shared = at * N_CORE + np.arange(N_CORE), len(CLUSTERS) * N_CORE + np.arange(N_SHARED)
    if target == 1:
        return Hosts(core[:1], np.ones(1), np.zeros((size, 1)), sp.csr_array((size, N_COLUMNS)), peak)
    common = np.concatenate([rng.beta(2, 2, N_CORE) + 0.05, 0.25 * rng.random(N_SHARED)])
    spread = 0.5 * rng.standard_normal((size, common.size))
    groups = shared[-1] + 1 + at * N_GROUPS * N_OF_GROUP
    of_group = groups + rng.integers(N_GROUPS, size=size)[:, None] * N_OF_GROUP + np.arange(N_OF_GROUP)
    zipf = np.arange(1, N_SERVERS + 1) ** -0.9
    own = N_COLUMNS - N_SERVERS + rng.choice(N_SERVERS, (size, N_OWN), p=zipf / zipf.sum())
    others = np.array([0 if other == at else n for other, (n, _) in enumerate(CLUSTERS.values())])
    visited_cluster = rng.choice(len(CLUSTERS), size, p=others / others.sum())
    visited = visited_cluster[:, None] * N_CORE + rng.integers(N_CORE, size=(size, N_VISITED))
    visits = rng.lognormal(-1.2, 1, (size, 1)) * rng.random(visited.shape)
    servers = np.hstack([of_group, own, visited])
    values = np.hstack([rng.random(of_group.shape), rng.lognormal(-1, 0.7, own.shape), visits])
    return Hosts(np.append(core, shared), common, spread, _rows(servers, values), peak)


def _rows(servers: NDArray[np.intp], values: Floats) -> sp.csr_array:
    """Return a row for each host, which holds its values at its servers."""
    hosts = np.repeat(np.arange(len(values)), values.shape[1])
    return sp.csr_array((values.ravel(), (hosts, servers.ravel())), shape=(len(values), N_COLUMNS))


def _bisect(hosts: Hosts, target: float) -> float:
    """Return the weight of the varying part for which the hosts have the homogeneity that is asked for."""
    low, high = 0.0, 16.0  # with a weight of 16 the common part hardly counts
    for _ in range(30):  # halves the interval to less than 1e-7
        middle = (low + high) / 2
        low, high = (middle, high) if profile_homogeneity(hosts.counts(middle)) > target else (low, middle)
    return low


def profile_homogeneity(counts: sp.csr_array) -> float:
    """Return the exact mean cosine of all pairs of hosts.

    With every host scaled to length 1, it is the squared length of their sum, less the n cosines of hosts with
    themselves, divided by the number of ordered pairs.
    """
    lengths = np.sqrt(counts.multiply(counts).sum(axis=1))
    total = (sp.diags_array(1 / lengths) @ counts).sum(axis=0)
    n = counts.shape[0]
    return float((total @ total - n) / (n * (n - 1)))


def _server_names() -> list[str]:
    """Return the names of all servers, in the order of the columns."""
    core = [f"core-{label}-{at}:443" for label in CLUSTERS for at in range(N_CORE)]
    shared = [f"shared-{at}:53" for at in range(N_SHARED)]
    groups = [
        f"group-{label}{group}-{at}:445" for label in CLUSTERS for group in range(N_GROUPS) for at in range(N_OF_GROUP)
    ]
    return [*core, *shared, *groups, *(f"site-{at}:443" for at in range(N_SERVERS))]
