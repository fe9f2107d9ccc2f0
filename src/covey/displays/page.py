"""Pages made of the templates in this folder. A page holds all it needs, so that it opens offline."""

from typing import Any

from covey.runtime.extras import require


def render(template: str, **values: Any) -> str:
    """The page that a template makes of the values. What they hold is escaped: text remains text, not HTML."""
    jinja2 = require("jinja2", "cli")
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("covey.displays", "."),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    page: str = environment.get_template(template).render(**values)
    return page
