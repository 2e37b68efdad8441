"""The parts of a heat map: lines where a label changes, and each part's label where it has most room."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

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
    # Of names that do not all fit, those of the largest parts stay.
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
    """The parts of the mask whose cells share edges."""
    from scipy.ndimage import label

    numbered, count = label(mask)
    return [numbered == number for number in range(1, count + 1)]


def roomiest(mask: NDArray[np.bool_]) -> tuple[int, int]:
    """Row and column of the cell of the mask that is farthest from the cells outside it and from the border."""
    from scipy.ndimage import distance_transform_edt

    depth = distance_transform_edt(np.pad(mask, 1))[1:-1, 1:-1]
    row, column = np.unravel_index(int(np.argmax(depth)), mask.shape)
    return int(row), int(column)
