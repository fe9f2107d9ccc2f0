"""What the coverage does to size and quality, at k = 10."""

from curves import means, size_and_quality

size_and_quality(means("coverage").astype({"setting": float}), "setting", "coverage")
