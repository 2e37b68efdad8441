"""Calls under drifting delays: the delays, the plans that are taken, and the regret so far."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lightloom.views.axis_units import show_range
from lightloom.views.charts import check_plot_path, save
from lightloom.views.fitting import legend_below, settle
from lightloom.views.palette import BACKGROUND, PALETTE, REFERENCE

if TYPE_CHECKING:
    import os

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from lightloom.online.adaptation import Adaptation

__all__ = ["plot_adaptation"]

# A colour and a width for each way that has regret, drawn in this order: those that coincide are all seen.
LOOKS = {
    "single": (PALETTE[3], 4.4),
    "first": (PALETTE[2], 3.4),
    "latest": (PALETTE[1], 2.4),
    "adaptive": (PALETTE[0], 1.4),
}


def plot_adaptation(found: Adaptation, path: str | os.PathLike[str] | None = None) -> Figure:
    """The picture, written to a PNG, PDF or SVG file where one is named. Raises `InputError` that names `plot`."""
    from matplotlib.figure import Figure

    if path is not None:
        check_plot_path(path)
    figure = Figure(figsize=(7.0, 6.4), layout="constrained")
    delays, plans, regret = figure.subplots(3, 1, height_ratios=(1.0, 0.7, 1.5), sharex=True)
    _delays(delays, found)
    _plans(plans, found)
    _regret(regret, found)
    lines = [*delays.get_lines(), plans.get_lines()[0], *regret.get_lines()[: len(LOOKS)]]
    legend_below(figure, lines, [str(line.get_label()) for line in lines])
    figure.suptitle(f"Plans by measured delays: {found.collective}, {found.gpus} GPUs", fontsize=11)
    if path is None:
        settle(figure)
    else:
        save(figure, path)
    return figure


def _delays(axes: Axes, found: Adaptation) -> None:
    calls = np.arange(len(found.delays_s))
    axes.plot(calls, found.delays_s, color=BACKGROUND, linewidth=2.4, label="delay")
    axes.plot(calls, found.estimates_s, color=REFERENCE, linewidth=1.0, linestyle="--", label="estimate")
    axes.set_yscale("log")
    both = np.concatenate([found.delays_s, found.estimates_s])
    show_range(axes.yaxis, "time", float(both.min()), float(both.max()), log=True)
    axes.set_ylabel("delay")
    axes.spines[["top", "right"]].set_visible(False)


def _plans(axes: Axes, found: Adaptation) -> None:
    """The plan of every call, by measured delays and as if all delays were known."""
    calls = np.arange(len(found.delays_s))
    known, adaptive = found.ways["known"].plans, found.ways["adaptive"].plans
    used = sorted({*known.tolist(), *adaptive.tolist()})
    rows = {place: row for row, place in enumerate(used)}
    looks = ((known, BACKGROUND, 4.0, "plan of known"), (adaptive, LOOKS["adaptive"][0], 1.4, "adaptive"))
    for plans, colour, width, label in looks:
        drawn = np.array([rows[place] for place in plans.tolist()])
        for index, size in enumerate(np.unique(found.sizes_bytes)):
            own = found.sizes_bytes == size
            name = label if index == 0 else f"_{label} {index}"
            axes.step(calls[own], drawn[own], color=colour, linewidth=width, where="mid", label=name)
    axes.set_yticks(range(len(used)), [str(place) for place in used])
    axes.set_ylim(-0.5, len(used) - 0.5)
    axes.set_ylabel("plan")
    axes.spines[["top", "right"]].set_visible(False)


def _regret(axes: Axes, found: Adaptation) -> None:
    """The time so far less that of the best changes of plan, all delays known."""
    known_s = found.ways["known"].times_s.cumsum()
    lowest_s = highest_s = 0.0
    for name, (colour, width) in LOOKS.items():
        regret_s = found.ways[name].times_s.cumsum() - known_s
        lowest_s, highest_s = min(lowest_s, float(regret_s.min())), max(highest_s, float(regret_s.max()))
        axes.plot(np.arange(len(regret_s)), regret_s, color=colour, linewidth=width, label=name)
    axes.axhline(0.0, color=REFERENCE, linewidth=0.8)
    show_range(axes.yaxis, "time", lowest_s, highest_s, log=False)
    show_range(axes.xaxis, "count", 0.0, float(max(1, len(known_s) - 1)), log=False)
    axes.set(xlabel="call", ylabel="regret so far")
    axes.spines[["top", "right"]].set_visible(False)
