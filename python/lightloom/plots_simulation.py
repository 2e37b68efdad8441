"""A simulation as a picture: when GPUs send and wait in every step, under the plan's own timeline."""

from __future__ import annotations

from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from lightloom._core import show_size, show_time
from lightloom.axis_units import plain
from lightloom.charts import PALETTE, check_plot_path, save
from lightloom.plots import SCALES
from lightloom.tracing import dark_span_s

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from lightloom.simulation import Simulation

    # First and last time, s; bottom and height.
    Box: TypeAlias = tuple[float, float, float, float]

MAX_ROWS = 64
# Rows times steps: more bars than this are no longer seen apart, and fewer rows say the same.
MAX_BARS = 40_000
# Black is the plan's own timeline, grey the dark fabric.
COLORS = PALETTE[:-1]
DARK, DARK_FILL, PREDICTED = "#B0B0B0", "#E4E4E4", "#000000"
HATCH = "////"
RECEIVING_ALPHA = 0.3
# With more steps than this, outlines and hatches would hide what they outline.
MAX_OUTLINED = 80


def plot_simulation(simulation: Simulation, path: str | os.PathLike[str] | None = None) -> Figure:
    """The picture of a simulation, written to a PNG, PDF or SVG file where one is named.

    Raises `InputError` that names `plot` when the file cannot be written.
    """
    from matplotlib.figure import Figure

    if path is not None:
        check_plot_path(path)
    rows = _rows(simulation)
    figure = Figure(figsize=(12, 3.4 + 0.075 * max(len(rows), 16)), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(1.1, 0.12 * max(len(rows), 16)))
    end_s = max(simulation.total_s, simulation.predicted_total_s)
    factor, unit = next((scale for scale in SCALES if end_s * scale[0] < 1e3), SCALES[-1])
    colors = _colors(simulation)
    _draw_timelines(above, simulation, colors, factor)
    _draw_gpus(below, simulation, rows, colors, factor)
    below.set(xlabel=f"time, {unit}", xlim=(0, end_s * factor * 1.01 or 1.0))
    _legend(figure, simulation, colors)
    figure.suptitle(_title(simulation), fontsize=11)
    if path is not None:
        save(figure, path)
    return figure


def _title(simulation: Simulation) -> str:
    plan = simulation.plan
    change = simulation.total_s / simulation.predicted_total_s - 1 if simulation.predicted_total_s else 0.0
    against = f"{abs(change):.1%} {'above' if change > 0 else 'below'}" if abs(change) >= 5e-4 else "as long as"
    return (
        f"{plan.collective} of {show_size(plan.size_bytes)} on {plan.gpus} GPUs by "
        f"{plain(plan.algorithm)}, {plain(plan.planner)}\n"
        f"simulated {show_time(simulation.total_s)}, {against} the plan's {show_time(simulation.predicted_total_s)}"
    )


def _rows(simulation: Simulation) -> list[int]:
    """The GPUs that are drawn: all, or as many as can be seen, evenly spread."""
    gpus = simulation.plan.gpus
    shown = max(2, min(gpus, MAX_ROWS, MAX_BARS // len(simulation.steps)))
    return [row * gpus // shown for row in range(shown)]


def _colors(simulation: Simulation) -> dict[str, str]:
    """A colour for every topology in the order of use: told apart where they are few, else from dark to light."""
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    names = list(dict.fromkeys(step.topology_name for step in simulation.steps))
    if len(names) <= len(COLORS):
        return dict(zip(names, COLORS, strict=False))
    # Short of the lightest, which would pass for an empty place.
    shades = colormaps["viridis"](np.linspace(0, 0.92, len(names)))
    return {name: to_hex(shade) for name, shade in zip(names, shades, strict=True)}


def _draw_timelines(axes: Axes, simulation: Simulation, colors: dict[str, str], factor: float) -> None:
    """Two rows of steps: when the plan has them one after the other, and when they are simulated."""
    steps = simulation.steps
    starts = list(accumulate((step.predicted_s for step in steps), initial=0.0))
    planned = [(start, start + step.predicted_s) for start, step in zip(starts, steps, strict=False)]
    found = [(step.start_s, step.end_s) for step in steps]
    shades = [colors[step.topology_name] for step in steps]
    overlap = any(before.end_s > after.start_s for before, after in pairwise(steps))
    for row, spans in enumerate((planned, found)):
        # Steps that overlap take turns in the upper and the lower half of the row.
        halves = [(row - 0.4 + 0.4 * (index % 2), 0.4) for index in range(len(steps))]
        places = halves if row == 1 and overlap else [(row - 0.4, 0.8)] * len(steps)
        boxes = [((*span, *place), shade) for span, place, shade in zip(spans, places, shades, strict=True)]
        _bars(axes, boxes, factor, edge=0.4 if len(steps) <= MAX_OUTLINED else 0.0)
        dark = [
            (*((first, first + step.reconfiguration_s) if row == 0 else dark_span_s(step)), *place)
            for (first, _), step, place in zip(spans, steps, places, strict=True)
            if step.reconfiguration_s
        ]
        _dark(axes, dark, factor, order=3)
        for (first, last), step, (low, height), shade in zip(spans, steps, places, shades, strict=True):
            # Numbers are written where they fit.
            if (last - first - step.reconfiguration_s) > 0.022 * simulation.total_s:
                middle = (first + step.reconfiguration_s + last) / 2 * factor
                number = str(step.index + 1)
                axes.text(middle, low + height / 2, number, ha="center", va="center", fontsize=7, color=_ink(shade))
    axes.axvline(simulation.predicted_total_s * factor, color=PREDICTED, linestyle="--", linewidth=1)
    axes.set(ylim=(1.5, -0.5), yticks=(0, 1), yticklabels=("plan", "simulated"))
    axes.tick_params(axis="x", labelbottom=False)
    axes.spines[["top", "right"]].set_visible(False)


def _ink(shade: str) -> str:
    """What is read on a colour."""
    from matplotlib.colors import to_rgb

    red, green, blue = to_rgb(shade)
    return "k" if 0.3 * red + 0.59 * green + 0.11 * blue > 0.55 else "w"


def _draw_gpus(axes: Axes, simulation: Simulation, rows: Sequence[int], colors: dict[str, str], factor: float) -> None:
    """A row per GPU: from the first bit that it sends in a step to its last, then to the last that it receives."""
    places = [(row - 0.42, 0.84) for row in range(len(rows))]
    sending: list[tuple[Box, str]] = []
    receiving: list[tuple[Box, str]] = []
    dark: list[Box] = []
    for step in simulation.steps:
        times = step.gpus()
        first_s, sent_s, received_s = times.first_send_s[rows], times.last_sent_s[rows], times.last_received_s[rows]
        # Who sends nothing waits from when it could send.
        begin_s = np.where(np.isnan(sent_s), times.ready_s[rows] + step.startup_s, sent_s)
        shade = colors[step.topology_name]
        for found, starts_s, ends_s in ((sending, first_s, sent_s), (receiving, begin_s, received_s)):
            spans = zip(starts_s.tolist(), ends_s.tolist(), places, strict=True)
            found += [((start, end, *place), shade) for start, end, place in spans if end > start]
        if step.reconfiguration_s:
            dark.append((*dark_span_s(step), -0.5, float(len(rows))))
    edge = 0.4 if len(simulation.steps) <= MAX_OUTLINED else 0.0
    _bars(axes, sending, factor, edge=edge)
    _bars(axes, receiving, factor, edge=edge, alpha=RECEIVING_ALPHA)
    _dark(axes, dark, factor, order=1)
    axes.axvline(simulation.predicted_total_s * factor, color=PREDICTED, linestyle="--", linewidth=1)
    shown = range(0, len(rows), max(1, len(rows) // 16))
    axes.set(ylabel="GPU", ylim=(len(rows) - 0.5, -0.5), yticks=list(shown))
    axes.set_yticklabels([str(rows[row]) for row in shown])
    axes.spines[["top", "right"]].set_visible(False)


def _bars(axes: Axes, boxes: Sequence[tuple[Box, str]], factor: float, *, edge: float, alpha: float = 1.0) -> None:
    """Coloured boxes; not snapped to pixels, so that many narrow ones blend evenly."""
    from matplotlib.collections import PolyCollection

    axes.add_collection(
        PolyCollection(
            _corners([box for box, _ in boxes], factor),
            facecolors=[shade for _, shade in boxes],
            edgecolors="w",
            linewidths=edge,
            alpha=alpha,
            zorder=2,
            snap=False,
        )
    )


def _dark(axes: Axes, boxes: Sequence[Box], factor: float, *, order: int) -> None:
    from matplotlib.collections import PolyCollection

    axes.add_collection(
        PolyCollection(
            _corners(boxes, factor),
            facecolors=DARK_FILL,
            edgecolors=DARK,
            linewidths=0.0,
            hatch=HATCH if len(boxes) <= MAX_OUTLINED else None,
            zorder=order,
            snap=False,
        )
    )


def _corners(boxes: Sequence[Box], factor: float) -> list[list[tuple[float, float]]]:
    return [
        [
            (first * factor, low),
            (last * factor, low),
            (last * factor, low + height),
            (first * factor, low + height),
        ]
        for first, last, low, height in boxes
    ]


def _legend(figure: Figure, simulation: Simulation, colors: dict[str, str]) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    names = list(colors)
    few = len(names) <= len(COLORS)
    shown = names if few else [names[0], names[len(names) // 2], names[-1]]
    handles: list[Patch | Line2D] = [Patch(color=colors[name], label=plain(name)) for name in shown]
    if not few:
        handles.append(Patch(color="none", label=f"{len(names)} topologies, dark to light by first use"))
    handles.append(Patch(facecolor="#808080", alpha=RECEIVING_ALPHA, label="pale: all sent, still receiving"))
    if any(step.reconfiguration_s for step in simulation.steps):
        is_global = simulation.settings.reconfiguration == "global"
        all_dark = "reconfiguration: dark" if is_global else "reconfiguration: circuits that change are dark"
        handles.append(Patch(facecolor=DARK_FILL, edgecolor=DARK, hatch=HATCH, linewidth=0, label=all_dark))
    handles.append(Line2D([], [], color=PREDICTED, linestyle="--", linewidth=1, label="end as planned"))
    figure.legend(handles=handles, loc="outside lower center", ncols=5, frameon=False, fontsize=8)
