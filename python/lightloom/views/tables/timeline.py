"""The table of a timeline: what each switch holds, and when, which `plan --overlap asynchronous` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from lightloom._core import counted, show_size, show_time
from lightloom.views.ratios import factor
from lightloom.views.tables.page import heading, render, table
from lightloom.views.tables.problem import what_is_planned

if TYPE_CHECKING:
    from lightloom.clocks.parts import Transmission
    from lightloom.clocks.timeline import Timeline

__all__ = ["timeline_table"]

NUMBERS = ("switch", "ready", "end", "circuits", "bytes")
# Rows that are shown.
MOST_ROWS = 48
# Parts of the time below which a gain is none.
LEAST_GAIN = 1e-4
MADE_BY = {
    "relaxed": "the plan without its barriers",
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
    how = _journeys(found) if found.planner == "journeys" else MADE_BY.get(found.planner, found.planner)
    gap = factor(found.total_s / found.lower_bound_s) if found.lower_bound_s else "-"
    notes = [
        Text(f"{how}; {counted(found.turns, 'turn')} of switches"),
        Text(f"verdict: {_verdict(found)}"),
        Text(f"with barriers: {show_time(plan.total_s)} ({plan.algorithm}, {plan.planner})"),
        Text(f"lower bound {show_time(found.lower_bound_s)} ({found.bound_class}): {gap} of it"),
    ]
    if len(rows) > MOST_ROWS:
        notes.append(Text(f"{counted(len(rows) - MOST_ROWS, 'more row')}; all are in --format csv and json"))
    title = f"{what_is_planned(plan, plan.root, plan.members)} (asynchronous): {show_time(found.total_s)}"
    return render(heading(title), made, *notes)


def _verdict(found: Timeline) -> str:
    """What the time gains over that of the plan with barriers."""
    gain = 1.0 - found.total_s / found.plan.total_s if found.plan.total_s else 0.0
    if gain < LEAST_GAIN:
        return "switches on clocks of their own gain nothing here: the plan with barriers is as fast"
    return f"switches on clocks of their own gain {100.0 * gain:.2g}% over the plan with barriers"


def _journeys(found: Timeline) -> str:
    """What the bytes of a timeline do that go from slot to slot."""
    waits = any(one.path[0][1] != one.source for one in found.transmissions)
    goes_on = any(_is_during_a_turn(found, one) for one in found.transmissions)
    said = ["bytes wait between turns"] * waits + ["switches whose circuits stay go on while others turn"] * goes_on
    return "; ".join(said) or "bytes take the ways that cost the least time"


def _is_during_a_turn(found: Timeline, one: Transmission) -> bool:
    """Whether bytes leave while another switch turns, which it does just before its circuits are ready."""
    turn_s = found.plan.reconfiguration_delay.scalar_s or 0.0
    end_s, used = one.start_s + one.duration_s, {k for k, _, _ in one.path}
    return any(
        one.start_s < after.ready_s and end_s > after.ready_s - turn_s
        for k, switch in enumerate(found.switches)
        for after in switch[1:]
        if k not in used
    )
