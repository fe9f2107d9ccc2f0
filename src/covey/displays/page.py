"""Pages from templates: jinja2, escaping everything."""

from typing import Any

from covey.runtime.extras import require


def render(package: str, template: str, **values: Any) -> str:
    """The page that a template beside a package's modules makes of the values."""
    jinja2 = require("jinja2", "cli")
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader(package, "."),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    page: str = environment.get_template(template).render(**values)
    return page
