"""The table that the verb `train` prints of a model's layouts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from lightloom._core import counted, show_size, show_time
from lightloom.views.policy_titles import title_of
from lightloom.views.ratios import factor
from lightloom.views.tables.page import render, table

if TYPE_CHECKING:
    from lightloom.training.layouts import Layouts


def layouts_table(found: Layouts, memory: str | int | None) -> str:
    """The fastest layouts, and how many there were; memory: the limit, None without."""
    fixed = title_of("one-shot")
    made = table("layout", "time", f"{fixed} take", "memory", right=("time", f"{fixed} take", "memory"))
    for layout in found.fastest:
        over = "-" if layout.fixed_s is None else factor(layout.fixed_s / layout.total_s)
        made.add_row(layout.name, show_time(layout.total_s), over, show_size(layout.memory_bytes))
    fits = "no limit on memory" if memory is None else f"{found.fitting:,} fit into {memory} a rank"
    refused = f", {found.refused:,} not served by the policy or the optical layer" if found.refused else ""
    left_out = found.fitting - found.planned - found.refused
    words = (
        f"{counted(found.legal, 'legal layout')}, {fits}; {found.planned:,} planned{refused}, "
        f"{left_out:,} left out, whose lower bounds are not below these times"
    )
    return render(made, Text(words))
