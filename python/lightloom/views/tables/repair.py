"""The lines below a plan that was repaired."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lightloom._core import counted, show_time
from lightloom.views.ratios import versus

if TYPE_CHECKING:
    from lightloom.faults.repair import Repair


def repair_lines(found: Repair) -> str:
    """How the plan compares with the one before and with one made anew, and the circuits that are kept."""
    circuits = counted(found.circuits_kept + found.circuits_new, "circuit")
    how = ", planned anew" if found.planned_anew else ""
    lines = [
        f"circuits     {found.circuits_kept} of {circuits} kept, {found.circuits_new} new{how}",
        f"before       {show_time(found.before.total_s)}; the repaired plan is {versus(found.over_before)}",
    ]
    if found.anew is not None and found.over_anew is not None:
        lines.append(f"plan anew    {show_time(found.anew.total_s)}; the repaired plan is {versus(found.over_anew)}")
    return "\n".join(lines)
