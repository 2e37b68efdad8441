"""The OpenAPI document of the page's server, next to the page that describes it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from lightloom.page.interface import openapi

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

PAGE = "docs/reference/server"
NAME = "openapi.json"


def _add(_app: Sphinx, page: str, source: list[str]) -> None:
    if page == PAGE:
        source[0] += f'\n## OpenAPI\n\nThe whole document: <a href="{NAME}">{NAME}</a>.\n'


def _write(app: Sphinx, failed: Exception | None) -> None:
    if failed is None and PAGE in app.env.found_docs:
        text = json.dumps(openapi(), indent=1, ensure_ascii=False)
        (Path(app.outdir) / PAGE).with_name(NAME).write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> ExtensionMetadata:
    """Add the document to the built site."""
    app.connect("source-read", _add)
    app.connect("build-finished", _write)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
