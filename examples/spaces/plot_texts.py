"""
Texts: what a library's documentation is about
==============================================

A pile of short texts (tickets, abstracts, reviews) is sorted into folders, and one would like to read only a few texts
of each folder to know what is in it. Here the texts are real and always at hand: the docstrings of Python's own
standard library, sorted by the package that they come from.
"""

# %%
# The texts are taken from the modules that are installed, so that this page needs no download. Their number varies a
# little with the version of Python.

import importlib
import inspect

import numpy as np
from matplotlib import pyplot as plt
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import train_test_split

import covey

PACKAGES = {
    "dates": ["datetime", "calendar", "zoneinfo", "time"],
    "files": ["pathlib", "shutil", "os", "tempfile", "zipfile", "tarfile"],
    "numbers": ["decimal", "fractions", "statistics", "math", "random"],
    "internet": ["urllib.request", "http.client", "http.cookiejar", "smtplib", "imaplib", "ftplib", "socket"],
    "tests": ["unittest.case", "unittest.mock", "unittest.loader", "doctest"],
    "programs": ["ast", "inspect", "dis", "tokenize", "traceback"],
}


def docstrings(module):
    """Yield the name and the docstring of each public class, function and method that a module offers."""
    for name, found in sorted(vars(module).items()):
        if name.startswith("_") or not callable(found):
            continue
        yield f"{module.__name__}.{name}", found.__doc__
        if inspect.isclass(found):
            for method, member in sorted(vars(found).items()):
                if not method.startswith("_") and callable(member):
                    yield f"{module.__name__}.{name}.{method}", member.__doc__


texts = {}  # a docstring that is inherited or shared appears once
for topic, names in PACKAGES.items():
    for module in map(importlib.import_module, names):
        for name, text in docstrings(module):
            if isinstance(text, str) and len(text) > 60:
                texts.setdefault(inspect.cleandoc(text), (topic, name))
topics = np.array([topic for topic, _ in texts.values()])
names = np.array([name for _, name in texts.values()])
texts = np.array(list(texts), dtype=object)
print(f"{len(texts)} texts:", ", ".join(f"{np.count_nonzero(topics == topic)} on {topic}" for topic in PACKAGES))

# %%
# TF-IDF turns a text into a sparse row with a weight for each word. covey compares sparse rows as they are.

learned, asked = train_test_split(np.arange(len(texts)), test_size=0.3, stratify=topics, random_state=0)
vectorizer = TfidfVectorizer(sublinear_tf=True, min_df=2, stop_words="english")
X = vectorizer.fit_transform(texts[learned])
queries = vectorizer.transform(texts[asked])
model = covey.NearestPrototypeClassifier(covey.CRS(n_neighbors=15, similarity="cosine")).fit(X, topics[learned])
everything = covey.NearestPrototypeClassifier(covey.KeepAll()).fit(X, topics[learned])
print(f"{model.selector_.sample_indices_.size} of {len(learned)} texts are selected.")
print(f"{model.score(queries, topics[asked]):.1%} of {len(asked)} new texts are put where they belong;")
print(f"the nearest of all texts puts {everything.score(queries, topics[asked]):.1%} there.")

# %%
# The first pick of each topic
# ----------------------------
# This is the text that most texts of its topic have among their nearest. It is worth reading first.

for topic, prototype in model.selector_.prototypes_.items():
    first = learned[prototype.indices[0]]
    line = " ".join(texts[first].split())
    print(f"{topic}: {prototype.indices.size} texts for {prototype.members.size}; the first is {names[first]}")
    print(f"    {line[:150]}{'...' if len(line) > 150 else ''}")

# %%
# How many texts does one have to read?
# -------------------------------------
# The curves show how the coverage of a topic grows with each text that is picked. Two or three texts stand for
# half of most topics. Mind what that means: a text is covered if a representative is among its 15 nearest texts, and
# with so few words in common "nearest" is often not near. The answers show the price. The representatives lose against
# all texts, clearly more than on images.

figure, axes = plt.subplots(layout="constrained")
covey.displays.CoverageDisplay.from_estimator(model).plot(axes)
plt.show()

# %%
# What to try next
# ----------------
# - Embeddings of a language model are dense rows, and find likeness between texts that share no word. Pass them as X.
# - :doc:`../selectors/plot_features` trains a linear model on the similarities to the representatives.
# - ``covey.Sharpened(covey.CRS(15))`` selects as many texts, but such that fewer answers are wrong.
# - On the command line: ``covey select tickets.csv --text body --label queue -o few.csv``.
