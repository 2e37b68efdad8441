"""The files of the page, read once: no request makes the server look for one."""

from __future__ import annotations

import hashlib
import posixpath
import re
from importlib import resources
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator
    from importlib.resources.abc import Traversable

__all__ = ["INDEX", "UNKNOWN", "PageFile", "imported_from", "index_of", "page_files", "view_addresses"]

# The page, and what is shown at an address that it does not have.
INDEX, UNKNOWN = "index.html", "unknown.html"
TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/x-icon",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".mjs": "text/javascript; charset=utf-8",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
}
VIEW = re.compile(rb'<li><a href="(/[a-z-]+)" data-view=')
# The module that a page begins with, the view at `/`, and imports of a module.
MAIN, FIRST = "js/main.js", "plan"
IMPORT = re.compile(r'^(?:import|export)\b[^;]*?from "([^"]+)"', re.MULTILINE)


class PageFile(NamedTuple):
    """Content, its type, and a tag that changes with it."""

    content: bytes
    media_type: str
    tag: str

    @classmethod
    def of(cls, content: bytes, media_type: str) -> PageFile:
        """The file of this content."""
        return cls(content, media_type, f'"{hashlib.sha256(content).hexdigest()[:32]}"')


def page_files() -> dict[str, PageFile]:
    """All files below `static/`, by their path there; those of other types, such as notes, are left out."""
    return dict(_files(resources.files("lightloom.page").joinpath("static"), ""))


def view_addresses(index: PageFile) -> tuple[str, ...]:
    """Addresses of the page, whose query holds the options: `/`, and those of the links in the header."""
    return ("/", *(address.decode() for address in VIEW.findall(index.content)))


def index_of(files: dict[str, PageFile], address: str) -> PageFile:
    """The page at the address of a view; its head names all modules that the view needs, to be asked for at once."""
    needed: dict[str, None] = {}
    for path in (MAIN, f"js/views/{address.strip('/') or FIRST}.js"):
        _add_module(files, path, needed)
    links = "".join(f'  <link rel="modulepreload" href="/static/{path}">\n' for path in needed)
    index = files[INDEX]
    return PageFile.of(index.content.replace(b"</head>", links.encode() + b"</head>", 1), index.media_type)


def _add_module(files: dict[str, PageFile], path: str, known: dict[str, None]) -> None:
    """Add a module and all that it imports, in the order in which they are needed."""
    if path not in known:
        known[path] = None
        for name in IMPORT.findall(files[path].content.decode()):
            _add_module(files, imported_from(path, name), known)


def imported_from(path: str, address: str) -> str:
    """The path of the module that the one at `path` imports by a relative address."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), address))


def _files(folder: Traversable, before: str) -> Iterator[tuple[str, PageFile]]:
    if not folder.is_dir():
        return
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        path = before + entry.name
        if entry.is_dir():
            yield from _files(entry, f"{path}/")
        elif (media_type := TYPES.get(entry.name[entry.name.rfind(".") :])) is not None:
            yield path, PageFile.of(entry.read_bytes(), media_type)
