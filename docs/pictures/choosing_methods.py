"""Quality against size, for methods that can be told how many to select."""

from curves import means, panels

METHODS = {"sharpened": ("#d55e00", "s"), "CRS": ("#0072b2", "o"), "random": ("#8a94a0", "^")}
DEFAULTS = {"delta-medoids": ("#009e73", "D"), "DS3": ("#cc79a7", "*"), "CRS, refined": ("#0072b2", "P")}

rows = means("method")
_, all_axes = panels(4, height=3.2)
for axes, name in zip(all_axes, rows.data.unique(), strict=True):
    mine = rows[rows.data == name]
    for method, (color, mark) in METHODS.items():
        sized = mine[mine.setting.str.fullmatch(rf"{method} [\d.]+")]
        axes.errorbar(sized.percent, sized.f1, sized.f1_spread, color=color, marker=mark, markersize=5, label=method)
    for method, (color, mark) in DEFAULTS.items():
        one = mine[mine.setting == method]
        axes.plot(one.percent, one.f1, color=color, marker=mark, markersize=8, linestyle="", label=method)
    axes.axhline(mine[mine.setting == "all objects"].f1.item(), color="#333333", linestyle="--", label="all objects")
    axes.set(title=name, xlabel="objects selected, %", xscale="log")
    axes.set_xticks([1, 2, 5, 10], ["1", "2", "5", "10"])
    axes.minorticks_off()
all_axes[0].set_ylabel("F1 on new objects, macro mean")
axes.figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=7, frameon=False, fontsize=9)
