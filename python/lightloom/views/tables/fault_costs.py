"""The table of what single faults cost each planner, which `compare --failed any-port` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from lightloom._core import counted, show_size, show_time
from lightloom.views.ratios import factor
from lightloom.views.tables.page import heading, render, table

if TYPE_CHECKING:
    from rich.console import RenderableType

    from lightloom.faults.costs import FaultCosts, FaultRow

NUMBERS = ("healthy", "mean", "worst", "over healthy", "unserved")


def fault_costs_table(found: FaultCosts) -> str:
    """A row a planner: its time without a fault, the mean and the worst over all single faults, and which is worst.

    The same over pairs of faults, where these were asked for.
    """
    made: list[RenderableType] = [_rows(found.rows)]
    faults = f"{counted(found.count, 'single fault')} ({', '.join(found.kinds)})"
    given = f", where {', '.join(found.given)} failed already" if found.given else ""
    title = f"{found.collective} of {show_size(found.size_bytes)} on {found.gpus} GPUs: {faults}{given}"
    notes = [Text("healthy: no single fault; mean and worst: over the faults that the planner serves, planned anew")]
    if found.pair_rows:
        made += [Text(f"{counted(len(found.pairs), 'pair')} of them, drawn at random"), _rows(found.pair_rows)]
    unserved = [fault for fault in found.faults if not fault.times_s]
    if unserved:
        first = unserved[0]
        count = counted(sum(fault.alike for fault in unserved), "fault")
        notes.append(Text(f"no planner serves {count}, such as {first.failed}: {first.reason}"))
    return render(heading(title), *made, *notes)


def _rows(rows: tuple[FaultRow, ...]) -> RenderableType:
    made = table("planner", "algorithm", *NUMBERS, "worst fault", right=NUMBERS)
    for row in rows:
        made.add_row(
            row.planner,
            row.algorithm,
            show_time(row.healthy_s),
            "-" if row.mean_s is None else show_time(row.mean_s),
            "-" if row.worst_s is None else show_time(row.worst_s),
            "-" if row.worst_s is None else factor(row.worst_s / row.healthy_s),
            str(row.unserved),
            row.worst_fault or "-",
        )
    return made
