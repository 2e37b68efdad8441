"""The pictures of a sweep: heat maps, lines and bars, a panel for each combination of the axes that are not placed."""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lightloom.sweeps.parts import VALUE_COLUMNS
from lightloom.views.axis_units import drawn_label, is_logarithmic, plain
from lightloom.views.charts import bars, colour_bar, heat_map, lines, save
from lightloom.views.colour_norms import ratio_norm, rising_norm
from lightloom.views.fitting import legend_below, settle
from lightloom.views.palette import DIVERGING, RISING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from matplotlib.colors import Normalize
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from lightloom.sweeps.axes import Axis
    from lightloom.sweeps.pictures import Picture
    from lightloom.sweeps.result import SweepResult
    from lightloom.views.axis_units import Kind

MOST_COLUMNS = 3
# Panels of a figure; what does not fit goes to a further one.
MOST_PANELS = 12
# Cells along a side of a heat map: pictures have no more pixels, so that of longer axes some values are shown.
MOST_CELLS = 400
# Bars whose heights are farther apart than this factor stand on a logarithmic axis.
WIDE = 30.0
# Times this close are equal.
EQUAL = 1e-9
KINDS: dict[str, Kind] = {
    "time": "time",
    "simulated": "time",
    "ratio": "ratio",
    "gap": "ratio",
    "exposed": "time",
    "reconfigurations": "count",
}
LABELS = {
    "time": "completion time",
    "simulated": "simulated completion time",
    "gap": "time over the lower bound",
    "exposed": "exposed communication",
    "reconfigurations": "reconfigurations",
}
REGION_COLUMNS = {
    "planner": "chosen_planner",
    "algorithm": "chosen_algorithm",
    "reconfigurations": "reconfigurations",
}
AXIS_LABELS = {
    "size": "size",
    "bandwidth": "bandwidth",
    "startup": "startup",
    "hop_delay": "hop delay",
    "reconfiguration_delay": "reconfiguration delay",
    "gpus": "GPUs",
}


class Panel(NamedTuple):
    """The points of a panel: its title, and where they are in the grid of a column."""

    title: str
    where: tuple[Any, ...]


def plot_sweep(result: SweepResult, folder: Path, suffix: str) -> list[Path]:
    """Write the pictures of a sweep to `folder`, and say where. Raises `InputError` that names `plot`."""
    written = []
    for name, figure in sweep_figures(result):
        path = folder / f"{name}{suffix}"
        save(figure, path)
        written.append(path)
    return written


def sweep_figures(result: SweepResult) -> Iterator[tuple[str, Figure]]:
    """Every picture of the description with a name of its own; of many panels, several figures."""
    used: Counter[str] = Counter()
    for picture in result.description.pictures:
        panels = _panels(result.axes, picture)
        for first in range(0, len(panels), MOST_PANELS):
            name = f"{result.description.name}-{f'best-{picture.best}' if picture.best else picture.value}"
            used[name] += 1
            number = f"-{used[name]}" if used[name] > 1 else ""
            yield f"{name}{number}", _figure(result, picture, panels[first : first + MOST_PANELS])


def draw_sweep(result: SweepResult) -> list[Figure]:
    """Every picture of the description."""
    return [figure for _, figure in sweep_figures(result)]


def value_label(result: SweepResult, metric: str) -> str:
    """The label of the colours or heights of a metric."""
    if metric != "ratio":
        return LABELS[metric]
    labels = [entry.label for entry in result.description.baseline]
    return plain(f"times faster than {'the best of ' if len(labels) > 1 else ''}{', '.join(labels)}")


def _panels(axes: tuple[Axis, ...], picture: Picture) -> list[Panel]:
    ranges = [[slice(None)] if axis.key in picture.placed else range(len(axis.values)) for axis in axes]
    # The axis whose best value is shown keeps one place.
    made = [[0] if axis.key == picture.best else places for axis, places in zip(axes, ranges, strict=True)]
    titled = [axis for axis in axes if axis.key not in picture.placed]
    order = [axis in titled for axis in axes]
    return [
        Panel(_title(titled, [place for place, said in zip(index, order, strict=True) if said]), index)
        for index in product(*made)
    ]


def _title(axes: list[Axis], index: list[Any]) -> str:
    """The panel's values of its axes; an axis of one value needs no mention."""
    said = [
        plain(axis.shown[place]) if axis.kind == "name" else _labelled(axis, axis.shown[place])
        for axis, place in zip(axes, index, strict=True)
        if len(axis.values) > 1
    ]
    return ", ".join(said)


def _labelled(axis: Axis, value: object) -> str:
    return f"{_axis_label(axis)} {drawn_label(axis.kind, value)}"


def _figure(result: SweepResult, picture: Picture, panels: list[Panel]) -> Figure:
    from matplotlib.figure import Figure

    columns = min(len(panels), MOST_COLUMNS)
    rows = -(-len(panels) // columns)
    figure = Figure(figsize=(max(4.6 * columns, 6.0), 3.6 * rows + 0.9), layout="constrained")
    words = (
        f"the best {picture.best.replace('_', ' ')}" if picture.regions == "best" else _region_words(picture.regions)
    )
    regions = f"; lines: where {words} changes" if picture.regions != "none" else ""
    title = "\n".join(map(plain, (result.description.summary or _subject(result)).split("\n")))
    figure.suptitle(f"{title}\n{value_label(result, picture.value)}{regions}", fontsize=11)
    grid = figure.subplots(rows, columns, squeeze=False, sharey=True)
    values = _of_best(result, picture, _values(result, VALUE_COLUMNS[picture.value]))
    if picture.kind == "heat":
        _draw_heat_maps(figure, grid, result, picture, panels, values)
    else:
        _draw_series(figure, grid, result, picture, panels, values)
    for axes, panel in zip(grid.flat, panels, strict=False):
        axes.set_title(panel.title, fontsize=10)
        axes.set_xlabel(_axis_label(_axis(result, picture.x)), fontsize=9)
        axes.tick_params(labelsize=8)
    for axes in grid.flat[len(panels) :]:
        axes.axis("off")
    settle(figure)
    return figure


def _subject(result: SweepResult) -> str:
    """What was swept, for a description without a summary: `all-reduce, 64 GPUs`; its name if it says neither."""
    said = dict(result.description.settings)
    told = [str(said[key]) for key in ("collective", "workload") if key in said]
    told += [
        f"{said[key]} {noun}" for key, noun in (("gpus", "GPUs"), ("dims", "GPUs"), ("ranks", "ranks")) if key in said
    ]
    return ", ".join(told) or result.description.name


def _draw_heat_maps(
    figure: Figure,
    grid: NDArray[Any],
    result: SweepResult,
    picture: Picture,
    panels: list[Panel],
    values: NDArray[np.float64],
) -> None:
    """Colours that all panels share, and one bar of them."""
    from matplotlib.cm import ScalarMappable

    centre = 1.0 if picture.value == "ratio" else None
    kind = KINDS[picture.value]
    norm: Normalize = rising_norm(values, kind) if centre is None else ratio_norm(values, centre)
    regions = _regions(result, picture)
    x, y = _axis(result, picture.x), _axis(result, picture.y)
    for axes, panel in zip(grid.flat, panels, strict=False):
        columns, rows = _places(x), _places(y)
        cells = _cells(result, picture, values, panel)[np.ix_(rows, columns)]
        names = None if regions is None else _cells(result, picture, regions, panel)[np.ix_(rows, columns)]
        heat_map(
            axes,
            [x.shown[place] for place in columns],
            [y.shown[place] for place in rows],
            cells,
            x_kind=x.kind,
            y_kind=y.kind,
            norm=norm,
            centre=centre,
            regions=names,
            cell_kind=kind,
        )
    for axes in grid[:, 0]:
        axes.set_ylabel(_axis_label(y), fontsize=9)
    colours = ScalarMappable(norm, RISING if centre is None else DIVERGING)
    colours.set_array(values.ravel())
    label = value_label(result, picture.value)
    colour_bar(figure, colours, grid, label, kind)


def _draw_series(
    figure: Figure,
    grid: NDArray[Any],
    result: SweepResult,
    picture: Picture,
    panels: list[Panel],
    values: NDArray[np.float64],
) -> None:
    """Lines or bars; panels share the vertical axis and the legend."""
    x = _axis(result, picture.x)
    named = None
    ordered = bool(picture.lines) and _axis(result, picture.lines).kind != "name"
    heights = values[np.isfinite(values)]
    wide = bool(heights.size and heights.min() > 0 and heights.max() > WIDE * heights.min())
    log = wide or (picture.kind == "lines" and is_logarithmic(KINDS[picture.value], heights))
    for axes, panel in zip(grid.flat, panels, strict=False):
        series = _series(result, picture, values, panel)
        if not any(np.isfinite(line).any() for line in series.values()):
            axes.text(0.5, 0.5, "no plan", ha="center", va="center", transform=axes.transAxes)
            continue
        if picture.kind == "lines":
            order = _places(x, most=len(x.values))
            places = [float(x.shown[place]) for place in order]
            drawn = {name: line[order] for name, line in series.items()}
            lines(axes, places, drawn, x_kind=x.kind, y_kind=KINDS[picture.value], log=log, ordered=ordered)
        else:
            groups = [drawn_label(x.kind, value) for value in x.shown]
            bars(axes, groups, series, y_kind=KINDS[picture.value], log=log, ordered=ordered)
        named = axes
    for axes in grid[:, 0]:
        axes.set_ylabel(value_label(result, picture.value), fontsize=9)
    if named is not None and picture.lines:
        handles, names = named.get_legend_handles_labels()
        legend_below(figure, handles, names, title=_axis_label(_axis(result, picture.lines)))


def _series(
    result: SweepResult, picture: Picture, values: NDArray[np.float64], panel: Panel
) -> dict[str, NDArray[np.float64]]:
    """A line's values along `x` by its name."""
    part = values[panel.where]
    if not picture.lines:
        return {value_label(result, picture.value): part}
    order = [axis.key for axis in result.axes]
    if order.index(picture.lines) > order.index(picture.x):
        part = part.T
    axis = _axis(result, picture.lines)
    return {drawn_label(axis.kind, value): line for value, line in zip(axis.shown, part, strict=True)}


def _cells(result: SweepResult, picture: Picture, grid: NDArray[Any], panel: Panel) -> NDArray[Any]:
    """The panel's values as `[y][x]`."""
    order = [axis.key for axis in result.axes]
    part: NDArray[Any] = grid[panel.where]
    return part.T if order.index(picture.x) < order.index(picture.y) else part


def _values(result: SweepResult, column: str) -> NDArray[np.float64]:
    values = result.grid(column).astype(np.float64)
    if column == "reconfigurations":
        values[values < 0] = np.nan
    return values


def _of_best(result: SweepResult, picture: Picture, grid: NDArray[Any]) -> NDArray[Any]:
    """The grid where the axis that `best` names has only its best value, if it names one."""
    if not picture.best:
        return grid
    along, best = _best(result, picture)
    return np.take_along_axis(grid, best, along)


def _best(result: SweepResult, picture: Picture) -> tuple[int, NDArray[np.intp]]:
    """The place of the axis that `best` names, and which of its values takes the least time, the first of equals."""
    along = [axis.key for axis in result.axes].index(picture.best)
    times = _values(result, "simulated_s" if "simulated" in result.description.metrics else "total_s")
    times = np.where(np.isfinite(times), times, np.inf)
    least = times.min(along, keepdims=True)
    return along, np.argmax(times <= least * (1 + EQUAL), along, keepdims=True)


def _regions(result: SweepResult, picture: Picture) -> NDArray[Any] | None:
    """The name of each cell's region, where the picture has regions."""
    if picture.regions == "none":
        return None
    if picture.regions != "best":
        return _of_best(result, picture, _region_names(result, picture.regions))
    _, best = _best(result, picture)
    axis = _axis(result, picture.best)
    names = np.array([drawn_label(axis.kind, value) for value in axis.shown])[best]
    return np.where(np.isfinite(_of_best(result, picture, _values(result, "total_s"))), names, "no plan")


def _region_names(result: SweepResult, regions: str) -> NDArray[Any]:
    names = result.grid(REGION_COLUMNS[regions])
    if regions == "reconfigurations":
        return np.where(names < 0, "no plan", names.astype(str))
    return np.where(names == "", "no plan", names)


def _region_words(regions: str) -> str:
    return "the number of reconfigurations" if regions == "reconfigurations" else f"the {regions}"


def _places(axis: Axis, most: int = MOST_CELLS) -> NDArray[np.intp]:
    """Indices of the values that are shown, rising, names as they come: at most this many, both ends among them."""
    order = np.arange(len(axis.values)) if axis.kind == "name" else np.argsort(np.asarray(axis.values), kind="stable")
    if order.size <= most:
        return order
    return order[np.round(np.linspace(0, order.size - 1, most)).astype(np.intp)]


def _axis(result: SweepResult, key: str) -> Axis:
    return next(axis for axis in result.axes if axis.key == key)


def _axis_label(axis: Axis) -> str:
    label = AXIS_LABELS.get(axis.key, axis.key.replace("_", " "))
    return f"{label} per pair" if axis.per_pair else label
