"""The table of `run --barriers`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from lightloom._core import barriers, counted, show_time
from lightloom.views.tables.page import heading, render, table

if TYPE_CHECKING:
    from lightloom.running.barriers import BarrierCosts

COLUMNS = ("barrier", "ranks", "median", "mean", "99 of 100")


def barriers_table(costs: BarrierCosts) -> str:
    """The cost of a round by barrier and ranks, and an explanation of the barriers."""
    made = table(*COLUMNS, right=COLUMNS[1:])
    before = ""
    for cost in costs.costs:
        times = (cost.median_s, cost.mean_s, cost.most_of_99_s)
        made.add_row("" if cost.barrier == before else cost.barrier, str(cost.ranks), *map(show_time, times))
        before = cost.barrier
    measured = {cost.barrier for cost in costs.costs}
    rounds = counted(max((cost.rounds for cost in costs.costs), default=0), "round")
    said = [Text(f"{name:<15}{summary} ({source})") for name, summary, source in barriers() if name in measured]
    return render(
        heading(f"Waiting for all ranks, on {counted(costs.cores, 'core')}: time of a round, of {rounds}"),
        made,
        Text(""),
        *said,
    )
