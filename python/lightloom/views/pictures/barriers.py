"""Barriers as a picture: the cost of a round of each, over the number of ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lightloom._core import counted
from lightloom.views.charts import check_plot_path, lines, save
from lightloom.views.fitting import settle
from lightloom.views.palette import BACKGROUND

if TYPE_CHECKING:
    import os

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from lightloom.running.barriers import BarrierCosts

__all__ = ["draw_barriers", "plot_barriers"]


def plot_barriers(costs: BarrierCosts, path: str | os.PathLike[str] | None = None) -> Figure:
    """The picture, written to a PNG, PDF or SVG file where one is named. Raises `InputError` that names `plot`."""
    from matplotlib.figure import Figure

    if path is not None:
        check_plot_path(path)
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.subplots()
    draw_barriers(axes, costs)
    axes.set(ylabel="time of a round, median", title=f"Waiting for all, {counted(costs.cores, 'core')}")
    if path is None:
        settle(figure)
    else:
        save(figure, path)
    return figure


def draw_barriers(axes: Axes, costs: BarrierCosts) -> None:
    """A line a barrier; where there are more ranks than cores, they share them."""
    ranks = sorted({cost.ranks for cost in costs.costs})
    found = {(cost.barrier, cost.ranks): cost.median_s for cost in costs.costs}
    names = dict.fromkeys(cost.barrier for cost in costs.costs)
    series = {name: np.array([found.get((name, count), np.nan) for count in ranks]) for name in names}
    lines(axes, ranks, series, x_kind="number", y_kind="time", log=True)
    if ranks[0] <= costs.cores < ranks[-1]:
        axes.axvline(costs.cores, color=BACKGROUND, linestyle=":", linewidth=1, label="as many as cores")
    axes.set_xlabel("ranks")
    axes.legend(frameon=False, fontsize=8)
