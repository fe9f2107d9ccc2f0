"""The four steps of CRS on one cluster of points."""

import numpy as np
from plane import BLUE, cluster, draw_edges, draw_prototype, panels

import covey

points = cluster()
k = 5
graph = covey.neighbor_graph(points, k, similarity="euclidean", method="exact")
mean = covey.homogeneity(points, similarity="euclidean").value
selector = covey.CRS(k, similarity="euclidean", graph="exact").fit(points)
starts = np.repeat(np.arange(len(points)), k)
ends = graph.indices.ravel()
kept = graph.similarities.ravel() >= mean

_, (objects, linked, cut, picked) = panels(4)
for axes in (objects, linked, cut):
    axes.scatter(*points.T, s=12, color=BLUE, linewidths=0, zorder=2)
objects.set_title(f"1. {len(points)} objects")
draw_edges(linked, points, starts, ends)
linked.set_title(f"2. {k} neighbors each")
draw_edges(cut, points, starts[kept], ends[kept])
cut.set_title(f"3. {np.sum(~kept)} weak edges cut")
prototype = selector.prototypes_[0]
draw_prototype(picked, points, prototype)
picked.set_title(f"4. {prototype.indices.size} picked, {prototype.coverage:.0%} covered")
