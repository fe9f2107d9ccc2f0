"""The first picks cover most, and the last ones cover outliers."""

from plane import cluster, draw_prototype, panels

import covey

points = cluster()
_, all_axes = panels(4)
for axes, share in zip(all_axes, (0.5, 0.8, 0.95, 1.0), strict=True):
    prototype = covey.CRS(8, coverage=share, similarity="euclidean").fit(points).prototypes_[0]
    draw_prototype(axes, points, prototype)
    axes.set_title(f"coverage {share:g}: {prototype.indices.size} picked")
