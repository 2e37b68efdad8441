"""Which plan of a table takes least at every size and reconfiguration delay."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lightloom.views.axis_units import log_range, show_ticks
from lightloom.views.charts import check_plot_path, save
from lightloom.views.fitting import legend_below, settle
from lightloom.views.palette import PALETTE, ramp, readable_on

if TYPE_CHECKING:
    import os

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from lightloom.online.table import PlanTable

__all__ = ["plot_plan_table"]

# Opacity of regions.
ALPHA = 0.85
# Sizes, and delays, at which a plan is chosen for the picture.
CELLS = 200
# A range of one value is drawn from this share of it to its inverse.
AROUND = 0.5
# A number is written into a region that holds a square of cells of this half side.
ROOM = 6


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
    chosen = found.chosen(sizes, delays)
    drawn = np.unique(chosen).tolist()
    colours = _colours(len(drawn))
    rows = np.searchsorted(drawn, chosen)
    axes.pcolormesh(
        sizes,
        delays,
        rows.T,
        cmap=ListedColormap(colours),
        vmin=-0.5,
        vmax=len(colours) - 0.5,
        shading="nearest",
        rasterized=True,
        alpha=ALPHA,
    )
    for row, (place, colour) in enumerate(zip(drawn, colours, strict=True)):
        _write_number(axes, sizes, delays, rows == row, str(place), colour)
    axes.set(xscale="log", yscale="log", xlabel="buffer of a GPU", ylabel="reconfiguration delay")
    show_ticks(axes.xaxis, "size", log_range("size", float(sizes[0]), float(sizes[-1])))
    show_ticks(axes.yaxis, "time", log_range("time", float(delays[0]), float(delays[-1])))
    labels = [f"{place}: {found.plans[place].algorithm}, changes: {found.lines[place].changes}" for place in drawn]
    legend_below(figure, [Patch(color=colour, alpha=ALPHA) for colour in colours], labels)
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


def _colours(count: int) -> list[str]:
    """A colour for each plan, no two alike; those of neighbours in a long list are half the ramp apart."""
    if count <= len(PALETTE):
        return list(PALETTE[:count])
    shades = ramp(count)
    half = (count + 1) // 2
    return [shades[place // 2 + half * (place % 2)] for place in range(count)]


def _write_number(
    axes: Axes,
    sizes: NDArray[np.float64],
    delays: NDArray[np.float64],
    region: NDArray[np.bool_],
    text: str,
    colour: str,
) -> None:
    """Write into the middle of a region's largest square, if that has room.

    region: whether a cell is of the region, `[size][delay]`.
    """
    left, deepest, room = region, region, 0
    while left.any() and room < CELLS:
        # Cells all of whose neighbours are left; those at the edge have too few.
        padded = np.pad(left, 1)
        left, deepest, room = (
            np.logical_and.reduce(
                [padded[row : row + CELLS, column : column + CELLS] for row in range(3) for column in range(3)]
            ),
            left,
            room + 1,
        )
    if room < ROOM:
        return
    size, delay = np.argwhere(deepest)[np.count_nonzero(deepest) // 2].tolist()
    axes.text(sizes[size], delays[delay], text, ha="center", va="center", fontsize=10, color=readable_on(colour))
