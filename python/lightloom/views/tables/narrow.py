"""Makes a table fit a narrow terminal: no word is broken, and what has no room stands in a further table below."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Column

# Blanks between two columns, and around all of them.
BETWEEN, AROUND = 2, 2
# Names up to this part of the width stay on one line.
MOST_OF_NAME = 3
# A number with its unit, or letters and digits with what is joined to them; bars are none.
WORD = re.compile(r"\d[\d.]* \S+|\S*\w\S*")


def fitted(table: Table, console: Console) -> list[Table]:
    """The table; where its words are wider than the console, several that share its first named column."""
    natural = [_natural(table, column, console) for column in table.columns]
    if _together(natural) <= console.width:
        return [table]
    named = next((place for place, column in enumerate(table.columns) if str(column.header)), 0)
    least = [
        width if column.no_wrap else min(width, _longest_word(table, column), console.width // 2)
        for column, width in zip(table.columns, natural, strict=True)
    ]
    if natural[named] <= console.width // MOST_OF_NAME:
        least[named] = natural[named]
    key = list(range(named + 1))
    groups = [list(key)]
    for place in range(len(key), len(table.columns)):
        if len(groups[-1]) > len(key) and _together([least[at] for at in (*groups[-1], place)]) > console.width:
            groups.append(list(key))
        groups[-1].append(place)
    return [_part(table, group, natural, least, console.width) for group in groups]


def _texts(table: Table, column: Column) -> list[RenderableType]:
    return [column.header, *column.cells, *([column.footer] if table.show_footer else [])]


def _natural(table: Table, column: Column, console: Console) -> int:
    return max(Measurement.get(console, console.options, text).maximum for text in _texts(table, column))


def _longest_word(table: Table, column: Column) -> int:
    words = (
        word for text in _texts(table, column) if isinstance(text, (str, Text)) for word in WORD.findall(str(text))
    )
    return max((Text(word).cell_len for word in words), default=1)


def _together(widths: list[int]) -> int:
    return AROUND + sum(widths) + BETWEEN * (len(widths) - 1)


def _part(table: Table, group: list[int], natural: list[int], least: list[int], room: int) -> Table:
    """A table of some columns: the widest give up room first, none more than its words have."""
    widths = {place: natural[place] for place in group}
    while _together(list(widths.values())) > room:
        place = max(group, key=lambda place: (widths[place] > least[place], widths[place]))
        if widths[place] <= least[place]:
            break
        widths[place] -= 1
    made = Table(
        box=table.box,
        pad_edge=table.pad_edge,
        padding=table.padding,
        show_footer=table.show_footer,
        header_style=table.header_style,
    )
    made.columns = [replace(table.columns[at], _index=index, width=widths[at]) for index, at in enumerate(group)]
    made.rows = table.rows
    return made
