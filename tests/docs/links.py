"""Follows every link of the built site: ``python -m tests.docs.links docs/_build/html``.

A link within the site must lead to a file, and to a place in it if it names one. Nothing may be loaded from elsewhere:
no script, style sheet, font or image. Links that a reader may follow to other sites are not visited.
"""

import re
import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {
    "script": "src",
    "img": "src",
    "link": "href",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "audio": "src",
}
"""What a browser loads by itself, and the attribute that says from where."""


class Page(HTMLParser):
    """The links of a page, what it loads, and the places that links can lead to."""

    def __init__(self, path):
        super().__init__()
        self.links, self.loaded, self.places = [], [], set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.places |= {attributes[name] for name in ("id", "name") if attributes.get(name)}
        if tag == "a" and attributes.get("href"):
            self.links.append(attributes["href"])
        if tag in LOADED and attributes.get(LOADED[tag]):
            self.loaded.append(attributes[LOADED[tag]])


read = cache(Page)


def broken(page):
    """What is wrong with the links of a page, in words."""
    for link in [*read(page).links, *read(page).loaded]:
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            if link in read(page).loaded and parts.scheme != "data":
                yield f"loads {link} from elsewhere"
            continue
        target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
        if not target.is_file():
            yield f"links to {link}, which does not exist"
        elif parts.fragment and target.suffix == ".html" and unquote(parts.fragment) not in read(target).places:
            yield f"links to {link}, but there is no such place on that page"


def loads_from_elsewhere(sheet):
    """The addresses on other machines that a style sheet loads."""
    text = sheet.read_text(encoding="utf-8")
    return re.findall(r"(?:url\(|@import)\s*[\"']?((?:https?:)?//[^\"')\s]+)", text)


def faults(folder):
    """What is wrong with the site in a folder, a sentence each."""
    pages = sorted(page for page in folder.resolve().rglob("*.html") if "_static" not in page.parts)  # templates there
    if not pages:
        return [f"there are no pages in {folder}"]
    found = [f"{page.relative_to(folder.resolve())} {fault}" for page in pages for fault in broken(page)]
    sheets = sorted(folder.rglob("*.css"))
    return found + [f"{sheet} loads {place}" for sheet in sheets for place in loads_from_elsewhere(sheet)]


if __name__ == "__main__":
    wrong = faults(Path(sys.argv[1]))
    print(*wrong, sep="\n", end="\n" if wrong else "")
    sys.exit(bool(wrong))
