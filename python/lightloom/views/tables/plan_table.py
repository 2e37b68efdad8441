"""The table of plans for a range of sizes and delays that `plan --sizes --delays` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from lightloom._core import counted, show_size, show_time
from lightloom.views.tables.page import heading, render, table

if TYPE_CHECKING:
    from lightloom.online.table import PlanTable

NUMBERS = ("plan", "steps", "changes", "fixed", "per MiB", "share", "made at")
MIB = 1 << 20


def plan_table_text(found: PlanTable) -> str:
    """A row a plan: what it is, the terms of its time, and the share of the range where it takes least."""
    sizes, delays = " to ".join(map(show_size, found.sizes_bytes)), " to ".join(map(show_time, found.delays_s))
    made = table(*NUMBERS[:1], "algorithm", "planner", *NUMBERS[1:], right=NUMBERS)
    for place, (plan, line, share) in enumerate(zip(found.plans, found.lines, found.shares, strict=True)):
        made.add_row(
            str(place),
            plan.algorithm,
            plan.planner,
            str(len(plan.steps)),
            str(line.changes),
            show_time(line.fixed_s),
            show_time(line.byte_s * MIB),
            f"{share:.1%}",
            f"{show_size(plan.size_bytes)}, {show_time(plan.reconfiguration_delay.scalar_s or 0.0)}",
        )
    plans, parts = counted(len(found.plans), "plan"), counted(len(found.boxes), "part")
    return render(
        heading(f"{found.collective} on {found.gpus} GPUs: {plans} for {sizes} and delays of {delays}"),
        made,
        Text("time of a plan: fixed + per MiB · size + changes · delay; share: of the range, in logarithms"),
        Text(
            f"in each of {parts} of the range one plan takes at most {found.tolerance * 100:.4g}% longer than the best"
        ),
    )
