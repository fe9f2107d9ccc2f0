"""Pages made of the templates in this folder. A page holds all it needs, so that it opens offline.

Nothing that came from data may run or load anything on a page. Three guards see to this, for every page there is:

1. What a template inserts is escaped, of any type, so that it remains text. Only what this file makes is inserted
   as it is: the style sheets, the script, and data as JSON, in which no character can end a script.
2. A policy (Content-Security-Policy) tells the browser to load nothing, to send nothing, and to run only the script
   and the style sheet with the given hashes. The hashes are those of the files in this folder, not of what is on the
   page. A script that came from data could never have one.
3. The finished page is read again. A page that holds anything which the policy would stop is refused.

A page called NAME is made of `NAME.html`, which extends `page.html`, of `NAME.css`, and of `NAME.js` if there is one.
The parts of a long script are files `NAME_PART.js`. They come first, in the order of their names.
"""

import base64
import hashlib
import json
import os
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from covey.displays.colors import PageColors
from covey.runtime.libraries import require
from covey.runtime.wording import legible, legible_parts
from covey.storage.atomic import whole

FOLDER = Path(__file__).parent
"""Where templates, style sheets and scripts are."""
POLICY = (
    "default-src 'none'; script-src {script}; style-src {style}; img-src data:; base-uri 'none'; form-action 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
"""What the browser may do for a page. The last two parts forbid scripts to turn text into HTML."""
FORBIDDEN_TAGS = {"applet", "base", "embed", "form", "frame", "frameset", "iframe", "object", "portal"}
"""Elements that load or send something."""
FORBIDDEN_ATTRIBUTES = {"style", "srcdoc", "srcset", "formaction", "action", "background", "ping"}
"""Attributes that load or send something, or that the policy ignores. Those that begin with "on" run something."""
ADDRESSES = {"href", "src", "xlink:href", "poster", "data"}
"""Attributes that hold an address: it must be a place on the page, or hold the image itself."""


class UnsafePageError(RuntimeError):
    """A page was made that holds what no page of covey may hold. The template is wrong, and not the data."""


class _Made:
    """HTML that this file has made, and that is inserted as it is."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __html__(self) -> str:
        return self.text


def render(name: str, colors: PageColors, **values: Any) -> str:
    """Return the page that a template makes of the values, with the policy that protects it."""
    environment = _environment()
    style = f"\n{environment.get_template('page.css').render(colors=colors)}\n{_source(f'{name}.css')}"
    parts = [*sorted(FOLDER.glob(f"{name}_*.js")), *FOLDER.glob(f"{name}.js")]
    script = "\n".join(_source(path.name) for path in parts)
    policy = POLICY.format(script=_hash(script) if script else "'none'", style=_hash(style))
    own = {"policy": _Made(policy), "own_style": _Made(style), "own_script": _Made(script) if script else None}
    page: str = environment.get_template(f"{name}.html").render(**values, **own)
    reader = _PageChecker(policy, style, script)
    reader.feed(page)
    reader.close()
    reader.check_complete()
    return page


def write_page(page: str, path: str | os.PathLike[str]) -> None:
    """Write a page to a file, which is replaced as a whole or not at all."""
    with whole(path) as temporary:
        temporary.write_text(page, encoding="utf-8", newline="\n")


def _environment() -> Any:
    jinja2 = require("jinja2", "plot")
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(FOLDER),
        autoescape=True,
        finalize=_inserted,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["tojson"] = _json
    environment.filters["counted"] = "{:,}".format
    return environment


def _inserted(value: Any) -> Any:
    """Return what is inserted for a value. Text is escaped next, also that of objects which say that they are HTML."""
    return value if isinstance(value, _Made) else legible(str(value))


def _json(value: Any) -> _Made:
    """Return data as JSON without any character that has a meaning in HTML. Letters of any script stay as they are."""
    text = json.dumps(legible_parts(value), allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return _Made(text)


def _source(name: str) -> str:
    """Return a file of this folder. A browser takes every end of a line for a line feed before it computes a hash."""
    return (FOLDER / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """Return the hash of a script or a style sheet, as a policy names it."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode('utf-8')).digest()).decode('ascii')}'"


class _PageChecker(HTMLParser):
    """Reads a page again, and refuses what could run, load or send anything that is not part of this folder."""

    def __init__(self, policy: str, style: str, script: str) -> None:
        super().__init__()
        self._missing = {"style": style, "script": script}
        self._policies = [policy]
        self._inside: str | None = None
        self._text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag in FORBIDDEN_TAGS:
            raise UnsafePageError(f"A page must not hold an element {tag!r}.")
        for name, value in given.items():
            if name.startswith("on") or name in FORBIDDEN_ATTRIBUTES:
                raise UnsafePageError(f"A page must not hold an attribute {name!r}, got one of {tag!r}; use a class.")
            if name in ADDRESSES and not value.startswith(("#", "data:image/", "data:,")):
                raise UnsafePageError(f"An address on a page must begin with # or data:image/, got {value[:80]!r}.")
        if tag == "meta" and "http-equiv" in given:
            if given.get("content") not in self._policies:
                raise UnsafePageError("A page must have its own policy once, and no other.")
            self._policies.remove(given["content"])
        elif self._policies and tag in ("style", "script", "body", "link", "title"):
            raise UnsafePageError(
                f"The policy must stand above everything that it is for, but {tag!r} stands above it."
            )
        if tag in self._missing and given.get("type") != "application/json":
            self._inside, self._text = tag, ""

    def handle_data(self, data: str) -> None:
        self._text += data if self._inside else ""

    def handle_endtag(self, tag: str) -> None:
        if tag == self._inside:
            if self._text != self._missing[tag]:
                raise UnsafePageError(f"A page must hold no {tag} but its own, got {self._text[:80]!r}.")
            self._missing[tag], self._inside = "", None

    def check_complete(self) -> None:
        """Raise UnsafePageError if the page does not end as a page of covey does."""
        if self._inside or self._policies or any(self._missing.values()):
            raise UnsafePageError("A page must hold its policy, its style sheet and its script; extend page.html.")
