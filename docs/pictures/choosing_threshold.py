"""What the threshold does to size and quality, at k = 10."""

from curves import means, size_and_quality

NAMES = {"none": "none", "homogeneity": "homog.", **{str(n): f"{n} %" for n in (90, 75, 50, 25, 10, 5)}}

rows = means("threshold")
rows["place"] = rows.setting.map({name: place for place, name in enumerate(NAMES)})
for axes in size_and_quality(rows, "place", "threshold: none, the homogeneity, or what this many edges reach"):
    axes.set_xticks(range(len(NAMES)), NAMES.values(), fontsize=9)
