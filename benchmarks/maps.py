"""How long maps take, and how large their pages are, for 2 000, 10 000 and 50 000 images of Fashion-MNIST.

Run it with ``COVEY_DATA=~/data python -m benchmarks.maps``. Each line says how many objects and representatives there
are, how many seconds it took to make the display, without images, and how many megabytes the page has without and
with images.
"""

from time import perf_counter

import covey
from covey.datasets import load_fashion_mnist

SIZES = (2_000, 10_000, 50_000)


def main() -> None:
    """Print a line for each size."""
    X, y = load_fashion_mnist(return_X_y=True)
    for size in SIZES:
        selector = covey.CRS(n_neighbors=10, random_state=0).fit(X[:size], y[:size])
        start = perf_counter()
        display = covey.displays.PrototypeMapDisplay.from_estimator(selector, X[:size], max_objects=size)
        seconds = perf_counter() - start
        plain = len(display.to_html()) / 1e6
        pictured = len(display.show_images(X[:size], (28, 28)).to_html()) / 1e6
        n_chosen = selector.sample_indices_.size
        print(f"{size} objects, {n_chosen} representatives: {seconds:.1f} s, {plain:.2f} and {pictured:.2f} MB")


if __name__ == "__main__":
    main()
