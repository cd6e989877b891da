"""Settings of Sphinx for the site; docs/site/stage.py lays out what it reads, `make docs` runs both."""

from __future__ import annotations

import re
from pathlib import Path

import dalenius

project = "dalenius"
author = "the authors of dalenius"
version = release = dalenius.__version__
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_gallery.gen_gallery",
]
root_doc = "index"
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["examples"]
suppress_warnings = [
    "ref.python"
]  # a short name in backticks may be an attribute of several classes: then any of them is meant
default_role = "py:obj"  # a name in single backticks is a link where there is one
highlight_language = "text"
smartquotes = False  # options begin with two hyphens

myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings say them in words
autodoc_inherit_docstrings = False  # what a base class says of a member stands there, once
autodoc_default_options = {"members": True, "inherited-members": False}
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False

html_theme = "pydata_sphinx_theme"
html_title = "dalenius"
html_search_scorer = str(Path(__file__).with_name("scorer.js"))
html_static_path = [str(Path(__file__).with_name("static"))]
html_css_files = ["site.css"]
html_theme_options = {
    "header_links_before_dropdown": 8,
    "show_prev_next": True,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "navbar_align": "left",
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_context = {"default_mode": "auto"}
html_copy_source = False
html_show_sphinx = False
copyright = "the authors of dalenius, Apache-2.0"

sphinx_gallery_conf = {
    "examples_dirs": ["examples"],
    "gallery_dirs": ["gallery"],
    "within_subsection_order": "FileNameSortKey",
    "plot_gallery": False,  # they take minutes, and the tests run them; their pictures are in docs/images
    "download_all_examples": False,
    "show_signature": False,
    "show_api_usage": False,
    "write_computation_times": False,
    "min_reported_time": 1e9,
}

LITERAL = re.compile(r"(``.*?``|`[^`]*`)")
MARKUP = re.compile(r"(?<!\*)\*(?!\*)|\||(?<=\w)_(?!\w)")


def as_markup(app: object, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    """Docstrings as Sphinx reads them: formulas that stand apart and examples are literal, `|x|` and `x * y` are no markup."""
    told, apart, example, sections = list[str](), False, False, False
    for k, line in enumerate(lines):
        indented, begins = line.startswith("    "), not k or not lines[k - 1].strip()
        sections = sections or (k + 1 < len(lines) and {*lines[k + 1].strip()} == {"-"})
        if begins and line.startswith(">>>") and not example:
            told += ["Examples", "--------"]
            example = True
        if begins and indented and not sections and not apart:
            told += ["::", ""]
            apart = True
        apart = apart and (indented or not line.strip())
        if not (apart or example or line.lstrip().startswith((">>>", "..."))):
            parts = LITERAL.split(line)
            parts[::2] = [MARKUP.sub(r"\\\g<0>", part) for part in parts[::2]]
            line = "".join(parts)
        told.append(line)
    lines[:] = told


def by_kind(app: object) -> None:
    """Have mechanisms stand under the names that they are called by: "alias of" says nothing."""
    for name in dir(dalenius):
        thing = getattr(dalenius, name)
        if isinstance(thing, type) and name == getattr(thing, "kind", None):
            thing.__name__ = name


def is_skipped(app: object, what: str, name: str, thing: object, skip: bool, options: object) -> bool | None:
    """Skip a class among the members of a class, which has its own place: it would be an "alias of"."""
    return True if what == "class" and isinstance(thing, type) else None


def setup(app: object) -> None:
    """Have `as_markup` see every docstring, before its sections are read; only a build renames, as the tests read this file, too."""
    app.connect("autodoc-skip-member", is_skipped)  # type: ignore[attr-defined]
    app.connect("builder-inited", by_kind)  # type: ignore[attr-defined]
    app.connect("autodoc-process-docstring", as_markup, priority=100)  # type: ignore[attr-defined]
