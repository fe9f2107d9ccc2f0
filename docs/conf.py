"""How the site is built; `make docs` does it, with warnings as errors.

The site opens offline, as files: nothing on it is loaded from another place. What is particular to covey is in
extensions/: the pages of commands, flowcharts, and files of the repository that are pages of the site as well.
"""

import importlib
import inspect
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / name) for name in ("explorable", "extensions", "pictures")]

import assemble  # noqa: E402

import covey  # noqa: E402


def own_methods(module: str, name: str) -> list[str]:
    """Return the public methods of a class that covey itself defines; scikit-learn documents its own."""
    cls = getattr(importlib.import_module(module), name)
    found = inspect.getmembers(cls, lambda value: inspect.isfunction(value) or inspect.ismethod(value))
    own = [name for name, value in found if value.__module__.startswith("covey") and value.__doc__]
    return [name for name in own if not name.startswith("_")]


project = "covey"
author = "the covey developers"
project_copyright = "the covey developers, BSD-3-Clause"
release = covey.__version__
version = ".".join(release.split(".")[:2])

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "matplotlib.sphinxext.plot_directive",
    "command_pages",
    "flowcharts",
    "repository_files",
]
root_doc = "index"
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "explorable", "**/GALLERY_HEADER.rst", "**sg_execution_times.rst"]

myst_enable_extensions = ["attrs_block", "attrs_inline", "colon_fence", "deflist"]
myst_heading_anchors = 3
smartquotes = False  # options begin with two dashes

copybutton_prompt_text = r">>> |\.\.\. "
copybutton_prompt_is_regexp = True
suppress_warnings = ["config.cache"]  # the gallery's settings hold functions, which the cache cannot keep

# The API: names of `covey` load when they are first used, so that they are imported from there and not from the module
# that defines them.
autosummary_generate = True
autosummary_ignore_module_all = False
templates_path = ["templates"]
autosummary_context = {"own_methods": own_methods}
autosummary_filename_map = {  # file names that differ only in capitals are one file on some machines
    "covey.results.Cover": "covey.results.Cover-class",
    "covey.results.Homogeneity": "covey.results.Homogeneity-class",
    "covey.results.Difference": "covey.results.Difference-class",
}
autodoc_typehints = "none"  # the sections "Parameters" say it in words
add_module_names = False
default_role = "py:obj"  # a name in backticks leads to its page, if it has one
numpydoc_show_class_members = False
numpydoc_use_plots = False

# The gallery: every script is run, and what it prints and draws is shown.
GALLERIES = sorted({script.parent for script in (HERE.parent / "examples").rglob("plot_*.py")})
sphinx_gallery_conf = {
    "examples_dirs": [str(folder) for folder in GALLERIES],
    "gallery_dirs": [f"gallery/{folder.name}" for folder in GALLERIES],
    "backreferences_dir": "gallery/backreferences",
    "filename_pattern": r"/plot_",
    "ignore_pattern": r"(^|/)(?!plot_)[^/]*\.py$",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "remove_config_comments": True,
    "min_reported_time": 60,
    "plot_gallery": True,
}

# Pictures on pages.
plot_formats = ["svg"]
plot_html_show_formats = False
plot_html_show_source_link = False
plot_include_source = False
plot_rcparams = {"svg.fonttype": "path", "figure.dpi": 100, "savefig.transparent": True}
plot_apply_rcparams = True

html_theme = "pydata_sphinx_theme"
html_title = "covey"
html_static_path = ["static"]
html_css_files = ["covey.css"]
html_favicon = "static/covey.svg"
html_logo = "static/covey.svg"
html_show_sourcelink = False
html_copy_source = False
html_extra_path = [str(assemble.write(HERE / "_build" / "explorable"))]  # a page of its own, which is copied as it is
html_sidebars = {"index": [], "start": [], "changelog": []}
html_theme_options = {
    "logo": {"text": "covey"},
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "navbar_persistent": ["search-button"],
    "header_links_before_dropdown": 7,
    "secondary_sidebar_items": ["page-toc"],
    "show_toc_level": 2,
    "show_prev_next": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
