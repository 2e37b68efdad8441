"""The table that the verb `export` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lightloom._core import counted, show_size
from lightloom.views.tables.page import heading, render, table

if TYPE_CHECKING:
    from lightloom.formats.export import Export

# Rows that a table has at most; a folder may hold a file for every GPU.
MOST = 20
# Files are shown in decimal units at any size.
DECIMAL = 1000


def export_table(made: Export) -> str:
    """The files that were written, and the content of the side file, which the format cannot express."""
    listed = table("file", "size", right=("size",))
    for file in made.files[:MOST]:
        listed.add_row(str(file.path), show_size(file.size_bytes, DECIMAL))
    more = len(made.files) - MOST
    if more > 0:
        listed.add_row(
            f"and {counted(more, 'other')}", show_size(sum(file.size_bytes for file in made.files[MOST:]), DECIMAL)
        )
    lines = [f"{made.format} cannot express {made.cannot_say}; {made.side_file} holds these", *made.notes]
    return render(heading(f"exported to {made.format}"), listed) + "\n" + "\n".join(lines)
