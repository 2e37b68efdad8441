"""Maps of speed-ups as figures 5 to 11 print them, and their cells as columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lightloom.views.axis_units import natural_label
from lightloom.views.charts import colour_bar, heat_map
from lightloom.views.colour_norms import ratio_norm

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.figure import Figure as Picture
    from numpy.typing import NDArray

    from lightloom.views.axis_units import Kind


def draw_maps(
    picture: Picture,
    x: Sequence[float],
    y: Sequence[float],
    panels: Mapping[str, NDArray[np.float64]],
    *,
    labels: tuple[str, str],
    kinds: tuple[Kind, Kind] = ("size", "time"),
    columns: int = 2,
) -> None:
    """A map for each title, `[y][x]`, with colours that all share; places are even, as in the paper's tables."""
    from matplotlib.cm import ScalarMappable

    rows = -(-len(panels) // columns)
    picture.set_size_inches(5.4 * columns, 3.4 * rows + 0.4)
    all_axes = picture.subplots(rows, columns, squeeze=False, sharey=True)
    norm = ratio_norm(np.concatenate([cells.ravel() for cells in panels.values()]), most=30.0)
    names = [[natural_label(kind, value) for value in values] for kind, values in zip(kinds, (x, y), strict=True)]
    for axes, (title, cells) in zip(all_axes.flat, panels.items(), strict=False):
        mesh = heat_map(
            axes, names[0], names[1], cells, x_kind="name", y_kind="name", norm=norm, centre=1.0, numbers=".3g"
        )
        axes.set_title(title, fontsize=10)
        axes.set_xlabel(labels[0])
    for axes in all_axes.flat[len(panels) :]:
        axes.axis("off")
    for row in all_axes:
        row[0].set_ylabel(labels[1])
    every = ScalarMappable(norm, mesh.cmap)
    every.set_array(np.concatenate([cells.ravel() for cells in panels.values()]))
    colour_bar(picture, every, all_axes, "times faster", "ratio", shrink=0.9)


def columns_of(
    places: Mapping[str, Sequence[float] | NDArray[Any]], values: Mapping[str, NDArray[Any]]
) -> dict[str, NDArray[Any]]:
    """A tidy table of grids: a column for each axis, in the order of the grids' axes, and one for each grid."""
    grids = np.meshgrid(*(np.asarray(place) for place in places.values()), indexing="ij")
    table: dict[str, NDArray[Any]] = {name: grid.ravel() for name, grid in zip(places, grids, strict=True)}
    table.update({name: np.asarray(grid).ravel() for name, grid in values.items()})
    return table
