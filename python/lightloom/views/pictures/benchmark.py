"""A benchmark as heat maps over buffer sizes and reconfiguration delays."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from lightloom.views.charts import check_plot_path, colour_bar, heat_map, save
from lightloom.views.fitting import settle

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence

    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh
    from matplotlib.colors import Normalize
    from matplotlib.figure import Figure, SubFigure
    from numpy.typing import NDArray

    from lightloom.sweeps.benchmark_runs import Point

MOST_COLUMNS = 3
# A factor above this has the last colour.
MOST_COLOURED = 10.0


def plot_benchmark(points: Sequence[Point], title: str, path: str | os.PathLike[str] | None = None) -> Figure:
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
    for part, label, centre, value in (
        (left, "times faster than the papers' best", 1.0, lambda point: point.ratio),
        (right, "time over the lower bound for any algorithm", None, lambda point: point.gap),
    ):
        _draw_part(part, part.subplots(rows, columns, squeeze=False), series, value, label, centre)
    if path is None:
        settle(figure)
    else:
        save(figure, path, dpi=110)
    return figure


def _draw_part(
    part: SubFigure,
    all_axes: NDArray[Any],
    series: list[list[Point]],
    value: Callable[[Point], float],
    label: str,
    centre: float | None,
) -> None:
    """All series by one value, with a colour bar under them."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LogNorm

    values = [value(point) for group in series for point in group]
    top = min(max(1.05, *values), MOST_COLOURED)
    norm = LogNorm(1 / top if centre else 1.0, top)
    for axes, group in zip(all_axes.flat, series, strict=False):
        mesh = _draw(axes, group, value, norm, centre)
    for axes in all_axes.flat[len(series) :]:
        axes.axis("off")
    columns = all_axes.shape[1]
    for place, axes in enumerate(all_axes.flat[: len(series)]):
        if place % columns == 0:
            axes.set_ylabel("reconfiguration delay", fontsize=8)
        if place + columns >= len(series):
            axes.set_xlabel("buffer of a GPU", fontsize=8)
    every = ScalarMappable(norm, mesh.cmap)
    every.set_array(np.array(values))
    colour_bar(part, every, all_axes, label, "ratio", location="bottom", fraction=0.04, aspect=40)


def _draw(
    axes: Axes, group: Sequence[Point], value: Callable[[Point], float], norm: Normalize, centre: float | None
) -> QuadMesh:
    sizes = sorted({point.size_bytes for point in group})
    delays = sorted({point.reconfiguration_delay_s for point in group})
    cells = np.full((len(delays), len(sizes)), np.nan)
    for point in group:
        cells[delays.index(point.reconfiguration_delay_s), sizes.index(point.size_bytes)] = value(point)
    mesh = heat_map(axes, sizes, delays, cells, norm=norm, centre=centre, cell_kind="ratio")
    axes.tick_params(labelsize=7)
    axes.set_title(group[0].series, fontsize=10)
    return mesh
