"""A look at covey in a few seconds: handwritten digits under cosine, and town names under a plain Python function.

Run it with ``python -m covey.demo``.
"""

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.metrics import precision_score, recall_score
from sklearn.model_selection import train_test_split

import covey

TOWNS = {  # forty large towns of each country
    "Czechia": """
        Prague Brno Ostrava Plzeň Liberec Olomouc Pardubice Zlín Havířov Kladno Most Opava Jihlava Karviná
        Teplice Chomutov Děčín Jablonec Přerov Mladá-Boleslav Prostějov Třebíč Třinec Tábor Znojmo Kolín
        Příbram Cheb Trutnov Písek Kroměříž Vsetín Šumperk Břeclav Hodonín Litoměřice Strakonice Klatovy
        Valašské-Meziříčí Kopřivnice
        """,
    "Finland": """
        Helsinki Espoo Tampere Vantaa Oulu Turku Jyväskylä Kuopio Lahti Pori Kouvola Joensuu Lappeenranta
        Hämeenlinna Vaasa Seinäjoki Rovaniemi Mikkeli Kotka Salo Porvoo Kokkola Hyvinkää Lohja Järvenpää
        Rauma Kajaani Kerava Savonlinna Nokia Ylöjärvi Kangasala Riihimäki Raasepori Imatra Raahe Sastamala
        Tornio Iisalmi Valkeakoski
        """,
    "Italy": """
        Roma Milano Napoli Torino Palermo Genova Bologna Firenze Bari Catania Verona Venezia Messina Padova
        Trieste Brescia Parma Taranto Prato Modena Reggio Perugia Ravenna Livorno Cagliari Foggia Rimini
        Salerno Ferrara Sassari Latina Monza Bergamo Pescara Siracusa Trento Forlì Vicenza Terni Bolzano
        """,
    "Japan": """
        Tokyo Yokohama Osaka Nagoya Sapporo Fukuoka Kawasaki Kobe Kyoto Saitama Hiroshima Sendai Chiba
        Kitakyushu Sakai Niigata Hamamatsu Kumamoto Sagamihara Okayama Shizuoka Kagoshima Hachioji Himeji
        Utsunomiya Matsuyama Matsudo Nishinomiya Ichikawa Kanazawa Fukuyama Amagasaki Kurashiki Nagasaki
        Toyama Gifu Miyazaki Nara Toyonaka Takamatsu
        """,
}


def letter_pairs(a: str, b: str) -> float:
    """The share of pairs of adjacent letters that two words have in common (Dice's coefficient); ends count as letters.

    >>> letter_pairs("Roma", "Parma")
    0.36363636363636365
    """
    left, right = ({word[i : i + 2] for i in range(len(word) - 1)} for word in (f"^{a}$".lower(), f"^{b}$".lower()))
    return 2 * len(left & right) / (len(left) + len(right))


def show_prototypes(selector: Any) -> None:
    """Print a line about each prototype of a fitted selector."""
    print(f"  {'cluster':<10}{'size':>6}{'representatives':>17}{'coverage':>10}{'homogeneity':>13}{'scan rate':>11}")
    for label, found in selector.prototypes_.items():
        print(
            f"  {label!s:<10}{found.members.size:>6}{found.indices.size:>17}{found.coverage:>10.1%}"
            f"{found.homogeneity:>13.3f}{found.scan_rate:>11.1%}"
        )


def show_quality(selector: Any, X: Any, y: Any, queries: Any, truth: Any) -> None:
    """Print how well the prototypes classify, and beside them a random choice of the same size, and all objects."""
    sizes = {label: found.indices.size for label, found in selector.prototypes_.items()}
    choices = {
        "prototypes": selector,
        "random": covey.RandomSelector(n=sizes, similarity=selector.similarity, random_state=0),
        "all objects": covey.KeepAll(similarity=selector.similarity),
    }
    print(f"\n  {'classified by':<14}{'objects':>8}{'precision':>11}{'recall':>8}")
    for name, choice in choices.items():
        model = covey.NearestPrototypeClassifier(clone(choice)).fit(X, y)
        guess = model.predict(queries)
        precision = precision_score(truth, guess, average="macro", zero_division=0)
        recall = recall_score(truth, guess, average="macro")
        print(f"  {name:<14}{model.selector_.sample_indices_.size:>8}{precision:>11.3f}{recall:>8.3f}")


def show(title: str, selector: Any, X: Any, y: Any) -> Any:
    """Fit on 70 % of the data, show the prototypes, and classify the rest; returns what was fitted."""
    print(f"\n{title}\n")
    train, test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)
    selector.fit(train, y_train)
    show_prototypes(selector)
    show_quality(selector, train, y_train, test, y_test)
    return train


def main() -> None:
    """Show both examples."""
    digits, labels = load_digits(return_X_y=True)
    show("Handwritten digits, cosine similarity", covey.CRS(n_neighbors=10), digits, labels)
    one = covey.CRS(n_neighbors=10, graph="nn-descent", random_state=0).fit(digits)
    print("\n  All as one cluster, by NN-Descent instead of all pairs:\n")
    show_prototypes(one)

    names = [name.replace("-", " ") for towns in TOWNS.values() for name in towns.split()]
    countries = np.repeat(list(TOWNS), [len(towns.split()) for towns in TOWNS.values()])
    selector = covey.CRS(n_neighbors=5, similarity=letter_pairs)
    train = show("Town names, a plain Python similarity", selector, names, countries)
    print()
    for label, found in selector.prototypes_.items():
        print(f"  {label}: {', '.join(train[i] for i in found.indices)}")


if __name__ == "__main__":
    main()
