"""The same data under several similarities."""

from curves import MARKS, means, panels

rows = means("similarity")
_, all_axes = panels(4, height=2.7)
for axes, (name, (color, _)) in zip(all_axes, MARKS.items(), strict=True):
    mine = rows[rows.data == name].sort_values("f1")
    axes.barh(mine.setting, mine.f1, color=color, alpha=0.45)
    for place, (f1, spread, percent) in enumerate(zip(mine.f1, mine.f1_spread, mine.percent, strict=True)):
        words = f"{f1:.2f} ± {spread:.2f}, {percent:.1f} %"
        axes.text(0.02, place, words, transform=axes.get_yaxis_transform(), va="center", fontsize=8)
    axes.set(title=name, xlabel="F1")
    axes.grid(visible=False)
