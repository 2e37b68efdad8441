"""The parts of a heat map: lines where a label changes, and each part's label where it has most room."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lightloom.views.components import components
from lightloom.views.fitting import NAME

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

# A region of less than this part of a map without numbers gets no name.
LEAST_NAMED = 300


def draw_regions(
    axes: Axes,
    edges: tuple[NDArray[np.float64], NDArray[np.float64]],
    centres: tuple[NDArray[np.float64], NDArray[np.float64]],
    labels: NDArray[Any],
    *,
    below: bool,
) -> None:
    """Draw the parts of `labels[y][x]`. edges, centres: of the cells along x and y; below: names under the numbers."""
    from matplotlib.collections import LineCollection
    from matplotlib.patheffects import withStroke

    (x_edges, y_edges), (x_centres, y_centres) = edges, centres
    upright = [
        [(x_edges[column + 1], y_edges[row]), (x_edges[column + 1], y_edges[row + 1])]
        for row, column in np.argwhere(labels[:, 1:] != labels[:, :-1])
    ]
    level = [
        [(x_edges[column], y_edges[row + 1]), (x_edges[column + 1], y_edges[row + 1])]
        for row, column in np.argwhere(labels[1:] != labels[:-1])
    ]
    axes.add_collection(LineCollection(upright + level, colors="k", linewidths=1.2, capstyle="projecting"))
    outline = [withStroke(linewidth=2, foreground="w")]
    names = labels.astype(str)
    smallest = 1 if below else labels.size / LEAST_NAMED
    parts = [(str(name), part) for name in np.unique(names) for part in _connected(names == name)]
    # If not all names fit, those of the largest parts stay.
    for name, part in sorted(parts, key=lambda one: -int(one[1].sum())):
        if part.sum() < smallest:
            continue
        row, column = roomiest(part)
        axes.annotate(
            name,
            (x_centres[column], y_centres[row]),
            (0, -5 if below else 0),
            textcoords="offset points",
            ha="center",
            va="top" if below else "center",
            fontsize=6 if below else 8,
            path_effects=outline,
            gid=NAME,
            in_layout=False,
        )


def _connected(mask: NDArray[np.bool_]) -> list[NDArray[np.bool_]]:
    """The parts of the mask whose cells share edges, in the order of their first cells."""
    cells = np.arange(mask.size).reshape(mask.shape)
    level, upright = mask[:, 1:] & mask[:, :-1], mask[1:] & mask[:-1]
    starts = np.concatenate([cells[:, :-1][level], cells[:-1][upright]])
    ends = np.concatenate([cells[:, 1:][level], cells[1:][upright]])
    first = components(mask.size, starts, ends).reshape(mask.shape)
    return [first == cell for cell in np.unique(first[mask])]


def roomiest(mask: NDArray[np.bool_]) -> tuple[int, int]:
    """Row and column of the cell of the mask that is farthest from the cells outside it and from the border.

    The first of several. Squares of distances as minima over columns of minima over rows (Felzenszwalb and Huttenlocher
    2012), O(cells × distance).
    """
    rows, columns = (slice(int(places.min()), int(places.max()) + 1) for places in np.nonzero(mask))
    upright = _run_up(mask[rows, columns])
    upright = np.minimum(upright, _run_up(mask[rows, columns][::-1])[::-1]) ** 2
    squares = np.pad(upright, ((0, 0), (1, 1)))
    nearest = squares.copy()
    aside = 1
    # Columns farther away than the largest distance of a cell to its nearest one change nothing.
    while aside**2 < nearest.max():
        np.minimum(nearest[:, aside:], squares[:, :-aside] + aside**2, out=nearest[:, aside:])
        np.minimum(nearest[:, :-aside], squares[:, aside:] + aside**2, out=nearest[:, :-aside])
        aside += 1
    row, column = np.unravel_index(int(np.argmax(nearest[:, 1:-1])), upright.shape)
    return rows.start + int(row), columns.start + int(column)


def _run_up(mask: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Rows from each cell up to the first that is not of the mask, 0 where it is that itself."""
    row = np.arange(1, len(mask) + 1)[:, None]
    return row - np.maximum.accumulate(np.where(mask, 0, row), axis=0)
