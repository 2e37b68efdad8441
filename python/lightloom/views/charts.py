"""Heat maps, lines and bars as a paper prints them: natural units, and looks that everybody tells apart."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any
from warnings import catch_warnings, filterwarnings

import numpy as np

from lightloom.base.errors import refuse
from lightloom.base.files import check_writable, usable_path, write_bytes
from lightloom.views.axis_units import (
    drawn_label,
    even_range,
    is_logarithmic,
    log_range,
    show_natural,
    show_range,
    show_ticks,
)
from lightloom.views.chart_regions import draw_regions
from lightloom.views.colour_norms import ratio_norm, rising_norm, whole_numbers
from lightloom.views.fitting import NUMBER, settle
from lightloom.views.palette import DIVERGING, PALETTE, RISING, readable_on, styles

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable
    from matplotlib.collections import QuadMesh
    from matplotlib.colors import Normalize
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike, NDArray

    from lightloom.views.axis_units import Kind
    from lightloom.views.palette import Style

__all__ = [
    "SUFFIXES",
    "as_bytes",
    "bars",
    "check_plot_path",
    "colour_bar",
    "cut_above",
    "heat_map",
    "lines",
    "save",
    "show_heights",
]

SUFFIXES = (".png", ".pdf", ".svg")
# Cells up to this many get their number.
MOST_NUMBERS = 120
# Points up to this many get a marker.
MOST_MARKERS = 40
# Lines that are closer than this part of the axis, at this part of their points or more, lie on each other.
TOUCHING, MUCH = 0.005, 0.2
# Widths of a line and its markers, and their growth for each line that is drawn on it, up to this many.
WIDTH, WIDER, MARKER, LARGER, MOST_ON = 1.4, 1.6, 4.0, 1.8, 3
# Least distance on a colour bar between the ticks at its ends and others.
LEAST_ON_BAR = 0.1
# The first tick under bars on a logarithmic axis is at most this part of the lowest.
BELOW = 0.9


def check_plot_path(path: str | os.PathLike[str], field: str = "plot") -> None:
    """Refuse a file that no picture can be written to. Raises `InputError` that names `field`."""
    if not str(usable_path(field, path)).lower().endswith(SUFFIXES):
        raise refuse(field, f"`{path}` is not accepted; it takes a file that ends in {', '.join(SUFFIXES)}")
    check_writable(field, path)


def save(figure: Figure, path: str | os.PathLike[str], dpi: int = 150, field: str = "plot") -> None:
    """Make the texts fit and write a PNG, PDF or SVG file, whole or not at all. Raises `InputError` naming `field`."""
    check_plot_path(path, field)
    write_bytes(field, path, as_bytes(figure, str(path)[-3:].lower(), dpi))


def as_bytes(figure: Figure, kind: str, dpi: int = 150) -> bytes:
    """Make the texts fit; the content of a `png`, `pdf` or `svg` file."""
    picture = io.BytesIO()
    with catch_warnings():
        # A box stands for a character that the font does not have.
        filterwarnings("ignore", "Glyph .* missing from font", UserWarning)
        settle(figure)
        figure.savefig(picture, format=kind, dpi=dpi)
    return picture.getvalue()


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
    cell_kind: of the cells' numbers; times, sizes and rates are shown with their units.
    """
    values = np.asarray(cells, dtype=float)
    if norm is None:
        norm = ratio_norm(values, centre) if centre is not None else rising_norm(values, cell_kind)
    x_edges, y_edges = _edges(x, x_kind), _edges(y, y_kind)
    colours = DIVERGING if centre is not None else RISING
    mesh = axes.pcolormesh(x_edges, y_edges, np.ma.masked_invalid(values), norm=norm, cmap=colours, rasterized=True)
    for axis, kind, places in ((axes.xaxis, x_kind, x), (axes.yaxis, y_kind, y)):
        _show_places(axis, kind, places)
    x_centres, y_centres = _centres(x_edges, x, x_kind), _centres(y_edges, y, y_kind)
    numbered = values.size <= MOST_NUMBERS
    whole = cell_kind != "ratio" and bool(np.all(values[np.isfinite(values)] % 1 == 0))
    if regions is not None:
        draw_regions(axes, (x_edges, y_edges), (x_centres, y_centres), np.asarray(regions), below=numbered)
    if numbered:
        for (row, column), value in np.ndenumerate(values):
            if np.isfinite(value):
                shown = format(value, numbers) if numbers else _in_cell(float(value), cell_kind, whole=whole)
                colour = readable_on(mesh.cmap(norm(value)))
                place = float(x_centres[column]), float(y_centres[row])
                number = axes.text(*place, shown, ha="center", va="center", fontsize=6, color=colour, gid=NUMBER)
                # The text is within the panel, and would be measured for the layout.
                number.set_in_layout(False)
    return mesh


def colour_bar(
    figure: Any, mesh: ScalarMappable, axes: Any, label: str, kind: Kind = "number", **settings: Any
) -> None:
    """A colour bar next to `axes`, in natural units, that ends at the values' least and largest.

    figure: a figure or subfigure; settings: of matplotlib's `colorbar`, such as `location`.
    """
    from matplotlib.colors import BoundaryNorm, LogNorm
    from matplotlib.ticker import NullLocator

    values = np.ma.compressed(np.ma.masked_invalid(np.asarray(mesh.get_array(), dtype=float)))
    low, high = (float(values.min()), float(values.max())) if values.size else (0.0, 1.0)
    bottom, top = mesh.norm.vmin, mesh.norm.vmax
    beyond = isinstance(top, float) and high > top * (1 + 1e-9)
    if isinstance(mesh.norm, BoundaryNorm):
        bar = figure.colorbar(mesh, ax=axes, label=label, spacing="uniform", **settings)
        middles, words = zip(*whole_numbers(mesh.norm, values), strict=True)
        bar.long_axis.set_ticks(middles, labels=words)
        bar.long_axis.set_minor_locator(NullLocator())
        return
    if beyond:
        label = f"{label} (the last colour: up to {drawn_label(kind, high)})"
    bar = figure.colorbar(mesh, ax=axes, label=label, extend="max" if beyond else "neither", **settings)
    if not (isinstance(bottom, float) and isinstance(top, float)):
        return
    low, high = max(low, bottom), min(high, top)
    log = isinstance(mesh.norm, LogNorm)
    if high <= low * (1 + 1e-9):
        # All values are one: the bar shows what its colour lies between.
        ticks = [bottom, low, top] if bottom < low < top else [bottom, top]
    else:
        (bar.ax.set_xlim if bar.orientation == "horizontal" else bar.ax.set_ylim)(low, high)
        inner = log_range(kind, low, high) if log else even_range(low, high)
        # The position along the bar, from 0 to 1.
        along = np.log(np.array(inner) / low) / np.log(high / low) if log else (np.array(inner) - low) / (high - low)
        between = [tick for tick, at in zip(inner, along, strict=True) if LEAST_ON_BAR < at < 1 - LEAST_ON_BAR]
        ticks = [low, *between, high]
    show_ticks(bar.long_axis, "ratio" if log and kind == "number" else kind, ticks)


def lines(
    axes: Axes,
    x: Sequence[float] | NDArray[Any],
    series: Mapping[str, ArrayLike],
    *,
    x_kind: Kind = "size",
    y_kind: Kind = "time",
    log: bool | None = None,
    ordered: bool = False,
    looks: Sequence[Style] | None = None,
) -> None:
    """A line for each name, told apart by colour, dash and marker; NaN leaves a gap.

    A line on which others lie is drawn wider, so that it is seen under them. The vertical axis goes from a round
    number below all values to one above them, those of panels that share it included.

    log: whether the vertical axis is logarithmic; by default, if its values are factors.
    ordered: whether the names are steps of one quantity, which get colours from dark to light.
    looks: of the lines, where they are not by the name or place.
    """
    places = np.asarray(x, dtype=float)
    heights = {name: np.asarray(values, dtype=float) for name, values in series.items()}
    every = np.concatenate([np.ravel(values) for values in heights.values()])
    every = every[np.isfinite(every)]
    logarithmic = is_logarithmic(y_kind, every) if log is None else log
    # Many lines in order are told apart by their neighbours.
    crowded = ordered and len(heights) > MOST_ON + 1
    chosen = looks or styles(list(series), ordered=ordered)
    # Dashed lines leave solid ones below them to be seen.
    kinds = [looks is not None and style.dash != "-" for style in chosen]
    below = [0] * len(heights) if crowded else _lines_on(list(heights.values()), kinds, log=logarithmic)
    shown = _with_equals(heights, log=logarithmic) if crowded else list(heights)
    for style, on, name, values in zip(chosen, below, shown, heights.values(), strict=True):
        axes.plot(
            places,
            values,
            label=name,
            color=style.colour,
            linestyle=style.dash,
            marker=style.marker if places.size <= MOST_MARKERS else "",
            markersize=MARKER + LARGER * on,
            linewidth=WIDTH + WIDER * on,
        )
    if is_logarithmic(x_kind, places) or _is_geometric(places):
        axes.set_xscale("log", base=2)
        show_natural(axes.xaxis, x_kind, places, log=True)
    else:
        ends = [] if places.size <= 12 else [places[0], *even_range(places[0], places[-1])[1:-1], places[-1]]
        show_ticks(axes.xaxis, x_kind, ends or places.tolist())
    if every.size:
        if logarithmic:
            axes.set_yscale("log")
        show_heights(axes, y_kind, log=logarithmic)
    axes.grid(visible=True, alpha=0.25, linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)


def _lines_on(
    heights: Sequence[NDArray[np.float64]], kinds: Sequence[bool], *, log: bool, much: float = MUCH
) -> list[int]:
    """For each line, how many later lines of its kind lie on it in at least the share `much` of their points."""
    shown = [np.log(values) if log else values for values in heights]
    finite = np.concatenate([values[np.isfinite(values)] for values in shown])
    near = TOUCHING * float(np.ptp(finite)) if finite.size else 0.0

    def later_on(index: int) -> int:
        later = [place for place in range(index + 1, len(shown)) if kinds[place] == kinds[index]]
        return sum(float(np.mean(np.abs(shown[index] - shown[place]) <= near)) >= much for place in later)

    return [min(MOST_ON, later_on(index)) for index in range(len(shown))]


def _with_equals(heights: Mapping[str, NDArray[np.float64]], *, log: bool) -> list[str]:
    """The names; of a line that a later one hides, with the other's."""
    names = list(heights)
    shown = []
    for index, name in enumerate(names):
        pairs = [(heights[name], heights[later]) for later in names[index + 1 :]]
        same = next(
            (place for place, pair in enumerate(pairs) if _lines_on(pair, (False, False), log=log, much=1.0)[0]), None
        )
        shown.append(name if same is None else f"{name} (as {names[index + 1 + same]})")
    return shown


def _is_geometric(places: NDArray[np.float64]) -> bool:
    """Whether every place is the same factor over the one before: 8, 16, 32."""
    if places.size < 3 or places.min() <= 0:
        return False
    steps = places[1:] / places[:-1]
    return bool(np.allclose(steps, steps[0], rtol=1e-6) and steps[0] >= 1.5)


def show_heights(axes: Axes, kind: Kind, *, log: bool, base: float | None = None) -> None:
    """Ticks and limits of a vertical axis around all that is drawn, also in the panels that share it.

    base: where bars stand; on a logarithmic axis without zero they stand on its first tick, which is below them all.
    """
    panels = axes.get_shared_y_axes().get_siblings(axes)
    spans = [panel.dataLim for panel in panels if panel.has_data()]
    high = max(span.y1 for span in spans)
    low = min(span.minposy if log else span.y0 for span in spans)
    if base is not None:
        low = low * BELOW if log and base == 0 else min(low, base)
    show_range(axes.yaxis, kind, low, high, log=log)
    ticks = axes.get_yticks()
    if (base is not None and ticks[0] <= base) or (log and base == 0):
        axes.set_ylim(bottom=ticks[0])


def cut_above(axes: Axes, kind: Kind, most: float) -> None:
    """End a logarithmic vertical axis near `most`; a line that goes beyond it is labelled with its largest value."""
    span = axes.dataLim
    show_range(axes.yaxis, kind, span.minposy, min(most, span.y1), log=True)
    top = axes.get_ylim()[1]
    for line in axes.get_lines():
        x, y = (np.asarray(values, dtype=float) for values in line.get_data())
        beyond = np.flatnonzero(y > top)
        if beyond.size:
            words = f"↑ {drawn_label(kind, float(np.nanmax(y)))}"
            place = (float(x[max(beyond[0] - 1, 0)]), top)
            axes.annotate(
                words,
                place,
                (-3, -2),
                textcoords="offset points",
                ha="right",
                va="top",
                fontsize=7,
                color=line.get_color(),
            )


def bars(
    axes: Axes,
    groups: Sequence[str],
    series: Mapping[str, ArrayLike],
    *,
    y_kind: Kind = "time",
    stacked: bool = False,
    log: bool = False,
    ordered: bool = False,
    looks: Sequence[Style] | None = None,
) -> None:
    """Bars of every name side by side in each group, or on top of each other.

    On a logarithmic axis bars have no zero to stand on: they stand on its first tick. Ratios stand on 1.
    """
    places = np.arange(len(groups), dtype=float)
    width = 0.8 if stacked else 0.8 / max(len(series), 1)
    base = 1.0 if y_kind == "ratio" and not stacked else 0.0
    below = np.full(len(groups), base)
    for index, (style, (name, given)) in enumerate(
        zip(looks or styles(list(series), ordered=ordered), series.items(), strict=True)
    ):
        values = np.asarray(given, dtype=float)
        at = places if stacked else places - 0.4 + (index + 0.5) * width
        hatch = "" if ordered else "//" * (index // len(PALETTE))
        axes.bar(
            at,
            values - (0.0 if stacked else base),
            width,
            bottom=below,
            label=name,
            color=style.colour,
            hatch=hatch,
            edgecolor="w" if hatch else None,
            linewidth=0,
        )
        below = below + np.nan_to_num(values) if stacked else below
    axes.set_xticks(places, list(groups), fontsize=8)
    if log:
        axes.set_yscale("log")
    if np.isfinite(axes.dataLim.y1):
        show_heights(axes, y_kind, log=log, base=base)
    if base:
        axes.axhline(base, color="k", linewidth=0.8)
    axes.spines[["top", "right"]].set_visible(False)


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


def _in_cell(value: float, kind: Kind, *, whole: bool) -> str:
    if kind in {"size", "time", "rate"}:
        return drawn_label(kind, value)
    return f"{value:.0f}" if whole else _short(value)


def _short(value: float) -> str:
    return f"{value:.2f}" if abs(value) < 9.995 else f"{value:.0f}"
