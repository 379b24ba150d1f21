"""How Sphinx builds the site; `make docs` runs it. Nothing is fetched from the network."""

import re
from typing import Any

import matplotlib

import sublearn

matplotlib.use("agg")  # examples are drawn without a screen

project = "sublearn"
author = "The sublearn developers"
copyright = author  # noqa: A001  Sphinx knows it by this name
version = release = sublearn.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["gallery/**/*.ipynb", "gallery/**/*.md5", "gallery/**/*.py"]
templates_path = ["templates"]
default_role = "code"  # `name` in docstrings is code

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

autodoc_typehints = "none"  # types stand in the docstrings
autosummary_generate = True
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False  # the template of a class lists them
python_display_short_literal_types = True

html_theme = "pydata_sphinx_theme"
html_title = "sublearn"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "sublearn"},
    "header_links_before_dropdown": 6,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": True,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"getting_started": [], "parameters": [], "changelog": []}

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_memory": False,
    "min_reported_time": 1e9,  # times differ from build to build
    "write_computation_times": False,
    "matplotlib_animations": False,
    "remove_config_comments": True,
    "nested_sections": False,
}


def skip_foreign(app: Any, what: str, name: str, member: Any, skip: bool, options: Any) -> bool | None:
    """Leave out members that are scikit-learn's own, whose docstrings refer to pages of its site."""
    module = getattr(member, "__module__", None) or ""
    is_request = name.startswith("set_") and name.endswith("_request")
    return True if module.startswith("sklearn") or is_request else None


def quote_fitted(app: Any, what: str, name: str, member: Any, options: Any, lines: list[str]) -> None:
    """Make code of names such as n_features_in_, which would be links, but for those that a line defines."""
    lines[:] = [re.sub(r"(?<![`\w.])([a-z]\w*_)(?![`\w]| : )", r"`\1`", line) for line in lines]


def setup(app: Any) -> None:
    """Sphinx calls this."""
    app.connect("autodoc-process-docstring", quote_fitted, priority=100)  # before numpydoc
    app.connect("autodoc-skip-member", skip_foreign)
