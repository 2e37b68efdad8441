"""A simulation as a picture: when GPUs send and wait in every step, under the plan's own timeline."""

from __future__ import annotations

from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from lightloom._core import show_time
from lightloom.views.axis_units import even_range, plain, show_ticks
from lightloom.views.charts import check_plot_path, save
from lightloom.views.fitting import legend_below, settle
from lightloom.views.palette import BACKGROUND, PALETTE, REFERENCE, ramp, readable_on
from lightloom.views.perfetto.simulation import dark_span_s
from lightloom.views.tables.problem import what_is_planned
from lightloom.views.tables.step_groups import StepGroup, group_steps

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from lightloom._core import SimulatedStep
    from lightloom.simulation import Simulation

    # First and last time, s; bottom and height.
    Box: TypeAlias = tuple[float, float, float, float]

MAX_ROWS = 64
# Most bars, rows times steps: more could not be told apart, so fewer rows are drawn.
MAX_BARS = 40_000
# Black is the plan's own timeline, grey the dark fabric.
COLORS = PALETTE[:-1]
DARK, DARK_FILL, PREDICTED = BACKGROUND, "#E4E4E4", REFERENCE
HATCH = "////"
RECEIVING_ALPHA = 0.3
# With more steps than this, outlines and hatches would hide what they outline.
MAX_OUTLINED = 80
# With more steps than these, runs of equal steps are one block.
MAX_BLOCKS = 40


def plot_simulation(simulation: Simulation, path: str | os.PathLike[str] | None = None) -> Figure:
    """The picture of a simulation, written to a PNG, PDF or SVG file where one is named.

    Raises `InputError` that names `plot` when the file cannot be written.
    """
    from matplotlib.figure import Figure

    if path is not None:
        check_plot_path(path)
    blocks = _blocks(simulation)
    rows = _rows(simulation, len(blocks))
    figure = Figure(figsize=(12, 3.4 + 0.075 * max(len(rows), 16)), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(1.1, 0.12 * max(len(rows), 16)))
    end_s = max(simulation.total_s, simulation.predicted_total_s)
    colors = _colors(simulation)
    _draw_timelines(above, simulation, blocks, colors)
    _draw_gpus(below, blocks, rows, colors, simulation.predicted_total_s)
    ticks = even_range(0.0, end_s or 1e-9)
    show_ticks(below.xaxis, "time", ticks)
    below.set(xlabel="time", xlim=(0, ticks[-1]))
    _legend(figure, simulation, colors, several=any(len(block.steps) > 1 for block in blocks))
    figure.suptitle(_title(simulation), fontsize=11)
    if path is None:
        settle(figure)
    else:
        save(figure, path)
    return figure


def _blocks(simulation: Simulation) -> list[StepGroup[SimulatedStep]]:
    """The steps, each a block of its own while they are few; else runs of equal steps that do not overlap."""
    steps = simulation.steps
    if len(steps) <= MAX_BLOCKS or any(before.end_s > after.start_s for before, after in pairwise(steps)):
        return [StepGroup((step,)) for step in steps]
    return group_steps(steps, _appearance, MAX_BLOCKS)


def _appearance(step: SimulatedStep) -> tuple[object, ...]:
    """The properties of a step that a block shows; times of equal steps differ by rounding."""
    return step.topology_index, step.reconfigured, f"{step.duration_s:.6g}", f"{step.predicted_s:.6g}"


def _title(simulation: Simulation) -> str:
    plan = simulation.plan
    change = simulation.total_s / simulation.predicted_total_s - 1 if simulation.predicted_total_s else 0.0
    against = f"{abs(change):.1%} {'above' if change > 0 else 'below'}" if abs(change) >= 5e-4 else "as long as"
    return (
        f"{what_is_planned(plan, plan.root, plan.members)} ({plain(plan.algorithm)}, {plain(plan.planner)})\n"
        f"simulated {show_time(simulation.total_s)}, {against} the plan's {show_time(simulation.predicted_total_s)}"
    )


def _rows(simulation: Simulation, blocks: int) -> list[int]:
    """The GPUs that are drawn: all, or as many as can be seen, evenly spread."""
    gpus = simulation.plan.gpus
    shown = max(2, min(gpus, MAX_ROWS, MAX_BARS // blocks))
    # The first and the last are among them.
    return [row * (gpus - 1) // (shown - 1) for row in range(shown)]


def _colors(simulation: Simulation) -> dict[str, str]:
    """A colour for every topology in the order of use: told apart where they are few, else from dark to light."""
    names = list(dict.fromkeys(step.topology_name for step in simulation.steps))
    return dict(zip(names, COLORS if len(names) <= len(COLORS) else ramp(len(names)), strict=False))


def _draw_timelines(
    axes: Axes, simulation: Simulation, blocks: Sequence[StepGroup[SimulatedStep]], colors: dict[str, str]
) -> None:
    """Two rows of steps: when the plan has them one after the other, and when they are simulated."""
    starts = list(accumulate((block.total("predicted_s") for block in blocks), initial=0.0))
    planned = list(pairwise(starts))
    found = [(block.steps[0].start_s, block.steps[-1].end_s) for block in blocks]
    shades = [colors[block.steps[0].topology_name] for block in blocks]
    overlap = any(before[1] > after[0] for before, after in pairwise(found))
    for row, spans in enumerate((planned, found)):
        # Steps that overlap take turns in the upper and the lower half of the row.
        halves = [(row - 0.4 + 0.4 * (index % 2), 0.4) for index in range(len(blocks))]
        places = halves if row == 1 and overlap else [(row - 0.4, 0.8)] * len(blocks)
        boxes = [((*span, *place), shade) for span, place, shade in zip(spans, places, shades, strict=True)]
        _bars(axes, boxes, edge=0.4 if len(blocks) <= MAX_OUTLINED else 0.0)
        dark = [
            (*((first, first + block.steps[0].reconfiguration_s) if row == 0 else dark_span_s(block.steps[0])), *place)
            for (first, _), block, place in zip(spans, blocks, places, strict=True)
            if block.steps[0].reconfiguration_s
        ]
        _dark(axes, dark, order=3)
        for (first, last), block, (low, height), shade in zip(spans, blocks, places, shades, strict=True):
            bright_s = first + block.steps[0].reconfiguration_s
            several = len(block.steps) > 1
            words = f"{block.numbers} (×{len(block.steps)})" if several else block.numbers
            # Numbers are written where they fit.
            if last - bright_s > (0.012 + 0.0065 * len(words)) * simulation.total_s:
                middle = ((bright_s + last) / 2, low + height / 2)
                axes.text(*middle, words, ha="center", va="center", fontsize=7, color=readable_on(shade))
    axes.axvline(simulation.predicted_total_s, color=PREDICTED, linestyle="--", linewidth=1)
    axes.set(ylim=(1.5, -0.5), yticks=(0, 1), yticklabels=("plan", "simulated"))
    axes.tick_params(axis="x", labelbottom=False)
    axes.spines[["top", "right"]].set_visible(False)


def _draw_gpus(
    axes: Axes,
    blocks: Sequence[StepGroup[SimulatedStep]],
    rows: Sequence[int],
    colors: dict[str, str],
    planned_end_s: float,
) -> None:
    """A row per GPU: from the first bit that it sends in a block to its last, then to the last that it receives."""
    places = [(row - 0.42, 0.84) for row in range(len(rows))]
    sending: list[tuple[Box, str]] = []
    receiving: list[tuple[Box, str]] = []
    dark: list[Box] = []
    for block in blocks:
        first, last = block.steps[0].gpus(), block.steps[-1].gpus()
        first_s, sent_s, received_s = first.first_send_s[rows], last.last_sent_s[rows], last.last_received_s[rows]
        # Who sends nothing waits from when it could send.
        begin_s = np.where(np.isnan(sent_s), last.ready_s[rows] + block.steps[-1].startup_s, sent_s)
        shade = colors[block.steps[0].topology_name]
        for found, starts_s, ends_s in ((sending, first_s, sent_s), (receiving, begin_s, received_s)):
            spans = zip(starts_s.tolist(), ends_s.tolist(), places, strict=True)
            found += [((start, end, *place), shade) for start, end, place in spans if end > start]
        if block.steps[0].reconfiguration_s:
            dark.append((*dark_span_s(block.steps[0]), -0.5, float(len(rows))))
    edge = 0.4 if len(blocks) <= MAX_OUTLINED else 0.0
    _bars(axes, sending, edge=edge)
    _bars(axes, receiving, edge=edge, alpha=RECEIVING_ALPHA)
    _dark(axes, dark, order=1)
    axes.axvline(planned_end_s, color=PREDICTED, linestyle="--", linewidth=1)
    shown = sorted({*range(0, len(rows) - 1, max(1, len(rows) // 16)), len(rows) - 1})
    axes.set(ylabel="GPU", ylim=(len(rows) - 0.5, -0.5), yticks=shown)
    axes.set_yticklabels([str(rows[row]) for row in shown])
    axes.spines[["top", "right"]].set_visible(False)


def _bars(axes: Axes, boxes: Sequence[tuple[Box, str]], *, edge: float, alpha: float = 1.0) -> None:
    """Coloured boxes; not snapped to pixels, so that many narrow ones blend evenly."""
    from matplotlib.collections import PolyCollection

    axes.add_collection(
        PolyCollection(
            _corners([box for box, _ in boxes]),
            facecolors=[shade for _, shade in boxes],
            edgecolors="w",
            linewidths=edge,
            alpha=alpha,
            zorder=2,
            snap=False,
        )
    )


def _dark(axes: Axes, boxes: Sequence[Box], *, order: int) -> None:
    from matplotlib.collections import PolyCollection

    axes.add_collection(
        PolyCollection(
            _corners(boxes),
            facecolors=DARK_FILL,
            edgecolors=DARK,
            linewidths=0.0,
            hatch=HATCH if len(boxes) <= MAX_OUTLINED else None,
            zorder=order,
            snap=False,
        )
    )


def _corners(boxes: Sequence[Box]) -> list[list[tuple[float, float]]]:
    return [
        [(first, low), (last, low), (last, low + height), (first, low + height)] for first, last, low, height in boxes
    ]


def _legend(figure: Figure, simulation: Simulation, colors: dict[str, str], *, several: bool) -> None:
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
    if several:
        handles.append(Patch(color="none", label="one block: a run of equal steps"))
    legend_below(figure, handles, [str(handle.get_label()) for handle in handles])
