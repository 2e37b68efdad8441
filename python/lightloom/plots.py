"""A plan as a picture: its topologies in the order of use, over what every step costs."""

from __future__ import annotations

import math
from itertools import groupby
from typing import TYPE_CHECKING

from lightloom._core import show_size, show_time
from lightloom.axis_units import plain
from lightloom.charts import check_plot_path, save

if TYPE_CHECKING:
    import os

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from lightloom._core import Topology
    from lightloom.plans import Plan

MAX_DIAGRAMS = 8
SCALES = ((1e9, "ns"), (1e6, "us"), (1e3, "ms"), (1.0, "s"))
# Okabe and Ito's colours, which people with any colour vision tell apart.
TERMS = {
    "startup_s": ("startup", "#56B4E9"),
    "propagation_s": ("propagation", "#009E73"),
    "transmission_s": ("transmission", "#0072B2"),
    "reconfiguration_s": ("reconfiguration", "#D55E00"),
}


def plot_plan(plan: Plan, path: str | os.PathLike[str] | None = None) -> Figure:
    """The picture of a plan, written to a PNG, PDF or SVG file where one is named.

    Raises `InputError` that names `plot` when the file cannot be written.
    """
    from matplotlib.figure import Figure

    if path is not None:
        check_plot_path(path)
    runs = [next(run) for _, run in groupby(plan.steps, key=lambda step: step.topology)]
    diagrams = runs[:MAX_DIAGRAMS]
    figure = Figure(figsize=(12, 6.5), layout="constrained")
    grid = figure.add_gridspec(2, max(len(diagrams), 4), height_ratios=(1, 1.6))
    topologies = plan.topologies
    for column, step in enumerate(diagrams):
        axes = figure.add_subplot(grid[0, column])
        _draw_circuits(axes, topologies[step.topology])
        axes.set_title(f"from step {step.index + 1}\n{plain(step.topology_name)}", fontsize=9)
    _draw_costs(figure.add_subplot(grid[1, :]), plan)
    more = f" (later topologies not drawn: {len(runs) - len(diagrams)})" if len(runs) > len(diagrams) else ""
    figure.suptitle(
        f"{plan.collective} of {show_size(plan.size_bytes)} on {plan.gpus} GPUs by {plain(plan.algorithm)}, "
        f"{plain(plan.planner)}: "
        f"{show_time(plan.total_s)}, {plan.reconfigurations} reconfigurations{more}",
        fontsize=11,
    )
    if path is not None:
        save(figure, path)
    return figure


def _draw_circuits(axes: Axes, topology: Topology) -> None:
    """GPUs on a circle, a chord per link that bends towards the centre, thicker for parallel circuits."""
    from matplotlib.collections import LineCollection

    places = [_on_circle(rank / topology.gpus) for rank in range(topology.gpus)]
    links = topology.links.tolist()
    chords = [_chord(places[source], places[destination]) for source, destination, _ in links]
    opacity = max(0.15, min(0.9, 40 / max(len(links), 1)))
    widths = [0.8 * math.sqrt(count) for *_, count in links]
    axes.add_collection(LineCollection(chords, linewidths=widths, colors="#0072B2", alpha=opacity))
    dot = max(1.0, 5 - topology.gpus / 16)
    axes.plot(*zip(*places, strict=True), linestyle="", marker="o", markersize=dot, color="k")
    if topology.gpus <= 16:
        for rank, (x, y) in enumerate(places):
            axes.text(1.17 * x, 1.17 * y, str(rank), ha="center", va="center", fontsize=6)
    axes.set(xlim=(-1.3, 1.3), ylim=(-1.3, 1.3), aspect="equal")
    axes.axis("off")


def _on_circle(turn: float) -> tuple[float, float]:
    """Rank 0 on top, clockwise."""
    return math.sin(math.tau * turn), math.cos(math.tau * turn)


def _chord(start: tuple[float, float], end: tuple[float, float], points: int = 12) -> list[tuple[float, float]]:
    """A quadratic curve; the longer the chord, the further its middle is drawn towards the centre."""
    pull = 0.85 - 0.3 * math.dist(start, end)
    control = (pull * (start[0] + end[0]) / 2, pull * (start[1] + end[1]) / 2)
    curve = []
    for index in range(points + 1):
        t = index / points
        before, middle, after = (1 - t) ** 2, 2 * t * (1 - t), t**2
        x, y = (before * a + middle * c + after * b for a, c, b in zip(start, control, end, strict=True))
        curve.append((x, y))
    return curve


def _draw_costs(axes: Axes, plan: Plan) -> None:
    """A bar a step: the four terms on top of each other."""
    steps = plan.steps
    longest_s = max(step.total_s for step in steps)
    factor, unit = next((pair for pair in SCALES if longest_s * pair[0] < 1e3), SCALES[-1])
    numbers = [step.index + 1 for step in steps]
    below = [0.0] * len(steps)
    for term, (label, color) in TERMS.items():
        heights = [getattr(step, term) * factor for step in steps]
        axes.bar(numbers, heights, bottom=below, width=0.85 if len(steps) <= 100 else 1.0, color=color, label=label)
        below = [low + height for low, height in zip(below, heights, strict=True)]
    axes.set(xlabel="step", ylabel=unit, xlim=(0.4, len(steps) + 0.6))
    axes.locator_params(axis="x", integer=True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(ncols=4, frameon=False, loc="lower left", bbox_to_anchor=(0, 1.0))
