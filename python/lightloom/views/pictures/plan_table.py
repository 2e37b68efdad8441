"""Which plan of a table takes least at every size and reconfiguration delay."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lightloom.views.axis_units import log_range, show_ticks
from lightloom.views.charts import check_plot_path, save
from lightloom.views.fitting import legend_below, settle
from lightloom.views.palette import styles

if TYPE_CHECKING:
    import os

    from matplotlib.figure import Figure

    from lightloom.online.table import PlanTable

__all__ = ["plot_plan_table"]

# Sizes, and delays, at which a plan is chosen for the picture.
CELLS = 200
# A range of one value is drawn from this share of it to its inverse.
AROUND = 0.5


def plot_plan_table(found: PlanTable, path: str | os.PathLike[str] | None = None) -> Figure:
    """The picture, written to a PNG, PDF or SVG file where one is named. Raises `InputError` that names `plot`."""
    from matplotlib.colors import ListedColormap
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    if path is not None:
        check_plot_path(path)
    figure = Figure(figsize=(7.0, 5.2), layout="constrained")
    axes = figure.subplots()
    sizes, delays = (_places(*ends) for ends in (found.sizes_bytes, found.delays_s))
    colours = [style.colour for style in styles(range(len(found.plans)))]
    axes.pcolormesh(
        sizes,
        delays,
        found.chosen(sizes, delays).T,
        cmap=ListedColormap(colours),
        vmin=-0.5,
        vmax=len(colours) - 0.5,
        shading="nearest",
        rasterized=True,
        alpha=0.85,
    )
    axes.set(xscale="log", yscale="log", xlabel="buffer of a GPU", ylabel="reconfiguration delay")
    show_ticks(axes.xaxis, "size", log_range("size", float(sizes[0]), float(sizes[-1])))
    show_ticks(axes.yaxis, "time", log_range("time", float(delays[0]), float(delays[-1])))
    drawn = sorted({*found.chosen(sizes, delays).ravel().tolist()})
    labels = [f"{place}: {found.plans[place].algorithm}, changes: {found.lines[place].changes}" for place in drawn]
    legend_below(figure, [Patch(color=colours[place], alpha=0.85) for place in drawn], labels)
    figure.suptitle(f"Plan of the table that takes least: {found.collective}, {found.gpus} GPUs", fontsize=11)
    if path is None:
        settle(figure)
    else:
        save(figure, path)
    return figure


def _places(first: float, last: float) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    if first == last:
        first, last = first * AROUND, last / AROUND
    return np.geomspace(first, last, CELLS)
