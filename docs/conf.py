"""The site: `make docs` writes docs/_build/html, which opens without a network."""

from __future__ import annotations

import os
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parent
sys.path[:0] = [str(DOCS), str(DOCS.parent)]
# Processes that are started while the site is built import the same sources.
os.environ["PYTHONPATH"] = os.pathsep.join(
    filter(None, [str(DOCS.parent), os.environ.get("PYTHONPATH")])
)

import treeselect  # noqa: E402

project = "treeselect"
author = "treeselect developers"
project_copyright = author
version = release = treeselect.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "extensions.mathml",
    "extensions.names",
    "extensions.vignette_pages",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "gallery/*.md", "extensions"]
nitpicky = True
# Types of other packages, and functions that are not public, are text in docstrings; public names
# must be links that work.
nitpick_ignore_regex = [
    (r"py:.*", r"(?!treeselect\b).*"),
    (r"py:.*", r"treeselect\.(comparison|models|resampling|running)\..*"),
]
# Pages of the table of contents that others are still writing, and links to them.
suppress_warnings = ["toc.not_readable", "myst.xref_missing"]

myst_enable_extensions = ["attrs_block", "attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_dmath_allow_digits = False
myst_dmath_double_inline = True
myst_heading_anchors = 3

autodoc_typehints = "none"
autosummary_generate = False
numpydoc_show_class_members = False
toc_object_entries_show_parents = "hide"
add_module_names = False
maximum_signature_line_length = 80

html_theme = "furo"
html_title = "treeselect"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_math_renderer = "mathml"
html_copy_source = False
html_show_copyright = False
templates_path: list[str] = []
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
