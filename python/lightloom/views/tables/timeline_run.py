"""The table that the verb `run` prints of a timeline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from lightloom._core import counted, show_size, show_time
from lightloom.views.tables.page import heading, render, table
from lightloom.views.tables.run import counted_runs, machine_lines, results_line

if TYPE_CHECKING:
    from lightloom.clocks.runs.measurement import TimelineMeasurement

__all__ = ["timeline_run_table"]

NUMBERS = ("switch", "ready", "plan", "last byte", "given up", "bytes", "of")
# Rows that are shown.
MOST_ROWS = 48


def timeline_run_table(measurement: TimelineMeasurement) -> str:
    """A row for each configuration of each switch, measured next to planned, and the machine."""
    plan, settings, spread = measurement.timeline.plan, measurement.settings, measurement.measured
    title = (
        f"{plan.collective} on {counted(plan.gpus, 'rank')} (asynchronous): measured {show_time(spread.median)}, "
        f"{measurement.ratio:.1%} of the timeline's {show_time(measurement.planned_s)}"
    )
    made = table(*NUMBERS, right=NUMBERS)
    for one in measurement.configurations[:MOST_ROWS]:
        made.add_row(
            str(one.switch),
            show_time(one.measured_ready_s),
            show_time(one.planned_ready_s),
            show_time(one.measured_end_s),
            show_time(one.planned_end_s),
            show_size(one.circuit_bytes),
            show_size(one.planned_circuit_bytes),
        )
    count = counted_runs(counted(settings.runs, "run"), settings.warm_ups)
    said = f"slowed down {settings.dilation:g} times, {count}, packets of {show_size(settings.packet_bytes)}"
    notes = [f"runs        fastest {show_time(spread.min)}, slowest {show_time(spread.max)}"]
    if (left := len(measurement.configurations) - MOST_ROWS) > 0:
        notes.insert(0, f"{counted(left, 'more row')}; all are in --format csv and json")
    notes.append(results_line(measurement.wrong, f"all {counted(plan.gpus, 'rank')} match NumPy"))
    notes += machine_lines(measurement, "a mean configuration")
    return render(heading(title), Text(f"{settings.transport}, {said}"), made, *map(Text, notes))
