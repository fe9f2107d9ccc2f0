"""Files of the repository, such as CONTRIBUTING.md, as pages of the site.

Such a file stays where readers of the repository look for it. Its page in docs/ only says

    ```{repository-file} CONTRIBUTING.md
    ```

and gets the text when the site is built. Links are written for the repository; on the site a link to a file that has a
page leads to that page, and a link to any other file of the repository becomes plain text.
"""

import os
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PLACEHOLDER = re.compile(r"```\{repository-file\} (\S+)\n```\n")
LINK = re.compile(r"\[([^\[\]]*)\]\((?!\w+:)([^)#\s]+)(#[^)\s]*)?\)")


def pages(docs):
    """{a file of the repository: the page that shows it}."""
    own = {page.resolve(): page for page in docs.rglob("*.md") if "_build" not in page.parts}
    shown = {page: PLACEHOLDER.search(page.read_text(encoding="utf-8")) for page in own.values()}
    return own | {(ROOT / match[1]).resolve(): page for page, match in shown.items() if match}


def read(app, docname, source):
    """Put the text of the file into the page, and let links lead to pages."""
    page = Path(app.env.doc2path(docname))
    if page.suffix != ".md":
        return
    text, folder = source[0], page.parent
    if match := PLACEHOLDER.search(text):
        file = ROOT / match[1]
        app.env.note_dependency(str(file))
        text, folder = text.replace(match[0], file.read_text(encoding="utf-8")), file.parent
    found = pages(Path(app.srcdir))

    def for_the_site(link):
        words, place, anchor = link.groups()
        target = (folder / place).resolve()
        if target in found:
            return f"[{words}]({os.path.relpath(found[target], page.parent)}{anchor or ''})"
        if target.is_file() and not target.is_relative_to(app.srcdir):
            return words
        return link[0]

    source[0] = LINK.sub(for_the_site, text)


def setup(app):
    app.connect("source-read", read)
    return {"parallel_read_safe": True}
