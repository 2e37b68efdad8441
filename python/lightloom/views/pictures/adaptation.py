"""Calls under drifting delays: the delays, the plans that are taken, and the regret so far."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lightloom._core import show_size
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

# Panels of plans, one a size.
MOST_PANELS = 4
# Room below 0, as a share of what is above it.
BELOW = 0.04
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
    sizes, counts = np.unique(found.sizes_bytes, return_counts=True)
    # A panel of plans for each size; of many sizes, those with the most calls.
    shown = sorted(sizes[np.argsort(-counts, kind="stable")[:MOST_PANELS]].tolist())
    figure = Figure(figsize=(7.0, 5.4 + len(shown)), layout="constrained")
    delays, *plans, regret = figure.subplots(
        2 + len(shown), 1, height_ratios=(1.0, *[0.7] * len(shown), 1.5), sharex=True
    )
    _delays(delays, found)
    for axes, size in zip(plans, shown, strict=True):
        _plans(axes, found, size)
        if len(sizes) > 1:
            axes.set_title(show_size(size), fontsize=9, loc="left")
    if len(sizes) > len(shown):
        plans[0].set_title(
            f"{show_size(shown[0])}; the {len(shown)} of {len(sizes)} sizes with the most calls", fontsize=9, loc="left"
        )
    _regret(regret, found)
    lines = [*delays.get_lines(), plans[0].get_lines()[0], *regret.get_lines()[: len(LOOKS)]]
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


def _plans(axes: Axes, found: Adaptation, size_bytes: int) -> None:
    """The plan of every call of this size, by measured delays and as if all delays were known."""
    calls = np.flatnonzero(found.sizes_bytes == size_bytes)
    known, adaptive = found.ways["known"].plans[calls], found.ways["adaptive"].plans[calls]
    used = sorted({*known.tolist(), *adaptive.tolist()})
    rows = {place: row for row, place in enumerate(used)}
    looks = ((known, BACKGROUND, 4.0, "plan of known"), (adaptive, LOOKS["adaptive"][0], 1.4, "adaptive"))
    for plans, colour, width, label in looks:
        drawn = np.array([rows[place] for place in plans.tolist()])
        axes.step(calls, drawn, color=colour, linewidth=width, where="mid", label=label)
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
    # Below the lines: those at 0 are seen.
    axes.axhline(0.0, color=REFERENCE, linewidth=0.8, zorder=1)
    show_range(axes.yaxis, "time", lowest_s, highest_s, log=False)
    # Lines that stay at 0 are drawn whole.
    bottom_s, top_s = axes.get_ylim()
    axes.set_ylim(min(bottom_s, -BELOW * top_s), top_s)
    show_range(axes.xaxis, "count", 0.0, float(max(1, len(known_s) - 1)), log=False)
    axes.set(xlabel="call", ylabel="regret so far")
    axes.spines[["top", "right"]].set_visible(False)
