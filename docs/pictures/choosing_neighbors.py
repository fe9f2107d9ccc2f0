"""What k does to size and quality."""

from curves import means, size_and_quality

rows = means("neighbors").astype({"setting": int})
for axes in size_and_quality(rows, "setting", "k, the number of neighbors", xscale="log"):
    axes.set_xticks([1, 2, 5, 10, 20, 50], ["1", "2", "5", "10", "20", "50"])
