"""Heat maps, lines and bars as a paper prints them: natural units, colours that everybody tells apart."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any
from warnings import catch_warnings, filterwarnings

import numpy as np

from lightloom.axis_units import drawn_label, is_logarithmic, show_natural
from lightloom.errors import refuse
from lightloom.files import check_writable, usable_path, write_bytes

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable
    from matplotlib.collections import QuadMesh
    from matplotlib.colors import Normalize
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike, NDArray

    from lightloom.axis_units import Kind

__all__ = [
    "PALETTE",
    "SUFFIXES",
    "bars",
    "check_plot_path",
    "colour_bar",
    "heat_map",
    "lines",
    "ratio_norm",
    "rising_norm",
    "save",
]

SUFFIXES = (".png", ".pdf", ".svg")
# Okabe and Ito's colours, which people with any colour vision tell apart.
PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#000000")
MARKERS = "osD^vPX*"
DASHES = ("-", "--", "-.", ":")
# Diverging where a value has a centre, else rising in lightness; both are safe for any colour vision.
DIVERGING, RISING = "RdBu", "cividis"
# Cells up to this many get their number.
MOST_NUMBERS = 120
# A region of less than this part of a map without numbers gets no name.
LEAST_NAMED = 300
# Points up to this many get a marker.
MOST_MARKERS = 40


def check_plot_path(path: str | os.PathLike[str]) -> None:
    """Refuse a file that no picture can be written to. Raises `InputError` that names `plot`."""
    if not str(usable_path("plot", path)).lower().endswith(SUFFIXES):
        raise refuse("plot", f"`{path}` is not accepted; it takes a file that ends in {', '.join(SUFFIXES)}")
    check_writable("plot", path)


def save(figure: Figure, path: str | os.PathLike[str], dpi: int = 150) -> None:
    """Write a PNG, PDF or SVG file, whole or not at all. Raises `InputError` that names `plot`."""
    check_plot_path(path)
    picture = io.BytesIO()
    with catch_warnings():
        # A box stands for a character that the font does not have.
        filterwarnings("ignore", "Glyph .* missing from font", UserWarning)
        figure.savefig(picture, format=str(path)[-3:].lower(), dpi=dpi)
    write_bytes("plot", path, picture.getvalue())


def heat_map(
    axes: Axes,
    x: Sequence[Any] | NDArray[Any],
    y: Sequence[Any] | NDArray[Any],
    cells: ArrayLike,
    *,
    x_kind: Kind = "size",
    y_kind: Kind = "time",
    norm: Normalize | None = None,
    centre: float | None = None,
    regions: ArrayLike | None = None,
    numbers: str | None = None,
    cell_kind: Kind = "number",
) -> QuadMesh:
    """Draw `cells[y][x]` as colours; NaN is left white. Returns what `colour_bar` takes.

    x, y: the values of the axes, rising, of the kinds that `axis_units` shows.
    norm: colours of values, such as one of `ratio_norm` that several maps share; without one, that of these cells.
    centre: the value at which the colours change from red (below) to blue (above), such as a ratio's 1.
    regions: labels `[y][x]` such as planners' names; a line is drawn where they change, and a name within each.
    numbers: format of the numbers in the cells, such as `.2f`; without one, two or three digits where cells are few.
    cell_kind: what the cells hold; times, sizes and rates are shown with their units.
    """
    values = np.asarray(cells, dtype=float)
    if norm is None:
        norm = ratio_norm(values, centre) if centre is not None else rising_norm(values)
    x_edges, y_edges = _edges(x, x_kind), _edges(y, y_kind)
    colours = DIVERGING if centre is not None else RISING
    mesh = axes.pcolormesh(x_edges, y_edges, np.ma.masked_invalid(values), norm=norm, cmap=colours, rasterized=True)
    for axis, kind, places in ((axes.xaxis, x_kind, x), (axes.yaxis, y_kind, y)):
        _show_places(axis, kind, places)
    _slant(axes)
    x_centres, y_centres = _centres(x_edges, x, x_kind), _centres(y_edges, y, y_kind)
    numbered = values.size <= MOST_NUMBERS
    whole = bool(np.all(values[np.isfinite(values)] % 1 == 0))
    if regions is not None:
        _draw_regions(axes, x_edges, y_edges, x_centres, y_centres, np.asarray(regions), below=numbered)
    if numbered:
        for (row, column), value in np.ndenumerate(values):
            if np.isfinite(value):
                shown = format(value, numbers) if numbers else _in_cell(float(value), cell_kind, whole=whole)
                colour = _readable_on(mesh.cmap(norm(value)))
                place = float(x_centres[column]), float(y_centres[row])
                axes.text(*place, shown, ha="center", va="center", fontsize=6, color=colour)
    return mesh


def colour_bar(
    figure: Any, mesh: ScalarMappable, axes: Any, label: str, kind: Kind = "number", **settings: Any
) -> None:
    """A colour bar beside `axes`, in natural units, that shows no colour outside the values' range.

    figure: a figure or subfigure; settings: of matplotlib's `colorbar`, such as `location`.
    """
    from matplotlib.colors import LogNorm

    values = np.ma.compressed(np.ma.masked_invalid(np.asarray(mesh.get_array(), dtype=float)))
    low, high = (float(values.min()), float(values.max())) if values.size else (0.0, 1.0)
    bottom, top = mesh.norm.vmin, mesh.norm.vmax
    beyond = isinstance(top, float) and high > top * (1 + 1e-9)
    bar = figure.colorbar(mesh, ax=axes, label=label, extend="max" if beyond else "neither", **settings)
    if isinstance(mesh.norm, LogNorm) and isinstance(bottom, float) and isinstance(top, float):
        low, high = max(low, bottom), min(high, top)
        if high > low:
            (bar.ax.set_xlim if bar.orientation == "horizontal" else bar.ax.set_ylim)(low, high)
        show_natural(bar.long_axis, "ratio" if kind == "number" else kind, np.geomspace(low, high, 30), log=True)


def ratio_norm(values: ArrayLike, centre: float = 1.0, most: float = 100.0) -> Normalize:
    """Logarithmic colours as far above `centre` as below it; a factor over `most` has the last colour."""
    from matplotlib.colors import LogNorm

    finite = _positive(values) / centre
    largest = min(max(1.05, *(float(part) for part in (finite.max(), 1 / finite.min()))), most) if finite.size else 2.0
    return LogNorm(centre / largest, centre * largest)


def rising_norm(values: ArrayLike) -> Normalize:
    """Colours from the least to the largest value; logarithmic where these are over a factor of ten apart."""
    from matplotlib.colors import LogNorm, Normalize

    array = np.asarray(values, dtype=float)
    finite = array[np.isfinite(array)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    if low > 0 and high > 10 * low:
        return LogNorm(low, high)
    return Normalize(low, high if high > low else low + 1.0)


def lines(
    axes: Axes,
    x: Sequence[float] | NDArray[Any],
    series: Mapping[str, ArrayLike],
    *,
    x_kind: Kind = "size",
    y_kind: Kind = "time",
    log: bool | None = None,
) -> None:
    """A line for each name, told apart by colour, dash and marker; NaN leaves a gap.

    log: whether the vertical axis is logarithmic; without it, where it is one of factors.
    """
    places = np.asarray(x, dtype=float)
    for index, (name, values) in enumerate(series.items()):
        axes.plot(
            places,
            np.asarray(values, dtype=float),
            label=name,
            color=PALETTE[index % len(PALETTE)],
            linestyle=DASHES[(index // len(PALETTE)) % len(DASHES)],
            marker=MARKERS[index % len(MARKERS)] if places.size <= MOST_MARKERS else "",
            markersize=4,
            linewidth=1.4,
        )
    heights = np.concatenate([np.ravel(np.asarray(values, dtype=float)) for values in series.values()])
    heights = heights[np.isfinite(heights)]
    if is_logarithmic(x_kind, places):
        axes.set_xscale("log")
        show_natural(axes.xaxis, x_kind, places, log=True)
    else:
        axes.set_xticks(places) if places.size <= 12 else None
        show_natural(axes.xaxis, x_kind, places, log=False)
    logarithmic = is_logarithmic(y_kind, heights) if log is None else log
    if logarithmic:
        axes.set_yscale("log")
        show_natural(axes.yaxis, y_kind, np.geomspace(heights.min(), heights.max(), 30), log=True)
    else:
        show_natural(axes.yaxis, y_kind, heights, log=False)
    if x_kind in {"size", "time"}:
        _slant(axes)
    axes.grid(visible=True, alpha=0.25, linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)


def bars(
    axes: Axes,
    groups: Sequence[str],
    series: Mapping[str, ArrayLike],
    *,
    y_kind: Kind = "time",
    stacked: bool = False,
    log: bool = False,
) -> None:
    """Bars of every name side by side in each group, or on top of each other."""
    places = np.arange(len(groups), dtype=float)
    width = 0.8 if stacked else 0.8 / max(len(series), 1)
    below = np.zeros(len(groups))
    for index, (name, values) in enumerate(series.items()):
        heights = np.asarray(values, dtype=float)
        at = places if stacked else places - 0.4 + (index + 0.5) * width
        axes.bar(at, heights, width, bottom=below if stacked else None, label=name, color=PALETTE[index % len(PALETTE)])
        below = below + heights
    axes.set_xticks(places, list(groups), fontsize=8)
    if log:
        axes.set_yscale("log")
    heights = np.concatenate([np.ravel(np.asarray(values, dtype=float)) for values in series.values()])
    heights = heights[np.isfinite(heights) & (heights > 0)]
    if log and heights.size:
        show_natural(axes.yaxis, y_kind, np.geomspace(heights.min(), heights.max(), 30), log=True)
    else:
        show_natural(axes.yaxis, y_kind, heights, log=False)
    axes.spines[["top", "right"]].set_visible(False)


def _slant(axes: Axes) -> None:
    """Long labels under a narrow axis."""
    for label in axes.get_xticklabels():
        label.set(rotation=45, ha="right", rotation_mode="anchor")


def _positive(values: ArrayLike) -> NDArray[np.float64]:
    array: NDArray[np.float64] = np.asarray(values, dtype=np.float64)
    kept: NDArray[np.float64] = array[np.isfinite(array) & (array > 0)]
    return kept


def _is_placed(values: Sequence[Any] | NDArray[Any], kind: Kind) -> bool:
    """Whether an axis has places by value: on a logarithmic scale; else places are 0, 1, 2 and so on."""
    return kind != "name" and len(values) > 1 and is_logarithmic(kind, values)


def _edges(values: Sequence[Any] | NDArray[Any], kind: Kind) -> NDArray[np.float64]:
    """Edges of the cells around the values: half-way, as the scale has it."""
    if not _is_placed(values, kind):
        return np.arange(len(values) + 1, dtype=np.float64) - 0.5
    logs = np.log(np.asarray(values, dtype=np.float64))
    middles = (logs[1:] + logs[:-1]) / 2
    edges: NDArray[np.float64] = np.concatenate([[2 * logs[0] - middles[0]], middles, [2 * logs[-1] - middles[-1]]])
    return np.exp(edges)


def _centres(edges: NDArray[np.float64], values: Sequence[Any] | NDArray[Any], kind: Kind) -> NDArray[np.float64]:
    """Middles of the cells as they are seen."""
    if _is_placed(values, kind):
        return np.sqrt(edges[1:] * edges[:-1])
    return (edges[1:] + edges[:-1]) / 2


def _show_places(axis: Any, kind: Kind, values: Sequence[Any] | NDArray[Any]) -> None:
    if _is_placed(values, kind):
        (axis.axes.set_xscale if axis.axis_name == "x" else axis.axes.set_yscale)("log")
        show_natural(axis, kind, np.asarray(values, dtype=float), log=True)
    else:
        axis.set_ticks(range(len(values)), labels=[drawn_label(kind, value) for value in values])


def _draw_regions(
    axes: Axes,
    x_edges: NDArray[np.float64],
    y_edges: NDArray[np.float64],
    x_centres: NDArray[np.float64],
    y_centres: NDArray[np.float64],
    labels: NDArray[Any],
    *,
    below: bool,
) -> None:
    """Lines between cells of different labels, and each part's label where it has most room."""
    from matplotlib.collections import LineCollection
    from matplotlib.patheffects import withStroke

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
    for name, part in parts:
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


def _in_cell(value: float, kind: Kind, *, whole: bool) -> str:
    if kind in {"size", "time", "rate"}:
        return drawn_label(kind, value)
    return f"{value:.0f}" if whole else _short(value)


def _short(value: float) -> str:
    return f"{value:.2f}" if abs(value) < 9.995 else f"{value:.0f}"


def _readable_on(colour: Any) -> str:
    red, green, blue = colour[:3]
    return "k" if 0.299 * red + 0.587 * green + 0.114 * blue > 0.5 else "w"
