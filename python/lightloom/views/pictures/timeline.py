"""A timeline as a picture: a row a switch, when it turns, and what part of its circuits' rates is used."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lightloom._core import show_size, show_time
from lightloom.views.axis_units import show_range
from lightloom.views.charts import check_plot_path, save
from lightloom.views.fitting import legend_below, settle
from lightloom.views.palette import BACKGROUND, PALETTE

if TYPE_CHECKING:
    import os

    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from lightloom.clocks.timeline import Timeline

__all__ = ["plot_timeline"]

ROW_INCHES, FRAME_INCHES = 0.55, 1.9
# Half the height of a row, and moments at which the use of circuits is drawn.
HALF, MOMENTS = 0.4, 600


def plot_timeline(found: Timeline, path: str | os.PathLike[str] | None = None) -> Figure:
    """The picture, written to a PNG, PDF or SVG file where one is named. Raises `InputError` that names `plot`."""
    from matplotlib.figure import Figure

    if path is not None:
        check_plot_path(path)
    plan = found.plan
    count = len(found.switches)
    figure = Figure(figsize=(7.5, FRAME_INCHES + ROW_INCHES * count), layout="constrained")
    axes = figure.subplots()
    moments = np.linspace(0.0, found.total_s, MOMENTS)
    used = _used(found, moments)
    lit = turning = busy = None
    for k, switch in enumerate(found.switches):
        free_s = 0.0
        for one in switch:
            if one.ready_s > free_s:
                turning = axes.barh(k, one.ready_s - free_s, left=free_s, height=2 * HALF, color=PALETTE[1])
            if one.circuits:
                lit = axes.barh(k, one.end_s - one.ready_s, left=one.ready_s, height=2 * HALF, color=BACKGROUND)
            free_s = one.end_s
        busy = axes.fill_between(moments, k + HALF, k + HALF - 2 * HALF * used[k], color=PALETTE[0], linewidth=0)
    axes.set_yticks(range(count), [f"switch {k}" for k in range(count)])
    axes.invert_yaxis()
    show_range(axes.xaxis, "time", 0.0, found.total_s, log=False)
    axes.set_xlabel("time")
    axes.spines[["top", "right"]].set_visible(False)
    looks = {"circuits are there": lit, "part of their rate in use": busy, "turns": turning}
    shown = {label: look for label, look in looks.items() if look is not None}
    legend_below(figure, list(shown.values()), list(shown))
    figure.suptitle(
        f"{plan.collective} of {show_size(plan.size_bytes)} on {plan.gpus} GPUs: {show_time(found.total_s)}, "
        f"with barriers {show_time(plan.total_s)}",
        fontsize=11,
    )
    if path is None:
        settle(figure)
    else:
        save(figure, path)
    return figure


def _used(found: Timeline, moments: NDArray[np.float64]) -> NDArray[np.float64]:
    """By switch and moment, the part of the rate of all transmitters that is used."""
    plan = found.plan
    used = np.zeros((len(found.switches), len(moments)))
    rate = plan.bandwidth_bps / 8.0 * plan.gpus
    for one in found.transmissions:
        for hop, (k, _, _) in enumerate(one.path):
            begin_s = one.start_s + hop * plan.hop_delay_s
            low, high = np.searchsorted(moments, (begin_s, begin_s + one.duration_s))
            used[k, low:high] += one.size_bytes / one.duration_s / rate if one.duration_s else 0.0
    return np.minimum(used, 1.0)
