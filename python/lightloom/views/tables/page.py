"""Turns rich tables into text: styled on a terminal, plain elsewhere."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.segment import Segment, Segments
from rich.table import Table
from rich.text import Text

from lightloom.base.errors import printable
from lightloom.views.tables.narrow import fitted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

PLAIN_WIDTH = 160
BLOCKS = " ▏▎▍▌▋▊▉█"
BAR_CELLS = 10
# Indent of a line that goes on below.
INDENT = 2


def render(*parts: RenderableType) -> str:
    """The parts under each other, as wide as `width()`. A pipe or file gets no escape codes, unless FORCE_COLOR is set.

    Control characters in their texts are shown.
    """
    console = Console(
        file=io.StringIO(),
        force_terminal=Console(file=sys.stdout).is_terminal,
        width=width(),
        markup=False,
        highlight=False,
        emoji=False,
    )
    with console.capture() as capture:
        for piece in (piece for part in parts for piece in _fitting(part, console)):
            console.print(Segments(_shown(segment) for segment in console.render(piece)), end="", crop=False)
    return "\n".join(line.rstrip() for line in capture.get().splitlines())


def _fitting(part: RenderableType, console: Console) -> Sequence[RenderableType]:
    """The part as wide as the console: a table as one or several, a line with a hanging indent."""
    return fitted(part, console) if isinstance(part, Table) else [_hanging(part, console)]


def _hanging(part: RenderableType, console: Console) -> RenderableType:
    """A line that is too long goes on below, further in than it begins."""
    if not isinstance(part, Text) or part.cell_len <= console.width or "\n" in part.plain:
        return part
    indent = " " * (len(part.plain) - len(part.plain.lstrip()) + INDENT)
    first, *rest = part.wrap(console, console.width - len(indent))
    return Text("\n").join([first, *(Text(indent) + line for line in rest)])


def width() -> int:
    """Columns of the terminal; many in a pipe or file."""
    console = Console(file=sys.stdout)
    return console.width if console.is_terminal else PLAIN_WIDTH


def _shown(segment: Segment) -> Segment:
    """Control characters of names and files are shown, so that no terminal obeys them."""
    return Segment("\n".join(map(printable, segment.text.split("\n"))), segment.style, segment.control)


def table(*columns: str, right: Sequence[str] = (), footer: bool = False) -> Table:
    """An empty table; columns named in `right` are aligned to the right."""
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_footer=footer, header_style="bold")
    for column in columns:
        made.add_column(
            column, justify="right" if column in right else "left", no_wrap=column in right, overflow="fold"
        )
    return made


def heading(text: str) -> Text:
    """A line that stands out on a terminal."""
    return Text(printable(text), style="bold")


def bar(share: float) -> Text:
    """A bar for a share between 0 and 1, in eighths of a cell."""
    eighths = round(max(0.0, min(share, 1.0)) * BAR_CELLS * 8)
    if eighths == 0 and share > 0:
        eighths = 1
    return Text(BLOCKS[8] * (eighths // 8) + BLOCKS[eighths % 8].strip(), style="cyan")
