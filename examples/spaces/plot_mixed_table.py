"""
Mixed tables: animals, with gaps
================================

Real tables have columns of numbers and columns of words, and cells that are empty. Gower's similarity
compares such rows column by column: words are equal or not, numbers are as close as they are within the range of
their column, and where one of two cells is empty the column does not count for this pair. Nothing has to be encoded,
scaled or imputed.

The table below was written for this page: 56 animals with what one finds in a book for children. Some cells are
empty.
"""

# %%
import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from sklearn.model_selection import LeaveOneOut, cross_val_predict

import covey

TABLE = """
animal       class      kg      legs  skin      food      lives   eggs  flies
cow          mammal     700     4     fur       plants    land    no    no
horse        mammal     500     4     fur       plants    land    no    no
sheep        mammal     60      4     fur       plants    land    no    no
rabbit       mammal     2       4     fur       plants    land    no    no
mouse        mammal     0.02    4     fur       -         land    no    no
elephant     mammal     5000    4     skin      plants    land    no    no
lion         mammal     190     4     fur       animals   land    no    no
wolf         mammal     40      4     fur       animals   land    no    no
cat          mammal     4       4     fur       animals   land    no    no
bear         mammal     300     4     fur       both      land    no    no
pig          mammal     150     4     skin      both      land    no    no
human        mammal     70      2     skin      both      land    no    no
chimpanzee   mammal     45      2     fur       both      land    no    no
bat          mammal     0.02    2     fur       animals   land    no    yes
dolphin      mammal     150     0     skin      animals   water   no    no
whale        mammal     100000  0     skin      -         water   no    no
seal         mammal     100     -     fur       animals   both    no    no
platypus     mammal     1.5     4     fur       animals   both    yes   no
sparrow      bird       0.03    2     feathers  both      land    yes   yes
robin        bird       0.02    2     feathers  both      land    yes   yes
crow         bird       0.5     2     feathers  both      land    yes   yes
eagle        bird       5       2     feathers  animals   land    yes   yes
owl          bird       2       2     feathers  animals   land    yes   yes
parrot       bird       0.4     2     feathers  plants    land    yes   yes
pigeon       bird       0.3     2     feathers  plants    land    yes   yes
chicken      bird       2       2     feathers  both      land    yes   -
duck         bird       1       2     feathers  both      both    yes   yes
swan         bird       10      2     feathers  plants    both    yes   yes
gull         bird       1       2     feathers  animals   both    yes   yes
penguin      bird       25      2     feathers  animals   both    yes   no
ostrich      bird       110     2     feathers  plants    land    yes   no
crocodile    reptile    400     4     scales    animals   both    yes   no
lizard       reptile    0.02    4     scales    animals   land    yes   no
gecko        reptile    0.05    4     scales    animals   land    yes   no
iguana       reptile    4       4     scales    plants    land    yes   no
tortoise     reptile    5       4     scales    plants    land    yes   no
turtle       reptile    100     4     scales    both      water   yes   no
python       reptile    40      0     scales    animals   land    yes   no
cobra        reptile    6       0     scales    animals   land    yes   no
viper        reptile    0.3     0     scales    animals   land    -     no
trout        fish       2       0     scales    animals   water   yes   no
salmon       fish       5       0     scales    animals   water   yes   no
carp         fish       5       0     scales    both      water   yes   no
herring      fish       0.2     0     scales    animals   water   yes   no
tuna         fish       200     0     scales    animals   water   yes   no
shark        fish       800     0     scales    animals   water   -     no
eel          fish       2       0     skin      animals   water   yes   no
frog         amphibian  0.03    4     skin      animals   both    yes   no
toad         amphibian  0.05    4     skin      animals   both    yes   no
newt         amphibian  0.01    4     skin      animals   both    yes   no
bee          insect     0.0001  6     shell     plants    land    yes   yes
wasp         insect     0.0001  6     shell     both      land    yes   yes
fly          insect     0.00001 6     shell     both      land    yes   yes
butterfly    insect     0.0005  6     shell     plants    land    yes   yes
beetle       insect     0.001   6     shell     -         land    yes   yes
ant          insect     0.00001 6     shell     both      land    yes   no
"""
lines = [line.split() for line in TABLE.strip().splitlines()]
animals = pd.DataFrame(lines[1:], columns=lines[0]).replace("-", np.nan).set_index("animal")
classes = animals.pop("class").to_numpy()
animals["kg"] = np.log10(animals["kg"].astype(float))  # a whale must not make all others look alike
animals["legs"] = animals["legs"].astype(float)
print(f"{len(animals)} animals, {animals.isna().to_numpy().sum()} empty cells")
animals.iloc[[0, 4, 15, 31, 46]]

# %%
# Who stands for a class?
# -----------------------
# The frame goes in as it is.

selector = covey.CRS(n_neighbors=5, similarity="gower").fit(animals, classes)
for label, prototype in selector.prototypes_.items():
    for row in prototype.indices:
        covered = animals.index[prototype.members[prototype.covered_by == row]].drop(animals.index[row])
        print(f"{label:<10} {animals.index[row]:<11} stands for {', '.join(covered) or 'itself'}")

# %%
# Could one name the class of an animal that is not in the table?
# ---------------------------------------------------------------
# Each animal in turn is left out. The mistakes are the ones that children make, too.

model = covey.NearestPrototypeClassifier(covey.CRS(n_neighbors=5, similarity="gower"))
answers = cross_val_predict(model, animals, classes, cv=LeaveOneOut())
print(f"{np.mean(answers == classes):.0%} are named correctly")
for row in np.flatnonzero(answers != classes):
    print(f"    {animals.index[row]} ({classes[row]}) is taken for: {answers[row]}")

# %%
# How similar is who to whom?
# ---------------------------
# Each line is an animal and each column a representative. A column that is dark within its class and light elsewhere is
# a good representative. The platypus is as dark below the frog and the newt as below any mammal but itself, which is
# why it is taken for one of them when it is left out.

model.fit(animals, classes)
similarities = model.transform(animals)  # its columns are the representatives, in the order of the table
chosen = np.sort(model.selector_.sample_indices_)
figure, axes = plt.subplots(figsize=(6.5, 10.5), layout="constrained")
drawn = axes.imshow(similarities, cmap="Blues", vmin=0, vmax=1, aspect="auto")
axes.set_xticks(np.arange(chosen.size), animals.index[chosen], rotation=90)
axes.set_yticks(np.arange(len(animals)), animals.index, fontsize=8)
for border in np.flatnonzero(classes[1:] != classes[:-1]):
    axes.axhline(border + 0.5, color="black", linewidth=0.8)
for border in np.flatnonzero(classes[chosen][1:] != classes[chosen][:-1]):
    axes.axvline(border + 0.5, color="black", linewidth=0.8)
axes.xaxis.tick_top()
figure.colorbar(drawn, label="Gower's similarity", shrink=0.4)
plt.show()

# %%
# What to try next
# ----------------
# - A column counts as much as any other. Leave out columns that say nothing, or repeat one that matters.
# - On the command line: ``covey select animals.csv -s gower --label class -o few.csv``.
