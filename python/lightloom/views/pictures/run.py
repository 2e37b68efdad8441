"""A run as a picture: the activity of steps and ranks over time, under the plan's own timeline."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from lightloom._core import show_time
from lightloom.running.timeline import PARTS, measured_steps, planned_steps, ranks_in_step, shown_run
from lightloom.views.axis_units import even_range, plain, show_ticks
from lightloom.views.charts import check_plot_path, save
from lightloom.views.fitting import legend_below, settle
from lightloom.views.palette import BACKGROUND, COMPUTATION, REFERENCE, TERM_COLOURS, readable_on
from lightloom.views.tables.problem import what_is_planned

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from lightloom.running.measurement import Measurement
    from lightloom.running.timeline import Part

    # A part, the bottom of its box, and its height.
    Placed: TypeAlias = tuple[Part, float, float]

MAX_ROWS = 64
# With more boxes than this, outlines would hide what they outline.
MAX_OUTLINED = 2000
COLOURS = {
    "computation": COMPUTATION,
    "dark": TERM_COLOURS["reconfiguration"],
    "startup": TERM_COLOURS["startup"],
    "propagation": TERM_COLOURS["propagation"],
    "transmission": TERM_COLOURS["transmission"],
    # A measured transfer includes propagation and transmission.
    "transfer": TERM_COLOURS["transmission"],
    "copying": "#E69F00",
    "waiting": "#E4E4E4",
}
WORDS = {
    "dark": "reconfiguration: dark",
    "transmission": "transmission (measured: with propagation)",
    "copying": "copying and reducing",
    "waiting": "waiting for the last rank",
}


def plot_run(measurement: Measurement, path: str | os.PathLike[str] | None = None) -> Figure:
    """The picture of the run in the middle, written to a PNG, PDF or SVG file where one is named.

    Raises `InputError` that names `plot` when the file cannot be written.
    """
    from matplotlib.figure import Figure

    if path is not None:
        check_plot_path(path)
    run = shown_run(measurement)
    planned, measured = planned_steps(measurement), [_seen(parts) for parts in measured_steps(measurement, run)]
    ranks = _shown_ranks(measurement.plan.gpus)
    figure = Figure(figsize=(12, 3.2 + 0.22 * max(len(ranks), 6)), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(1.3, 0.22 * max(len(ranks), 6)))
    planned_end_s = _end_s(planned)
    end_s = max(_end_s(measured), planned_end_s)
    used = _draw_steps(above, planned, measured, end_s) | _draw_ranks(below, measurement, run, ranks, measured)
    for axes in (above, below):
        axes.axvline(planned_end_s, color=REFERENCE, linestyle="--", linewidth=1)
        axes.spines[["top", "right"]].set_visible(False)
    ticks = even_range(0.0, end_s or 1e-9)
    show_ticks(below.xaxis, "time", ticks)
    below.set(xlabel="time, divided by the dilation", xlim=(0, ticks[-1]))
    _legend(figure, [name for name in PARTS if name in used and name != "transfer"])
    figure.suptitle(_title(measurement, run), fontsize=11)
    if path is None:
        settle(figure)
    else:
        save(figure, path)
    return figure


def _title(measurement: Measurement, run: int) -> str:
    plan, settings = measurement.plan, measurement.settings
    which = f"run {run + 1} of {settings.runs}, " if settings.runs > 1 else ""
    slowed = f", slowed down {settings.dilation:g} times" if settings.dilation > 1 else ""
    doubt = "" if measurement.verdict == "conclusive" else ": inconclusive, the machine was busy"
    total_s, predicted_s = float(measurement.times.total_s[run]), measurement.predicted_s
    part = f", {total_s / predicted_s:.1%} of the plan's {show_time(predicted_s)}" if predicted_s else ""
    return (
        f"{what_is_planned(plan, plan.root, plan.members)} ({plain(plan.algorithm)}, {plain(plan.planner)})\n"
        f"{which}{settings.transport}{slowed}: measured {show_time(total_s)}{part}{doubt}"
    )


def _seen(parts: Sequence[Part]) -> list[Part]:
    """The parts; of dark time, as in the plan, only the part that computation does not hide."""
    hidden_s = max((part.last_s for part in parts if part.name == "computation"), default=0.0)
    shown = [part._replace(first_s=max(part.first_s, hidden_s)) if part.name == "dark" else part for part in parts]
    return [part for part in shown if part.last_s > part.first_s]


def _end_s(steps: Sequence[Sequence[Part]]) -> float:
    return max((part.last_s for parts in steps for part in parts), default=0.0)


def _shown_ranks(ranks: int) -> list[int]:
    """The ranks that are drawn: all, or as many as can be seen, evenly spread."""
    shown = max(2, min(ranks, MAX_ROWS))
    return [row * (ranks - 1) // (shown - 1) for row in range(shown)]


def _draw_steps(
    axes: Axes, planned: Sequence[Sequence[Part]], measured: Sequence[Sequence[Part]], end_s: float
) -> set[str]:
    """Two rows of steps, each with the parts of its time; returns their names."""
    placed = [
        (part, row - 0.4, 0.8) for row, steps in enumerate((planned, measured)) for parts in steps for part in parts
    ]
    _boxes(axes, placed)
    for row, steps in enumerate((planned, measured)):
        for number, parts in enumerate(steps, 1):
            # The number is written on the longest part of the step, where it fits.
            longest = max(parts, key=lambda part: part.last_s - part.first_s, default=None)
            if longest is not None and longest.last_s - longest.first_s > (0.008 + 0.006 * len(str(number))) * end_s:
                middle = ((longest.first_s + longest.last_s) / 2, row)
                shade = readable_on(COLOURS[longest.name])
                axes.text(*middle, str(number), ha="center", va="center", fontsize=7, color=shade)
    axes.set(ylim=(1.5, -0.5), yticks=(0, 1), yticklabels=("plan", "measured"))
    axes.tick_params(axis="x", labelbottom=False)
    return {part.name for part, _, _ in placed}


def _draw_ranks(
    axes: Axes, measurement: Measurement, run: int, ranks: Sequence[int], measured: Sequence[Sequence[Part]]
) -> set[str]:
    """A row per rank, and above them the parts of no rank, computation and dark time; returns names of parts."""
    common = [part for parts in measured for part in parts if part.name in {"computation", "dark"}]
    placed: list[Placed] = [(part, -0.5, float(len(ranks))) for part in common]
    for step in range(len(measured)):
        of_ranks = ranks_in_step(measurement, run, step)
        placed += [(part, row - 0.42, 0.84) for row, rank in enumerate(ranks) for part in of_ranks[rank]]
    _boxes(axes, placed)
    shown = sorted({*range(0, len(ranks) - 1, max(1, len(ranks) // 16)), len(ranks) - 1})
    axes.set(ylabel="rank", ylim=(len(ranks) - 0.5, -0.5), yticks=shown)
    axes.set_yticklabels([str(ranks[row]) for row in shown])
    return {part.name for part, _, _ in placed}


def _boxes(axes: Axes, placed: Sequence[Placed]) -> None:
    """Coloured boxes; not snapped to pixels, so that many narrow ones blend evenly."""
    from matplotlib.collections import PolyCollection

    axes.add_collection(
        PolyCollection(
            [
                [(first, low), (last, low), (last, low + height), (first, low + height)]
                for (_, first, last), low, height in placed
            ],
            facecolors=[COLOURS[part.name] for part, _, _ in placed],
            edgecolors="w",
            linewidths=0.3 if len(placed) <= MAX_OUTLINED else 0.0,
            zorder=2,
            snap=False,
        )
    )


def _legend(figure: Figure, names: Iterable[str]) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Patch | Line2D] = [
        Patch(facecolor=COLOURS[name], edgecolor=BACKGROUND, linewidth=0.4, label=WORDS.get(name, name))
        for name in names
    ]
    handles.append(Line2D([], [], color=REFERENCE, linestyle="--", linewidth=1, label="end as planned"))
    legend_below(figure, handles, [str(handle.get_label()) for handle in handles])
