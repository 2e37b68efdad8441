"""What every port of the switches is for, over a training iteration."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lightloom._core import counted, show_time
from lightloom.training.members import SENDS
from lightloom.views.axis_units import even_range, plain, show_ticks
from lightloom.views.charts import check_plot_path, save
from lightloom.views.fitting import legend_below, settle
from lightloom.views.palette import BACKGROUND, PALETTE, TERM_COLOURS

if TYPE_CHECKING:
    import os

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from lightloom.optics.port_maps import Circuits, Configuration
    from lightloom.training.result import Training

# Changes that are drawn, from the begin of the iteration on, and switches.
MOST_CHANGES, MOST_SWITCHES = 24, 4
RESTING, STAYS, CHANGES = "at rest", "never changes", "dark while it changes"
COLOURS = {RESTING: "#D9D9D9", STAYS: "#F2F2F2", CHANGES: TERM_COLOURS["reconfiguration"]}


def plot_iteration(circuits: Circuits, training: Training, path: str | os.PathLike[str] | None = None) -> Figure:
    """Ports over time, coloured by the communication that needs their circuits; written to a file where one is named.

    Raises `InputError` that names `plot` when the file cannot be written.
    """
    from matplotlib.figure import Figure

    if path is not None:
        check_plot_path(path)
    shown = min(len(circuits.switches), MOST_SWITCHES)
    figure = Figure(figsize=(9, 1.6 + 2.6 * min(shown, 2) + 1.2 * max(0, shown - 2)), layout="constrained")
    names = [*dict.fromkeys(event.label for event in training.events if event.ports), RESTING, STAYS, CHANGES]
    free = [colour for colour in PALETTE if colour != COLOURS[CHANGES]]
    colours = {name: COLOURS.get(name, free[place % len(free)]) for place, name in enumerate(names)}
    drawn: set[str] = set()
    for place, axes in enumerate(np.ravel(figure.subplots(shown, 1, squeeze=False, sharex=True))):
        drawn |= _draw(axes, circuits, training, place, colours)
    figure.suptitle(_title(circuits, training, shown), fontsize=10)
    _legend(figure, {name: colour for name, colour in colours.items() if name in drawn})
    if path is None:
        settle(figure)
    else:
        save(figure, path)
    return figure


def _title(circuits: Circuits, training: Training, shown: int) -> str:
    changes = len(circuits.configurations) - 1
    parts = [f"first {MOST_CHANGES} of {changes} changes"] if changes > MOST_CHANGES else []
    parts += [f"first {shown} of {len(circuits.switches)} switches"] if shown < len(circuits.switches) else []
    name = f"{plain(training.name or 'an iteration')} on {training.ranks} ranks"
    words = f"{name}, {show_time(training.total_s)}: circuits change {counted(changes, 'time')}"
    return f"{words} ({', '.join(parts)} drawn)" if parts else words


def _legend(figure: Figure, colours: dict[str, str]) -> None:
    from matplotlib.patches import Patch

    words = {SENDS: "messages"}
    handles = [
        Patch(facecolor=colour, edgecolor=BACKGROUND, linewidth=0.4, label=plain(words.get(name, name)))
        for name, colour in colours.items()
    ]
    legend_below(figure, handles, [str(handle.get_label()) for handle in handles])


def _draw(axes: Axes, circuits: Circuits, training: Training, place: int, colours: dict[str, str]) -> set[str]:
    """A row a port: the names of what is drawn."""
    from matplotlib.colors import ListedColormap

    names = list(colours)
    edges_s, columns = _columns(circuits, training, place, names)
    axes.pcolormesh(
        edges_s,
        np.arange(columns.shape[1] + 1) + 0.5,
        columns.T,
        cmap=ListedColormap([colours[name] for name in names]),
        vmin=-0.5,
        vmax=len(names) - 0.5,
    )
    switch = circuits.switches[place]
    axes.set(ylim=(switch.ports + 0.5, 0.5), xlim=(0.0, edges_s[-1]))
    axes.set_ylabel(f"switch {plain(switch.name)}: ingress port", fontsize=8)
    axes.tick_params(length=2, labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    show_ticks(axes.xaxis, "time", [tick for tick in even_range(0.0, edges_s[-1]) if tick <= edges_s[-1]])
    return {names[state] for state in np.unique(columns)}


def _columns(
    circuits: Circuits, training: Training, place: int, names: list[str]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Edges of spans of time, s, and by span and port the place among `names` of what the port is for."""
    label_of = {event.node: event.label for event in training.events}
    change_s = training.fabric.reconfiguration.scalar_s or 0.0
    ports = circuits.switches[place].ports
    state = np.full(ports, names.index(STAYS))

    def change(configuration: Configuration) -> NDArray[np.int64]:
        setting, events = configuration.switches[place], configuration.events
        rows = np.concatenate([setting.connect[:, 0], setting.disconnect[:, 0]]).astype(np.int64) - 1
        needed = RESTING if events is None or not events.before else label_of[events.before[0]]
        state[rows] = names.index(needed)
        return rows

    # What ports are for when an iteration begins is what they are for when it ends.
    for configuration in circuits.configurations[1:]:
        change(configuration)
    edges_s, columns = [0.0], []
    changes = circuits.configurations[1 : MOST_CHANGES + 1]
    later = circuits.configurations[MOST_CHANGES + 1 : MOST_CHANGES + 2]
    end_s = later[0].time_s if later else training.total_s
    for configuration, next_s in zip(changes, [*(one.time_s for one in changes[1:]), end_s], strict=True):
        columns.append(state.copy())
        edges_s.append(configuration.time_s)
        rows = change(configuration)
        dark = state.copy()
        dark[rows] = names.index(CHANGES)
        columns.append(dark)
        edges_s.append(min(configuration.time_s + change_s, next_s))
    columns.append(state.copy())
    edges_s.append(max(end_s, edges_s[-1]))
    return np.array(edges_s), np.array(columns)
