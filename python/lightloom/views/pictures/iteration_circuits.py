"""The event that uses every port of the switches, over a training iteration."""

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

# Changes that are drawn, from the beginning of the iteration on, and switches.
MOST_CHANGES, MOST_SWITCHES = 24, 4
RESTING, STAYS, APART, CHANGES = "at rest", "never changes", "not joined", "dark during a change"
COLOURS = {RESTING: "#D9D9D9", STAYS: "#8C8C8C", APART: "#F7F7F7", CHANGES: TERM_COLOURS["reconfiguration"]}


def plot_iteration(circuits: Circuits, training: Training, path: str | os.PathLike[str] | None = None) -> Figure:
    """Ports over time, coloured by the communication that needs their circuits; written to a file where one is named.

    Raises `InputError` that names `plot` when the file cannot be written.
    """
    from matplotlib.figure import Figure

    if path is not None:
        check_plot_path(path)
    shown = min(len(circuits.switches), MOST_SWITCHES)
    figure = Figure(figsize=(9, 1.6 + 2.6 * min(shown, 2) + 1.2 * max(0, shown - 2)), layout="constrained")
    names = [*dict.fromkeys(event.label for event in training.events if event.ports), RESTING, STAYS, APART, CHANGES]
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
    from matplotlib.ticker import MaxNLocator

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
    axes.yaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    axes.tick_params(length=2, labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    show_ticks(axes.xaxis, "time", [tick for tick in even_range(0.0, edges_s[-1]) if tick <= edges_s[-1]])
    return {names[state] for state in np.unique(columns)}


def _columns(
    circuits: Circuits, training: Training, place: int, names: list[str]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Edges of spans of time, s, and by span and port the place among `names` of what the port is for."""
    change_s = training.fabric.reconfiguration.scalar_s or 0.0
    later = circuits.configurations[MOST_CHANGES + 1 : MOST_CHANGES + 2]
    end_s = later[0].time_s if later else training.total_s
    ports = _Ports(circuits, training, place, names)
    # Ports have the same use when an iteration begins as when it ends, changes at its end included.
    for configuration in circuits.configurations[1:]:
        ports.change(configuration, configuration.time_s + change_s - training.total_s)
    pending = list(circuits.configurations[1 : MOST_CHANGES + 1])
    begins_s = [one.time_s for one in pending]
    ends_s = [time_s + change_s for time_s in begins_s]
    edges_s = sorted(
        {0.0, end_s, *(time_s for time_s in (*begins_s, *ends_s, *ports.dark_until_s) if 0 < time_s < end_s)}
    )
    columns = []
    for begin_s in edges_s[:-1]:
        while pending and pending[0].time_s <= begin_s:
            configuration = pending.pop(0)
            ports.change(configuration, configuration.time_s + change_s)
        columns.append(ports.at(begin_s))
    return np.array(edges_s), np.array(columns)


class _Ports:
    """The ingress ports of a switch: what each is for, until when it is dark, and whether it is joined."""

    def __init__(self, circuits: Circuits, training: Training, place: int, names: list[str]) -> None:
        ports = circuits.switches[place].ports
        self.dark_until_s = np.full(ports, -np.inf)
        self._place, self._names = place, names
        self._events = {event.node: event for event in training.events}
        self._state = np.full(ports, names.index(STAYS))
        self._is_joined = np.zeros(ports, dtype=bool)
        rows = np.arange(ports)
        by_switch = len(circuits.switches) > 1
        own = training.fabric.ports
        self._ranks = rows if by_switch else rows // own
        self._numbers = np.full(ports, place) if by_switch else rows % own
        first = circuits.configurations[0].switches[place].connections
        self._is_joined[first[:, 0].astype(np.int64) - 1] = True

    def change(self, configuration: Configuration, until_s: float) -> None:
        """Ports that a configuration joins otherwise, dark until then, s."""
        setting, events = configuration.switches[self._place], configuration.events
        gone, new = (pairs[:, 0].astype(np.int64) - 1 for pairs in (setting.disconnect, setting.connect))
        self._is_joined[gone] = False
        self._is_joined[new] = True
        needed = [self._events[name] for name in events.before] if events is not None else []
        for row in new.tolist():
            rank, port = int(self._ranks[row]), int(self._numbers[row])
            label = next((event.label for event in needed if rank in event.ranks and port in event.ports), RESTING)
            self._state[row] = self._names.index(label)
            self.dark_until_s[row] = until_s

    def at(self, time_s: float) -> NDArray[np.int64]:
        """By port the place among the names of what it is for."""
        state = np.where(self._is_joined, self._state, self._names.index(APART))
        return np.where(self._is_joined & (self.dark_until_s > time_s), self._names.index(CHANGES), state)
