"""The figure that only the paper's report has: what k changes."""

from collections.abc import Iterable

from covey.displays.drawing import figure, plain
from covey.displays.picture import Picture
from covey.experiments.paper.printed import FIGURE_CLUSTERS
from covey.experiments.specs import Results


def impact_of_k(results: Results) -> Iterable[Picture]:
    """Precision, the share selected and the scan rate against k, a panel for each cluster of the paper's figure."""
    panels = [
        (problem, cluster)
        for problem in results.problems
        for cluster in FIGURE_CLUSTERS.get(problem, ())
        if any(r.problem == problem and r.cluster == cluster for r in results.records)
    ]
    if not panels:
        return
    curves = {
        panel: sorted(
            (r.k, r.precision, r.selected / r.size, r.scan_rate)
            for r in results.records
            if (r.problem, r.cluster) == panel and r.k is not None
        )
        for panel in panels
    }
    n_rows = -(-len(panels) // 2)
    drawn = figure(10, 3.4 * n_rows)
    for axes, (panel, curve) in zip(drawn.subplots(n_rows, 2, squeeze=False).flat, curves.items(), strict=False):
        ks, *columns = zip(*curve, strict=True)
        for values, name, mark in zip(columns, ("precision", "share selected", "scan rate"), "osd", strict=True):
            axes.plot(ks, values, marker=mark, markersize=4, label=name)
        axes.set(title=plain(", ".join(panel)), xlabel="k", ylim=(0, None))
        axes.grid(alpha=0.3)
        axes.legend()
    yield Picture(
        "impact-of-k",
        drawn,
        "Precision, the share of the cluster selected and the scan rate against k, graphs by NN-Descent. The smaller a "
        "cluster, the larger the share of its pairs that is evaluated. Working lists hold ten at least, so it is the "
        "same up to k = 10.",
    )
