"""The table that the verb `bound` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from lightloom._core import counted, show_time
from lightloom.views.tables.page import heading, render, table
from lightloom.views.tables.problem import what_is_planned

if TYPE_CHECKING:
    from rich.console import RenderableType

    from lightloom._core import Statement
    from lightloom.planning.bounds import Bounds

MAX_SEGMENTS = 4


def bound_table(bounds: Bounds) -> str:
    """The problem; a row per bound with its terms, the largest that holds for all plans marked; then why each holds."""
    return render(*bound_parts(bounds))


def bound_parts(bounds: Bounds) -> list[RenderableType]:
    """The parts of `bound_table`."""
    numbers = ("steps", "topologies", "startup", "propagation", "transmission", "reconfig.", "bound")
    made = table("", "name", *numbers, "holders of a block, by topology", right=numbers)
    largest = bounds.largest
    for statement in bounds.statements:
        terms = statement.startup_s, statement.propagation_s, statement.transmission_s, statement.reconfiguration_s
        made.add_row(
            "*" if statement is largest else "",
            statement.name,
            str(statement.steps),
            str(statement.topologies),
            *(show_time(term) if term else "-" for term in terms),
            show_time(statement.lower_bound_s),
            _growth(statement),
            style="bold" if statement is largest else "",
        )
    texts = []
    for bound_class in dict.fromkeys(statement.bound_class for statement in bounds.statements):
        texts.append(f"no schedule of this class takes less: {bound_class}")
        of_class = (statement for statement in bounds.statements if statement.bound_class == bound_class)
        texts += [f"  {statement.name}: {statement.why}" for statement in of_class]
    return [heading(what_is_planned(bounds)), made, *map(Text, texts)]


def _growth(statement: Statement) -> str:
    """By how much each topology multiplies the ranks that hold a block, in how many steps."""
    segments = statement.segments[:MAX_SEGMENTS]
    shown = [
        f"×{growth:{'.0f' if growth >= 100 else '.3g'}} in {counted(steps, 'step')}" for steps, _, growth in segments
    ]
    more = len(statement.segments) - MAX_SEGMENTS
    return ", ".join(shown) + (f", {more} more" if more > 0 else "")
