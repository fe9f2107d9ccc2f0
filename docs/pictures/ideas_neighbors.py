"""More neighbors, fewer representatives."""

from plane import cluster, draw_prototype, panels

import covey

points = cluster()
_, all_axes = panels(4)
for axes, k in zip(all_axes, (2, 5, 10, 25), strict=True):
    prototype = covey.CRS(k, similarity="euclidean").fit(points).prototypes_[0]
    draw_prototype(axes, points, prototype)
    axes.set_title(f"k = {k}: {prototype.indices.size} picked")
