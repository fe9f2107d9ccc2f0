"""The numbers that the paper prints, to put beside what is measured here (arXiv:2107.01345)."""

from covey.experiments.names import ALL, DELTA_MEDOIDS, RANDOM, SPARSE, crs_name
from covey.experiments.paper.names import FASHION, NETWORK, NEWS, by_descent

TABLE_1 = {
    FASHION: {
        DELTA_MEDOIDS: (0.763, 0.744, 4.73),
        SPARSE: (0.657, 0.563, 0.07),
        RANDOM: (0.793, 0.784, 5.0),
        ALL: (0.823, 0.817, 100.0),
        crs_name(5): (0.855, 0.852, 87.71),
        crs_name(10): (0.836, 0.826, 15.37),
        crs_name(15): (0.828, 0.823, 5.08),
    },
    NEWS: {
        DELTA_MEDOIDS: (0.542, 0.515, 14.51),
        SPARSE: (0.133, 0.132, 0.64),
        RANDOM: (0.452, 0.435, 5.06),
        ALL: (0.56, 0.548, 100.0),
        crs_name(5): (0.635, 0.632, 56.58),
        crs_name(10): (0.538, 0.516, 7.14),
        crs_name(15): (0.522, 0.488, 5.17),
    },
    NETWORK: {
        DELTA_MEDOIDS: (0.865, 0.978, 7.38),
        SPARSE: (0.87, 0.977, 1.88),
        RANDOM: (0.958, 0.97, 5.09),
        ALL: (0.987, 0.963, 100.0),
        crs_name(5): (0.988, 0.958, 65.31),
        crs_name(10): (0.985, 0.965, 7.74),
        crs_name(15): (0.983, 0.982, 5.26),
    },
}
"""Precision, recall and the percentage selected, of Table 1. The network's are those of the paper's private data."""

SCAN_RATES = {by_descent(10): "0.063", by_descent(15): "0.13", DELTA_MEDOIDS: "0.45 to 0.7", SPARSE: "1"}
"""The scan rates on Fashion-MNIST, from the text of the section "Evaluation of Results".

The paper's formula divides by four times as many pairs as there are, so CRS evaluated about 0.25 and 0.52 of them."""

FIGURE_CLUSTERS = {FASHION: ("Dress", "Sandal"), NETWORK: ("A", "B")}
"""The clusters of its figure of the impact of k: two kinds of clothes, a medium and the biggest cluster of hosts."""
