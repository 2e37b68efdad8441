"""Iteration times against the reconfiguration delay, by policy, and each over that of joint planning."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lightloom.views.axis_units import plain, ratio_label, show_range
from lightloom.views.charts import check_plot_path, lines, save
from lightloom.views.fitting import legend_below, settle
from lightloom.views.palette import REFERENCE, Style, style_at
from lightloom.views.policy_titles import IDEAL, OURS, TITLES, title_of

if TYPE_CHECKING:
    import os

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from lightloom.training.break_even import BreakEven

__all__ = ["plot_break_even"]

# An ideal without circuits, and what no plan is below: black, without markers.
BOUND = "lower bound"
REFERENCES = {TITLES[IDEAL]: "--", BOUND: ":"}
# The field that errors name.
FIELD = "break_even"
# A policy that takes longer than this many times the plan of all together is cut off at the top; a label has its value.
MOST_SHOWN = 2.5


def plot_break_even(found: BreakEven, path: str | os.PathLike[str] | None = None) -> Figure:
    """The picture, written to a PNG, PDF or SVG file where one is named. Raises `InputError`: `break_even`."""
    from matplotlib.figure import Figure

    if path is not None:
        check_plot_path(path, FIELD)
    times = {
        title_of(name): np.array([np.nan if time_s is None else time_s for time_s in times])
        for name, times in found.policies.items()
    }
    times = {name: values for name, values in times.items() if np.isfinite(values).any()}
    times[BOUND] = np.array(found.lower_bounds_s)
    looks = [
        Style(REFERENCE, "", REFERENCES[name]) if name in REFERENCES else style_at(place)
        for place, name in enumerate(times)
    ]
    figure = Figure(figsize=(7.5, 7.5), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True)
    lines(above, found.delays_s, times, x_kind="time", y_kind="time", looks=looks)
    above.set_ylabel("time of an iteration")
    over = {name: values / times[title_of(OURS)] for name, values in times.items()}
    lines(below, found.delays_s, over, x_kind="time", y_kind="ratio", looks=looks)
    _cut(below, over)
    below.set(ylabel=f"over the time of {title_of(OURS)}", xlabel="reconfiguration delay")
    legend_below(figure, *above.get_legend_handles_labels())
    figure.suptitle(
        f"{plain(found.name or 'a workload')} on {found.ranks} ranks: where reconfiguring pays", fontsize=11
    )
    if path is None:
        settle(figure)
    else:
        save(figure, path, field=FIELD)
    return figure


def _cut(axes: Axes, over: dict[str, NDArray[np.float64]]) -> None:
    """End the axis at `MOST_SHOWN`, and say which lines go on beyond it, and how far."""
    most = {name: float(np.nanmax(values)) for name, values in over.items()}
    if max(most.values()) <= MOST_SHOWN:
        return
    show_range(axes.yaxis, "ratio", min(float(np.nanmin(values)) for values in over.values()), MOST_SHOWN, log=True)
    top = axes.get_ylim()[1]
    beyond = ", ".join(f"{plain(name)} to {ratio_label(value)}" for name, value in most.items() if value > top)
    if beyond:
        words = f"↑ beyond: {beyond}"
        axes.text(1.0, 1.01, words, fontsize=8, ha="right", va="bottom", transform=axes.transAxes)
