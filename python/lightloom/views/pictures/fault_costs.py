"""A picture of what single faults cost: a row for each planner, with its time without a fault and with each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lightloom._core import counted, show_size
from lightloom.views.axis_units import show_range
from lightloom.views.charts import check_plot_path, save
from lightloom.views.fitting import legend_below, settle
from lightloom.views.palette import BACKGROUND, PALETTE

if TYPE_CHECKING:
    import os

    from matplotlib.figure import Figure

    from lightloom.faults.costs import FaultCosts

__all__ = ["plot_fault_costs"]

# Inches of a row, and of what is around all rows.
ROW_INCHES, FRAME_INCHES = 0.34, 2.0
# The line from the shortest to the longest time of a planner.
SPAN: dict[str, Any] = {"color": BACKGROUND, "linewidth": 5, "zorder": 0, "label": "_span"}


def plot_fault_costs(found: FaultCosts, path: str | os.PathLike[str] | None = None) -> Figure:
    """The picture, written to a PNG, PDF or SVG file where one is named. Raises `InputError` that names `plot`."""
    from matplotlib.figure import Figure

    if path is not None:
        check_plot_path(path)
    rows = found.rows
    figure = Figure(figsize=(7.0, FRAME_INCHES + ROW_INCHES * len(rows)), layout="constrained")
    axes = figure.subplots()
    each: list[tuple[float, int]] = []
    two: list[tuple[float, int]] = []
    means: list[tuple[float, int]] = []
    for place, row in enumerate(rows):
        times_s = [fault.times_s[row.planner] for fault in found.faults if row.planner in fault.times_s]
        with_two_s = [fault.times_s[row.planner] for fault in found.pairs if row.planner in fault.times_s]
        every_s = [row.healthy_s, *times_s, *with_two_s]
        axes.plot([min(every_s), max(every_s)], [place] * 2, **SPAN)
        two += [(time_s, place) for time_s in with_two_s]
        each += [(time_s, place) for time_s in times_s]
        if row.mean_s is not None:
            means.append((row.mean_s, place))
    healthy = [(row.healthy_s, place) for place, row in enumerate(rows)]
    looks = [("one fault", "|", 14, each), ("no single fault", "o", 6, healthy), ("mean over faults", "D", 5, means)]
    looks += [("two faults", "x", 5, two)] if two else []
    for colour, (label, marker, size, points) in zip(PALETTE, looks, strict=False):
        times, places = zip(*points, strict=True) if points else ((), ())
        axes.plot(times, places, marker, color=colour, markersize=size, label=label)
    axes.set_yticks(range(len(rows)), [row.planner for row in rows])
    axes.invert_yaxis()
    show_range(axes.xaxis, "time", 0.0, max(time_s for time_s, _ in (*healthy, *each, *two)), log=False)
    axes.set_xlabel("completion time")
    axes.spines[["top", "right"]].set_visible(False)
    legend_below(figure, axes.get_lines()[-len(looks) :], [label for label, *_ in looks])
    figure.suptitle(
        f"{found.collective} of {show_size(found.size_bytes)} on {found.gpus} GPUs: "
        f"{counted(found.count, 'single fault')}",
        fontsize=11,
    )
    if path is None:
        settle(figure)
    else:
        save(figure, path)
    return figure
