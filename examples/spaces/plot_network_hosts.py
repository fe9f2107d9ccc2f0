"""
Network hosts: what a Zeek log says about who is who
====================================================

An administrator has the connection log of a network and hundreds of addresses in it. What are all these machines, and
does one of them behave unlike its kind? A host is described by the servers that it contacts, and how often. Such a
profile is not a row of a table: each host has its own few servers out of thousands. covey compares profiles as they
are. This was the task that the method was made for.
"""

# %%
# A log to play with
# ------------------
# A real ``conn.log`` holds private matters, so that this one is made up. Five kinds of machines contact what such
# machines contact, each also some servers of its own, at random times of one day. One camera does something else as
# well: it talks to a far-away address all day.

import tempfile
from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt

import covey

rng = np.random.default_rng(0)
DNS, DIRECTORY, MAIL, FILES, PRINTING = "10.0.0.2 53", "10.0.0.3 389", "10.0.0.4 993", "10.0.0.5 445", "10.0.0.6 631"
RECORDER, UPDATES, CODE, PACKAGES, DATABASE = (
    "10.0.0.7 554",
    "151.0.0.8 443",
    "10.0.0.9 22",
    "151.0.0.1 443",
    "10.0.0.10 5432",
)
KINDS = {  # how many hosts there are, and the servers with the chance of a contact in five minutes
    "office": (120, {DNS: 0.5, DIRECTORY: 0.3, MAIL: 0.6, FILES: 0.3, PRINTING: 0.05}),
    "developer": (60, {DNS: 0.5, DIRECTORY: 0.2, MAIL: 0.3, CODE: 0.5, PACKAGES: 0.3, DATABASE: 0.1}),
    "camera": (50, {RECORDER: 0.95, DNS: 0.02, UPDATES: 0.01}),
    "printer": (25, {PRINTING: 0.2, DIRECTORY: 0.1, DNS: 0.05, UPDATES: 0.01}),
    "application": (30, {DATABASE: 0.9, DNS: 0.3, DIRECTORY: 0.2, PACKAGES: 0.02}),
}
contacts, kinds = [], {}
for number, (kind, (size, servers)) in enumerate(KINDS.items()):
    for host in range(size):
        source = f"10.1.{number}.{host + 1}"
        kinds[source] = kind
        wanted = dict(servers)
        if kind in ("office", "developer"):  # people also visit sites of their own
            wanted |= {
                f"{rng.integers(20, 200)}.{rng.integers(256)}.0.1 443": rng.uniform(0.01, 0.2) for _ in range(12)
            }
        if source == "10.1.2.17":
            wanted["203.0.113.66 8443"] = 0.6
        for server, chance in wanted.items():
            windows = np.flatnonzero(rng.random(288) < chance * rng.uniform(0.5, 1.5))
            contacts += [(300 * window + rng.uniform(0, 300), source, *server.split()) for window in windows]

header = ("#separator \\x09", "#fields\tts\tid.orig_h\tid.resp_h\tid.resp_p", "#types\ttime\taddr\taddr\tport")
lines = (f"{1.75e9 + time:.6f}\t{source}\t{server}\t{port}" for time, source, server, port in sorted(contacts))
log = Path(tempfile.mkdtemp()) / "conn.log"
log.write_text("\n".join([*header, *lines]) + "\n", encoding="utf-8")
print(f"{len(contacts):,} connections of {len(kinds)} hosts; the log begins like this:\n")
print("\n".join(log.read_text(encoding="utf-8").splitlines()[:6]))

# %%
# From the log to profiles
# ------------------------
# `covey.datasets.read_hosts` reads Zeek's own format, its JSON, and CSV files of flows. For each host it counts the
# windows of five minutes in which a server was contacted.

hosts = covey.datasets.read_hosts(log)
print(hosts.ids[0], hosts.data[0])

# %%
# A log has no labels. Clusters are found first, as communities of the neighbor graph, and representatives are then
# selected in each. Hosts that contact no common server are never put into one cluster. The separation says how separate
# the clusters are, from 0 to 1. The known kinds serve only to check the result.

clusters = covey.find_clusters(hosts.data, similarity="cosine", random_state=0)
print(f"{clusters}, separation {clusters.separation:.2f}")
selector = covey.CRS(n_neighbors=20, similarity="cosine", random_state=0).fit(hosts.data, clusters.labels)
truth = np.array([kinds[address] for address in hosts.ids])
for label, prototype in selector.prototypes_.items():
    found, counts = np.unique(truth[prototype.members], return_counts=True)
    print(f"cluster {label}: " + ", ".join(f"{n} x {kind}" for kind, n in zip(found, counts, strict=True)))
    print(f"    represented by {', '.join(hosts.ids[row] for row in prototype.indices[:5])}")

# %%
# What does a cluster do?
# -----------------------
# The first representative of each cluster is a host that exists. One can look it up, walk there, and see what it is.

figure, axes = plt.subplots(
    1, len(selector.prototypes_), figsize=(2.6 * len(selector.prototypes_), 3), layout="constrained"
)
for axis, prototype in zip(axes, selector.prototypes_.values(), strict=True):
    first = prototype.indices[0]
    servers = sorted(hosts.data[first].items(), key=lambda server: server[1])[-6:]
    axis.barh([server for server, _ in servers], [windows for _, windows in servers], color="#0072b2")
    axis.tick_params(labelsize=7)
    axis.set_title(f"{hosts.ids[first]}\n(cluster {prototype.label}, {prototype.members.size} hosts)", fontsize=9)
    axis.set_xlabel("windows of 5 minutes", fontsize=8)
plt.show()

# %%
# Who is unlike everybody?
# ------------------------
# Each host is compared with its nearest representative. How far it falls short of what is usual in its cluster, in
# units of the median deviation there, says whether it deserves a look. The camera that talks all day stands out,
# because cameras are all alike. Among office machines, which differ as people do, it would have been harder to see.

model = covey.NearestPrototypeClassifier(selector).fit(hosts.data, clusters.labels)
similarity = model.explain(hosts.data).similarities
strange = np.empty(len(similarity))
for label in model.classes_:
    mine = clusters.labels == label
    short_of = np.median(similarity[mine]) - similarity[mine]
    strange[mine] = short_of / np.median(np.abs(short_of))
for row in np.argsort(-strange)[:5]:
    print(
        f"{hosts.ids[row]:<10} {truth[row]:<11} similarity {similarity[row]:.3f}, {strange[row]:.0f} deviations short"
    )

# %%
# What to try next
# ----------------
# - Your own log: ``covey select conn.log.gz --hosts --cluster auto -o few.csv``.
# - Once somebody has named the clusters, ``covey.NearestPrototypeClassifier`` names new hosts, and with
#   ``reject="calibrated"`` it says when a host is like none of them.
