"""A grid as heat maps over buffer sizes and reconfiguration delays."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from lightloom._core import show_size, show_time
from lightloom.charts import check_plot_path, save

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence

    from matplotlib.axes import Axes
    from matplotlib.colors import Normalize
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.image import AxesImage
    from numpy.typing import NDArray

    from lightloom.grid_runs import Point

MOST_COLUMNS = 3
# Cells up to this many get their number.
MOST_NUMBERS = 90
TICKS = (1, 1.1, 1.2, 1.5, 2, 3, 5, 10)


def plot_grid(points: Sequence[Point], title: str, path: str | os.PathLike[str] | None = None) -> Figure:
    """Two heat maps a series: on the left the speed-up over the papers' best, on the right the gap to the bound.

    Written to a PNG, PDF or SVG file where one is named. Raises `InputError` that names `plot`.
    """
    from matplotlib.figure import Figure

    if path is not None:
        check_plot_path(path)
    series = [list(group) for _, group in groupby(points, key=lambda point: point.series)]
    columns = min(len(series), MOST_COLUMNS)
    rows = -(-len(series) // columns)
    figure = Figure(figsize=(2 * 3.6 * columns, 3.1 * rows + 1.4), layout="constrained")
    figure.suptitle(title, fontsize=13)
    halves = figure.add_gridspec(1, 2)
    left, right = (figure.add_subfigure(halves[half]) for half in range(2))
    for part, label, colours, value in (
        (left, "times faster than the papers' best", "cividis", lambda point: point.ratio),
        (right, "time over the lower bound for any algorithm", "magma_r", lambda point: point.gap),
    ):
        _draw_part(part, part.subplots(rows, columns, squeeze=False), series, value, label, colours)
    if path is not None:
        save(figure, path, dpi=110)
    return figure


def _draw_part(
    part: SubFigure,
    all_axes: NDArray[Any],
    series: list[list[Point]],
    value: Callable[[Point], float],
    label: str,
    colours: str,
) -> None:
    """All series by one value, with a colour bar under them."""
    from matplotlib.colors import LogNorm

    largest = max(1.05, *(value(point) for group in series for point in group))
    top = min(largest, TICKS[-1])
    norm = LogNorm(1.0, top)
    for axes, group in zip(all_axes.flat, series, strict=False):
        image = _draw(axes, group, value, norm, colours)
    for axes in all_axes.flat[len(series) :]:
        axes.axis("off")
    extend = "max" if largest > top else "neither"
    bar = part.colorbar(image, ax=all_axes, label=label, location="bottom", fraction=0.04, aspect=40, extend=extend)
    ticks = [tick for tick in TICKS if tick <= top]
    bar.set_ticks(ticks, labels=[f"{tick:g}" for tick in ticks], minor=False)
    bar.set_ticks([], minor=True)


def _draw(
    axes: Axes, group: Sequence[Point], value: Callable[[Point], float], norm: Normalize, colours: str
) -> AxesImage:
    sizes = sorted({point.size_bytes for point in group})
    delays = sorted({point.reconfiguration_delay_s for point in group})
    cells = np.full((len(delays), len(sizes)), np.nan)
    for point in group:
        cells[delays.index(point.reconfiguration_delay_s), sizes.index(point.size_bytes)] = value(point)
    image = axes.imshow(cells, origin="lower", aspect="auto", norm=norm, cmap=colours)
    axes.set_xticks(range(len(sizes)), [show_size(size) for size in sizes], rotation=60, ha="right", fontsize=7)
    axes.set_yticks(range(len(delays)), [show_time(delay) for delay in delays], fontsize=7)
    axes.set_title(group[0].series, fontsize=10)
    if cells.size <= MOST_NUMBERS:
        for (row, column), number in np.ndenumerate(cells):
            level = float(np.asarray(norm(float(number))))
            light = level < 0.5 if colours == "cividis" else level > 0.5
            shown = f"{number:.2f}" if number < 9.995 else f"{number:.0f}"
            axes.text(column, row, shown, ha="center", va="center", fontsize=6, color="w" if light else "k")
    return image
