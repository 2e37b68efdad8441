"""The table of a timeline: what each switch holds, and when, which `plan --overlap asynchronous` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from lightloom._core import counted, show_size, show_time
from lightloom.views.ratios import factor
from lightloom.views.tables.page import heading, render, table
from lightloom.views.tables.problem import what_is_planned

if TYPE_CHECKING:
    from lightloom.clocks.timeline import Timeline

__all__ = ["timeline_table"]

NUMBERS = ("switch", "ready", "end", "circuits", "bytes")
# Rows that are shown.
MOST_ROWS = 48
MADE_BY = {
    "relaxed": "the plan without its barriers",
    "journeys": "bytes wait between turns; switches whose circuits stay go on while others turn",
    "listed": "every switch by itself; bytes go straight",
}


def timeline_table(found: Timeline) -> str:
    """A row for each configuration of each switch, and the time next to that of the plan with barriers."""
    plan = found.plan
    made = table(*NUMBERS, right=NUMBERS)
    columns = found.to_columns()
    rows = list(zip(*(columns[name] for name in columns), strict=True))
    for switch, _, ready_s, end_s, circuits, size in rows[:MOST_ROWS]:
        made.add_row(str(switch), show_time(ready_s), show_time(end_s), str(circuits), show_size(round(size)))
    gap = factor(found.total_s / found.lower_bound_s) if found.lower_bound_s else "-"
    notes = [
        Text(f"{MADE_BY.get(found.planner, found.planner)}; {counted(found.turns, 'turn')} of switches"),
        Text(f"with barriers: {show_time(plan.total_s)} ({plan.algorithm}, {plan.planner})"),
        Text(f"lower bound {show_time(found.lower_bound_s)} ({found.bound_class}): {gap} of it"),
    ]
    if len(rows) > MOST_ROWS:
        notes.append(Text(f"{counted(len(rows) - MOST_ROWS, 'more row')}; all are in --format csv and json"))
    title = f"{what_is_planned(plan, plan.root, plan.members)} (asynchronous): {show_time(found.total_s)}"
    return render(heading(title), made, *notes)
