"""The table that the verb `simulate` prints for a timeline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from lightloom._core import show_size, show_time
from lightloom.views.tables.page import heading, render, table
from lightloom.views.tables.problem import what_is_planned

if TYPE_CHECKING:
    from lightloom.clocks.simulation import TimelineSimulation

__all__ = ["timeline_simulation_table"]

NUMBERS = ("switch", "ready", "end", "by the timeline", "late")
# Rows that are shown.
MOST_ROWS = 48


def timeline_simulation_table(simulation: TimelineSimulation) -> str:
    """A row for each configuration of each switch: from when to when it carries, and how late its end is."""
    plan, settings = simulation.plan, simulation.settings
    made = table(*NUMBERS, right=NUMBERS)
    columns = simulation.to_columns()
    rows = list(zip(*(columns[name] for name in columns), strict=True))
    for switch, _, ready_s, end_s, predicted_ready_s, predicted_end_s in rows[:MOST_ROWS]:
        late_s = max(0.0, end_s - predicted_end_s)
        times = [show_time(one) for one in (ready_s, end_s)]
        made.add_row(
            str(switch), *times, f"{show_time(predicted_ready_s)} to {show_time(predicted_end_s)}", show_time(late_s)
        )
    header = f" + {show_size(settings.header_bytes)}" if settings.header_bytes else ""
    sent = f"{simulation.packets:,} packets, {simulation.packet_hops:,} over all circuits on their paths"
    more = [Text(f"{len(rows) - MOST_ROWS} more rows; all are in --format csv and json")] * (len(rows) > MOST_ROWS)
    what = f"{what_is_planned(plan, plan.root, plan.members)} (asynchronous)"
    against = f"{simulation.ratio:.1%} of the timeline's {show_time(simulation.predicted_total_s)}"
    return render(
        heading(f"{what}: simulated {show_time(simulation.total_s)}, {against}"),
        Text(f"packets of {show_size(settings.packet_bytes)}{header}, {settings.forwarding}"),
        made,
        *more,
        Text(sent),
    )
