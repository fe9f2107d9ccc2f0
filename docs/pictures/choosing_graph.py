"""How evaluations grow with the number of objects, and what NN-Descent finds."""

import numpy as np
from curves import draw, means, panels

rows = means("graph")
_, (cost, share, found) = panels(3)
n = np.array(sorted(rows.n_objects.unique()))
cost.plot(n, (n - 1) / 2, color="#333333", linestyle="--", label="all pairs")
draw(cost, rows, "n_objects", "evaluations_per_object")
cost.set(xlabel="objects in the cluster, n", ylabel="evaluations for each object", xscale="log", yscale="log")
draw(share, rows, "n_objects", "share")
share.set(xlabel="objects in the cluster, n", ylabel="scan rate: % of all pairs", xscale="log", ylim=(0, None))
draw(found, rows, "n_objects", "recall")
found.set(xlabel="objects in the cluster, n", ylabel="true neighbors found", xscale="log", ylim=(0.9, 1.002))
for axes in (cost, share, found):
    axes.set_xticks([250, 1000, 4000, 16000], ["250", "1 000", "4 000", "16 000"], fontsize=9)
    axes.minorticks_off()
