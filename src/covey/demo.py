"""A look at covey in a few seconds: handwritten digits under cosine, and mistyped names under a plain Python function.

Run it with ``python -m covey.demo``. It ends with a page, a map of the digits, in the current folder.
"""

import os
import random
from itertools import chain, count
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import covey
from covey.runtime.file_errors import system_errors_of

SHADES = " .:-=+*#%@"
"""Characters from light to dark, with which images are drawn on a terminal."""
TOWNS = """
    Praha Brno Ostrava Plzeň Liberec Olomouc Pardubice Jihlava Karlovy-Vary České-Budějovice Mladá-Boleslav Kroměříž
    Helsinki Espoo Tampere Vantaa Oulu Turku Jyväskylä Kuopio Lappeenranta Hämeenlinna Rovaniemi Savonlinna
    Roma Milano Napoli Torino Palermo Genova Bologna Firenze Venezia Reggio-Emilia Siracusa Civitavecchia
    Tokyo Yokohama Osaka Nagoya Sapporo Fukuoka Kawasaki Kyoto Hiroshima Kitakyushu Hamamatsu Kumamoto
    """
"""Four dozen towns of Czechia, Finland, Italy and Japan."""
N_SPELLINGS = 20
"""How many spellings of each town there are; half of them are learned from."""
PAGE = "covey-demo"
"""The name of the page, without its suffix."""


def letter_pairs(a: str, b: str) -> float:
    """Return the share of pairs of adjacent letters that two words have in common (Dice's coefficient).

    Ends count as letters.

    >>> letter_pairs("Roma", "Parma")
    0.36363636363636365
    """
    left, right = ({word[i : i + 2] for i in range(len(word) - 1)} for word in (f"^{a}$".lower(), f"^{b}$".lower()))
    return 2 * len(left & right) / (len(left) + len(right))


def mistyped(word: str, rng: random.Random) -> str:
    """Return the word with a letter, but not the first, left out, doubled, replaced, or exchanged with the next one."""
    at = rng.randrange(1, len(word) - 1)
    before, letter, following, after = word[:at], word[at], word[at + 1], word[at + 2 :]
    return rng.choice(
        [
            before + following + after,
            before + letter + letter + following + after,
            before + rng.choice("aeinorst") + following + after,
            before + following + letter + after,
        ]
    )


def spellings(town: str, rng: random.Random) -> list[str]:
    """Return different ways to write a name wrongly, each with one or two slips."""
    found: dict[str, None] = {}
    while len(found) < N_SPELLINGS:
        slipped = mistyped(town, rng)
        found[rng.choice([slipped, mistyped(slipped, rng)])] = None
    return [spelling for spelling in found if spelling != town]


def show_digits() -> None:
    """Classify images by few of them, and show why some answers were given."""
    images, digits = load_digits(return_X_y=True)
    X, queries, y, truth = train_test_split(images, digits, test_size=0.3, random_state=0, stratify=digits)
    print(
        f"Handwritten digits. Only few of {len(X)} images are kept: "
        f"how many of {len(queries)} new ones get the right digit?\n"
    )
    print(f"  {'images kept':<22}{'at random':>11}{'CRS':>11}{'sharpened':>11}")
    for selector in (covey.CRS(n_neighbors=30), covey.CRS(n_neighbors=5)):
        fitted = covey.NearestPrototypeClassifier(selector).fit(X, y)
        sizes = {label: found.indices.size for label, found in fitted.selector_.prototypes_.items()}
        chosen = (covey.RandomSelector(n=sizes, random_state=0), selector, covey.Sharpened(selector, random_state=0))
        models = [covey.NearestPrototypeClassifier(clone(choice)).fit(X, y) for choice in chosen]
        show_row(sum(sizes.values()), len(X), [model.score(queries, truth) for model in models])
    everything = covey.NearestPrototypeClassifier(covey.KeepAll()).fit(X, y)
    print(f"\n  With all {len(X)} images kept, {everything.score(queries, truth):.1%} are right.")
    model = covey.NearestPrototypeClassifier(models[-1].selector, reject="calibrated", rejection_rate=0.01).fit(X, y)
    show_answers(model, X, np.vstack([queries[:3], np.indices((8, 8)).sum(axis=0).reshape(1, -1) % 2 * 16]))


def show_row(n_kept: int, n: int, scores: list[float]) -> None:
    """Print how many answers are right if this many images are kept."""
    print(f"  {f'{n_kept} ({n_kept / n:.1%})':<22}{''.join(f'{score:>11.1%}' for score in scores)}")


def show_answers(model: Any, X: Any, queries: Any) -> None:
    """Draw new images above the representatives that decide what they are."""
    answer = model.explain(queries)
    print(
        "\n  New images, and below each the representative that it is most similar to. The last one is not a digit.\n"
    )
    print(drawn_beside(queries), drawn_beside(X[answer.representatives]), sep="\n\n")
    said = ["unknown" if no else f"a {label}" for label, no in zip(answer.labels, answer.rejected, strict=True)]
    captions = [f"{text} ({score:.2f})" for text, score in zip(said, answer.similarities, strict=True)]
    print("\n  " + "".join(f"{caption:<20}" for caption in captions).rstrip())


def drawn_beside(images: Any) -> str:
    """Return images of eight lines beside each other.

    Pixels go from 0 to 16, and each is two characters wide.
    """
    characters = np.array(list(SHADES))[np.asarray(images, dtype=int) * (len(SHADES) - 1) // 16].reshape(-1, 8, 8)
    lines = ("    ".join("".join(np.repeat(image[line], 2)) for image in characters) for line in range(8))
    return "\n".join(f"  {line}".rstrip() for line in lines)


def show_names() -> None:
    """Find the towns that are meant by mistyped names."""
    rng = random.Random(0)
    towns = [town.replace("-", " ") for town in TOWNS.split()]
    written = [(spelling, town) for town in towns for spelling in spellings(town, rng)]
    names, meant = [spelling for spelling, _ in written], [town for _, town in written]
    X, queries, y, truth = train_test_split(names, meant, test_size=0.5, random_state=0, stratify=meant)
    selector = covey.CRS(n_neighbors=5, similarity=letter_pairs)
    model = covey.NearestPrototypeClassifier(selector, reject=0.3, unknown_label="unknown").fit(X, y)
    everything = covey.NearestPrototypeClassifier(covey.KeepAll(similarity=letter_pairs)).fit(X, y)
    print(f"\n\nMistyped names of {len(towns)} towns, under a Python function that counts common pairs of letters.\n")
    print(f"  {model.selector_.sample_indices_.size} of {len(X)} spellings are kept. ", end="")
    print(f"They name the right town for {model.score(queries, truth):.1%} of {len(queries)} other spellings;")
    print(f"  all {len(X)} do so for {everything.score(queries, truth):.1%}.\n")
    shown = [*queries[:5], "Springfield"]
    answer = model.explain(shown)
    for name, town, row in zip(shown, answer.labels, answer.representatives, strict=True):
        print(f"  {name:<20} {town:<20} {'' if town == 'unknown' else f'because of {X[row]!r}'}".rstrip())


def draw_map() -> None:
    """Write a page with a map of all digits to the current folder, and say where it is."""
    images, digits = load_digits(return_X_y=True)
    model = covey.NearestPrototypeClassifier(covey.CRS(n_neighbors=10)).fit(images, digits)
    names = [f"image {row}, a {digit}" for row, digit in enumerate(digits)]
    display = covey.displays.PrototypeMapDisplay.from_estimator(model, images, names=names, image_shape=(8, 8))
    try:
        page = display.to_html(title="Handwritten digits")
    except ModuleNotFoundError as error:
        print(f"\n\nThere is also a page with a map of the digits: {error}")
        return
    print(f"\n\nA map of the digits is on a page to open in a browser: {write_beside(page, Path.cwd()).as_uri()}")


def write_beside(page: str, folder: Path) -> Path:
    """Write the page to a folder under the first of its names that no other file has, and return where it is."""
    names = chain([f"{PAGE}.html"], (f"{PAGE}-{number}.html" for number in count(2)))
    path = next(path for name in names if not is_taken(path := folder / name, page))
    with system_errors_of(path):
        path.write_text(page, encoding="utf-8", newline="\n")
    return path


def is_taken(path: Path, page: str) -> bool:
    """Return whether something is there that is not this very page."""
    return os.path.lexists(path) and not (path.is_file() and path.read_bytes() == page.encode())


def main() -> None:
    """Show digits, names and the map."""
    show_digits()
    show_names()
    draw_map()


if __name__ == "__main__":
    main()
