"""The page's modules as one text, which notebooks take for a widget."""

from __future__ import annotations

import json
import re
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

from lightloom.page.files import imported_from

if TYPE_CHECKING:
    from collections.abc import Iterator

# A module's import of another: the end of the statement, which formatters put on a line's end.
IMPORTED = re.compile(r'(?<= from ")(\.[^"]+)(?=";$)', re.MULTILINE)
LOADER = "notebook/loader.js"
# Widths in px: of the widest screen on which the page has its form above the results, of the form, and of margins.
WIDTH = re.compile(r"@media \(max-width: (\d+)px\)")
NARROW, FORM, MARGINS = 860, 348, 24
STYLES = ("notebook.css", "base.css", "charts.css", "result.css")


def joined_modules(name: str) -> str:
    """The module of a widget: of the page's module of that name, such as `notebook/plan.js`, and all that it imports.

    The texts stay as they are but for the addresses of the modules that they import; `notebook/loader.js` gives these.
    """
    modules = [(one, _linked(one)) for one in _order(name)]
    return f"{_text(LOADER)}\nexport default widgetOf({_literal(modules)}, {_literal(style_sheet())});\n"


@cache
def style_sheet() -> str:
    """The page's style sheets for a widget: the widget is what the page is to them, as wide as its place."""
    folder = resources.files("lightloom.page").joinpath("static", "css")
    text = "\n".join(folder.joinpath(name).read_text("utf-8") for name in STYLES)
    themed = re.sub(r':root(\[data-theme="\w+"\])', r":host(\1)", text)
    own = re.sub(r"^(:root|html)(?= \{)", ":host", themed, flags=re.MULTILINE)
    return WIDTH.sub(lambda found: f"@container (max-width: {_inner(int(found[1]))}px)", own)


def _inner(screen: int) -> int:
    """The width that the page's results have on a screen."""
    return screen - (FORM if screen > NARROW else MARGINS)


@cache
def _order(name: str) -> tuple[str, ...]:
    """The modules that one needs, and then the module itself: each after all that it imports."""
    made: dict[str, None] = {}
    for imported in _imports(name):
        made |= dict.fromkeys(_order(imported))
    return (*made, name)


def _linked(name: str) -> str:
    """The text of a module, with the names of those that it imports."""
    return IMPORTED.sub(lambda found: f"page:{imported_from(name, found[0])}", _text(name))


def _imports(name: str) -> Iterator[str]:
    for found in IMPORTED.findall(_text(name)):
        yield imported_from(name, found)


@cache
def _text(name: str) -> str:
    return resources.files("lightloom.page").joinpath("static", "js", *name.split("/")).read_text("utf-8")


def _literal(value: object) -> str:
    """A literal of JavaScript."""
    return json.dumps(value, ensure_ascii=False)
