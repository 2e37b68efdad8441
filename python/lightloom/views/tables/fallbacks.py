"""The table of plans for every single fault, which `plan --failed any-port` and `fallbacks` print."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from lightloom._core import counted, show_size, show_time
from lightloom.faults.kinds import Wanted
from lightloom.views.ratios import factor
from lightloom.views.tables.page import heading, render, table

if TYPE_CHECKING:
    from lightloom.faults.fallbacks import Fallbacks

NUMBERS = ("plans", "mean", "worst", "over healthy", "no plan")


def fallbacks_table(found: Fallbacks) -> str:
    """A row a kind of faults: how many plans, their mean and longest time, and the fault of the longest."""
    healthy, parts = found.healthy, found.parts
    made = table("kind", *NUMBERS, "worst fault", right=NUMBERS)
    for kind in parts.kinds:
        faults = Wanted((kind,), parts.given).faults(parts.gpus, parts.ports)
        times_s = {fault: float(parts.plans[fault]["total_s"]) for fault in faults if fault in parts.plans}
        unserved = str(sum(fault in parts.unserved for fault in faults))
        if not times_s:
            made.add_row(kind, "0", "-", "-", "-", unserved, "-")
            continue
        worst = max(times_s, key=lambda fault: times_s[fault])
        mean_s = sum(times_s.values()) / len(times_s)
        over = factor(times_s[worst] / healthy.total_s)
        made.add_row(kind, str(len(times_s)), show_time(mean_s), show_time(times_s[worst]), over, unserved, worst)
    given = f", where {', '.join(parts.given)} failed already" if parts.given else ""
    title = (
        f"{healthy.collective} of {show_size(healthy.size_bytes)} on {parts.gpus} GPUs: "
        f"{counted(len(parts.plans), 'plan')} for single faults{given}"
    )
    notes = [Text(f"without a single fault: {show_time(healthy.total_s)} ({healthy.algorithm}, {healthy.planner})")]
    notes += [Text(f"no plan for {fault}: {reason}") for fault, reason in list(parts.unserved.items())[:1]]
    if not found.complete:
        notes.append(Text("the making of these plans was interrupted; the same command goes on"))
    return render(heading(title), made, *notes)
