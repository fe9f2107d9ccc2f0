"""A higher threshold cuts more edges; objects that lose all of theirs stand for themselves."""

from plane import cluster, draw_prototype, panels

import covey

points = cluster()
mean = covey.homogeneity(points, similarity="euclidean").value
settings = {"none": None, f"homogeneity, {mean:.2f}": "homogeneity", "0.7": 0.7, "0.8": 0.8}
_, all_axes = panels(4)
for axes, (name, threshold) in zip(all_axes, settings.items(), strict=True):
    prototype = covey.CRS(8, threshold=threshold, similarity="euclidean").fit(points).prototypes_[0]
    draw_prototype(axes, points, prototype)
    axes.set_title(f"{name}: {prototype.indices.size} picked")
