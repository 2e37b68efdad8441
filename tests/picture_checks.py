"""Faults that make a picture unreadable, found with Matplotlib's own renderer, without its drawing code."""

from __future__ import annotations

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import QuadMesh
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.path import Path
from matplotlib.text import Text
from matplotlib.transforms import Affine2D, Bbox

COLOUR_BAR = "<colorbar>"
# Pixels by which texts may reach into each other's boxes, which have room for letters that they do not have.
SLACK = 1.5


class Written(NamedTuple):
    """A text that is seen: where it stands (four corners, pixels) and its content."""

    words: str
    kind: str
    corners: Any


def faults(figure: Figure) -> list[str]:
    """The unreadable parts, a line each: empty for a good picture."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    panels = [axes for axes in figure.axes if axes.get_visible()]
    found = _clipped(figure, panels) + _overlapping(figure, panels)
    for axes in panels:
        where = repr(axes.get_title() or axes.get_ylabel())
        found += [f"{where}: {fault}" for fault in _faults_of(axes)]
    return found + _unsaid_scales(figure, panels)


def _faults_of(axes: Axes) -> list[str]:
    if axes.get_label() == COLOUR_BAR:
        labels = max(len(_tick_labels(axes, name)) for name in "xy")
        return [] if labels >= 2 else [f"a colour bar with {labels} tick"]
    return [*_ends_without_ticks(axes), *_bars_without_base(axes), *_hidden_lines(axes), *_looks_alike(axes)]


def _corners(text: Text) -> Any:
    """The box of a text, turned as the text is."""
    figure = text.get_figure(root=True)
    assert figure is not None
    canvas: Any = figure.canvas
    renderer = canvas.get_renderer()
    turned = float(text.get_rotation())
    if not turned % 90:
        return Bbox(text.get_window_extent(renderer)).padded(-SLACK).corners()[[0, 1, 3, 2]]
    box = text.get_window_extent(renderer)
    text.set_rotation(0)
    level = text.get_window_extent(renderer)
    text.set_rotation(turned)
    inner = Bbox.from_bounds(-level.width / 2, -level.height / 2, level.width, level.height).padded(-SLACK)
    middle = (box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2
    return Affine2D().rotate_deg(turned).translate(*middle).transform(inner.corners()[[0, 1, 3, 2]])


def _seen(text: Text, kind: str) -> list[Written]:
    if not text.get_visible() or not text.get_text().strip():
        return []
    return [Written(text.get_text(), kind, _corners(text))]


def _tick_labels(axes: Axes, name: str) -> list[tuple[float, Text]]:
    """Places and labels of the ticks that are seen."""
    axis = axes.xaxis if name == "x" else axes.yaxis
    low, high = sorted(axis.get_view_interval())
    slack = 1e-9 * (high - low)
    return [
        (float(place), label)
        for place, label in zip(axis.get_ticklocs(), axis.get_ticklabels(), strict=False)
        if axes.axison
        and axis.get_visible()
        and label.get_visible()
        and label.get_text().strip()
        and low - slack <= place <= high + slack
    ]


def _written(figure: Figure, panels: list[Axes]) -> list[Written]:
    found = [one for text in figure.texts for one in _seen(text, "figure")]
    legends = [*figure.legends, *(legend for axes in panels if (legend := axes.get_legend()) is not None)]
    for legend in legends:
        found += _seen_in(legend)
    for axes in panels:
        found += [*_seen(axes.title, "title"), *(one for text in axes.texts for one in _seen(text, "within"))]
        if axes.axison:
            for axis in (axes.xaxis, axes.yaxis):
                found += _seen(axis.label, "label") + _seen(axis.get_offset_text(), "offset")
            found += [one for name in "xy" for _, text in _tick_labels(axes, name) for one in _seen(text, "tick")]
    return found


def _seen_in(legend: Legend) -> list[Written]:
    texts = [*legend.get_texts(), legend.get_title()]
    return [one for text in texts for one in _seen(text, "legend")]


def _clipped(figure: Figure, panels: list[Axes]) -> list[str]:
    whole = figure.bbox.padded(0.5)
    found = []
    for one in _written(figure, panels):
        (x0, y0), (x1, y1) = one.corners.min(axis=0), one.corners.max(axis=0)
        if x0 < whole.x0 or y0 < whole.y0 or x1 > whole.x1 or y1 > whole.y1:
            found.append(f"{one.words!r} ({one.kind}) is cut off by the border")
    return found


def _overlapping(figure: Figure, panels: list[Axes]) -> list[str]:
    written = _written(figure, panels)
    lows = np.array([one.corners.min(axis=0) for one in written])
    highs = np.array([one.corners.max(axis=0) for one in written])
    found = []
    for first, one in enumerate(written):
        near = np.flatnonzero(np.all((lows[first] < highs) & (lows < highs[first]), axis=1))
        for second in near[near > first]:
            other = written[second]
            if Path(one.corners, closed=False).intersects_path(Path(other.corners, closed=False), filled=True):
                found.append(f"{one.words!r} ({one.kind}) and {other.words!r} ({other.kind}) lie on each other")
    return found


# How bars lie whose values are along an axis.
LIES = {"x": "horizontal", "y": "vertical"}


def _bars(axes: Axes) -> list[BarContainer]:
    return [container for container in axes.containers if isinstance(container, BarContainer)]


def _data(axes: Axes, name: str) -> tuple[float, float] | None:
    """Least and largest values of lines and bars along an axis."""
    values = [
        np.asarray(line.get_xdata() if name == "x" else line.get_ydata(), dtype=float)
        for line in axes.get_lines()
        if line.get_transform() == axes.transData
    ]
    bars = [bar for container in _bars(axes) if container.orientation == LIES[name] for bar in container]
    ends = [bar.get_y() + bar.get_height() if name == "y" else bar.get_x() + bar.get_width() for bar in bars]
    values += [np.array(ends)] if ends else []
    every = np.concatenate(values) if values else np.array([])
    every = every[np.isfinite(every)]
    return (float(every.min()), float(every.max())) if every.size else None


def _labelled(axes: Axes, name: str) -> list[float]:
    """Places of the labels that are seen, of a panel that shares the axis if this one has no labels."""
    group = (axes.get_shared_x_axes if name == "x" else axes.get_shared_y_axes)().get_siblings(axes)
    return next((found for one in (axes, *group) if (found := [place for place, _ in _tick_labels(one, name)])), [])


def _ends_without_ticks(axes: Axes) -> list[str]:
    """Ends of the data that lie beyond the ticks, unless a label says how far a line goes on."""
    found = []
    meshes = [part for part in axes.collections if isinstance(part, QuadMesh)]
    # The axis on which bars stand has their names.
    standing = {container.orientation for container in _bars(axes)}
    for name in "xy" if axes.axison else "":
        ticks = _labelled(axes, name)
        if meshes:
            corners = np.asarray(meshes[0].get_coordinates())
            edges = corners[0, :, 0] if name == "x" else corners[:, 0, 1]
            for low, high in ((edges[0], edges[1]), (edges[-2], edges[-1])):
                if not any(min(low, high) <= tick <= max(low, high) for tick in ticks):
                    found.append(f"{name}: the cells at {low:.4g} to {high:.4g} have no tick")
        elif (span := _data(axes, name)) and not standing - {LIES[name]}:
            slack = 1e-6 * (span[1] - span[0])
            said = name == "y" and any(text.get_text().startswith("↑") for text in axes.texts)
            if not ticks or (span[1] > max(ticks) + slack and not said):
                found.append(f"{name}: the largest value {span[1]:.4g} is beyond the ticks {ticks}")
            elif span[0] < min(ticks) - slack:
                found.append(f"{name}: the least value {span[0]:.4g} is beyond the ticks {ticks}")
    return found


def _bars_without_base(axes: Axes) -> list[str]:
    """Bars on a logarithmic axis stand on a tick: the one where the axis begins, or 1."""
    bars = [bar for container in axes.containers if isinstance(container, BarContainer) for bar in container]
    if not bars or axes.get_yscale() != "log":
        return []
    ticks = np.array(_labelled(axes, "y"))
    bottom = axes.get_ylim()[0]
    bases = {max(bar.get_y(), bottom) for bar in bars if np.isfinite(bar.get_height())}
    return [
        f"bars stand at {base:.4g}, without a tick" for base in sorted(bases) if not np.any(np.isclose(ticks, base))
    ]


def _hidden_lines(axes: Axes) -> list[str]:
    """Lines under others that are as wide and go along everywhere."""
    found = []
    lines = [line for line in axes.get_lines() if line.get_transform() == axes.transData]
    span = np.ptp(axes.transData.transform([(1, y) for y in axes.get_ylim()])[:, 1])
    for first, second in combinations(lines, 2):
        one, other = (np.asarray(line.get_xydata(), dtype=float) for line in (first, second))
        if one.shape != other.shape or len(one) < 2 or first.get_linewidth() > second.get_linewidth() + 0.9:
            continue
        if f"(as {str(second.get_label()).partition(' (as ')[0]})" in str(first.get_label()):
            continue
        apart = np.abs(axes.transData.transform(one) - axes.transData.transform(other)).max(axis=1)
        apart = apart[np.isfinite(apart)]
        if apart.size and apart.max() < 0.004 * span and _visible_line(first) and _visible_line(second):
            found.append(f"{first.get_label()!r} is hidden by {second.get_label()!r}")
    return found


def _visible_line(line: Any) -> bool:
    return line.get_visible() and line.get_linestyle() not in {"None", ""}


def _looks_alike(axes: Axes) -> list[str]:
    seen: dict[object, str] = {}
    found = []
    for line in axes.get_lines():
        name = str(line.get_label())
        look = line.get_color(), line.get_marker(), line.get_linestyle(), line.get_linewidth(), line.get_markersize()
        if not name.startswith("_") and look in seen:
            found.append(f"{name!r} looks like {seen[look]!r}")
        seen.setdefault(look, name)
    return found


def _unsaid_scales(figure: Figure, panels: list[Axes]) -> list[str]:
    """Panels of a row with other scales, where no text says so."""
    rows: dict[tuple[object, int], set[tuple[float, float]]] = {}
    for axes in panels:
        spec = axes.get_subplotspec()
        if spec is not None and axes.axison and axes.has_data() and axes.get_label() != COLOUR_BAR:
            rows.setdefault((id(spec.get_gridspec()), spec.rowspan.start), set()).add(axes.get_ylim())
    said = any("scale" in one.words for one in _written(figure, panels))
    return (
        ["panels next to each other differ in scale"] if not said and any(len(one) > 1 for one in rows.values()) else []
    )
