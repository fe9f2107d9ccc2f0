"""
Features for a linear model
===========================

Linear models need columns of numbers, and strings have none. The similarities to a few representatives are such
columns: ``transform`` of a fitted classifier returns them. A linear model that learns from these columns weighs all
representatives instead of believing the nearest one, and often does better.
"""

# %%
# Words of two kinds: Latin names of plants, and names of chemical elements and compounds. All that covey knows of them
# is an edit distance.

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_digits
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import RepeatedStratifiedKFold, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline

import covey

PLANTS = """
    acer alnus betula carpinus castanea corylus fagus fraxinus ilex juglans larix malus picea pinus populus prunus
    pyrus quercus robinia salix sambucus sorbus taxus tilia ulmus viburnum achillea aconitum allium anemone arnica
    artemisia aster atropa bellis calendula campanula centaurea crocus cyclamen dahlia dianthus digitalis erica
    euphorbia galanthus gentiana geranium helleborus iris lavandula lilium linaria lupinus malva mentha myosotis
    narcissus papaver plantago primula ranunculus rosa salvia saxifraga sedum silene solanum thymus trifolium
    tulipa urtica valeriana verbascum veronica vinca viola
"""
SUBSTANCES = """
    hydrogen helium lithium beryllium boron carbon nitrogen oxygen fluorine neon sodium magnesium aluminium
    silicon phosphorus sulfur chlorine argon potassium calcium scandium titanium vanadium chromium manganese iron
    cobalt nickel copper zinc gallium germanium arsenic selenium bromine krypton rubidium strontium yttrium
    zirconium niobium silver cadmium indium tin antimony tellurium iodine xenon caesium barium methane ethane
    propane butane benzene toluene phenol aniline acetone ethanol methanol glycerol glucose fructose sucrose
    ammonia ozone quartz calcite gypsum pyrite hematite magnetite
"""
words = np.array(PLANTS.split() + SUBSTANCES.split(), dtype=object)
kinds = np.array(["plant"] * len(PLANTS.split()) + ["substance"] * len(SUBSTANCES.split()))
print(len(words), "words")

# %%
# A pipeline of both
# ------------------
# The classifier is the first step of the pipeline: it selects representatives, and hands the similarities on.

folds = RepeatedStratifiedKFold(n_splits=5, n_repeats=3, random_state=0)
selector = covey.CRS(n_neighbors=5, similarity="levenshtein")
nearest = covey.NearestPrototypeClassifier(selector)
linear = make_pipeline(covey.NearestPrototypeClassifier(selector), LogisticRegression(C=10, max_iter=1000))
everything = covey.NearestPrototypeClassifier(covey.KeepAll(similarity="levenshtein"))
for name, model in {
    "nearest representative": nearest,
    "linear model on similarities": linear,
    "nearest of all words": everything,
}.items():
    scores = cross_val_score(model, words, kinds, cv=folds)
    print(f"{name:<29} {scores.mean():.1%} right, standard deviation {scores.std():.1%}")

# %%
# Reading the weights
# -------------------
# Each weight belongs to a word, which makes the model readable: similarity to the words at the top speaks for a plant,
# similarity to those at the bottom for a substance.

linear.fit(words, kinds)
representatives = np.array(linear[0].representatives_, dtype=object)
weights = -linear[-1].coef_[0]
order = np.argsort(weights)
order = np.concatenate([order[:8], order[-8:]])
figure, axes = plt.subplots(figsize=(6, 4.6), layout="constrained")
colors = np.where(weights[order] > 0, "#009e73", "#0072b2")
axes.barh(representatives[order].astype(str), weights[order], color=colors)
axes.set(xlabel="weight: speaks for a plant (right) or for a substance (left)")
axes.axvline(0, color="black", linewidth=0.8)
plt.show()

# %%
# The same with images
# --------------------
# On digits, the linear model (linear discriminant analysis, which needs no tuning) makes up for a selection that is
# much too small. With 80 representatives the nearest one is better.

X, y = load_digits(return_X_y=True)
folds = StratifiedKFold(5, shuffle=True, random_state=0)
sizes, found = (20, 40, 80), {"nearest representative": [], "linear model": []}
for size in sizes:
    nearest = covey.NearestPrototypeClassifier(covey.CRS(10, size=size))
    linear = make_pipeline(nearest, LinearDiscriminantAnalysis())
    for name, model in (("nearest representative", nearest), ("linear model", linear)):
        found[name].append(cross_val_score(model, X, y, cv=folds).mean())
figure, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
for (name, scores), color in zip(found.items(), ("#d55e00", "#0072b2"), strict=True):
    axes.plot(sizes, scores, marker="o", color=color, label=name)
axes.set(xlabel="representatives", ylabel="right answers, mean of five folds", xticks=sizes)
axes.grid(alpha=0.3)
axes.legend(loc="lower right")
plt.show()
for name, scores in found.items():
    print(f"{name:<23}", ", ".join(f"{size}: {score:.1%}" for size, score in zip(sizes, scores, strict=True)))

# %%
# What to try next
# ----------------
# - Any model of scikit-learn can be the second step. Gradient boosting takes the columns, too.
# - ``model.get_feature_names_out()`` names the columns after their rows.
