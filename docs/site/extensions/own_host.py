"""Nothing that the built pages load comes from another host: scripts, styles, fonts, pictures."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from sphinx.errors import SphinxError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

# Files that a browser gets by itself, unlike the target of a link that somebody follows.
LOADED = {
    ".html": re.compile(
        r"<(?!a\b)\w+\b[^>]*?\b(?:src|srcset|href|data|poster)\s*=\s*[\"']?\s*((?:https?:)?//[^\"'\s>]+)", re.I
    ),
    ".css": re.compile(r"(?:url\(|@import)\s*[\"']?\s*((?:https?:)?//[^\"')\s]+)", re.I),
    ".js": re.compile(r"(?:fetch|import|importScripts|Worker)\s*\(\s*[\"'`]((?:https?:)?//[^\"'`]+)"),
}


def loaded_from_elsewhere(folder: Path) -> Iterator[tuple[Path, str]]:
    """Each file below `folder` that makes a browser load something from another host, and what."""
    for path in sorted(folder.rglob("*")):
        if path.suffix in LOADED and path.parent.name != "_downloads":
            for address in LOADED[path.suffix].findall(path.read_text(encoding="utf-8")):
                yield path.relative_to(folder), address


def _check(app: Sphinx, failed: Exception | None) -> None:
    if failed is None and (found := list(loaded_from_elsewhere(Path(app.outdir)))):
        raise SphinxError("; ".join(f"{path} loads {address}" for path, address in found))


def setup(app: Sphinx) -> ExtensionMetadata:
    """Check the built site."""
    app.connect("build-finished", _check)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
