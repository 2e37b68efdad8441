"""Navigation from the lists of links that the index pages have.

`docs/README.md` lists all pages under bold captions, in the order of reading; each caption becomes a part of the
navigation. `docs/decisions/README.md` is followed by all decisions. A page that is listed nowhere is an error of the
build, as is a link that leads nowhere.
"""

from __future__ import annotations

import re
from posixpath import join, normpath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

INDEX = "docs/README"
DECISIONS = "docs/decisions/README"
CAPTION = re.compile(r"^\*\*(.+)\*\*$", re.MULTILINE)
LISTED = re.compile(r"^- [^[\n]*\[[^]]*\]\(([^)#:]+)\.md(?:#[^)]*)?\)", re.MULTILINE)


def parts(text: str) -> list[tuple[str, list[str]]]:
    """The captions of an index page, and the first page of every item below each, relative to it."""
    pieces = CAPTION.split(text)[1:]
    return [(caption, LISTED.findall(items)) for caption, items in zip(pieces[::2], pieces[1::2], strict=True)]


def _toctree(lines: list[str], *options: str) -> str:
    return "\n".join(["", "```{toctree}", *(f":{option}:" for option in options), *lines, "```", ""])


def _add(_app: Sphinx, page: str, source: list[str]) -> None:
    if page == INDEX:
        for caption, pages in parts(source[0]):
            listed = [f"/{normpath(join('docs', one))}" for one in pages]
            source[0] += _toctree(listed, "hidden", f"caption: {caption}")
    elif page == DECISIONS:
        source[0] += _toctree(["[0-9]*"], "glob")


def setup(app: Sphinx) -> ExtensionMetadata:
    """Add the navigation to the pages as they are read."""
    app.connect("source-read", _add)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
