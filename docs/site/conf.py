"""How `make docs` builds the documentation into `out/docs`: Sphinx over the Markdown pages as they are.

The source folder is the repository's root, so that links between pages, and from pages to files, are the same here and
on a code host. Extensions next to this file add what the pages lack: navigation, the Python reference
and formulas.
"""

import sys
import tomllib
from pathlib import Path

SITE = Path(__file__).resolve().parent
ROOT = SITE.parent.parent
sys.path.insert(0, str(SITE / "extensions"))

project = "Lightloom"
author = "Lightloom's authors"
project_copyright = "Lightloom's authors, Apache-2.0"
version = release = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "formulas",
    "indices",
    "navigation",
    "own_host",
    "python_reference",
    "server_interface",
]
source_suffix = {".md": "markdown"}
root_doc = "docs/README"
PAGES = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "crates/README.md", "papers/README.md"]
include_patterns = [*PAGES, "docs/**"]
exclude_patterns = [
    "docs/site/**",
    ".*",
    "target",
    "out",
    "data",
    "node_modules",
    "python",
    "papers/*/**",
    "tests",
    "benches",
    "examples",
    "fuzz",
]

# A formula is a block ```math, which code hosts render too; headings get the anchors that code hosts give them.
myst_enable_extensions = ["dollarmath"]
myst_dmath_double_inline = False
myst_fence_as_directive = ["math"]
myst_heading_anchors = 4
smartquotes = False  # a prime is no apostrophe

# Docstrings are written like the pages: a name between single backticks is code.
default_role = "code"
suppress_warnings = ["ref.python"]  # signatures give types by bare names, of which there may be several
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
python_maximum_signature_line_length = 88
toc_object_entries_show_parents = "hide"
python_use_unqualified_type_names = True

html_theme = "furo"
html_title = "Lightloom"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_extra_path = ["index.html"]
html_copy_source = False
html_show_sphinx = False
html_math_renderer = "mathml"
# Lines of search results under their pages would be fetched, which browsers refuse for files.
html_show_search_summary = False
highlight_language = "text"
