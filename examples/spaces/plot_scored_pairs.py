"""
Pairs scored elsewhere: sequences that another program has compared
===================================================================

Some programs compare only pairs that have a chance: MMseqs2 and BLAST with proteins, Splink with records of people,
chemfp with molecules. What they leave behind is a list of pairs with scores. covey picks representatives from that list
alone. It never sees the objects, and a pair that is not in the list counts as not similar.
"""

# %%
# A list of hits
# --------------
# Five ancestors are random sequences of 120 amino acids, and each has descendants in which some letters have changed.
# A pair is scored by the share of equal letters, and only pairs with at least 40 % are written down, as a search
# program would do. The file has the columns of MMseqs2's ``.m8``: query, target, identity.

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from matplotlib import pyplot as plt

import covey

rng = np.random.default_rng(0)
letters = np.array(list("ACDEFGHIKLMNPQRSTVWY"))
sequences, families = [], []
for family, size in enumerate((60, 40, 30, 20, 10)):
    ancestor = rng.integers(20, size=120)
    branches = [np.where(rng.random(120) < 0.25, rng.integers(20, size=120), ancestor) for _ in range(4)]
    for member in range(size):
        parent = branches[member % 4]
        sequences.append(np.where(rng.random(120) < rng.uniform(0.02, 0.25), rng.integers(20, size=120), parent))
        families.append(family)
sequences, families = np.array(sequences), np.array(families)
names = [f"P{number:03}" for number in range(len(sequences))]
print("P000", "".join(letters[sequences[0]])[:60], "...")

identity = (sequences[:, None, :] == sequences[None, :, :]).mean(axis=2)
first, second = np.nonzero(np.triu(identity >= 0.4, k=1))
scores = identity[first, second]
hits = Path(tempfile.mkdtemp()) / "hits.m8"
lines = [f"{names[a]}\t{names[b]}\t{score:.3f}" for a, b, score in zip(first, second, scores, strict=True)]
hits.write_text("\n".join(lines) + "\n", encoding="utf-8")
print(f"{len(lines):,} of {len(names) * (len(names) - 1) // 2:,} pairs were worth writing down")

# %%
# In Python: a sparse matrix
# --------------------------
# Each pair is written in both directions. With ``n_neighbors=None`` a sequence is covered by every representative that
# reaches the threshold, here an identity of 50 %; this is what clustering programs for proteins do.

n = len(names)
matrix = sp.csr_array((scores, (first, second)), shape=(n, n))
matrix = matrix + matrix.T
selector = covey.CRS(None, threshold=0.5, coverage=1, gain="count", similarity="precomputed").fit(matrix)
(prototype,) = selector.prototypes_.values()
print(f"{prototype.indices.size} representatives cover {prototype.coverage:.0%} of {n} sequences:")
for row, stands_for in zip(prototype.indices[:8], prototype.stands_for, strict=False):
    print(f"    {names[row]} of family {families[row]} stands for {stands_for}")

# %%
# Does a representative stay within its family? All that it covers should be its relatives, and they are: unrelated
# sequences of this kind have about 5 % of their letters in common by chance.

mixed = families[prototype.members] != families[prototype.covered_by]
print(f"{np.count_nonzero(mixed)} sequences are covered by one of another family")

# %%
# The matrix shows the families as blocks, with the sequences of a family in the order of their representatives. Pairs
# of two families are white: they were never scored.

rank = {row: place for place, row in enumerate(prototype.indices)}
order = sorted(range(n), key=lambda row: (families[row], rank[prototype.covered_by[row]]))
shown = matrix.toarray()[np.ix_(order, order)]
figure, axes = plt.subplots(figsize=(6, 5), layout="constrained")
drawn = axes.imshow(np.where(shown > 0, shown, np.nan), cmap="viridis", vmin=0.4, vmax=1, interpolation="nearest")
marks = np.flatnonzero(np.isin(order, prototype.indices))
axes.scatter(marks, marks, marker="*", s=60, color="#d55e00", label="representative")
axes.set(xlabel="sequences", ylabel="sequences", xticks=[], yticks=[])
axes.legend(loc="upper right")
figure.colorbar(drawn, label="identity")
plt.show()

# %%
# On the command line: the file as it is
# --------------------------------------
# ``--pairs 1,2,3`` says which columns hold the two names and the score. No matrix has to be made.
# The command prefers similar objects where the call above only counts them, so that a few picks differ.

few = hits.with_name("few.csv")
command = [
    "select",
    str(hits),
    "--pairs",
    "1,2,3",
    "-k",
    "all",
    "--threshold",
    "0.5",
    "--coverage",
    "1",
    "-o",
    str(few),
]
done = subprocess.run([sys.executable, "-m", "covey", *command], capture_output=True, text=True, check=True)
print(done.stderr.replace(str(hits.parent), "."))
print("\n".join(few.read_text(encoding="utf-8").splitlines()[:6]))

# %%
# What to try next
# ----------------
# - ``-n 20`` asks for twenty representatives instead of a threshold, and ``--members who.csv`` writes who covers whom.
# - If the program can be called for a single pair, let covey decide which pairs are worth it:
#   :doc:`plot_own_similarity`.
# - A matrix that is full rather than sparse, and not symmetric: :doc:`plot_precomputed`.
