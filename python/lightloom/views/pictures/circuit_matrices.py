"""Configurations of large switches: a matrix of ingress and egress ports each, below the counts of connections."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lightloom.views.axis_units import even_range, plain
from lightloom.views.charts import show_heights
from lightloom.views.palette import PALETTE, TERM_COLOURS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from lightloom.optics.port_maps import Circuits, Switch, SwitchSetting

# Matrices in a row; of a single switch, matrices in all; switches, a row each.
MOST_IN_ROW, MOST_OF_ONE, MOST_SWITCHES = 4, 12, 4
# Inches of the figure: its width, the height of a row, that of the course over all configurations and of the texts.
WIDTH, ROW, COURSE, TEXTS = 10.0, 2.9, 1.3, 0.9
# Points along a matrix, and the least size of a connection's mark.
ALONG, LEAST_MARK = 130.0, 1.3
NEW, KEPT, GONE = TERM_COLOURS["reconfiguration"], PALETTE[0], "#BDBDBD"


def drawn_configurations(circuits: Circuits) -> int:
    """The number of configurations that have a matrix, the first ones."""
    return min(len(circuits.configurations), MOST_OF_ONE if len(circuits.switches) == 1 else MOST_IN_ROW)


def draw_matrices(circuits: Circuits, headings: Sequence[str]) -> tuple[Figure, list[str]]:
    """The figure and the colours that it has. headings: of the configurations that are drawn."""
    from matplotlib.figure import Figure

    drawn, switches = len(headings), circuits.switches[:MOST_SWITCHES]
    columns = min(drawn, MOST_IN_ROW)
    rows = -(-drawn // columns) if len(switches) == 1 else len(switches)
    connections = np.array([sum(len(one.connections) for one in each.switches) for each in circuits.configurations])
    new = np.array([each.connects for each in circuits.configurations])
    # Where all are alike, the headings say it.
    has_course = bool(np.ptp(new) > 0 or np.ptp(connections) > 0)
    figure = Figure(figsize=(WIDTH, ROW * rows + COURSE * has_course + TEXTS), layout="constrained")
    heights = [COURSE] * has_course + [ROW] * rows
    grid = figure.add_gridspec(len(heights), columns, height_ratios=heights)
    if has_course:
        _draw_course(figure.add_subplot(grid[0, :]), new, connections)
    looks = set()
    for place in range(drawn * len(switches)):
        switch, configuration = (0, place) if len(switches) == 1 else divmod(place, drawn)
        row, column = divmod(place, columns)
        axes = figure.add_subplot(grid[row + has_course, column])
        setting = circuits.configurations[configuration].switches[switch]
        looks |= _draw_matrix(axes, circuits.switches[switch], setting)
        said = f"{len(setting.connect):,} set up, {setting.kept:,} kept"
        axes.set_title(f"{headings[configuration]}\n{said}" if row == 0 or len(switches) == 1 else said, fontsize=7.5)
        if column == 0:
            named = f"{plain(circuits.switches[switch].name)}: " if len(circuits.switches) > 1 else ""
            axes.set_ylabel(f"{named}ingress port", fontsize=8)
        if place + columns >= drawn * len(switches):
            axes.set_xlabel("egress port", fontsize=8)
    return figure, [look for look in (NEW, KEPT, GONE) if look in looks]


def _draw_matrix(axes: Axes, switch: Switch, setting: SwitchSetting) -> set[str]:
    """A mark a connection: those that go away under those that stay, and the new ones on top. Returns the colours."""
    new = {tuple(pair) for pair in setting.connect.tolist()}
    stay = np.array([pair for pair in setting.connections.tolist() if tuple(pair) not in new]).reshape(-1, 2)
    marks = {GONE: setting.disconnect, KEPT: stay, NEW: setting.connect}
    size = max(LEAST_MARK, 0.85 * ALONG / switch.ports)
    for colour, pairs in marks.items():
        axes.scatter(pairs[:, 1], pairs[:, 0], s=size**2, marker="s", color=colour, linewidths=0, rasterized=True)
    ends = [1, *(round(switch.ports * part) for part in (0.25, 0.5, 0.75)), switch.ports]
    axes.set_xticks(ends, map(str, ends), fontsize=7)
    axes.set_yticks(ends, map(str, ends), fontsize=7)
    axes.set(xlim=(0.5, switch.ports + 0.5), ylim=(switch.ports + 0.5, 0.5), aspect="equal")
    axes.tick_params(length=2)
    return {colour for colour, pairs in marks.items() if len(pairs)}


def _draw_course(axes: Axes, new: NDArray[np.int64], connections: NDArray[np.int64]) -> None:
    """The connections of every configuration: those that are set up on those that are kept."""
    edges = np.arange(len(new) + 1) + 0.5
    kept = connections - new
    axes.stairs(kept, edges, fill=True, color=KEPT)
    axes.stairs(connections, edges, baseline=kept, fill=True, color=NEW)
    show_heights(axes, "count", log=False, base=0.0)
    ticks = sorted({1, len(new), *(int(tick) for tick in even_range(1, len(new), whole=True) if 1 < tick < len(new))})
    axes.set_xticks(ticks)
    axes.set_xlim(edges[0], edges[-1])
    axes.set_xlabel("configuration", fontsize=8)
    axes.set_ylabel("connections", fontsize=8)
    axes.tick_params(labelsize=7)
    axes.spines[["top", "right"]].set_visible(False)
