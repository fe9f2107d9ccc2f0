"""The picture of the first page: digits as a map, and as images those that stand for the others."""

from matplotlib import pyplot
from matplotlib.offsetbox import AnnotationBbox, OffsetImage
from scipy.stats import rankdata
from sklearn.datasets import load_digits
from sklearn.manifold import TSNE
from sklearn.model_selection import train_test_split

import covey

X, y = load_digits(return_X_y=True)
X, _, y, _ = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)
chosen = covey.CRS(n_neighbors=10).fit(X, y).sample_indices_
places = TSNE(metric="cosine", init="pca", random_state=0).fit_transform(X)
places = (places + 30 * rankdata(places, axis=0) / len(X) * 4) / 2  # the gaps between groups take less room

figure, axes = pyplot.subplots(figsize=(11, 5.4), layout="constrained")
axes.scatter(*places.T, c=y, cmap="tab10", s=9, alpha=0.75, linewidths=0)
colors = pyplot.get_cmap("tab10")(y / 9)
for row in chosen:
    image = OffsetImage(X[row].reshape(8, 8), cmap="Greys", zoom=2.1)
    frame = {"edgecolor": colors[row], "facecolor": "white", "linewidth": 1.4, "boxstyle": "round,pad=0.15"}
    axes.add_artist(AnnotationBbox(image, places[row], bboxprops=frame, pad=0.1))
axes.axis("off")
axes.margins(0.04)
