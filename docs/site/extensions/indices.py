"""Indices and powers in running text: `α_r`, `h_(t+1)` and `2^k`, which plain text has so, lowered and raised.

The pages of Python are left as they are: there an underscore belongs to a name.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from docutils import nodes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

NAMES = "docs/reference/python"
# A letter, or a word that stands for a function, before one or two letters or digits, or a text in brackets.
BASE = r"(?<![A-Za-z0-9_])(?:hops|load|count|dist|min|max|[Ll]og|[A-Za-zα-ωΑ-Ω])"
LETTER = "A-Za-zα-ω0-9"
INDEX = re.compile(
    rf"(?P<base>{BASE}(?=_)|[{LETTER})](?=\^))(?P<mark>[_^])"
    rf"(?:\{{(?P<braced>[^}}]+)\}}|\((?P<bracketed>[^)]+)\)|(?P<plain>[{LETTER}]{{1,2}})(?![{LETTER}_]))"
)


def with_indices(text: str) -> Iterator[nodes.Node]:
    """The text in pieces, those that are an index or a power as such."""
    end = 0
    for found in INDEX.finditer(text):
        yield nodes.Text(text[end : found.start()] + found["base"])
        index = found["braced"] or found["bracketed"] or found["plain"]
        yield (nodes.subscript if found["mark"] == "_" else nodes.superscript)("", index)
        end = found.end()
    if end < len(text):
        yield nodes.Text(text[end:])


def _lower_and_raise(app: Sphinx, doctree: nodes.document) -> None:
    if app.env.docname.startswith(NAMES):
        return
    for text in list(doctree.findall(nodes.Text)):
        parent = text.parent
        if isinstance(parent, (nodes.paragraph, nodes.emphasis, nodes.strong, nodes.title)) and INDEX.search(text):
            parent.replace(text, list(with_indices(text)))


def setup(app: Sphinx) -> ExtensionMetadata:
    """Change the pages once they are read."""
    app.connect("doctree-read", _lower_and_raise)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
